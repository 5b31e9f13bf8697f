package lambdahttp_test

import (
	"encoding/base64"
	"io"
	"maps"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
)

// object is a JSON object, to write events and read answers with.
type object = map[string]any

// v2 is an event in payload format 2.0, as an HTTP API sends it, changed by
// members of the same names.
func v2(changes ...object) []byte {
	e := object{
		"version": "2.0", "routeKey": "$default", "rawPath": "/mcp", "rawQueryString": "",
		"headers": object{
			"accept": "application/json, text/event-stream", "content-length": "58", "content-type": "application/json",
			"host": "inbox.example.com", "user-agent": "test/1.0", "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https",
		},
		"requestContext": object{
			"accountId": "123456789012", "apiId": "abc", "domainName": "abc.execute-api.us-east-1.amazonaws.com", "domainPrefix": "abc",
			"http":      object{"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "test/1.0"},
			"requestId": "LV7fzho-PHcEJPw=", "routeKey": "$default", "stage": "$default",
			"time": "02/Dec/2026:15:08:21 +0000", "timeEpoch": 1796224101067,
		},
		"body": `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "isBase64Encoded": false,
	}
	return changed(e, changes)
}

// v1 is an event in payload format 1.0, as a REST API sends it.
func v1(changes ...object) []byte {
	e := object{
		"resource": "/{proxy+}", "path": "/mcp", "httpMethod": "POST",
		"headers":               object{"Host": "abc.execute-api.us-east-1.amazonaws.com", "Content-Type": "application/json", "X-Twice": "b"},
		"multiValueHeaders":     object{"Host": []string{"abc.execute-api.us-east-1.amazonaws.com"}, "Content-Type": []string{"application/json"}, "X-Twice": []string{"a", "b"}},
		"queryStringParameters": nil, "multiValueQueryStringParameters": nil, "pathParameters": object{"proxy": "mcp"}, "stageVariables": nil,
		"requestContext": object{
			"accountId": "123456789012", "resourceId": "us4z18", "stage": "prod", "requestId": "41b45ea3-70b5-11e6-b7bd-69b5aaebc7d9",
			"identity": object{"cognitoIdentityPoolId": nil, "sourceIp": "203.0.113.7", "user": nil, "userAgent": "test/1.0"},
			"path":     "/prod/mcp", "domainName": "abc.execute-api.us-east-1.amazonaws.com", "httpMethod": "POST", "apiId": "wt6mne2s9k",
		},
		"body": `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "isBase64Encoded": false,
	}
	return changed(e, changes)
}

// changed replaces members of an event; in its requestContext, theirs.
func changed(e object, changes []object) []byte {
	for _, c := range changes {
		for name, value := range c {
			if name == "requestContext" {
				maps.Copy(e[name].(object), value.(object))
			} else {
				e[name] = value
			}
		}
	}
	b, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return b
}

// answer is what the gateway is given.
type answer struct {
	StatusCode        int                 `json:"statusCode"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Cookies           []string            `json:"cookies"`
	Body              *string             `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

func (a answer) body(t *testing.T) string {
	t.Helper()
	if a.Body == nil {
		return ""
	}
	if !a.IsBase64Encoded {
		return *a.Body
	}
	b, err := base64.StdEncoding.DecodeString(*a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rpcError is a JSON-RPC error answer.
type rpcError struct {
	JSONRPC string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (a answer) rpcError(t *testing.T) rpcError {
	t.Helper()
	var e rpcError
	if err := json.Unmarshal([]byte(a.body(t)), &e); err != nil {
		t.Fatalf("%v in %s", err, a.body(t))
	}
	if e.JSONRPC != "2.0" || a.Headers["Content-Type"] != "application/json" {
		t.Errorf("no JSON-RPC error: %+v", a)
	}
	return e
}

// decodeAnswer reads an answer strictly: what the gateway does not know of is an error.
func decodeAnswer(t *testing.T, encoded []byte) (a answer) {
	t.Helper()
	if err := json.Unmarshal(encoded, &a, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%v in %.300s", err, encoded)
	}
	return a
}

func invoke(t *testing.T, h http.Handler, event []byte) answer {
	t.Helper()
	return invokeHandler(t, lambdahttp.New(h, nil), event)
}

func invokeHandler(t *testing.T, h *lambdahttp.Handler, event []byte) answer {
	t.Helper()
	encoded, err := h.Invoke(t.Context(), event)
	if err != nil {
		t.Fatal("an error is an opaque 500 to the caller:", err)
	}
	return decodeAnswer(t, encoded)
}

// received is the request that a handler gets for an event, with its body.
func received(t *testing.T, event []byte) (r *http.Request, body string) {
	t.Helper()
	a := invoke(t, http.HandlerFunc(func(_ http.ResponseWriter, got *http.Request) {
		b, err := io.ReadAll(got.Body)
		if err != nil {
			t.Error(err)
		}
		r, body = got, string(b)
	}), event)
	if r == nil {
		t.Fatalf("no request, but %d %s", a.StatusCode, a.body(t))
	}
	return r, body
}

// write is a handler with one answer.
func write(status int, header http.Header, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}
