package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Case 15: browser clients could not see the challenge, and preflights failed.
func TestCORS_case_15(t *testing.T) {
	deny := func(o *mcp.Options) {
		o.AllowHeaders = []string{"Kobana-Workspace"}
		o.Authenticate = func(*http.Request) (context.Context, error) {
			return nil, &mcp.Refusal{Status: 401, Header: http.Header{"WWW-Authenticate": {"Bearer"}}, Err: mcp.Errorf(-32600, "a token is needed")}
		}
	}
	preflight := func(origin string) *http.Request {
		r := httptest.NewRequest("OPTIONS", "/mcp", nil)
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("Access-Control-Request-Headers", "mcp-method, mcp-name, mcp-protocol-version, authorization")
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		return r
	}
	for name, h := range map[string]http.Handler{"server": fixture(deny), "router": router(deny), "family": family("tools", deny)} {
		t.Run(name, func(t *testing.T) {
			a := send(t, h, preflight("https://app.example"))
			want := http.Header{
				"Access-Control-Allow-Origin":   {"https://app.example"},
				"Access-Control-Expose-Headers": {"WWW-Authenticate, Retry-After"},
				"Access-Control-Allow-Methods":  {"POST, GET, DELETE"},
				"Access-Control-Allow-Headers":  {"Authorization, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, Kobana-Workspace"},
				"Access-Control-Max-Age":        {"7200"},
				"Vary":                          {"Origin"},
				"Cache-Control":                 {"no-store"},
				"X-Content-Type-Options":        {"nosniff"},
			}
			if diff := cmp.Diff(want, a.header); diff != "" || a.status != http.StatusNoContent || len(a.body) != 0 {
				t.Error("a preflight needs no token:", a.status, diff)
			}
			send(t, h, preflight("https://evil.example")).wantError(t, http.StatusForbidden, -32600, "")
			send(t, h, preflight("")).wantError(t, http.StatusUnauthorized, -32600, "")

			a = send(t, h, legacy("2025-11-25", "ping", "", "Origin: https://app.example"))
			if a.status != 401 || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" ||
				a.header.Get("Access-Control-Expose-Headers") != "WWW-Authenticate, Retry-After" || a.header.Get("Vary") != "Origin" {
				t.Error("a script cannot read the challenge:", a.status, a.header)
			}
			a = send(t, h, legacy("2025-11-25", "ping", "", "Origin: https://evil.example"))
			if _, ok := a.header["Access-Control-Allow-Origin"]; ok || a.status != 403 || a.header.Get("Vary") != "Origin" {
				t.Error("a foreign script can read the answer:", a.status, a.header)
			}
		})
	}
}
