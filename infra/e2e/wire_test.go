package e2e

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// eachVersion runs a test in every revision.
func eachVersion(t *testing.T, test func(*testing.T, client)) {
	c := use(t).owner(t)
	for _, v := range mcp.Versions() {
		t.Run(string(v), func(t *testing.T) { test(t, c.in(v)) })
	}
}

// TestHandshake: each era begins in its own way (checklist §0).
func TestHandshake(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client) {
		initialize := object{"protocolVersion": c.version, "capabilities": object{}, "clientInfo": object{"name": "e2e", "version": "1"}}
		if c.version.Modern() {
			r := c.result(t, "server/discover", nil)
			if got := r["supportedVersions"].([]any); len(got) != 4 || got[0] != string(mcp.V20260728) || r["resultType"] != "complete" || r["cacheScope"] != "public" || r["ttlMs"] != 300_000.0 {
				t.Error(r)
			}
			if a := c.send(t, "ping", nil); a.StatusCode != http.StatusNotFound || a.Error == nil || a.Error.Code != mcp.CodeMethodNotFound {
				t.Errorf("ping: HTTP %d %s", a.StatusCode, a.body)
			}
			return
		}
		r := c.result(t, "initialize", initialize)
		if r["protocolVersion"] != string(c.version) || r["capabilities"].(object)["tools"] == nil {
			t.Error(r)
		}
		if r := c.result(t, "ping", nil); len(r) != 0 {
			t.Errorf("ping: %v", r)
		}
		a := exchange(t, http.MethodPost, c.url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			"Authorization: Bearer "+c.token, "Content-Type: application/json")
		if a.StatusCode != http.StatusAccepted || len(a.body) != 0 || a.Header.Get("Content-Type") != "" {
			t.Errorf("notification: HTTP %d %v %q", a.StatusCode, a.Header, a.body)
		}
	})
}

// TestLists: the same through the router and at the family's own address.
func TestLists(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client) {
		for _, list := range []struct {
			method, family, member, by string
			count                      int
			one                        string
		}{
			{"tools/list", "tools", "tools", "name", 42, "emails_delete"},
			{"resources/list", "resources", "resources", "uri", 2, "kobana://inbox/usage"},
			{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate", 9, "kobana://inbox/emails/{id}/eml"},
			{"prompts/list", "prompts", "prompts", "name", 4, "webhook_health"},
		} {
			routed, direct := c.send(t, list.method, nil), c.family(list.family).send(t, list.method, nil)
			if !bytes.Equal(routed.body, direct.body) || routed.StatusCode != direct.StatusCode {
				t.Errorf("%s: not the same: %d %s\n%d %s", list.method, routed.StatusCode, routed.body, direct.StatusCode, direct.body)
			}
			r := c.result(t, list.method, nil)
			if got := names(r, list.member, list.by); len(got) != list.count || !slices.Contains(got, list.one) {
				t.Errorf("%s: %v", list.method, got)
			}
			if c.version.Modern() && (r["ttlMs"] != 30_000.0 || r["cacheScope"] != "private") {
				t.Errorf("%s: %v %v", list.method, r["ttlMs"], r["cacheScope"])
			}
		}
	})
}

// TestResources: one of each is read, by an id that completion suggests (R1, R3,
// R9); what is not there has its era's code (R5).
func TestResources(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client) {
		uris := names(c.result(t, "resources/list", nil), "resources", "uri")
		for _, template := range names(c.result(t, "resources/templates/list", nil), "resourceTemplates", "uriTemplate") {
			r := c.result(t, "completion/complete", object{
				"ref": object{"type": "ref/resource", "uri": template}, "argument": object{"name": "id", "value": ""},
			})
			values := r["completion"].(object)["values"].([]any)
			if len(values) == 0 {
				t.Errorf("%s: nothing is suggested", template)
				continue
			}
			uris = append(uris, strings.Replace(template, "{id}", values[0].(string), 1))
		}
		for _, uri := range uris {
			r := c.result(t, "resources/read", object{"uri": uri})
			content := r["contents"].([]any)[0].(object)
			if content["uri"] != uri || content["mimeType"] != "application/json" {
				t.Errorf("%s: %v", uri, content)
			}
			record := decode[object](t, []byte(content["text"].(string)))
			if strings.HasSuffix(uri, "/eml") {
				link := exchange(t, http.MethodGet, record["url"].(string), "")
				if link.StatusCode != http.StatusOK || !bytes.Contains(link.body, []byte("\nSubject: ")) && !bytes.HasPrefix(link.body, []byte("Subject: ")) {
					t.Errorf("the link: HTTP %d %.200s", link.StatusCode, link.body)
				}
			}
		}
		code := mcp.CodeResourceNotFound
		if c.version.Modern() {
			code = mcp.CodeInvalidParams
		}
		for _, uri := range []string{"kobana://inbox/no-such", "kobana://inbox/emails/01890000-0000-7000-8000-000000000000"} {
			if a := c.send(t, "resources/read", object{"uri": uri}); a.Error == nil || a.Error.Code != code {
				t.Errorf("%s: %s", uri, a.body)
			}
		}
	})
}

// TestPrompts: R7, R8, R10.
func TestPrompts(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client) {
		r := c.result(t, "completion/complete", object{
			"ref": object{"type": "ref/prompt", "name": "usage_report"}, "argument": object{"name": "month", "value": ""},
		})
		if months := r["completion"].(object)["values"].([]any); len(months) != 12 {
			t.Error(months)
		}
		id := c.id(t, "inboxes_list")
		r = c.result(t, "prompts/get", object{"name": "inbox_overview", "arguments": object{"inbox_id": id}})
		first := r["messages"].([]any)[0].(object)
		if text := first["content"].(object)["text"].(string); first["role"] != "user" || !strings.Contains(text, id) {
			t.Error(first)
		}
		a := c.send(t, "prompts/get", object{"name": "inbox_overview", "arguments": object{"inbox_id": "x"}})
		if a.Error == nil || a.Error.Code != mcp.CodeInvalidParams || !strings.Contains(a.Error.Message, "inbox_id") {
			t.Errorf("%s", a.body)
		}
	})
}

// TestTools: a record is read, once as text and once as structure, and marked
// as what a stranger wrote; what is not there or malformed is a tool's error.
func TestTools(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client) {
		r := c.result(t, "tools/call", object{"name": "emails_get", "arguments": object{"id": c.id(t, "emails_list")}})
		text := r["content"].([]any)[0].(object)["text"].(string)
		structured, ok := r["structuredContent"].(object)
		if ok == (c.version == mcp.V20250326) {
			t.Errorf("structuredContent: %v", structured)
		}
		email := decode[object](t, []byte(text))
		if ok && !cmp.Equal(email, structured) {
			t.Error(cmp.Diff(email, structured))
		}
		if body := email["body"].(object); body["untrusted"] != true {
			t.Error(body)
		}
		for code, arguments := range map[string]object{
			"not_found": {"id": "01890000-0000-7000-8000-000000000000"}, "invalid_arguments": {"id": 7},
		} {
			if o := c.call(t, "emails_get", arguments); !o.IsError || o.code() != code || !strings.HasPrefix(o.Content[0].Text, code+": ") {
				t.Errorf("%s: %+v", code, o)
			}
		}
		if a := c.send(t, "tools/call", object{"name": "no_such", "arguments": object{}}); a.Error == nil || a.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("%s", a.body)
		}
	})
}

// TestAccess: tokens of the issuer count, for the one whom they name; others do
// not (R18).
func TestAccess(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	for name, token := range map[string]string{
		"another audience": s.token(t, "owner", "inbox.read", claims{"aud": "https://other.example.com/mcp"}),
		"no audience":      s.token(t, "owner", "inbox.read", claims{"aud": nil}),
		"another issuer":   s.token(t, "owner", "inbox.read", claims{"iss": "https://other.example.com"}),
		"expired":          s.token(t, "owner", "inbox.read", claims{"exp": 1}),
		"a demo's token":   "demo-owner",
		"forged":           s.token(t, "owner", "inbox.read", nil) + "x",
	} {
		for _, c := range []client{c, c.family("tools")} {
			a := c.as(token).send(t, "tools/list", nil)
			challenge := a.Header.Get("X-Amzn-Remapped-Www-Authenticate")
			if a.StatusCode != http.StatusUnauthorized || !strings.Contains(challenge, `error="invalid_token"`) || !strings.Contains(challenge, s.env["PUBLIC_URL"]+"/.well-known/oauth-protected-resource/mcp") {
				t.Errorf("%s at %s: HTTP %d %s", name, c.url, a.StatusCode, challenge)
			}
		}
	}
	reader := c.as(s.token(t, "owner", "inbox.read", nil))
	if tools := names(reader.result(t, "tools/list", nil), "tools", "name"); slices.Contains(tools, "emails_delete") || !slices.Contains(tools, "emails_get") {
		t.Errorf("a read-only token: %v", tools)
	}
	a := reader.send(t, "tools/call", object{"name": "emails_delete", "arguments": object{"id": c.id(t, "emails_list")}})
	if a.StatusCode != http.StatusForbidden || !strings.Contains(a.Header.Get("X-Amzn-Remapped-Www-Authenticate"), `scope="inbox.write"`) {
		t.Errorf("HTTP %d %v", a.StatusCode, a.Header)
	}
	other := c.as(s.token(t, "other", "inbox.read", nil))
	if o := other.call(t, "emails_get", object{"id": c.id(t, "emails_list")}); o.code() != "not_found" {
		t.Errorf("of another workspace: %+v", o)
	}
	if a := c.as(s.token(t, "nobody", "inbox.read", nil)).send(t, "tools/list", nil); a.StatusCode != http.StatusForbidden {
		t.Errorf("no member: HTTP %d %s", a.StatusCode, a.body)
	}
}

// TestFamiliesKeepToThemselves: whatever path and header brought it, a function
// runs its own methods only.
func TestFamiliesKeepToThemselves(t *testing.T) {
	eachVersion(t, func(t *testing.T, c client) {
		for family, method := range map[string]string{"prompts": "tools/list", "tools": "resources/list", "completion": "prompts/list", "resources": "ping"} {
			a := c.family(family).send(t, method, nil)
			if a.Error == nil || a.Error.Code != mcp.CodeMethodNotFound {
				t.Errorf("%s at %s: HTTP %d %s", method, family, a.StatusCode, a.body)
			}
		}
	})
}

// TestGateway: what belongs to no family, and what only a browser asks.
func TestGateway(t *testing.T) {
	s := use(t)
	base, authorized := s.lanes[0].api.URL, "Authorization: Bearer "+s.owner(t).token
	metadata := get(t, http.MethodGet, base+"/.well-known/oauth-protected-resource/mcp")
	document := decode[struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}](t, metadata.body)
	if metadata.StatusCode != http.StatusOK || document.Resource != s.env["PUBLIC_URL"]+"/mcp" || !slices.Equal(document.Servers, []string{s.issuer.Issuer()}) {
		t.Errorf("HTTP %d %s", metadata.StatusCode, metadata.body)
	}
	if root := get(t, http.MethodGet, base+"/.well-known/oauth-protected-resource"); !bytes.Equal(root.body, metadata.body) {
		t.Errorf("%s", root.body)
	}
	if a := get(t, http.MethodGet, base+"/healthz"); a.StatusCode != http.StatusOK || string(a.body) != "ok\n" {
		t.Errorf("HTTP %d %q", a.StatusCode, a.body)
	}
	for _, path := range []string{"/mcp", "/mcp/tools"} {
		preflight := []string{"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: mcp-method,mcp-name,mcp-protocol-version,authorization"}
		a := get(t, http.MethodOptions, base+path, append(preflight, "Origin: https://app.example.com")...)
		if a.StatusCode != http.StatusNoContent || a.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" ||
			!strings.Contains(strings.ToLower(a.Header.Get("Access-Control-Allow-Headers")), "mcp-protocol-version") {
			t.Errorf("%s: HTTP %d %v", path, a.StatusCode, a.Header)
		}
		if a := get(t, http.MethodOptions, base+path, append(preflight, "Origin: https://evil.example.com")...); a.StatusCode != http.StatusForbidden {
			t.Errorf("%s from elsewhere: HTTP %d", path, a.StatusCode)
		}
		if a := get(t, http.MethodGet, base+path, authorized); a.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("GET %s: HTTP %d", path, a.StatusCode)
		}
		if a := exchange(t, http.MethodPost, base+path, "{bad", "Content-Type: application/json", authorized); a.StatusCode != http.StatusBadRequest || a.Error.Code != mcp.CodeParse {
			t.Errorf("%s: HTTP %d %s", path, a.StatusCode, a.body)
		}
		if a := exchange(t, http.MethodPost, base+path, "\xff\xfe", "Content-Type: application/json", authorized); a.StatusCode != http.StatusBadRequest || a.Error.Code != mcp.CodeParse {
			t.Errorf("%s, not text: HTTP %d %s", path, a.StatusCode, a.body)
		}
	}
}

// TestBatch: 2025-03-26 has batches, whose items the router hands to several
// families; the answers keep the order.
func TestBatch(t *testing.T) {
	c := use(t).owner(t)
	a := exchange(t, http.MethodPost, c.url, `[{"jsonrpc":"2.0","id":1,"method":"prompts/list"},{"jsonrpc":"2.0","id":2,"method":"ping"},`+
		`{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3,"method":"tools/list"},{"jsonrpc":"2.0","id":4,"method":"no/such"}]`,
		"Authorization: Bearer "+c.token, "Content-Type: application/json", "MCP-Protocol-Version: 2025-03-26")
	answers := decode[[]struct {
		ID     int
		Result object
		Error  object
	}](t, a.body)
	if len(answers) != 4 {
		t.Fatalf("%s", a.body)
	}
	for i, want := range []string{"prompts", "", "tools", ""} {
		if answers[i].ID != i+1 || want != "" && answers[i].Result[want] == nil {
			t.Errorf("%d: %+v", i, answers[i])
		}
	}
	if answers[1].Result == nil || answers[3].Error["code"] != float64(mcp.CodeMethodNotFound) {
		t.Errorf("%s", a.body)
	}
}
