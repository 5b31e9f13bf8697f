package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = map[string]any

// request is one call of a method, as a client of 2026-07-28 makes it.
type request struct {
	name   string // what the table calls it
	method string
	params object
	token  string
}

// family is the family of the method, "" for the router's own.
func (r request) family() string { return mcp.FamilyOf(r.method) }

// path is where the edge sends it.
func (r request) path() string {
	if f := r.family(); f != "" {
		return "/mcp/" + f
	}
	return "/mcp"
}

func (r request) body() string {
	params := object{"_meta": object{
		"io.modelcontextprotocol/protocolVersion":    mcp.V20260728,
		"io.modelcontextprotocol/clientCapabilities": object{"elicitation": object{"form": object{}}},
		"io.modelcontextprotocol/clientInfo":         object{"name": "bench", "version": "1"},
	}}
	for name, value := range r.params {
		params[name] = value
	}
	return string(marshal(object{"jsonrpc": "2.0", "id": 1, "method": r.method, "params": params}))
}

func (r request) header() http.Header {
	h := http.Header{
		"Authorization":        {"Bearer " + r.token},
		"Content-Type":         {"application/json"},
		"Accept":               {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {string(mcp.V20260728)},
		"Mcp-Method":           {r.method},
	}
	for _, member := range []string{"name", "uri"} {
		if value, ok := r.params[member].(string); ok {
			h.Set("Mcp-Name", value)
		}
	}
	return h
}

// http is the request as a server reads it.
func (r request) http(ctx context.Context) *http.Request {
	body := r.body()
	return (&http.Request{
		Method: http.MethodPost, URL: &url.URL{Path: r.path()}, Header: r.header(), Host: "inbox.example.com", RemoteAddr: "192.0.2.7:1234",
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}).WithContext(ctx)
}

// event is what API Gateway makes of the request (payload format 2.0).
func (r request) event() []byte {
	headers := object{
		"host": "inbox.example.com", "user-agent": "bench/1", "x-amzn-trace-id": "Root=1-5f84c7a1-0b3e4f5a6c7d8e9f0a1b2c3d",
		"x-forwarded-for": "192.0.2.7", "x-forwarded-port": "443", "x-forwarded-proto": "https",
	}
	for name, values := range r.header() {
		headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	return marshal(object{
		"version": "2.0", "routeKey": "ANY " + r.path(), "rawPath": r.path(), "rawQueryString": "", "headers": headers,
		"requestContext": object{
			"accountId": "123456789012", "apiId": "a1b2c3d4e5", "domainName": "inbox.example.com", "domainPrefix": "inbox", "stage": "$default",
			"requestId": "JKJaXmPLvHcESHA=", "routeKey": "ANY " + r.path(), "time": "02/Dec/2026:12:00:00 +0000", "timeEpoch": 1796212800000,
			"http": object{"method": "POST", "path": r.path(), "protocol": "HTTP/1.1", "sourceIp": "192.0.2.7", "userAgent": "bench/1"},
		},
		"body": r.body(), "isBase64Encoded": false,
	})
}

// marshal writes JSON, members in order of their names so that each run sends
// the same bytes.
func marshal(v any) []byte {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(err) // made of what has JSON
	}
	return b
}

// result is the result in an answer.
func result(answer []byte) (jsontext.Value, error) {
	var a struct {
		Result jsontext.Value `json:"result"`
	}
	err := json.Unmarshal(answer, &a)
	return a.Result, err
}

// requests are one of each kind that reads, about these records.
func requests(r subjects, token string) []request {
	return []request{
		{"tools/list", "tools/list", nil, token},
		{"tools/call agents_get", "tools/call", object{"name": "agents_get", "arguments": object{"id": r.agent}}, token},
		{"resources/list", "resources/list", nil, token},
		{"resources/templates/list", "resources/templates/list", nil, token},
		{"resources/read", "resources/read", object{"uri": "kobana://inbox/agents/" + string(r.agent)}, token},
		{"prompts/list", "prompts/list", nil, token},
		{"prompts/get", "prompts/get", object{"name": "usage_report", "arguments": object{"month": "2026-11"}}, token},
		{"completion/complete", "completion/complete", object{
			"ref":      object{"type": "ref/resource", "uri": "kobana://inbox/agents/{id}"},
			"argument": object{"name": "id", "value": ""},
		}, token},
	}
}

// alsoConfirmed is a tool that asks first because the operator says so: one
// that can be called any number of times.
const alsoConfirmed = "webhooks_update"

// relabel is a call of that tool; state, unless "", is that of the question
// which it says yes to.
func relabel(r subjects, token, label, state string) request {
	params := object{"name": alsoConfirmed, "arguments": object{"id": r.webhook, "label": label}}
	name := "tools/call, the question"
	if state != "" {
		name = "tools/call, confirmed"
		params["requestState"] = state
		params["inputResponses"] = object{"confirm": object{"action": "accept", "content": object{"confirm": true}}}
	}
	return request{name, "tools/call", params, token}
}

// stateOf is the requestState of a question, an answer to [relabel].
func stateOf(answer []byte) (string, error) {
	var a struct {
		Result struct {
			State string `json:"requestState"`
		} `json:"result"`
	}
	err := json.Unmarshal(answer, &a)
	if err == nil && a.Result.State == "" {
		err = fmt.Errorf("no question: %.500s", answer)
	}
	return a.Result.State, err
}

// bodyOf is the body in what a function answered.
func bodyOf(answer []byte) ([]byte, error) {
	var a struct {
		Body string `json:"body"`
	}
	err := json.Unmarshal(answer, &a)
	return []byte(a.Body), err
}

// firstID is the id of the first record of a list that a tool answered.
func firstID(answer []byte) inbox.ID {
	var a struct {
		Result struct {
			Content struct {
				Data []struct {
					ID inbox.ID `json:"id"`
				} `json:"data"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if json.Unmarshal(answer, &a) != nil || len(a.Result.Content.Data) == 0 {
		return ""
	}
	return a.Result.Content.Data[0].ID
}
