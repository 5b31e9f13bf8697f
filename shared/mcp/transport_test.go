package mcp_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// page is the first page of the fixture's tools.
const page = `"tools":[{"n":0},{"n":1}],"nextCursor":"dG9vbHMgMiA4N3dmazU"`

var (
	modernPage = complete(page + `,"ttlMs":30000,"cacheScope":"private"`)
	legacyPage = `{` + page + `}`
	emptyCall  = `"content":[],"echo":{}`
)

func TestTransport(t *testing.T) {
	sentinel := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	read := complete(`"contents":[{"uri":"x://a","text":"é世"}],"ttlMs":0,"cacheScope":"private"`)
	results{
		{"1.01 POST is served", modern("tools/list", ""), modernPage},
		{"1.02 no Origin", modern("tools/list", "", "-Origin"), modernPage},
		{"1.02 an allowed Origin", modern("tools/list", "", "Origin: https://app.example"), modernPage},
		{"1.10 UTF-8 both ways", modern("tools/call", `"name":"ok","arguments":{"a":"é世"}`, "Mcp-Name: ok"), complete(`"content":[],"echo":{"a":"é世"}`)},
		{"1.15 no header and no _meta is 2025-03-26", legacy("", "tools/list", ""), legacyPage},
		{"1.19 Mcp-Name in base64", modern("resources/read", `"uri":"x://é"`, "Mcp-Name: "+sentinel("x://é")), read},
		{"1.19 Mcp-Name in base64 though it need not be", modern("resources/read", `"uri":"x://a"`, "Mcp-Name: "+sentinel("x://a")), read},
		{"1.19 Mcp-Name plain, the body escaped", modern("resources/read", `"uri":"x:\/\/\u0061"`, "Mcp-Name: x://a"), read},
		{"1.20 upper-case markers are literal", modern("resources/read", `"uri":"=?BASE64?eA==?="`, "Mcp-Name: =?BASE64?eA==?="), read},
		{"1.20 a prefix alone is literal", modern("resources/read", `"uri":"=?base64?eA=="`, "Mcp-Name: =?base64?eA=="), read},
		{"1.20 a suffix alone is literal", modern("resources/read", `"uri":"eA==?="`, "Mcp-Name: eA==?="), read},
		{"1.20 overlapping markers are literal", modern("resources/read", `"uri":"=?base64?="`, "Mcp-Name: =?base64?="), read},
		{"1.20 an empty value in base64", modern("resources/read", `"uri":""`, "Mcp-Name: =?base64??="), read},
		{"1.22 space around values", modern("tools/call", `"name":"ok","arguments":{}`, "MCP-PROTOCOL-VERSION:  2026-07-28 ", "MCP-METHOD: \ttools/call ", "mcp-name:  ok\t"), complete(emptyCall)},
		{"1.23 no Mcp headers in the 2025 era", legacyTool("ok"), `{` + emptyCall + `}`},
		{"1.23 wrong Mcp headers in the 2025 era", legacy("2025-11-25", "tools/list", "", "Mcp-Method: x", "Mcp-Name: y"), legacyPage},
		{"1.27 Mcp-Param headers are ignored", modern("tools/list", "", "Mcp-Param-X: é"), modernPage},
		{"1.30 a session id is ignored", modern("tools/list", "", "Mcp-Session-Id: x"), modernPage},
		{"1.30 a session id is ignored in 2025", legacy("2025-06-18", "tools/list", "", "Mcp-Session-Id: x"), legacyPage},
		{"1.31 Last-Event-ID is ignored", modern("tools/list", "", "Last-Event-ID: 1"), modernPage},
		{"14.12 no Accept, another Content-Type", modern("tools/list", "", "-Accept", "Content-Type: text/plain"), modernPage},
		{"14.23 Mcp-Name on a method without one", modern("tools/list", "", "Mcp-Name: é"), modernPage},
	}.run(t, fixture())
}

func TestTransportRefusals(t *testing.T) {
	call := func(name string, headers ...string) *http.Request {
		return modern("tools/call", `"name":"`+name+`","arguments":{}`, headers...)
	}
	refusals{
		{"1.11 the version header is missing", modern("tools/list", "", "-MCP-Protocol-Version"), badRequest, mcp.CodeHeaderMismatch},
		{"1.11 the version header is missing, the version is empty", post(body("tools/list", metaOf("", form)), "Mcp-Method: tools/list"), badRequest, mcp.CodeHeaderMismatch},
		{"1.12 another version in the header", modern("tools/list", "", "MCP-Protocol-Version: 2025-11-25"), badRequest, mcp.CodeHeaderMismatch},
		{"1.12 mismatch wins over unsupported", post(body("server/discover", metaOf("v999.0.0", form)), modernHeaders("server/discover")...), badRequest, mcp.CodeHeaderMismatch},
		{"1.12 an unsupported header against a known _meta", modern("tools/list", "", "MCP-Protocol-Version: 1900-01-01"), badRequest, mcp.CodeHeaderMismatch},
		{"1.12 the version header twice", modern("tools/list", "", "+MCP-Protocol-Version: 2026-07-28"), badRequest, mcp.CodeHeaderMismatch},
		{"1.14 an unknown method", modern("foo/bar", ""), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"1.16 a legacy version that does not exist", legacy("1999-01-01", "tools/list", ""), badRequest, mcp.CodeUnsupportedProtocol},
		{"1.16 an empty version header", legacy("", "tools/list", "", "MCP-Protocol-Version: "), badRequest, mcp.CodeUnsupportedProtocol},
		{"1.16 two legacy versions", legacy("2025-11-25", "tools/list", "", "+MCP-Protocol-Version: 2025-11-25"), badRequest, mcp.CodeUnsupportedProtocol},
		{"1.17 Mcp-Method missing", modern("tools/list", "", "-Mcp-Method"), badRequest, mcp.CodeHeaderMismatch},
		{"1.17 Mcp-Method of another method", modern("tools/list", "", "Mcp-Method: prompts/list"), badRequest, mcp.CodeHeaderMismatch},
		{"1.17 Mcp-Method in upper case", modern("tools/list", "", "Mcp-Method: TOOLS/LIST"), badRequest, mcp.CodeHeaderMismatch},
		{"1.17 Mcp-Method twice", modern("tools/list", "", "+Mcp-Method: tools/list"), badRequest, mcp.CodeHeaderMismatch},
		{"1.17 Mcp-Method in base64 is literal", modern("tools/list", "", "Mcp-Method: =?base64?dG9vbHMvbGlzdA==?="), badRequest, mcp.CodeHeaderMismatch},
		{"1.17 Mcp-Method missing for an unknown method", modern("foo/bar", "", "-Mcp-Method"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name missing on tools/call", call("ok"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name missing on prompts/get", modern("prompts/get", `"name":"p"`), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name missing on resources/read", modern("resources/read", `"uri":"x://a"`), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 another Mcp-Name", call("a", "Mcp-Name: b"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name in another case", call("ok", "Mcp-Name: OK"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name is the uri where it should be the name", modern("tools/call", `"name":"ok","uri":"u"`, "Mcp-Name: u"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name twice", call("ok", "Mcp-Name: ok", "+Mcp-Name: ok"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name twice, equal when joined", call("a, b", "Mcp-Name: a", "+Mcp-Name: b"), badRequest, mcp.CodeHeaderMismatch},
		{"1.18 Mcp-Name empty", call("ok", "Mcp-Name: "), badRequest, mcp.CodeHeaderMismatch},
		{"1.20 base64 without its padding", call("Hello", "Mcp-Name: =?base64?SGVsbG8?="), badRequest, mcp.CodeHeaderMismatch},
		{"1.20 base64 in the URL alphabet", call("??>", "Mcp-Name: =?base64?Pz8-?="), badRequest, mcp.CodeHeaderMismatch},
		{"1.20 base64 with spare bits", call("a", "Mcp-Name: =?base64?YR==?="), badRequest, mcp.CodeHeaderMismatch},
		{"1.20 a literal sentinel is decoded", call("=?base64?SGVsbG8=?=", "Mcp-Name: =?base64?SGVsbG8=?="), badRequest, mcp.CodeHeaderMismatch},
		{"1.21 a byte that is not ASCII", modern("prompts/get", `"name":"é"`, "Mcp-Name: é"), badRequest, mcp.CodeHeaderMismatch},
		{"1.21 a control character", modern("prompts/get", `"name":"a\u0001"`, "Mcp-Name: a\x01"), badRequest, mcp.CodeHeaderMismatch},
		{"1.21 line breaks within base64", call("Hello", "Mcp-Name: =?base64?SGVs\r\nbG8=?="), badRequest, mcp.CodeHeaderMismatch},
		{"1.04 a response", post(`{"jsonrpc":"2.0","id":1,"result":{}}`, "MCP-Protocol-Version: 2026-07-28"), badRequest, mcp.CodeInvalidRequest},
		{"1.05 a response in 2025", post(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, "MCP-Protocol-Version: 2025-11-25"), badRequest, mcp.CodeInvalidRequest},
	}.run(t, fixture())
}

func TestTransport_1_02_foreign_origins(t *testing.T) {
	for _, r := range []*http.Request{
		modern("tools/list", "", "Origin: https://evil.example"),
		modern("tools/list", "", "Origin: null"),
		modern("tools/list", "", "Origin: "),
		modern("tools/list", "", "Origin: https://app.example", "+Origin: https://evil.example"),
		legacy("2025-11-25", "tools/list", "", "Origin: https://evil.example"),
		httptest.NewRequest(http.MethodGet, "/mcp", nil),
	} {
		if r.Method == http.MethodGet {
			r.Header.Set("Origin", "https://evil.example")
		}
		send(t, fixture(), r).wantError(t, http.StatusForbidden, mcp.CodeInvalidRequest, "")
	}
	h := fixture(func(o *mcp.Options) { o.AllowOrigin = nil })
	send(t, h, modern("tools/list", "", "Origin: https://app.example")).wantError(t, http.StatusForbidden, mcp.CodeInvalidRequest, "")
}

func TestTransport_1_04_1_05_arrays(t *testing.T) {
	one := "[" + body("ping", "") + "]"
	for version, id := range map[string]string{"2026-07-28": "", "2025-11-25": "", "2025-06-18": "null"} {
		send(t, fixture(), post(one, "MCP-Protocol-Version: "+version)).wantError(t, badRequest, mcp.CodeInvalidRequest, id)
		send(t, router(), post(one, "MCP-Protocol-Version: "+version)).wantError(t, badRequest, mcp.CodeInvalidRequest, id)
	}
	// No router, no batch, not even in 2025-03-26.
	send(t, fixture(), post(one)).wantError(t, badRequest, mcp.CodeInvalidRequest, "")
}

// Case 2: notifications were answered with a JSON body.
func TestTransport_1_07_1_08_notifications(t *testing.T) {
	ran := false
	watch := func(o *mcp.Options) {
		o.Limit = func(context.Context, string) error { ran = true; return nil }
		o.Admit = func(ctx context.Context, _ string) (context.Context, error) { ran = true; return ctx, nil }
	}
	for _, c := range []struct{ name, body, version string }{
		{"case 2 notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{"1.08 cancelled, modern", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "2026-07-28"},
		{"1.08 an unknown version", `{"jsonrpc":"2.0","method":"notifications/x"}`, "2099-01-01"},
		{"13.02 cancelled, malformed", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[5]}`, "2025-11-25"},
		{"a call without an id does not run", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panic"}}`, "2025-11-25"},
		{"an unknown one", `{"jsonrpc":"2.0","method":"what"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, h := range []http.Handler{fixture(watch), router(watch), family("tools", watch)} {
				r := post(c.body)
				if c.version != "" {
					r.Header.Set("MCP-Protocol-Version", c.version)
				}
				if a := send(t, h, r); a.status != http.StatusAccepted || len(a.body) != 0 {
					t.Errorf("got %d %q", a.status, a.body)
				}
			}
		})
	}
	if ran {
		t.Error("a notification was admitted or counted")
	}
}

func TestTransport_1_28_1_29_other_methods(t *testing.T) {
	for _, method := range []string{"GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"} {
		for _, h := range []http.Handler{fixture(), router()} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, "/mcp", strings.NewReader(body("ping", ""))))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
				t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}

func TestTransport_1_30_no_session_is_minted(t *testing.T) {
	h := fixture()
	a := send(t, h, legacy("", "initialize", `"protocolVersion":"2025-06-18","capabilities":{}`, "Mcp-Session-Id: x"))
	if _, ok := a.header["Mcp-Session-Id"]; ok || a.status != http.StatusOK {
		t.Error(a.status, a.header)
	}
}

// Over a real connection: what httptest's recorder cannot show.
func TestTransport_over_TCP(t *testing.T) {
	s := httptest.NewServer(fixture())
	defer s.Close()
	do := func(r *http.Request) *http.Response {
		out, err := http.NewRequest(r.Method, s.URL, r.Body)
		if err != nil {
			t.Fatal(err)
		}
		out.Header = r.Header
		resp, err := s.Client().Do(out)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	if r := do(post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); r.StatusCode != 202 || r.ContentLength != 0 || r.Header.Get("Content-Type") != "" {
		t.Error("1.07", r.StatusCode, r.ContentLength, r.Header)
	}
	if r := do(modern("tools/list", "")); r.StatusCode != 200 || r.Header.Get("Content-Type") != "application/json" {
		t.Error("1.09", r.StatusCode, r.Header)
	}
}
