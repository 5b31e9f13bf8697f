package local

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func challenge(params string) string {
	return "Bearer " + params + `scope="inbox.read", resource_metadata="` + shared.URL + `/.well-known/oauth-protected-resource/mcp"`
}

func TestHealthz(t *testing.T) {
	resp, body := exchange(t, http.MethodGet, shared.URL+"/healthz", "")
	if resp.StatusCode != http.StatusOK || string(body) != "ok\n" {
		t.Errorf("HTTP %d %q", resp.StatusCode, body)
	}
}

// TestCase13_Metadata: one exact identifier, wherever it is read.
func TestCase13_Metadata(t *testing.T) {
	want := object{
		"resource": shared.URL + "/mcp", "authorization_servers": []any{"http://127.0.0.1:3001"},
		"scopes_supported": []any{"inbox.read"}, "bearer_methods_supported": []any{"header"}, "resource_name": "Kobana Inbox (local)",
	}
	for _, path := range []string{"", "/mcp", "/mcp/"} {
		resp, body := exchange(t, http.MethodGet, shared.URL+"/.well-known/oauth-protected-resource"+path, "")
		if diff := cmp.Diff(want, decode[object](t, body)); diff != "" || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%q: HTTP %d %v (-want +got):\n%s", path, resp.StatusCode, resp.Header, diff)
		}
	}
}

// TestCase17_NearAddresses challenge instead of 404.
func TestCase17_NearAddresses(t *testing.T) {
	for _, path := range []string{"/", "/mcp/", "/MCP", "/MCP/"} {
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			resp, body := exchange(t, method, shared.URL+path, ping, bearer("demo-owner"))
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != challenge("") || !strings.Contains(string(body), shared.URL+"/mcp") {
				t.Errorf("%s %s: HTTP %d %v %s", method, path, resp.StatusCode, resp.Header, body)
			}
		}
	}
	for _, path := range []string{"/sse", "/messages", "/mcp/secrets", "/mcp/tools/", "/Mcp", "/v1/mcp", "/.well-known/openid-configuration"} {
		if resp, _ := exchange(t, http.MethodPost, shared.URL+path, ping, bearer("demo-owner")); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: HTTP %d", path, resp.StatusCode)
		}
	}
}

func TestTokens_12_01_12_10(t *testing.T) {
	for _, c := range []struct {
		name    string
		query   string
		headers []string
		status  int
		want    string // the challenge
	}{
		{"none", "", nil, 401, challenge("")},
		{"in the query", "?access_token=demo-owner", nil, 401, challenge("")},
		{"unknown", "", []string{bearer("demo-root")}, 401, "invalid_token"},
		{"other case", "", []string{bearer("Demo-Owner")}, 401, "invalid_token"},
		{"longer", "", []string{bearer("demo-owner2")}, 401, "invalid_token"},
		{"a JWT of nobody", "", []string{bearer("eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd25lciJ9.")}, 401, "invalid_token"},
		{"Basic", "", []string{"Authorization: Basic ZGVtby1vd25lcjo="}, 401, challenge("")},
		{"empty", "", []string{"Authorization: Bearer "}, 400, "invalid_request"},
		{"two", "", []string{bearer("demo-owner"), bearer("demo-viewer")}, 400, "invalid_request"},
		{"two in one", "", []string{bearer("demo-owner, demo-viewer")}, 400, "invalid_request"},
		{"a cookie", "", []string{"Cookie: access_token=demo-owner"}, 401, challenge("")},
	} {
		for _, path := range []string{"/mcp", "/mcp/tools", "/mcp/resources", "/mcp/prompts", "/mcp/completion"} {
			for _, body := range []string{ping, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "{", "[]"} {
				resp, got := exchange(t, http.MethodPost, shared.URL+path+c.query, body, c.headers...)
				if resp.StatusCode != c.status || !strings.Contains(resp.Header.Get("WWW-Authenticate"), c.want) || strings.Contains(string(got), "demo-") {
					t.Errorf("%s, %s: HTTP %d %s %s", c.name, path, resp.StatusCode, resp.Header.Get("WWW-Authenticate"), got)
				}
			}
		}
	}
}

func TestMethods_1_28_1_29(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodHead} {
		resp, _ := exchange(t, method, shared.URL+"/mcp", "", bearer("demo-owner"))
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: HTTP %d, Allow %q", method, resp.StatusCode, resp.Header.Get("Allow"))
		}
		resp, _ = exchange(t, method, shared.URL+"/mcp", "")
		if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") != challenge("") {
			t.Errorf("%s without a token: HTTP %d", method, resp.StatusCode)
		}
	}
}

// TestFamilies_RefuseOthersMethods, whatever path or header brought them.
func TestFamilies_RefuseOthersMethods(t *testing.T) {
	methods := map[string]string{
		"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resources", "prompts/list": "prompts",
		"resources/read": "resources", "prompts/get": "prompts", "tools/call": "tools", "completion/complete": "completion",
		"ping": "", "initialize": "", "server/discover": "",
	}
	params := object{"uri": "kobana://inbox/models", "protocolVersion": "2025-11-25", "ref": object{"type": "ref/prompt", "name": "usage_report"},
		"argument": object{"name": "month", "value": ""}}
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		for method, family := range methods {
			params["name"] = map[string]string{"tools/call": "models_list", "prompts/get": "webhook_health"}[method]
			body, headers := as("demo-owner").in(v).request(method, params)
			for _, path := range []string{"tools", "resources", "prompts", "completion"} {
				r := postTo(t, shared.URL+"/mcp/"+path, body, append(headers, "X-Family: "+family)...)
				status := http.StatusOK
				if v.Modern() && path != family {
					status = http.StatusNotFound
				}
				if r.status != status || (r.Error == nil) != (path == family) || r.Error != nil && r.Error.Code != -32601 {
					t.Errorf("%s at /mcp/%s: HTTP %d %s", method, path, r.status, r.body)
				}
			}
		}
	})
}

// TestCase02_NotificationsHaveNoBody in any era, at any address.
func TestCase02_NotificationsHaveNoBody(t *testing.T) {
	for _, path := range []string{"/mcp", "/mcp/tools", "/mcp/completion"} {
		for _, method := range []string{"notifications/initialized", "notifications/cancelled", "notifications/unknown", "tools/list"} {
			for _, version := range []string{"", "MCP-Protocol-Version: 2025-06-18", "MCP-Protocol-Version: 2026-07-28"} {
				headers := []string{bearer("demo-owner")}
				if version != "" {
					headers = append(headers, version)
				}
				body := `{"jsonrpc":"2.0","method":"` + method + `","params":{"requestId":1}}`
				resp, got := exchange(t, http.MethodPost, shared.URL+path, body, headers...)
				if resp.StatusCode != http.StatusAccepted || len(got) != 0 || resp.Header.Get("Content-Type") != "" {
					t.Errorf("%s %s at %s: HTTP %d %q %s", version, method, path, resp.StatusCode, resp.Header.Get("Content-Type"), got)
				}
			}
		}
	}
}

// TestCase03_NoSessions: initialize on one server, tools/list on another.
func TestCase03_NoSessions(t *testing.T) {
	a, b := as("demo-owner"), as("demo-owner").at(serve(t))
	for _, v := range mcp.Versions()[1:] {
		a, b := a.in(v), b.in(v)
		r := a.send(t, "initialize", object{"protocolVersion": v, "capabilities": object{}, "clientInfo": object{"name": "t", "version": "1"}})
		if r.Error != nil || r.header.Get("Mcp-Session-Id") != "" || decode[object](t, r.Result)["protocolVersion"] != string(v) {
			t.Errorf("%s: %v %s", v, r.header, r.body)
		}
		for _, c := range []client{b, b.with("Mcp-Session-Id: 8f1e")} {
			r := c.send(t, "tools/list", nil)
			if r.Error != nil || r.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%s: %v %s", v, r.header, r.body)
			}
		}
	}
}

func TestCase08_09_LegacyNeedsNoHeaders(t *testing.T) {
	for _, v := range []string{"2025-11-25", "2025-06-18", "2025-03-26", ""} {
		headers := []string{bearer("demo-owner")}
		if v != "" {
			headers = append(headers, "MCP-Protocol-Version: "+v)
		}
		for _, body := range []string{
			`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":"a","method":"resources/read","params":{"uri":"kobana://inbox/models"}}`,
			`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		} {
			r := as("").post(t, body, headers...)
			if r.status != http.StatusOK || r.Error != nil || strings.Contains(string(r.body), "resultType") || !strings.HasPrefix(string(r.body), `{"jsonrpc":"2.0","id":"a",`) {
				t.Errorf("%q: HTTP %d %.300s", v, r.status, r.body)
			}
		}
	}
}

// TestCase10_SpeaksWhatItAnnounces: discover complete, lists with hints, ping
// gone.
func TestCase10_SpeaksWhatItAnnounces(t *testing.T) {
	c := as("demo-owner")
	got := c.result(t, "server/discover", nil)
	if s, _ := got["instructions"].(string); s == "" {
		t.Error("no instructions")
	}
	delete(got, "instructions")
	want := object{
		"resultType": "complete", "supportedVersions": []any{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"},
		"capabilities": object{"tools": object{}, "resources": object{}, "prompts": object{}, "completions": object{}},
		"ttlMs":        300000.0, "cacheScope": "public",
		"_meta": object{"io.modelcontextprotocol/serverInfo": object{"name": "kobana-inbox", "title": "Kobana Inbox", "version": "0.1.0"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("discover (-want +got):\n%s", diff)
	}
	if r := c.result(t, "tools/list", nil); r["ttlMs"] != 30000.0 || r["cacheScope"] != "private" || r["resultType"] != "complete" {
		t.Errorf("tools/list: %v %v %v", r["ttlMs"], r["cacheScope"], r["resultType"])
	}
	for _, method := range []string{"ping", "initialize", "logging/setLevel"} {
		if r := c.send(t, method, nil); r.status != http.StatusNotFound || r.Error.Code != -32601 {
			t.Errorf("%s: HTTP %d %s", method, r.status, r.body)
		}
	}
}

func TestCase11_UnknownVersion(t *testing.T) {
	versions := []any{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}
	for name, meta := range map[string]string{"legacy": "", "modern": `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`} {
		for _, method := range []string{"tools/list", "server/discover", "resources/list"} {
			r := as("").post(t, `{"jsonrpc":"2.0","id":"x-1","method":"`+method+`"`+meta+`}`,
				bearer("demo-owner"), "MCP-Protocol-Version: 2099-01-01", "Mcp-Method: "+method)
			want := object{"jsonrpc": "2.0", "id": "x-1", "error": object{"code": -32022.0, "message": "unsupported protocol version",
				"data": object{"supported": versions, "requested": "2099-01-01"}}}
			if diff := cmp.Diff(want, decode[object](t, jsontext.Value(r.body))); diff != "" || r.status != http.StatusBadRequest {
				t.Errorf("%s %s: HTTP %d (-want +got):\n%s", name, method, r.status, diff)
			}
		}
	}
}

// TestCase12_PingsWhileTheStoreIsDown: 1,000 of one person are answered,
// counted by no limit.
func TestCase12_PingsWhileTheStoreIsDown(t *testing.T) {
	s := serve(t, func(c *Config) { c.RateLimit.PerSecond, c.RateLimit.Burst = 1, 1 })
	if err := s.data.db.Close(); err != nil {
		t.Fatal(err)
	}
	c := as("demo-owner").at(s).in(mcp.V20251125)
	for i := range 1000 {
		if r := c.send(t, "ping", nil); string(r.body) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Fatalf("ping %d: HTTP %d %s", i, r.status, r.body)
		}
	}
	r := c.send(t, "tools/list", nil)
	if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" || strings.Contains(string(r.body), "bolt") {
		t.Errorf("HTTP %d %s", r.status, r.body)
	}
}

// TestCase15_Browsers: preflight without a token, and a challenge that scripts
// can read.
func TestCase15_Browsers(t *testing.T) {
	for _, origin := range []string{"http://localhost:6274", "http://127.0.0.1", "https://[::1]:8443"} {
		for _, path := range []string{"/mcp", "/mcp/tools"} {
			resp, body := exchange(t, http.MethodOptions, shared.URL+path, "", "Origin: "+origin, "Access-Control-Request-Method: POST",
				"Access-Control-Request-Headers: authorization,content-type,kobana-workspace,mcp-method,mcp-name,mcp-protocol-version")
			allowed := strings.Split(strings.ToLower(strings.ReplaceAll(resp.Header.Get("Access-Control-Allow-Headers"), " ", "")), ",")
			for _, h := range []string{"authorization", "content-type", "kobana-workspace", "mcp-method", "mcp-name", "mcp-protocol-version"} {
				if !slices.Contains(allowed, h) {
					t.Errorf("%s does not allow %s: %v", path, h, allowed)
				}
			}
			if resp.StatusCode != http.StatusNoContent || len(body) > 0 || resp.Header.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("%s from %s: HTTP %d %v", path, origin, resp.StatusCode, resp.Header)
			}
			resp, _ = exchange(t, http.MethodPost, shared.URL+path, ping, "Origin: "+origin)
			if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("Access-Control-Allow-Origin") != origin ||
				!strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") || resp.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s from %s: HTTP %d %v", path, origin, resp.StatusCode, resp.Header)
			}
		}
	}
}

// TestHostile_Origin_Host: a page of another origin, and one whose name was
// pointed here, are refused before anything else.
func TestHostile_Origin_Host_1_02(t *testing.T) {
	port := shared.URL[strings.LastIndex(shared.URL, ":"):]
	for _, header := range []string{
		"Origin: https://evil.example", "Origin: null", "Origin: http://127.0.0.1.evil.example", "Origin: http://localhost.evil.example",
		"Origin: http://evil.example#localhost", "Origin: file://localhost", "Origin: http://localhost@evil.example",
		"Host: evil.example", "Host: evil.example" + port, "Host: 127.0.0.1.evil.example" + port, "Host: 169.254.169.254", "Host: localhost.evil.example",
		"Host: 192.168.0.1" + port, "Host: 0.0.0.0" + port,
	} {
		for _, path := range []string{"/mcp", "/mcp/tools", "/mcp/resources"} {
			for _, method := range []string{http.MethodPost, http.MethodOptions, http.MethodGet} {
				resp, body := exchange(t, method, shared.URL+path, ping, header, bearer("demo-owner"))
				if resp.StatusCode != http.StatusForbidden || resp.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s, %s: HTTP %d %v %s", method, path, header, resp.StatusCode, resp.Header, body)
				}
			}
		}
	}
	for _, host := range []string{"localhost" + port, "127.0.0.1" + port, "[::1]" + port, "127.0.0.1", "localhost", "[::1]", "127.8.9.1"} {
		if resp, body := exchange(t, http.MethodPost, shared.URL+"/mcp", ping, "Host: "+host, bearer("demo-owner")); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: HTTP %d %s", host, resp.StatusCode, body)
		}
	}
}
