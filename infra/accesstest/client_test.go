package accesstest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/infra/wirecheck"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = wire.Object

// client speaks to a process with one token, in one revision of the protocol.
type client struct {
	handler http.Handler
	token   string
	version mcp.Version
	headers []string // of every request
}

func (w *world) as(token string) client { return client{w.handler, token, mcp.V20260728, nil} }

func (c client) in(v mcp.Version) client  { c.version = v; return c }
func (c client) at(h http.Handler) client { c.handler = h; return c }
func (c client) with(h ...string) client {
	c.headers = append(c.headers[:len(c.headers):len(c.headers)], h...)
	return c
}
func (c client) inWorkspace(id string) client { return c.with("Kobana-Workspace: " + id) }

// eachEra runs a test in the newest revision and in one of 2025.
func eachEra(t *testing.T, test func(*testing.T, mcp.Version)) {
	for _, v := range []mcp.Version{mcp.V20260728, mcp.V20250618} {
		t.Run(string(v), func(t *testing.T) { test(t, v) })
	}
}

// reply is an answer, taken apart.
type reply struct {
	status    int
	challenge string
	header    http.Header
	body      string
	Result    jsontext.Value `json:"result"`
	Error     *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// code is the JSON-RPC error code, 0 for a result.
func (r reply) code() int {
	if r.Error == nil {
		return 0
	}
	return r.Error.Code
}

// send sends a request as a well-behaved client of the revision does.
func (c client) send(t *testing.T, method string, params object) reply {
	t.Helper()
	body, headers := wire.Request(c.version, c.token, method, params)
	return c.post(t, "/mcp", body, append(headers, c.headers...)...)
}

// post sends a body as it is.
func (c client) post(t *testing.T, path, body string, headers ...string) reply {
	t.Helper()
	return c.exchange(t, http.MethodPost, path, body, headers...)
}

func (c client) exchange(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, publicURL+path, strings.NewReader(body))
	r.Header = wire.Header(headers...)
	w := httptest.NewRecorder()
	c.handler.ServeHTTP(w, r)
	wirecheck.Judge(t, r, []byte(body), w.Code, w.Header(), w.Body.Bytes())
	got := reply{status: w.Code, header: w.Header(), challenge: w.Header().Get("WWW-Authenticate"), body: w.Body.String()}
	if w.Header().Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("HTTP %d: %v\n%s", w.Code, err, w.Body)
		}
	}
	return got
}

// answer is what a tool said.
type answer struct {
	reply
	failed  bool   // isError
	asks    bool   // input_required
	state   string // of the question
	text    string // of the first block
	failure string // code of the tool error
}

// call calls a tool.
func (c client) call(t *testing.T, tool string, args object) answer {
	t.Helper()
	if args == nil {
		args = object{}
	}
	return c.callWith(t, object{"name": tool, "arguments": args})
}

func (c client) callWith(t *testing.T, params object) answer {
	t.Helper()
	a := answer{reply: c.send(t, "tools/call", params)}
	if a.Result == nil {
		return a
	}
	r := decode[struct {
		ResultType   string `json:"resultType"`
		RequestState string `json:"requestState"`
		Content      []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
		Meta    struct {
			Error struct {
				Code string `json:"code"`
			} `json:"br.com.kobana/error"`
		} `json:"_meta"`
	}](t, a.Result)
	a.failed, a.asks, a.state, a.failure = r.IsError, r.ResultType == "input_required", r.RequestState, r.Meta.Error.Code
	if len(r.Content) > 0 {
		a.text = r.Content[0].Text
	}
	return a
}

// yes is an explicit yes to the question of a call.
func (a answer) yes(tool string, args object) object {
	return object{"name": tool, "arguments": args, "requestState": a.state,
		"inputResponses": object{"confirm": object{"action": "accept", "content": object{"confirm": true}}}}
}

// confirmed calls a destructive tool and says yes: it must succeed.
func (c client) confirmed(t *testing.T, tool string, args object) {
	t.Helper()
	if a := c.callWith(t, c.call(t, tool, args).yes(tool, args)); a.failed || a.asks || a.Result == nil {
		t.Fatalf("%s %v: HTTP %d %s", tool, args, a.status, a.body)
	}
}

// get calls a tool that must succeed.
func (c client) get(t *testing.T, tool string, args object) object {
	t.Helper()
	a := c.call(t, tool, args)
	if a.status != http.StatusOK || a.Error != nil || a.failed || a.asks {
		t.Fatalf("%s %v: HTTP %d %s", tool, args, a.status, a.body)
	}
	return decode[object](t, jsontext.Value(a.text))
}

// list is the first page of a list tool.
func (c client) list(t *testing.T, tool string, args object) (records []object) {
	t.Helper()
	for _, r := range c.get(t, tool, args)["data"].([]any) {
		records = append(records, r.(object))
	}
	return records
}

// names are the members called name of what a list method lists.
func (c client) names(t *testing.T, method, list, name string) []string {
	t.Helper()
	r := c.send(t, method, nil)
	if r.status != http.StatusOK || r.Error != nil {
		t.Fatalf("%s: HTTP %d %s", method, r.status, r.body)
	}
	names := []string{}
	for _, entry := range decode[object](t, r.Result)[list].([]any) {
		names = append(names, entry.(object)[name].(string))
	}
	return names
}

// complete is what is suggested for an argument of a prompt or resource.
func (c client) complete(t *testing.T, ref object, argument, typed string) reply {
	t.Helper()
	return c.send(t, "completion/complete", object{"ref": ref, "argument": object{"name": argument, "value": typed}})
}

// values are the suggestions in an answer.
func (r reply) values(t *testing.T) (values []string) {
	t.Helper()
	if r.status != http.StatusOK || r.Error != nil {
		t.Fatalf("HTTP %d %s", r.status, r.body)
	}
	for _, v := range decode[object](t, r.Result)["completion"].(object)["values"].([]any) {
		values = append(values, v.(string))
	}
	return values
}

func decode[T any](t *testing.T, v jsontext.Value) (into T) {
	t.Helper()
	if err := json.Unmarshal(v, &into); err != nil {
		t.Fatalf("%v\n%s", err, v)
	}
	return into
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
