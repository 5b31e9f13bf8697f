package differential_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/conformance/fixtures"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = map[string]any

// request is one POST, and what is wrong with it.
type request struct {
	what    string // the twist, "" when it is well-formed
	version mcp.Version
	method  string
	params  object
	header  http.Header
	message object
	raw     string // the body, when it is not the message
}

// body is what is posted.
func (q request) body() string {
	if q.raw != "" {
		return q.raw
	}
	text, err := json.Marshal(q.message, json.Deterministic(true))
	if err != nil {
		panic(err) // it is made of maps, strings and numbers
	}
	return string(text)
}

// generator makes requests.
type generator struct {
	rand *rand.Rand
	set  *fixtures.Set
}

func pick[T any](g *generator, from ...T) T { return from[g.rand.IntN(len(from))] }

// request makes the next request: half of them as they should be, half with
// one twist.
func (g *generator) request() request {
	q := request{version: pick(g, append(mcp.Versions(), mcp.V20260728, "")...), header: http.Header{
		"Accept":       {"application/json, text/event-stream"},
		"Content-Type": {"application/json"},
	}}
	q.method, q.params = g.call()
	q.message = object{"jsonrpc": "2.0", "id": pick[any](g, 1, 42, "a", ""), "method": q.method, "params": q.params}
	if q.version.Modern() {
		q.params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion":    q.version,
			"io.modelcontextprotocol/clientInfo":         object{"name": "differential", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": pick(g, object{}, object{"elicitation": object{}}, object{"elicitation": object{"form": object{}}, "sampling": object{}, "roots": object{}}),
		}
		q.header.Set("Mcp-Method", q.method)
	}
	if q.version != "" {
		q.header.Set("Mcp-Protocol-Version", string(q.version))
	}
	for _, member := range []string{"name", "uri"} {
		if name, ok := q.params[member].(string); ok && q.version.Modern() {
			q.header.Set("Mcp-Name", name)
		}
	}
	if g.rand.IntN(2) == 0 {
		chosen := pick(g, twists...)
		q.what = chosen.what
		chosen.twist(g, &q)
	}
	return q
}

// call makes a method with params that suit it.
func (g *generator) call() (method string, params object) {
	method = pick(g, "ping", "initialize", "server/discover", "tools/list", "tools/call", "tools/call", "resources/list", "resources/templates/list",
		"resources/read", "prompts/list", "prompts/get", "completion/complete", "no/such", "logging/setLevel", "resources/subscribe", "subscriptions/listen")
	params = object{}
	switch method {
	case "initialize":
		params = object{"protocolVersion": pick(g, "2025-11-25", "2025-06-18", "2025-03-26"), "capabilities": object{}, "clientInfo": object{"name": "n", "version": "1"}}
	case "tools/call":
		name := g.name(g.set.Tools, "name")
		params = object{"name": name, "arguments": pick(g, object{}, object{"x": 1})}
		g.answer(name, params)
	case "resources/read":
		params = object{"uri": pick(g, g.name(g.set.Resources, "uri"), "test://template/7/data", "test://no-such")}
	case "prompts/get":
		name := g.name(g.set.Prompts, "name")
		params = object{"name": name, "arguments": object{"arg1": "a", "arg2": "é\"{arg1}", "resourceUri": "x://y"}}
		g.answer(name, params)
	case "completion/complete":
		params = object{
			"ref": pick(g, object{"type": "ref/prompt", "name": "test_prompt_with_arguments"}, object{"type": "ref/prompt", "name": "no_such"},
				object{"type": "ref/resource", "uri": "test://template/{id}/data"}),
			"argument": object{"name": pick(g, "arg1", "id", "none"), "value": pick(g, "", "p", "par", "1")},
		}
	}
	return method, params
}

// name is one of what is listed, or of nothing.
func (g *generator) name(list []jsontext.Value, member string) string {
	var d map[string]any
	if err := json.Unmarshal(pick(g, list...), &d); err != nil {
		panic(err)
	}
	if g.rand.IntN(10) == 0 {
		return "no_such"
	}
	return d[member].(string)
}

// answer may answer what a fixture asks.
func (g *generator) answer(name string, params object) {
	for _, round := range g.set.Rounds[name] {
		if g.rand.IntN(2) == 0 {
			continue
		}
		responses := object{}
		for _, key := range round.Ask {
			responses[key] = pick(g, object{"action": "accept", "content": object{"name": "x"}}, object{"action": "accept", "content": object{"name": "x"}}, object{"action": "decline"})
		}
		params["inputResponses"] = responses
		if round.State != "" {
			params["requestState"] = round.State
		}
	}
}

// twists are what can be wrong with a request.
var twists = []struct {
	what  string
	twist func(g *generator, q *request)
}{
	{"id missing", func(_ *generator, q *request) { delete(q.message, "id") }},
	{"id null", func(_ *generator, q *request) { q.message["id"] = nil }},
	{"id fraction", func(_ *generator, q *request) { q.message["id"] = 1.5 }},
	{"id large", func(_ *generator, q *request) { q.message["id"] = jsontext.Value("9007199254740993") }},
	{"id object", func(_ *generator, q *request) { q.message["id"] = object{} }},
	{"jsonrpc missing", func(_ *generator, q *request) { delete(q.message, "jsonrpc") }},
	{"jsonrpc wrong", func(_ *generator, q *request) { q.message["jsonrpc"] = "1.0" }},
	{"method missing", func(_ *generator, q *request) { delete(q.message, "method") }},
	{"method number", func(_ *generator, q *request) { q.message["method"] = 7 }},
	{"params missing", func(_ *generator, q *request) { delete(q.message, "params") }},
	{"params null", func(_ *generator, q *request) { q.message["params"] = nil }},
	{"params array", func(_ *generator, q *request) { q.message["params"] = []any{} }},
	{"params text", func(_ *generator, q *request) { q.message["params"] = "x" }},
	{"_meta missing", func(_ *generator, q *request) { delete(q.params, "_meta") }},
	{"_meta text", func(_ *generator, q *request) { q.params["_meta"] = "x" }},
	{"_meta unknown key", func(_ *generator, q *request) { q.meta()["com.acme/x"] = 1 }},
	{"_meta progressToken", func(_ *generator, q *request) { q.meta()["progressToken"] = 7 }},
	{"_meta traceparent garbage", func(_ *generator, q *request) { q.meta()["traceparent"] = "garbage" }},
	{"_meta version other", func(_ *generator, q *request) {
		q.meta()["io.modelcontextprotocol/protocolVersion"] = "1900-01-01"
	}},
	{"_meta capabilities missing", func(_ *generator, q *request) {
		delete(q.meta(), "io.modelcontextprotocol/clientCapabilities")
	}},
	{"_meta capabilities text", func(_ *generator, q *request) { q.meta()["io.modelcontextprotocol/clientCapabilities"] = "x" }},
	{"_meta client missing", func(_ *generator, q *request) { delete(q.meta(), "io.modelcontextprotocol/clientInfo") }},
	{"_meta client text", func(_ *generator, q *request) { q.meta()["io.modelcontextprotocol/clientInfo"] = "x" }},
	{"_meta logLevel", func(g *generator, q *request) {
		q.meta()["io.modelcontextprotocol/logLevel"] = pick(g, "info", "loud")
	}},
	{"version header missing", func(_ *generator, q *request) { q.header.Del("Mcp-Protocol-Version") }},
	{"version header unknown", func(_ *generator, q *request) { q.header.Set("Mcp-Protocol-Version", "1900-01-01") }},
	{"version header newest", func(_ *generator, q *request) { q.header.Set("Mcp-Protocol-Version", "2026-07-28") }},
	{"version unknown everywhere", func(_ *generator, q *request) {
		q.header.Set("Mcp-Protocol-Version", "1900-01-01")
		q.meta()["io.modelcontextprotocol/protocolVersion"] = "1900-01-01"
	}},
	{"Mcp-Method missing", func(_ *generator, q *request) { q.header.Del("Mcp-Method") }},
	{"Mcp-Method other", func(g *generator, q *request) { q.header.Set("Mcp-Method", pick(g, "x", "TOOLS/LIST")) }},
	{"Mcp-Method spaced", func(_ *generator, q *request) { q.header.Set("Mcp-Method", " "+q.method+" ") }},
	{"Mcp-Name missing", func(_ *generator, q *request) { q.header.Del("Mcp-Name") }},
	{"Mcp-Name other", func(_ *generator, q *request) { q.header.Set("Mcp-Name", "other") }},
	{"Mcp-Name in base64", func(_ *generator, q *request) {
		q.header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(q.header.Get("Mcp-Name")))+"?=")
	}},
	{"Mcp-Session-Id", func(_ *generator, q *request) { q.header.Set("Mcp-Session-Id", "x") }},
	{"Last-Event-ID", func(_ *generator, q *request) { q.header.Set("Last-Event-ID", "1") }},
	{"Origin foreign", func(_ *generator, q *request) { q.header.Set("Origin", "https://evil.example") }},
	{"Accept missing", func(_ *generator, q *request) { q.header.Del("Accept") }},
	{"Content-Type missing", func(_ *generator, q *request) { q.header.Del("Content-Type") }},
	{"body cut", func(_ *generator, q *request) { q.raw = `{"jsonrpc":"2.0","id":1,"meth` }},
	{"body text", func(_ *generator, q *request) { q.raw = `"x"` }},
	{"body empty", func(_ *generator, q *request) { q.raw = " " }},
	{"batch", func(_ *generator, q *request) {
		q.raw = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`
	}},
	{"response posted", func(_ *generator, q *request) { q.raw = `{"jsonrpc":"2.0","id":1,"result":{}}` }},
	{"member twice", func(_ *generator, q *request) {
		q.raw = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"method":"ping","params":{}}`, q.method)
	}},
	{"member in capitals", func(_ *generator, q *request) {
		q.raw = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"Method":%q,"params":{}}`, q.method)
	}},
	{"unknown member", func(_ *generator, q *request) { q.message["x"], q.params["x"] = 1, 1 }},
	{"name number", func(_ *generator, q *request) { q.params["name"] = 7 }},
	{"name missing", func(_ *generator, q *request) { delete(q.params, "name") }},
	{"uri number", func(_ *generator, q *request) { q.params["uri"] = 7 }},
	{"arguments array", func(_ *generator, q *request) { q.params["arguments"] = []any{} }},
	{"arguments number", func(_ *generator, q *request) { q.params["arguments"] = object{"arg1": 1, "arg2": "x"} }},
	{"arguments missing", func(_ *generator, q *request) { delete(q.params, "arguments") }},
	{"cursor", func(g *generator, q *request) { q.params["cursor"] = pick[any](g, "zz", "", 7, nil) }},
	{"inputResponses", func(g *generator, q *request) {
		q.params["inputResponses"] = pick[any](g, nil, object{}, object{"user_name": 7}, "x")
	}},
	{"requestState", func(g *generator, q *request) { q.params["requestState"] = pick[any](g, "forged", 7, "") }},
	{"protocolVersion", func(g *generator, q *request) {
		q.params["protocolVersion"] = pick[any](g, "1.0", "2026-07-28", 7)
	}},
	{"ref", func(g *generator, q *request) {
		q.params["ref"] = pick[any](g, "x", object{"type": "ref/none"}, nil)
	}},
}

// meta is the _meta of the params, made if there is none.
func (q *request) meta() object {
	m, ok := q.params["_meta"].(object)
	if !ok {
		m = object{}
		q.params["_meta"] = m
	}
	return m
}
