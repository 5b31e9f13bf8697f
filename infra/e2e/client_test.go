package e2e

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/infra/wirecheck"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = wire.Object

// client speaks to an endpoint as one person, in one revision.
type client struct {
	url     string
	token   string
	version mcp.Version
	headers []string // of every request
}

// owner is the owner of the demo's workspace, at the first lane, in the newest
// revision.
func (s *Stack) owner(t *testing.T) client {
	t.Helper()
	return client{s.lanes[0].api.URL + "/mcp", s.token(t, "owner", "inbox.read inbox.write", nil), mcp.V20260728, nil}
}

func (c client) at(l *lane) client            { c.url = l.api.URL + "/mcp"; return c }
func (c client) family(name string) client    { c.url += "/" + name; return c }
func (c client) in(v mcp.Version) client      { c.version = v; return c }
func (c client) as(token string) client       { c.token = token; return c }
func (c client) with(header ...string) client { c.headers = header; return c }

// reply is an answer.
type reply struct {
	*http.Response
	body   []byte
	Result jsontext.Value `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	} `json:"error"`
	ID jsontext.Value `json:"id"`
}

// exchange sends an HTTP request; headers are "Name: value".
func exchange(t *testing.T, method, url, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = wire.Header(headers...)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	a := reply{Response: resp}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		t.Fatal(err)
	}
	wirecheck.Judge(t, r, []byte(body), resp.StatusCode, resp.Header, a.body)
	if resp.Header.Get("Content-Type") == "application/json" && len(a.body) > 0 && a.body[0] == '{' {
		if err := json.Unmarshal(a.body, &a); err != nil {
			t.Fatalf("HTTP %d: %v\n%s", resp.StatusCode, err, a.body)
		}
	}
	return a
}

// send sends what a well-behaved client of the revision does.
func (c client) send(t *testing.T, method string, params object) reply {
	t.Helper()
	if c.version.Modern() {
		meta := wire.Meta(object{"elicitation": object{"form": object{}}})
		meta["traceparent"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
		all := object{"_meta": meta}
		maps.Copy(all, params) // which may have one of their own
		params = all
	}
	body, headers := wire.Request(c.version, c.token, method, params)
	return exchange(t, http.MethodPost, c.url, body, append(headers, c.headers...)...)
}

// result is the result of a request that must succeed.
func (c client) result(t *testing.T, method string, params object) object {
	t.Helper()
	a := c.send(t, method, params)
	if a.StatusCode != http.StatusOK || a.Error != nil || string(a.ID) != "1" {
		t.Fatalf("%s %v: HTTP %d\n%s", method, params, a.StatusCode, a.body)
	}
	return decode[object](t, a.Result)
}

// outcome is what a tool answered.
type outcome struct {
	Content []struct{ Type, Text string } `json:"content"`
	IsError bool                          `json:"isError"`
	Meta    struct {
		Error struct {
			Code string `json:"code"`
		} `json:"br.com.kobana/error"`
	} `json:"_meta"`
	Type     string         `json:"resultType"`
	State    string         `json:"requestState"`
	Requests map[string]any `json:"inputRequests"`
}

// code is the outcome in one word: that of the error, "asked", or "".
func (o outcome) code() string {
	if o.Type == "input_required" {
		return "asked"
	}
	return o.Meta.Error.Code
}

// call calls a tool; more are further members of the params.
func (c client) call(t *testing.T, tool string, arguments object, more ...object) outcome {
	t.Helper()
	params := object{"name": tool, "arguments": arguments}
	for _, m := range more {
		maps.Copy(params, m)
	}
	a := c.send(t, "tools/call", params)
	if a.Result == nil {
		t.Fatalf("%s: HTTP %d\n%s", tool, a.StatusCode, a.body)
	}
	return decode[outcome](t, a.Result)
}

// read calls a tool that must succeed, and decodes what it answers.
func (c client) read(t *testing.T, tool string, arguments object) object {
	t.Helper()
	o := c.call(t, tool, arguments)
	if o.code() != "" {
		t.Fatalf("%s: %+v", tool, o)
	}
	return decode[object](t, []byte(o.Content[0].Text))
}

// list is the first page of a list tool.
func (c client) list(t *testing.T, tool string, arguments object) (records []object) {
	t.Helper()
	for _, r := range c.read(t, tool, arguments)["data"].([]any) {
		records = append(records, r.(object))
	}
	return records
}

// id is the id of the newest record of a list.
func (c client) id(t *testing.T, tool string) string {
	t.Helper()
	records := c.list(t, tool, object{})
	if len(records) == 0 {
		t.Fatalf("%s is empty", tool)
	}
	return records[0]["id"].(string)
}

// names are those of what a list method lists, by a member.
func names(result object, list, member string) (names []string) {
	for _, item := range result[list].([]any) {
		names = append(names, item.(object)[member].(string))
	}
	return names
}

func decode[T any](t *testing.T, text []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}
