package local

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = wire.Object

// client speaks to a server as one person, in one revision of the protocol.
type client struct {
	server  *Server
	token   string
	version mcp.Version
	headers []string // of every request
}

// as is a client of the shared server, in the newest revision.
func as(token string) client { return client{server: shared, token: token, version: mcp.V20260728} }

func (c client) at(s *Server) client     { c.server = s; return c }
func (c client) in(v mcp.Version) client { c.version = v; return c }
func (c client) with(h ...string) client {
	c.headers = append(c.headers[:len(c.headers):len(c.headers)], h...)
	return c
}
func (c client) endpoint() string { return c.server.URL + "/mcp" }

// reply is an answer, taken apart.
type reply struct {
	status int
	header http.Header
	body   []byte
	Result jsontext.Value `json:"result"`
	Error  *rpcError      `json:"error"`
}

type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data"`
}

// request is what a well-behaved client of the revision sends: body and
// headers.
func (c client) request(method string, params object) (string, []string) {
	body, headers := wire.Request(c.version, c.token, method, params)
	return body, append(headers, c.headers...)
}

// send sends a request and reads the answer, which is JSON.
func (c client) send(t *testing.T, method string, params object) reply {
	t.Helper()
	body, headers := c.request(method, params)
	return c.post(t, body, headers...)
}

// post sends a body as it is.
func (c client) post(t *testing.T, body string, headers ...string) reply {
	t.Helper()
	return postTo(t, c.endpoint(), body, headers...)
}

func postTo(t *testing.T, url, body string, headers ...string) reply {
	t.Helper()
	resp, b := exchange(t, http.MethodPost, url, body, headers...)
	r := reply{status: resp.StatusCode, header: resp.Header, body: b}
	if resp.Header.Get("Content-Type") == "application/json" {
		if err := json.Unmarshal(b, &r); err != nil && b[0] == '{' {
			t.Fatalf("HTTP %d: %v\n%s", r.status, err, b)
		}
	}
	return r
}

// result decodes the result of a request that must succeed.
func (c client) result(t *testing.T, method string, params object) object {
	t.Helper()
	r := c.send(t, method, params)
	if r.status != http.StatusOK || r.Error != nil {
		t.Fatalf("%s %v: HTTP %d\n%s", method, params, r.status, r.body)
	}
	return decode[object](t, r.Result)
}

// answer is what a tool said.
type answer struct {
	reply
	failed     bool   // isError
	text       string // of the first block
	code       string // of the error
	blocks     int
	structured jsontext.Value
}

// call calls a tool.
func (c client) call(t *testing.T, tool string, args object) answer {
	t.Helper()
	if args == nil {
		args = object{}
	}
	a := answer{reply: c.send(t, "tools/call", object{"name": tool, "arguments": args})}
	if a.Result == nil {
		return a
	}
	r := decode[struct {
		Content           []struct{ Type, Text string }
		IsError           bool           `json:"isError"`
		StructuredContent jsontext.Value `json:"structuredContent"`
		Meta              struct {
			Error struct{ Code string } `json:"br.com.kobana/error"`
		} `json:"_meta"`
	}](t, a.Result)
	a.failed, a.blocks, a.structured, a.code = r.IsError, len(r.Content), r.StructuredContent, r.Meta.Error.Code
	if len(r.Content) > 0 {
		a.text = r.Content[0].Text
	}
	return a
}

// get calls a tool that must succeed, and decodes what it answers.
func get[T any](t *testing.T, c client, tool string, args object) T {
	t.Helper()
	a := c.call(t, tool, args)
	if a.Error != nil || a.failed || a.status != http.StatusOK {
		t.Fatalf("%s %v: HTTP %d\n%s", tool, args, a.status, a.body)
	}
	return decode[T](t, jsontext.Value(a.text))
}

// page is one page of a list tool.
type page struct {
	Data       []object `json:"data"`
	NextCursor *string  `json:"next_cursor"`
}

// list is the first page of a list tool.
func (c client) list(t *testing.T, tool string, args object) []object {
	t.Helper()
	return get[page](t, c, tool, args).Data
}

// id is the id of the newest record of a list.
func (c client) id(t *testing.T, tool string, args object) string {
	t.Helper()
	records := c.list(t, tool, args)
	if len(records) == 0 {
		t.Fatalf("%s %v is empty", tool, args)
	}
	return records[0]["id"].(string)
}

// where is the first record of a list whose field has the value.
func (c client) where(t *testing.T, tool, field string, value any) object {
	t.Helper()
	for _, r := range c.list(t, tool, nil) {
		if r[field] == value {
			return r
		}
	}
	t.Fatalf("%s has no record whose %s is %v", tool, field, value)
	return nil
}

func decode[T any](t *testing.T, v jsontext.Value) T {
	t.Helper()
	var into T
	if err := json.Unmarshal(v, &into, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v\n%s", err, v)
	}
	return into
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// eachVersion runs a test in every revision.
func eachVersion(t *testing.T, test func(*testing.T, mcp.Version)) {
	for _, v := range mcp.Versions() {
		t.Run(string(v), func(t *testing.T) { test(t, v) })
	}
}

// eachEra runs a test in the newest and in the oldest revision.
func eachEra(t *testing.T, test func(*testing.T, mcp.Version)) {
	for _, v := range []mcp.Version{mcp.V20260728, mcp.V20250326} {
		t.Run(string(v), func(t *testing.T) { test(t, v) })
	}
}

func has(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
