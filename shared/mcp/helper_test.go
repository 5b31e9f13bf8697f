package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const (
	badRequest = http.StatusBadRequest
	key        = "io.modelcontextprotocol/"
	form       = `{"elicitation":{"form":{}}}`
	serverInfo = `"` + key + `serverInfo":{"name":"fixture","version":"1.2.3"}`
)

var info = mcp.Implementation{Name: "fixture", Version: "1.2.3"}

// fixture is a server of everything, with methods that do what their name says.
func fixture(change ...func(*mcp.Options)) *mcp.Server {
	o := mcp.Options{Info: info, Instructions: "Be kind.", Core: true, Methods: fixtureMethods(), AllowOrigin: func(origin string) bool {
		return origin == "https://app.example"
	}}
	for _, f := range change {
		f(&o)
	}
	return mcp.New(o)
}

func fixtureMethods() map[string]mcp.Method {
	return map[string]mcp.Method{
		"tools/list":               listOf("tools", 3),
		"tools/call":               call,
		"resources/list":           listOf("resources", 0),
		"resources/templates/list": listOf("resourceTemplates", 0),
		"resources/read":           fields(`{"contents":[{"uri":"x://a","text":"é世"}]}`, &mcp.Cache{}),
		"prompts/list":             listOf("prompts", 1),
		"prompts/get":              fields(`{"messages":[]}`, nil),
		"completion/complete":      fields(`{"completion":{"values":[]}}`, nil),
	}
}

// call runs the fixture tool that params.name asks for; "ok" answers its arguments.
func call(_ context.Context, r *mcp.Request) (mcp.Run, error) {
	var p struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if err := mcp.Decode(r, &p); err != nil {
		return nil, err
	}
	if p.Name == "scope" {
		return nil, &mcp.Refusal{
			Status: http.StatusForbidden,
			Header: http.Header{"WWW-Authenticate": {`Bearer error="insufficient_scope"`}},
			Err:    mcp.Errorf(mcp.CodeInvalidRequest, "insufficient_scope"),
		}
	}
	return func(ctx context.Context) (*mcp.Result, error) { return runTool(ctx, p.Name, p.Arguments, r) }, nil
}

func runTool(ctx context.Context, name string, arguments jsontext.Value, r *mcp.Request) (*mcp.Result, error) {
	switch name {
	case "ok":
		return &mcp.Result{Fields: mcp.NewObject().Value("content", jsontext.Value("[]")).Value("echo", arguments).Close()}, nil
	case "about":
		return &mcp.Result{Fields: mcp.NewObject().Text("version", string(r.Version)).Bool("form", r.ElicitForm).
			Text("client", r.Client).Text("trace", r.Trace).Close()}, nil
	case "ask":
		return &mcp.Result{InputRequired: true, Fields: jsontext.Value(`{"requestState":"s"}`), Cache: &mcp.Cache{}}, nil
	case "meta":
		return &mcp.Result{Fields: jsontext.Value(`{"isError":true}`), Meta: jsontext.Value(`{"a.b/c":1}`), Outcome: "declined"}, nil
	case "missing":
		return nil, &mcp.Error{Code: mcp.CodeResourceNotFound, Message: "not found", Data: jsontext.Value(`{"uri":"x://no"}`)}
	case "capability":
		return nil, &mcp.Error{Code: mcp.CodeMissingCapability, Message: "form please", Data: jsontext.Value(`{"requiredCapabilities":` + form + `}`)}
	case "mismatch":
		return nil, mcp.Errorf(mcp.CodeHeaderMismatch, "x")
	case "reserved":
		return nil, mcp.Errorf(-32042, "x")
	case "broken":
		return nil, errors.New("the password is 1234")
	case "refused":
		r := &mcp.Refusal{Status: http.StatusServiceUnavailable, Err: mcp.Errorf(http.StatusServiceUnavailable, "later")}
		return nil, fmt.Errorf("%w: %w", r, errors.New("the password is 1234"))
	case "failed":
		return nil, fmt.Errorf("%w: %w", mcp.Errorf(mcp.CodeInternal, "unavailable"), errors.New("the password is 1234"))
	case "panic":
		panic("the password is 1234")
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "stuck":
		time.Sleep(time.Hour) // only ever in a synctest bubble
		return nil, nil
	case "nothing":
		return nil, nil
	case "array":
		return &mcp.Result{Fields: jsontext.Value(`[]`)}, nil
	case "big":
		return &mcp.Result{Fields: jsontext.Value(`{"x":"` + strings.Repeat("x", mcp.MaxAnswer) + `"}`)}, nil
	case "half":
		return &mcp.Result{Fields: jsontext.Value(`{"x":"` + strings.Repeat("x", mcp.MaxAnswer/2) + `"}`)}, nil
	}
	return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool")
}

func fields(object string, cache *mcp.Cache) mcp.Method {
	return func(context.Context, *mcp.Request) (mcp.Run, error) {
		return func(context.Context) (*mcp.Result, error) {
			return &mcp.Result{Fields: jsontext.Value(object), Cache: cache}, nil
		}, nil
	}
}

// listOf lists n items {"n":0}, {"n":1}, … two to a page.
func listOf(member string, n int) mcp.Method {
	var items []jsontext.Value
	for i := range n {
		items = append(items, jsontext.Value(fmt.Sprintf(`{"n":%d}`, i)))
	}
	list := mcp.NewList(member, items, &mcp.Cache{TTL: 30 * time.Second}, 2)
	return func(_ context.Context, r *mcp.Request) (mcp.Run, error) {
		page, err := list.Page(r)
		return func(context.Context) (*mcp.Result, error) { return page, nil }, err
	}
}

// post makes a request with a body and headers: "Name: value" sets, "+Name:
// value" adds, "-Name" takes away.
func post(body string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch line[0] {
		case '-':
			r.Header.Del(name[1:])
		case '+':
			r.Header.Add(name[1:], value)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

// body makes a request with id 1; params are members, "" for none.
func body(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params)
}

// metaOf is the _meta member of a modern request.
func metaOf(version, capabilities string) string {
	return fmt.Sprintf(`"_meta":{"%sprotocolVersion":%q,"%sclientInfo":{"name":"t","version":"1"},"%sclientCapabilities":%s}`,
		key, version, key, key, capabilities)
}

var meta = metaOf("2026-07-28", form)

// modernHeaders are those of a well-formed modern request for method.
func modernHeaders(method string, more ...string) []string {
	return append([]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}, more...)
}

// modern makes a well-formed request of 2026-07-28, changed by headers.
func modern(method, params string, headers ...string) *http.Request {
	if params != "" {
		params += ","
	}
	return post(body(method, params+meta), modernHeaders(method, headers...)...)
}

// tool makes a well-formed modern tools/call.
func tool(name string) *http.Request {
	return modern("tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, name), "Mcp-Name: "+name)
}

// legacy makes a request of a 2025 version, "" for no header.
func legacy(version, method, params string, headers ...string) *http.Request {
	if version != "" {
		headers = append([]string{"MCP-Protocol-Version: " + version}, headers...)
	}
	return post(body(method, params), headers...)
}

func legacyTool(name string) *http.Request {
	return legacy("2025-11-25", "tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, name))
}

// reply is an answer, taken apart.
type reply struct {
	status int
	header http.Header
	body   []byte
	json   struct {
		JSONRPC string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  jsontext.Value `json:"result"`
		Error   *struct {
			Code    int            `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data"`
		} `json:"error"`
	}
}

// send serves one request and checks what holds for every answer.
func send(t testing.TB, h http.Handler, r *http.Request) *reply {
	t.Helper()
	w := httptest.NewRecorder()
	if r.GetBody != nil { // it may have been sent before
		r.Body, _ = r.GetBody()
	}
	h.ServeHTTP(w, r)
	a := &reply{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
	if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("security headers are missing: %v", w.Header())
	}
	contentType := w.Header().Get("Content-Type")
	switch {
	case len(a.body) == 0:
		if contentType != "" {
			t.Errorf("an empty answer has the content type %q", contentType)
		}
		return a
	case contentType != "application/json":
		t.Errorf("Content-Type %q", contentType)
	case a.body[0] == '[':
		return a
	}
	if err := json.Unmarshal(a.body, &a.json, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", a.body, err)
	}
	if a.json.JSONRPC != "2.0" || (a.json.Result == nil) == (a.json.Error == nil) {
		t.Errorf("not a JSON-RPC response: %s", a.body)
	}
	return a
}

// code is the error code of the answer, 0 for a result.
func (a *reply) code() int {
	if a.json.Error == nil {
		return 0
	}
	return a.json.Error.Code
}

// wantError checks status, code and id ("" for none).
func (a *reply) wantError(t testing.TB, status, code int, id string) {
	t.Helper()
	if a.status != status || a.code() != code || string(a.json.ID) != id {
		t.Errorf("got %d/%d id %q, want %d/%d id %q: %s", a.status, a.code(), string(a.json.ID), status, code, id, a.body)
	}
	if a.json.Error != nil && a.json.Error.Message == "" {
		t.Error("an error without a message")
	}
}

// wantResult checks that the answer is 200 with exactly this result.
func (a *reply) wantResult(t testing.TB, result string) {
	t.Helper()
	if a.status != http.StatusOK || string(a.json.ID) != "1" {
		t.Errorf("got %d, id %s: %s", a.status, a.json.ID, a.body)
	}
	sameJSON(t, a.json.Result, result)
}

func sameJSON(t testing.TB, got []byte, want string) {
	t.Helper()
	canonical := func(s []byte) string {
		v := jsontext.Value(bytes.Clone(s))
		if err := v.Canonicalize(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		return string(v)
	}
	if diff := cmp.Diff(canonical([]byte(want)), canonical(got)); diff != "" {
		t.Error(diff)
	}
}

// refusals runs a table of requests that end in an error with id 1.
type refusals []struct {
	name    string
	request *http.Request
	status  int
	code    int
}

func (cases refusals) run(t *testing.T, h http.Handler) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { send(t, h, c.request).wantError(t, c.status, c.code, "1") })
	}
}

// results runs a table of requests that end in exactly this result.
type results []struct {
	name    string
	request *http.Request
	result  string
}

func (cases results) run(t *testing.T, h http.Handler) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { send(t, h, c.request).wantResult(t, c.result) })
	}
}

// complete is a modern result with members; resultType and serverInfo are added.
func complete(members string) string {
	if members != "" {
		members += ","
	}
	return `{` + members + `"resultType":"complete","_meta":{` + serverInfo + `}}`
}
