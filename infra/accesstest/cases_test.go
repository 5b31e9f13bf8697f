package accesstest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const challengeOfNone = `Bearer scope="inbox.read", resource_metadata="` + publicURL + `/.well-known/oauth-protected-resource/mcp"`

// TestCase13_OneIdentifier: the resource is one exact identifier wherever it is
// read, and no other spelling of it is an audience.
func TestCase13_OneIdentifier(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"", "/mcp", "/mcp/"} {
		r := w.as("").exchange(t, http.MethodGet, "/.well-known/oauth-protected-resource"+path, "")
		if got := decode[object](t, jsontext.Value(r.body))["resource"]; r.status != http.StatusOK || got != resource {
			t.Errorf("%q: HTTP %d, resource %v", path, r.status, got)
		}
	}
	for _, audience := range []string{resource + "/", publicURL, publicURL + "/MCP", "HTTPS://inbox.example.com/mcp", resource + "?x"} {
		if r := w.as(w.token(t, demo.Owner, "inbox.read", object{"aud": audience})).send(t, "tools/list", nil); r.status != http.StatusUnauthorized {
			t.Errorf("aud %q: HTTP %d %s", audience, r.status, r.body)
		}
	}
}

// badTokens are tokens that count nowhere, by what is wrong with them.
func (w *world) badTokens(t *testing.T) map[string]string {
	t.Helper()
	now := w.clock.now()
	good := w.token(t, demo.Owner, "inbox.read", nil)
	tokens := map[string]string{
		"garbage":                                "garbage",
		"huge":                                   strings.Repeat("a", 9<<10),
		"truncated":                              good[:len(good)-4],
		"altered":                                good[:len(good)-4] + "AAAA",
		"demo's own":                             "demo-owner", // fixed tokens are the local server's only
		"alg none":                               "eyJhbGciOiJub25lIn0." + strings.Split(good, ".")[1] + ".",
		"no audience":                            w.token(t, demo.Owner, "inbox.read", object{"aud": nil}),
		"HS256, by the public key as the secret": w.signedByPublicKey(t, demo.Owner, "inbox.read"),
	}
	for name, changes := range map[string]object{
		"sandbox":                {"aud": "https://sandbox.inbox.example.com/mcp"},
		"sandbox, as an array":   {"aud": []string{"https://sandbox.inbox.example.com/mcp", publicURL}},
		"audience of no text":    {"aud": 7},
		"expired":                {"exp": now.Add(-61 * time.Second).Unix()},
		"future":                 {"nbf": now.Add(61 * time.Second).Unix()},
		"no expiry":              {"exp": nil},
		"no subject":             {"sub": nil},
		"another issuer's key":   {"iss": otherIssuer},
		"an issuer not trusted":  {"iss": "https://evil.example"},
		"issuer with a slash":    {"iss": issuer + "/"},
		"scope is no text":       {"scope": object{"inbox.read": true}},
		"workspace is no text":   {"workspace_id": 7},
		"organization too long":  {"org_id": strings.Repeat("a", 600)},
		"issuer's document only": {"aud": issuer},
	} {
		tokens[name] = w.token(t, demo.Owner, "inbox.read inbox.write", changes)
	}
	return tokens
}

// TestCase14_InvalidTokens: whatever is wrong with a token, every method and
// every family gives one answer, before it looks at anything: it names the way
// to a new one.
func TestCase14_InvalidTokens(t *testing.T) {
	w := newWorld(t)
	want := `Bearer error="invalid_token", error_description="`
	bodies := map[string]string{}
	w.table.Reset()
	for name, token := range w.badTokens(t) {
		for _, path := range []string{"/mcp", "/mcp/tools", "/mcp/resources", "/mcp/prompts", "/mcp/completion"} {
			for _, body := range []string{`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":7,"method":"ping"}`} {
				r := w.as("").post(t, path, body, "Authorization: Bearer "+token, "Content-Type: application/json")
				if r.status != http.StatusUnauthorized || !strings.HasPrefix(r.challenge, want) || !strings.HasSuffix(r.challenge, challengeOfNone[len("Bearer "):]) {
					t.Errorf("%s at %s: HTTP %d, challenge %s, %s", name, path, r.status, r.challenge, r.body)
				}
				bodies[r.body] = name
			}
		}
	}
	if len(bodies) > 2 { // with the caller's id at the router, and without
		t.Errorf("%d answers: %v", len(bodies), bodies)
	}
	if calls := w.table.Calls(); len(calls) > 0 {
		t.Errorf("the store was asked: %v", calls)
	}
	for name, changes := range map[string]object{
		"as a string": {"aud": resource}, "as an array": {"aud": []string{"https://else.example", resource}},
		"expired within the skew": {"exp": w.clock.now().Add(-59 * time.Second).Unix()},
		"the same, of the future": {"nbf": w.clock.now().Add(59 * time.Second).Unix()},
	} {
		if r := w.as(w.token(t, demo.Owner, "inbox.read", changes)).send(t, "tools/list", nil); r.status != http.StatusOK {
			t.Errorf("%s: HTTP %d %s", name, r.status, r.body)
		}
	}
	good := w.token(t, demo.Owner, "inbox.read", nil)
	if r := w.as("").post(t, "/mcp?access_token="+good, `{"jsonrpc":"2.0","id":7,"method":"ping"}`, "Content-Type: application/json"); r.status != http.StatusUnauthorized || r.challenge != challengeOfNone {
		t.Errorf("in the query: HTTP %d %s", r.status, r.challenge)
	}
}

// TestCase15_Browsers: a page of an allowed origin may send what it must, needs
// no token to ask so, and can read the challenge; others may nothing.
func TestCase15_Browsers(t *testing.T) {
	w := newWorld(t)
	wanted := "authorization, content-type, kobana-workspace, mcp-method, mcp-name, mcp-protocol-version"
	for _, path := range []string{"/mcp", "/mcp/tools", "/mcp/resources", "/mcp/prompts", "/mcp/completion"} {
		r := w.as("").exchange(t, http.MethodOptions, path, "", "Origin: "+page, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: "+wanted)
		allowed := strings.ToLower(r.header.Get("Access-Control-Allow-Headers"))
		for name := range strings.SplitSeq(wanted, ", ") {
			if !strings.Contains(allowed, name) {
				t.Errorf("%s: %s is not in %q", path, name, allowed)
			}
		}
		if r.status != http.StatusNoContent || r.header.Get("Access-Control-Allow-Origin") != page || r.challenge != "" {
			t.Errorf("%s: HTTP %d %v", path, r.status, r.header)
		}
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		r = w.as("").post(t, path, body, "Origin: "+page, "Content-Type: application/json")
		if exposed := r.header.Get("Access-Control-Expose-Headers"); r.status != http.StatusUnauthorized || r.challenge == "" ||
			!strings.Contains(exposed, "WWW-Authenticate") || r.header.Get("Access-Control-Allow-Origin") != page {
			t.Errorf("%s: HTTP %d %v", path, r.status, r.header)
		}
		r = w.as("").post(t, path, body, "Origin: https://evil.example", "Content-Type: application/json", "Authorization: Bearer "+w.token(t, demo.Owner, "inbox.read", nil))
		if r.status != http.StatusForbidden || r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s from elsewhere: HTTP %d %v", path, r.status, r.header)
		}
	}
}

// TestCase16_ReadOnlyToken: a token that only reads has every tool that reads,
// and each answers it as it answers one that may write.
func TestCase16_ReadOnlyToken(t *testing.T) {
	w := newWalk(t)
	readonly := w.as(w.token(t, demo.Owner, "inbox.read", nil))
	eachEra(t, func(t *testing.T, v mcp.Version) {
		want := []string{}
		for _, tool := range tools() {
			if !tool.Hints.ReadOnly {
				continue
			}
			want = append(want, tool.Name)
			args := filled(tool, w.theirs)
			got, full := readonly.in(v).call(t, tool.Name, args), w.owner.in(v).call(t, tool.Name, args)
			if got.failed || got.Error != nil || stable(got.reply) != stable(full.reply) {
				t.Errorf("%s: HTTP %d %s\nwith a full token: %s", tool.Name, got.status, got.body, full.body)
			}
		}
		if got := readonly.in(v).names(t, "tools/list", "tools", "name"); !slices.Equal(got, want) || len(got) != 22 {
			t.Errorf("listed: %v", got)
		}
	})
}

// TestStepUp_ByTheBody: which scope a call needs follows from the tool that its
// body names, whatever its headers and its address say (checklist §15).
func TestStepUp_ByTheBody(t *testing.T) {
	w := newWorld(t)
	c := w.as(w.token(t, demo.Owner, "inbox.read", nil))
	headers := []string{"Content-Type: application/json", "Authorization: Bearer " + c.token, "MCP-Protocol-Version: 2025-06-18"}
	for _, path := range []string{"/mcp", "/mcp/tools"} {
		call := func(inBody, inHeader string) reply {
			body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + inBody + `"}}`
			return c.post(t, path, body, append(headers, "Mcp-Method: tools/call", "Mcp-Name: "+inHeader)...)
		}
		challenged(t, call("agents_create", "models_list"), "inbox.write")
		if r := call("models_list", "agents_create"); r.status != http.StatusOK || r.Error != nil {
			t.Errorf("a tool that reads: HTTP %d %s", r.status, r.body)
		}
	}
	// In 2026-07-28 the two have to agree before anything is judged.
	for _, token := range []string{c.token, w.token(t, demo.Owner, "inbox.read inbox.write", nil)} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agents_create","_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		r := c.post(t, "/mcp", body, "Content-Type: application/json", "Authorization: Bearer "+token,
			"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: models_list")
		if r.status != http.StatusBadRequest || r.code() != mcp.CodeHeaderMismatch || r.challenge != "" {
			t.Errorf("HTTP %d, challenge %q, %s", r.status, r.challenge, r.body)
		}
	}
}

// TestCase17_NearAddresses challenge instead of saying that nothing is there,
// and say where it is; a sign-in without any scope ends in a challenge that
// names one (TestMatrix_WithoutScope).
func TestCase17_NearAddresses(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/", "/mcp/", "/MCP", "/MCP/"} {
		for _, token := range []string{"", w.token(t, demo.Owner, "inbox.read", nil)} {
			r := w.as("").post(t, path, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Content-Type: application/json", "Authorization: Bearer "+token)
			if r.status != http.StatusUnauthorized || r.challenge != challengeOfNone || !strings.Contains(r.body, resource) {
				t.Errorf("%s: HTTP %d, challenge %s, %s", path, r.status, r.challenge, r.body)
			}
		}
	}
	if r := w.as(w.token(t, demo.Owner, "", object{"scope": nil})).send(t, "server/discover", nil); r.status != http.StatusOK {
		t.Errorf("no scope claim: HTTP %d %s", r.status, r.body)
	}
}
