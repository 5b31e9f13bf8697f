package mcp_test

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// family is the server of one family function.
func family(name string, change ...func(*mcp.Options)) *mcp.Server {
	return fixture(append(change, func(o *mcp.Options) {
		o.Core = false
		maps.DeleteFunc(o.Methods, func(method string, _ mcp.Method) bool { return mcp.FamilyOf(method) != name })
	})...)
}

// router is a router before all four families; it judges batches like them.
func router(change ...func(*mcp.Options)) *mcp.Server {
	return fixture(append([]func(*mcp.Options){func(o *mcp.Options) {
		o.Forward = make(map[string]http.Handler)
		for _, f := range []string{"tools", "resources", "prompts", "completion"} {
			o.Forward[f] = family(f)
		}
	}}, change...)...)
}

func TestRouter_hands_on_what_belongs_to_a_family(t *testing.T) {
	const odd = `{ "id":1, "method":"tools/\u0063all", "jsonrpc":"2.0", "params":[1], "x":1 } `
	var got *http.Request
	var body string
	r := router(func(o *mcp.Options) {
		o.Authenticate = func(*http.Request) (context.Context, error) { t.Error("authenticated"); return nil, nil }
		o.Observe = func(context.Context, mcp.Observation) { t.Error("observed") }
		o.Forward["tools"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got, body = r, string(b)
			w.Header().Set("X-Family", "tools")
			w.WriteHeader(http.StatusTeapot)
			w.Write([]byte("not JSON"))
		})
	})
	w := httptest.NewRecorder()
	sent := post(odd, "MCP-Protocol-Version: 2099-01-01", "Authorization: Bearer x", "Mcp-Name: é", "Origin: https://app.example")
	r.ServeHTTP(w, sent)
	if w.Code != http.StatusTeapot || w.Body.String() != "not JSON" {
		t.Error(w.Code, w.Body)
	}
	if diff := cmp.Diff(http.Header{"X-Family": {"tools"}}, w.Header()); diff != "" {
		t.Error("the answer's headers are not the family's:", diff)
	}
	if body != odd || got.Method != "POST" || got.ContentLength != int64(len(odd)) {
		t.Errorf("changed on the way: %q", body)
	}
	if diff := cmp.Diff(sent.Header, got.Header); diff != "" {
		t.Error(diff)
	}
}

func TestRouter_answers_through_the_families(t *testing.T) {
	r := router()
	results{
		{"tools", modern("tools/list", ""), modernPage},
		{"tools in 2025", legacy("2025-06-18", "tools/list", ""), legacyPage},
		{"completion", modern("completion/complete", ""), complete(`"completion":{"values":[]}`)},
		{"ping", legacy("2025-11-25", "ping", ""), `{}`},
	}.run(t, r)
	refusals{
		{"a family's own check", modern("tools/list", "", "-Mcp-Method"), badRequest, mcp.CodeHeaderMismatch},
		{"an unknown method", modern("tools/what", ""), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"an unknown method in 2025", legacy("", "tools/what", ""), http.StatusOK, mcp.CodeMethodNotFound},
	}.run(t, r)
	send(t, r, post(`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`)).wantError(t, badRequest, mcp.CodeInvalidRequest, "")
	send(t, r, modern("tools/list", "", "Origin: https://evil.example")).wantError(t, http.StatusForbidden, mcp.CodeInvalidRequest, "")
}

func TestFamily_refuses_what_is_not_its_own(t *testing.T) {
	f := family("tools")
	var cases refusals
	for _, method := range []string{"initialize", "ping", "server/discover", "resources/list", "prompts/list", "completion/complete"} {
		cases = append(cases,
			refusals{{method, modern(method, ""), http.StatusNotFound, mcp.CodeMethodNotFound}}[0],
			refusals{{method + " in 2025", legacy("2025-11-25", method, `"protocolVersion":"2025-11-25"`), http.StatusOK, mcp.CodeMethodNotFound}}[0])
	}
	cases.run(t, f)
	results{{"tools", modern("tools/list", ""), modernPage}}.run(t, f)
}

func TestRouter_authenticates_only_what_it_answers(t *testing.T) {
	deny := func(o *mcp.Options) {
		o.Authenticate = func(*http.Request) (context.Context, error) {
			return nil, &mcp.Refusal{Status: 401, Header: http.Header{"Www-Authenticate": {"Bearer"}}, Err: mcp.Errorf(mcp.CodeInvalidRequest, "a token is needed")}
		}
	}
	r := router(deny)
	results{{"the family's to refuse", modern("tools/list", ""), modernPage}}.run(t, r)
	for name, req := range map[string]*http.Request{
		"broken":       post(`{`),
		"too large":    post(strings.Repeat(" ", mcp.MaxBody+1)),
		"array":        post(`[]`),
		"GET":          httptest.NewRequest("GET", "/mcp", nil),
		"notification": post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
	} {
		t.Run("401 before "+name, func(t *testing.T) {
			a := send(t, r, req)
			a.wantError(t, 401, mcp.CodeInvalidRequest, "")
			if a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Error(a.header)
			}
		})
	}
	send(t, r, legacy("2025-11-25", "ping", "")).wantError(t, 401, mcp.CodeInvalidRequest, "1")
}
