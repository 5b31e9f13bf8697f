package local

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// oauthFrom is the environment that an operator sets.
func oauthFrom(env map[string]string) func(*Config) {
	return func(c *Config) { c.OAuth = func(name string) string { return env[name] } }
}

// join makes a person an owner of the demo's workspace.
func join(t *testing.T, s *Server, p access.Person) {
	t.Helper()
	owners, err := s.data.directory.Memberships(t.Context(), demo.Owner)
	if err != nil {
		t.Fatal(err)
	}
	m := owners[0]
	m.Person = p
	if err := s.data.directory.AddMember(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// TestSignIn: with an issuer configured, its tokens count beside those of the
// demo, and the metadata names it.
func TestSignIn(t *testing.T) {
	t.Parallel()
	issuer, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { issuer.Shutdown() })
	s := serve(t, oauthFrom(map[string]string{"OAUTH_ISSUERS": issuer.Issuer()}))
	join(t, s, access.Person{Issuer: issuer.Issuer(), Subject: "ana"})
	token := func(audience, scope string) string {
		signed, err := issuer.Keypair.SignJWT(jwt.MapClaims{
			"iss": issuer.Issuer(), "sub": "ana", "aud": audience, "exp": time.Now().Unix() + 60, "scope": scope})
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	for _, c := range []struct {
		name, token string
		status      int
	}{
		{"signed in", token(s.URL+"/mcp", "inbox.read"), http.StatusOK},
		{"demo token", "demo-owner", http.StatusOK},
		{"for another server", token("http://127.0.0.1:1/mcp", "inbox.read"), http.StatusUnauthorized},
		{"nobody's", "garbage", http.StatusUnauthorized},
		{"without scope", token(s.URL+"/mcp", ""), http.StatusForbidden},
	} {
		if r := as(c.token).at(s).send(t, "tools/list", nil); r.status != c.status {
			t.Errorf("%s: HTTP %d %s", c.name, r.status, r.body)
		}
		if r := as(c.token).send(t, "tools/list", nil); c.token != "demo-owner" && r.status != http.StatusUnauthorized {
			t.Errorf("%s, at a server without issuers: HTTP %d %s", c.name, r.status, r.body)
		}
	}
	_, body := exchange(t, http.MethodGet, s.URL+"/.well-known/oauth-protected-resource/mcp", "")
	if got := decode[object](t, body)["authorization_servers"].([]any); len(got) != 1 || got[0] != issuer.Issuer() {
		t.Errorf("metadata: %s", body)
	}
	// Clients that sign in are given the address alone.
	var b bytes.Buffer
	mcp := s.URL + "/mcp"
	if s.Banner(&b); !has(b.String(), "Sign in at "+issuer.Issuer()+": ", "  demo-owner ",
		"claude mcp add --transport http kobana-inbox "+mcp+"\n",
		"code --add-mcp '{\"name\":\"kobana-inbox\",\"type\":\"http\",\"url\":\""+mcp+"\"}'\n",
		"-H 'Authorization: Bearer demo-owner'") {
		t.Errorf("banner:\n%s", &b)
	}
}

// TestSignIn_Revoked: a token that was taken back is still remembered, but not
// for a call that the person confirms.
func TestSignIn_Revoked(t *testing.T) {
	t.Parallel()
	var active atomic.Bool
	active.Store(true)
	var s *Server
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, secret, _ := r.BasicAuth(); secret != "s3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		json.MarshalWrite(w, object{"active": active.Load(), "sub": "ana", "aud": s.URL + "/mcp", "scope": "inbox.write"})
	}))
	t.Cleanup(issuer.Close)
	s = serve(t, oauthFrom(map[string]string{
		"OAUTH_ISSUERS": issuer.URL, "OAUTH_INTROSPECTION_URL": issuer.URL, "OAUTH_INTROSPECTION_CLIENT_ID": "inbox", "OAUTH_INTROSPECTION_SECRET": "s3cret"}))
	join(t, s, access.Person{Issuer: issuer.URL, Subject: "ana"})
	c := as("opaque").at(s)
	before := emails(t, c)
	confirmed, _ := asked(t, c, "emails_delete", object{"id": before[0]})
	active.Store(false)
	if r := c.send(t, "tools/call", confirmed); r.status != http.StatusUnauthorized || !strings.Contains(r.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		t.Errorf("confirmed: HTTP %d %s", r.status, r.body)
	}
	if after := emails(t, as("demo-owner").at(s)); len(after) != len(before) {
		t.Errorf("%d e-mails of %d", len(after), len(before))
	}
	if as("demo-owner").at(s).send(t, "tools/list", nil).status != http.StatusOK {
		t.Error("demo tokens are not the issuer's to revoke")
	}
}

func TestSignIn_Misconfigured(t *testing.T) {
	c := testConfig(dataDir(t))
	oauthFrom(map[string]string{"OAUTH_ISSUERS": "http://login.example.com"})(&c)
	if _, err := Open(t.Context(), c, quiet()); err == nil || !strings.HasPrefix(err.Error(), "OAUTH_ISSUERS: ") {
		t.Errorf("%v", err)
	}
}

func TestConfigFrom_OAuth(t *testing.T) {
	c, err := ConfigFrom(func(name string) string { return map[string]string{"OAUTH_ISSUERS": demo.Issuer}[name] })
	if err != nil || c.OAuth("OAUTH_ISSUERS") != demo.Issuer {
		t.Errorf("%+v, %v", c, err)
	}
}
