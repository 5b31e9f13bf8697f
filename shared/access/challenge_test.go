package access

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const (
	metadataURL = `resource_metadata="` + base + `/.well-known/oauth-protected-resource/mcp"`
	noToken     = `Bearer scope="inbox.read", ` + metadataURL
)

// withError is the challenge of a refusal, whose description is its message.
func withError(code, scope, message string) string {
	return fmt.Sprintf(`Bearer error=%q, error_description=%q, scope=%q, %s`, code, message, scope, metadataURL)
}

func TestAuthorizationHeader(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name    string
		query   string
		headers []string
		status  int
		error   string // the challenge's error parameter
	}{
		{"12.01 no token", "", nil, 401, ""},
		{"12.01 unknown token", "", []string{"Authorization", "Bearer forged"}, 401, "invalid_token"},
		{"12.01 token of nobody", "", []string{"Authorization", "Bearer nobody"}, 401, "invalid_token"},
		{"12.04 empty header is no credentials", "", []string{"Authorization", ""}, 401, ""},
		{"12.10 token in the query", "?access_token=ana", nil, 401, ""},
		{"12.10 bad token beside a good one in the query", "?access_token=ana", []string{"Authorization", "Bearer forged"}, 401, "invalid_token"},
		{"12.10 basic credentials", "", []string{"Authorization", "Basic YW5hOmFuYQ=="}, 401, ""},
		{"12.10 token without a scheme", "", []string{"Authorization", "ana"}, 401, ""},
		{"12.15 empty token", "", []string{"Authorization", "Bearer"}, 400, "invalid_request"},
		{"12.15 blank token", "", []string{"Authorization", "Bearer   "}, 400, "invalid_request"},
		{"12.15 only padding", "", []string{"Authorization", "Bearer =="}, 400, "invalid_request"},
		{"12.15 two headers", "", []string{"Authorization", "Bearer ana", "Authorization", "Bearer ana"}, 400, "invalid_request"},
		{"12.15 two headers of which one is not ours", "", []string{"Authorization", "Basic x", "Authorization", "Bearer ana"}, 400, "invalid_request"},
		{"12.15 two headers joined by a gateway", "", []string{"Authorization", "Bearer ana,Bearer ana"}, 400, "invalid_request"},
		{"12.15 two tokens", "", []string{"Authorization", "Bearer ana bia"}, 400, "invalid_request"},
		{"12.15 quoted", "", []string{"Authorization", `Bearer "ana"`}, 400, "invalid_request"},
		{"12.15 not ASCII", "", []string{"Authorization", "Bearer aná"}, 400, "invalid_request"},
		{"12.15 padding inside", "", []string{"Authorization", "Bearer a=na"}, 400, "invalid_request"},
		{"12.17 a requestState is no credential", "?requestState=ana", []string{"Kobana-Workspace", "books"}, 401, ""},
		{"scheme in any case", "", []string{"Authorization", "bEARER ana"}, 200, ""},
		{"several spaces", "", []string{"Authorization", "Bearer   ana"}, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.send(t, "POST", "/mcp/as/tools/list"+c.query, c.headers...)
			want := ""
			switch {
			case c.error != "":
				want = withError(c.error, "inbox.read", got.message)
			case c.status != 200:
				want = noToken
			}
			if got.status != c.status || got.challenge != want {
				t.Errorf("got %d %s\nwant %d %s", got.status, got.challenge, c.status, want)
			}
			if c.status != 200 && !strings.Contains(got.body, fmt.Sprintf(`"code":%d`, c.status)) {
				t.Errorf("4.04: the code is not the status: %s", got.body)
			}
		})
	}
}

func TestTokenBeforeAnything_12_10(t *testing.T) {
	w := newWorld(t)
	for _, method := range []string{"ping", "initialize", "server/discover", "notifications/initialized", "tools/call"} {
		if got := w.send(t, "POST", "/mcp/as/"+method); got.status != 401 {
			t.Errorf("%s without a token: %d", method, got.status)
		}
	}
	if n := w.table.queries.Load(); n != 0 {
		t.Errorf("%d queries for requests without a token", n)
	}
}

func TestSameTokenOnTwoPaths_case_4(t *testing.T) {
	w := newWorld(t)
	if got := w.call(t, "ana-read", "write"); got.status != 403 {
		t.Fatalf("write: %d", got.status)
	}
	for _, method := range []string{"tools/list", "resources/list"} {
		if got := w.call(t, "ana-read", method); got.status != 200 {
			t.Errorf("%s after a refusal: %d %s", method, got.status, got.body)
		}
	}
}

func TestScopes(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name, token, method string
		status              int
		scope               string
	}{
		{"12.12 a writing tool with inbox.read", "ana-read", "write", 403, "inbox.write"},
		{"R18 a reading one with inbox.read", "ana-read", "tools/list", 200, ""},
		{"12.14 inbox.write implies inbox.read", "ana-write", "tools/list", 200, ""},
		{"12.14 inbox.write alone writes", "ana-write", "write", 200, ""},
		{"12.12 no scope, tools/list", "ana-scopless", "tools/list", 403, "inbox.read"},
		{"12.12 no scope, tools/call", "ana-scopless", "tools/call", 403, "inbox.read"},
		{"case 17 no scope, server/discover", "ana-scopless", "server/discover", 200, ""},
		{"case 17 no scope, initialize", "ana-scopless", "initialize", 200, ""},
		{"case 17 no scope, ping", "ana-scopless", "ping", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.call(t, c.token, c.method)
			want := ""
			if c.scope != "" {
				want = withError("insufficient_scope", c.scope, got.message)
				if !strings.Contains(got.message, c.scope) {
					t.Errorf("the message does not name the scope: %s", got.message)
				}
			}
			if got.status != c.status || got.challenge != want {
				t.Errorf("got %d %s\nwant %d %s", got.status, got.challenge, c.status, want)
			}
		})
	}
}

func TestAllScopesInOneChallenge_12_13(t *testing.T) {
	w := newWorld(t)
	if err := w.RequireScope(&Caller{Token: Token{Scopes: ScopeWrite}}, ScopeRead|ScopeWrite); err != nil {
		t.Errorf("12.14: inbox.write implies inbox.read: %v", err)
	}
	err := w.RequireScope(&Caller{}, ScopeRead|ScopeWrite)
	r, ok := errors.AsType[*mcp.Refusal](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := withError("insufficient_scope", "inbox.read inbox.write", r.Err.Message)
	if diff := cmp.Diff([]string{want}, r.Header.Values("WWW-Authenticate")); diff != "" {
		t.Error(diff)
	}
}

func TestVerifierUnavailable(t *testing.T) {
	w := newWorld(t)
	for _, cause := range []error{ErrUnavailable, fmt.Errorf("dial tcp 10.0.0.1: %w", ErrUnavailable), errors.New("boom in 10.0.0.1")} {
		w.fail(cause)
		got := w.call(t, "ana", "tools/list")
		if got.status != 503 || got.header.Get("Retry-After") != "5" || got.challenge != "" {
			t.Errorf("%v: got %d, Retry-After %q, challenge %q", cause, got.status, got.header.Get("Retry-After"), got.challenge)
		}
		if strings.Contains(got.body, "10.0.0.1") || !strings.Contains(got.message, "nothing was done") {
			t.Errorf("%v: the client is told %s", cause, got.body)
		}
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set("Authorization", "Bearer ana")
		if _, err := w.Authenticate(r); !errors.Is(err, cause) {
			t.Errorf("the log is not told the cause: %v", err)
		}
	}
}

// 12.18: a refusal carries no token, neither to the client nor to the log.
func TestTokensDoNotLeak_12_18(t *testing.T) {
	w := newWorld(t)
	const secret = "s3cr3t-t0k3n"
	for _, header := range []string{secret, "Basic " + secret, "Bearer " + secret, "Bearer " + secret + " x", "Bearer " + secret + `"`} {
		r := httptest.NewRequest("POST", "/mcp?access_token="+secret, nil)
		r.Header.Set("Authorization", header)
		_, err := w.Authenticate(r)
		refusal, ok := errors.AsType[*mcp.Refusal](err)
		if !ok {
			t.Fatalf("%q: %v", header, err)
		}
		if told := fmt.Sprint(err, refusal.Err, refusal.Header); strings.Contains(told, secret) {
			t.Errorf("%q: %s", header, told)
		}
	}
}

// RFC 6750 §3 and checklist 12.16, for every challenge there is.
func TestChallengeSyntax_12_16(t *testing.T) {
	c := challenger{base}
	syntax := regexp.MustCompile(`^Bearer ([a-z_]+="[\x20\x21\x23-\x5b\x5d-\x7e]*"(, |$))+$`)
	for _, r := range []*mcp.Refusal{c.missing(), c.malformed(), c.invalid(), c.scope(ScopeRead), c.scope(rw)} {
		h := r.Header.Get("WWW-Authenticate")
		if !syntax.MatchString(h) || strings.Contains(h, "offline_access") {
			t.Errorf("bad challenge %s", h)
		}
		if r.Err.Code != r.Status || r.Err.Code < 0 {
			t.Errorf("code %d for status %d (4.03, 4.04)", r.Err.Code, r.Status)
		}
	}
}

func TestNearAddresses_case_17(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/", "/mcp/", "/MCP", "/MCP/"} {
		for _, headers := range [][]string{nil, {"Authorization", "Bearer ana", "Origin", "https://app.example"}} {
			got := w.send(t, "POST", path, headers...)
			if got.status != 401 || got.challenge != noToken || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("POST %s: %d %v", path, got.status, got.header)
			}
			if !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","error":{"code":401,"message":"The MCP server is at `+base+`/mcp, not here.`) {
				t.Errorf("POST %s: %s", path, got.body)
			}
			if got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Access-Control-Expose-Headers") != "WWW-Authenticate" {
				t.Errorf("case 15: a page cannot see the challenge: %v", got.header)
			}
		}
	}
}

// Not every address is near: 1.33 wants a 404 at the old transport's.
func TestFarAddresses_1_33(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/sse", "/mcp/x", "/.well-known/openid-configuration"} {
		if got := w.send(t, "GET", path); got.status != 404 {
			t.Errorf("GET %s: %d", path, got.status)
		}
	}
}

func TestPreflight_case_15(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/", MetadataPath, MetadataPath + "/mcp"} {
		got := w.send(t, "OPTIONS", path, "Origin", "https://app.example", "Access-Control-Request-Headers", "authorization, mcp-protocol-version")
		allowed := got.header.Get("Access-Control-Allow-Headers")
		if got.status != http.StatusNoContent || got.body != "" || allowed != "Authorization, *" || got.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("OPTIONS %s: %d %v", path, got.status, got.header)
		}
	}
}
