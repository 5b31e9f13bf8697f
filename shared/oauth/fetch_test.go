package oauth

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

var silent = log.New(io.Discard, "", 0)

func TestMetadataAddresses(t *testing.T) {
	for issuer, want := range map[string][]string{
		"https://login.example": {
			"https://login.example/.well-known/oauth-authorization-server",
			"https://login.example/.well-known/openid-configuration",
		},
		"https://login.example/": {
			"https://login.example/.well-known/oauth-authorization-server",
			"https://login.example/.well-known/openid-configuration",
		},
		"https://login.example/realms/a%20b": {
			"https://login.example/.well-known/oauth-authorization-server/realms/a%20b",
			"https://login.example/.well-known/openid-configuration/realms/a%20b",
			"https://login.example/realms/a%20b/.well-known/openid-configuration",
		},
	} {
		if diff := cmp.Diff(want, metadataAddresses(issuer)); diff != "" {
			t.Error(diff)
		}
	}
}

// Which keys of a set verify a token is theirs to say.
func TestKeySet(t *testing.T) {
	ec := newEC("ec")
	i := newIssuer(t, ec)
	good := ec.public()
	for _, c := range []struct {
		name   string
		change func(*jwkset.JWKMarshal)
		ok     bool
	}{
		{"for signatures", func(k *jwkset.JWKMarshal) { k.USE = "sig" }, true},
		{"for encryption", func(k *jwkset.JWKMarshal) { k.USE = "enc" }, false},
		{"for verifying among others", func(k *jwkset.JWKMarshal) { k.KEYOPS = []jwkset.KEYOPS{"sign", "verify"} }, true},
		{"for wrapping keys", func(k *jwkset.JWKMarshal) { k.KEYOPS = []jwkset.KEYOPS{"wrapKey"} }, false},
		{"for the token's algorithm", func(k *jwkset.JWKMarshal) { k.ALG = "ES256" }, true},
		{"for another algorithm", func(k *jwkset.JWKMarshal) { k.ALG = "ES384" }, false},
		{"without id", func(k *jwkset.JWKMarshal) { k.KID = "" }, false},
		{"not on its curve", func(k *jwkset.JWKMarshal) { k.X = k.Y }, false},
		{"of no kind", func(k *jwkset.JWKMarshal) { k.KTY = "" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := good
			c.change(&key)
			i.answer(func(w http.ResponseWriter, _ *http.Request) {
				// An unusable key beside it harms nobody.
				json.MarshalWrite(w, object{"keys": []any{object{"kty": "oct", "kid": "ec", "k": "AAAA"}, key}})
			})
			if c.ok {
				accepts(t, verifier(t, i), i.token(nil))
				return
			}
			refuses(t, verifier(t, i), i.token(nil), access.ErrInvalidToken, "not signed by a key")
		})
	}
}

// discovering serves an issuer below /realm whose metadata, at the address
// given, is what f makes of the server's URL.
func discovering(t *testing.T, address string, f func(server string) object) (*testIssuer, *JWT) {
	i := newIssuer(t, newEC("ec"))
	mux := http.NewServeMux()
	mux.HandleFunc("/keys", i.serveKeys)
	mux.HandleFunc(address, func(w http.ResponseWriter, r *http.Request) { json.MarshalWrite(w, f("http://"+r.Host)) })
	i.Config.Handler = mux
	v, err := NewJWT(Options{Issuers: []Issuer{{URL: i.URL + "/realm"}}, Audience: audience, Now: i.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	return i, v
}

func TestDiscovery(t *testing.T) {
	good := func(server string) object { return object{"issuer": server + "/realm", "jwks_uri": server + "/keys"} }
	for _, address := range []string{
		"/.well-known/oauth-authorization-server/realm",
		"/.well-known/openid-configuration/realm",
		"/realm/.well-known/openid-configuration",
	} {
		i, v := discovering(t, address, good)
		accepts(t, v, i.token(object{"iss": i.URL + "/realm"}))
	}
	for _, c := range []struct {
		name string
		f    func(server string) object
		why  string
	}{
		{"another issuer's", func(s string) object { return object{"issuer": s, "jwks_uri": s + "/keys"} }, "metadata of another issuer"},
		{"nobody's", func(s string) object { return object{"jwks_uri": s + "/keys"} }, "metadata of another issuer"},
		{"without keys", func(s string) object { return object{"issuer": s + "/realm"} }, "not a URL"},
		{"keys without TLS elsewhere", func(s string) object {
			return object{"issuer": s + "/realm", "jwks_uri": "http://keys.example/keys"}
		}, "https is needed"},
		{"keys in a file", func(s string) object { return object{"issuer": s + "/realm", "jwks_uri": "file:///keys"} }, "not a URL"},
		{"no object", func(s string) object { return nil }, "metadata"},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, v := discovering(t, "/.well-known/openid-configuration/realm", c.f)
			refuses(t, v, i.token(object{"iss": i.URL + "/realm"}), access.ErrUnavailable, c.why)
			i.fetches(t, 0)
		})
	}
}

// The metadata is asked for once, and again when the keys are not where it said.
func TestKeysMove(t *testing.T) {
	var asked, moved atomic.Int64
	i, v := discovering(t, "/.well-known/oauth-authorization-server/realm", func(server string) object {
		asked.Add(1)
		return object{"issuer": server + "/realm", "jwks_uri": fmt.Sprintf("%s/keys?%d", server, moved.Load())}
	})
	i.answer(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != fmt.Sprint(moved.Load()) {
			w.WriteHeader(404)
			return
		}
		i.servePublished(w)
	})
	token := i.token(object{"iss": i.URL + "/realm"})
	for _, step := range []struct{ moved, asked int64 }{{0, 1}, {0, 1}, {1, 1}, {1, 2}, {1, 2}} {
		moved.Store(step.moved)
		i.clock.advance(refreshAfter)
		accepts(t, v, token)
		if got := asked.Load(); got != step.asked {
			t.Errorf("asked for the metadata %d times, want %d", got, step.asked)
		}
	}
	accepts(t, v, token)
	i.fetches(t, 5)
}

func TestNoRedirects(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	elsewhere := httptest.NewServer(http.HandlerFunc(i.serveKeys))
	t.Cleanup(elsewhere.Close)
	v := verifier(t, i)
	for _, code := range []int{301, 302, 303, 307, 308} {
		i.answer(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(code)
		})
		n := i.count.Load()
		refuses(t, v, i.token(nil), access.ErrUnavailable, "HTTP 30")
		i.fetches(t, n+1)
		i.clock.advance(restFor)
	}
}

func TestTLS_12_18(t *testing.T) {
	ec := newEC("ec")
	i := newIssuer(t, ec)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(i.serveKeys))
	secure.Config.ErrorLog = silent
	secure.StartTLS()
	t.Cleanup(secure.Close)
	o := Options{Issuers: []Issuer{{URL: "https://login.example", KeysURL: secure.URL}}, Audience: audience, Now: i.clock.now}
	token := i.token(object{"iss": "https://login.example"})
	for _, c := range []struct {
		transport http.RoundTripper
		err       error
	}{{secure.Client().Transport, nil}, {nil, access.ErrUnavailable}} {
		o.Transport = c.transport
		v, err := NewJWT(o)
		if err != nil {
			t.Fatal(err)
		}
		if c.err == nil {
			accepts(t, v, token)
			continue
		}
		refuses(t, v, token, c.err, "certificate")
	}
}

// Metadata fetched by https may not send this server to http on its own host.
func TestNoDowngrade_12_18(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	var issuer string
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.MarshalWrite(w, object{"issuer": issuer, "jwks_uri": i.URL + "/keys"})
	}))
	t.Cleanup(secure.Close)
	issuer = strings.Replace(secure.URL, "https", "HTTPS", 1)
	v, err := NewJWT(Options{Issuers: []Issuer{{URL: issuer}}, Audience: audience, Now: i.clock.now, Transport: secure.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, v, i.token(object{"iss": issuer}), access.ErrUnavailable, "https is needed")
	i.fetches(t, 0)
}

// The operator hears of an issuer that is down while nobody else notices.
func TestFailedRefreshIsLogged(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	var lines bytes.Buffer
	v, err := NewJWT(Options{Issuers: []Issuer{{URL: i.URL}}, Audience: audience, Now: i.clock.now,
		Log: slog.New(slog.NewTextHandler(&lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	token := i.token(nil)
	accepts(t, v, token)
	if lines.Len() > 0 {
		t.Errorf("logged: %s", &lines)
	}
	i.answer(status(500))
	i.clock.advance(refreshAfter)
	accepts(t, v, token)
	for _, part := range []string{"level=WARN", "issuer=" + i.URL, "HTTP 500"} {
		if !strings.Contains(lines.String(), part) {
			t.Errorf("no %s in %s", part, &lines)
		}
	}
}
