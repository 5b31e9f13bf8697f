package oauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// serve puts a server with the verifier on the wire.
func serve(t *testing.T, v access.Verifier) *httptest.Server {
	g, err := access.NewGate(access.Options{Verifier: v, PublicURL: "https://inbox.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(mcp.New(mcp.Options{Core: true, Authenticate: g.Authenticate}))
	t.Cleanup(s.Close)
	return s
}

// ping is the least that can be asked with a token.
func ping(t *testing.T, s *httptest.Server, path, token string) (answer *http.Response, body string) {
	t.Helper()
	r, _ := http.NewRequest("POST", s.URL+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(b)
}

func TestOnTheWire(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	s := serve(t, verifier(t, i))
	for _, c := range []struct {
		name, token string
		status      int
		challenge   string
	}{
		{"12.08 good", i.token(nil), 200, ""},
		{"12.01 tampered", i.token(nil) + "A", 401, `error="invalid_token"`},
		{"12.08 expired", i.token(object{"exp": 1}), 401, `error="invalid_token"`},
		{"12.08 wrong issuer", i.token(object{"iss": "https://login.example"}), 401, `error="invalid_token"`},
		{"12.08 wrong key", newEC("ec").sign(i.claims(nil), nil), 401, `error="invalid_token"`},
		{"12.09 other audience", i.token(object{"aud": "https://sandbox.example.com/mcp"}), 401, `error="invalid_token"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, body := ping(t, s, "/mcp", c.token)
			challenge := answer.Header.Get("WWW-Authenticate")
			if answer.StatusCode != c.status || !strings.Contains(challenge, c.challenge) || (c.challenge == "") != (challenge == "") {
				t.Errorf("got %d %s %s", answer.StatusCode, challenge, body)
			}
		})
	}
}

// Tokens are verified for what the metadata has clients ask for, however the
// public URL is spelled.
func TestAudienceIsTheResource_case_13(t *testing.T) {
	for _, publicURL := range []string{"https://inbox.example.com", "https://inbox.example.com/", "https://Inbox.Example.com"} {
		v, _, err := FromEnv(environment{"OAUTH_ISSUERS": "https://login.example"}.get, publicURL, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := access.NewGate(access.Options{Verifier: v, PublicURL: publicURL})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		g.Metadata().ServeHTTP(w, httptest.NewRequest("GET", access.MetadataPath, nil))
		var metadata struct {
			Resource string `json:"resource"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &metadata); err != nil {
			t.Fatal(err)
		}
		if got := v.(*JWT).opts.Audience; got != metadata.Resource || got != audience {
			t.Errorf("%s: audience %s, resource %s", publicURL, got, metadata.Resource)
		}
	}
}

// A token is verified for each request, never for a path.
func TestSameTokenOnTwoPaths_case_4(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	s := serve(t, verifier(t, i))
	good, bad := i.token(nil), i.token(object{"aud": "x"})
	for _, path := range []string{"/mcp", "/mcp/tools", "/mcp/resources", "/mcp"} {
		for token, want := range map[string]int{bad: 401, good: 200} {
			if answer, body := ping(t, s, path, token); answer.StatusCode != want {
				t.Errorf("%s: got %d, want %d: %s", path, answer.StatusCode, want, body)
			}
		}
	}
}

func TestOnTheWireUnavailable(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	i.answer(status(500))
	s := serve(t, verifier(t, i))
	answer, body := ping(t, s, "/mcp", i.token(nil))
	if answer.StatusCode != 503 || answer.Header.Get("Retry-After") != "5" || answer.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("got %d %v", answer.StatusCode, answer.Header)
	}
	if strings.Contains(body, i.URL) || !strings.Contains(body, "nothing was done") {
		t.Errorf("the client is told %s", body)
	}
}

// A whole sign-in at an identity provider that is not ours.
func TestIdentityProvider(t *testing.T) {
	m, err := mockoidc.Run()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Shutdown() })
	m.ClientID = audience // it knows no resource indicators
	v, issuers, err := FromEnv(environment{"OAUTH_ISSUERS": m.Issuer()}.get, "https://inbox.example.com", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(issuers) != 1 || issuers[0] != m.Issuer() {
		t.Errorf("issuers %v", issuers)
	}
	got := accepts(t, v, signIn(t, m))
	if want := (access.Person{Issuer: m.Issuer(), Subject: mockoidc.DefaultUser().Subject}); got.Person != want {
		t.Errorf("got %+v, want %+v", got.Person, want)
	}
	for audience, want := range map[string]int{audience: 200, "https://sandbox.example.com/mcp": 401} { // case 14
		token, err := m.Keypair.SignJWT(jwt.MapClaims{
			"iss": m.Issuer(), "sub": "ana", "aud": audience, "exp": m.Now().Unix() + 60, "scope": "inbox.read"})
		if err != nil {
			t.Fatal(err)
		}
		if answer, body := ping(t, serve(t, v), "/mcp", token); answer.StatusCode != want {
			t.Errorf("audience %s: %d %s", audience, answer.StatusCode, body)
		}
	}
}

// signIn goes the way of RFC 6749 §4.1 and returns the access token.
func signIn(t *testing.T, m *mockoidc.MockOIDC) string {
	t.Helper()
	client := newClient(http.DefaultTransport)
	answer, err := client.Get(m.AuthorizationEndpoint() + "?" + url.Values{
		"client_id": {m.ClientID}, "response_type": {"code"}, "scope": {"openid"}, "state": {"s"}, "redirect_uri": {"http://127.0.0.1/done"},
	}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	done, err := answer.Location()
	if err != nil {
		t.Fatal(err)
	}
	answer, err = client.PostForm(m.TokenEndpoint(), url.Values{
		"client_id": {m.ClientID}, "client_secret": {m.ClientSecret}, "grant_type": {"authorization_code"}, "code": {done.Query().Get("code")},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var tokens struct {
		Access string `json:"access_token"`
	}
	if err := json.UnmarshalRead(answer.Body, &tokens); err != nil {
		t.Fatal(err)
	}
	return tokens.Access
}
