package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

const audience = "https://inbox.example.com/mcp"

type object = map[string]any

// signer is a key that an issuer signs with.
type signer struct {
	id     string
	method jwt.SigningMethod
	key    crypto.Signer
}

// The keys of the tests: making them takes time.
var (
	rsaKey  = sync.OnceValue(func() signer { return signer{"rsa", jwt.SigningMethodRS256, newRSA(2048)} })
	rsaKey2 = sync.OnceValue(func() signer { return signer{"rsa-2", jwt.SigningMethodRS256, newRSA(2048)} })
	weakKey = sync.OnceValue(func() signer { return signer{"weak", jwt.SigningMethodRS256, newRSA(1024)} })
	edKey   = sync.OnceValue(func() signer {
		_, k, _ := ed25519.GenerateKey(rand.Reader)
		return signer{"ed", jwt.SigningMethodEdDSA, k}
	})
)

func newRSA(bits int) *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		panic(err)
	}
	return k
}

func newEC(id string) signer { return signer{id, jwt.SigningMethodES256, newCurve(elliptic.P256())} }

func newCurve(c elliptic.Curve) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		panic(err)
	}
	return k
}

func (s signer) public() jwkset.JWKMarshal {
	k, err := jwkset.NewJWKFromKey(s.key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: s.id}})
	if err != nil {
		panic(err)
	}
	return k.Marshal()
}

// sign makes a token. A header whose value is nil is left out.
func (s signer) sign(claims object, headers object) string {
	t := jwt.NewWithClaims(s.method, jwt.MapClaims(claims))
	t.Header["kid"] = s.id
	maps.Copy(t.Header, headers)
	maps.DeleteFunc(t.Header, func(_ string, v any) bool { return v == nil })
	token, err := t.SignedString(s.key)
	if err != nil {
		panic(err)
	}
	return token
}

// clock is the time of a test.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time             { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration)    { c.nanos.Add(int64(d)) }
func (c *clock) in(d time.Duration) float64 { return float64(c.now().Add(d).UnixMilli()) / 1000 }

// testIssuer is an authorization server on loopback.
type testIssuer struct {
	*httptest.Server
	clock *clock
	keys  atomic.Pointer[[]signer] // those published
	count atomic.Int64             // fetches of them
	// instead, when not nil, answers in place of the published keys.
	instead atomic.Pointer[http.HandlerFunc]
}

func newIssuer(t testing.TB, keys ...signer) *testIssuer {
	i := &testIssuer{clock: newClock()}
	i.publish(keys...)
	mux := http.NewServeMux()
	mux.HandleFunc("/keys", i.serveKeys)
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		json.MarshalWrite(w, object{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

func (i *testIssuer) publish(keys ...signer) { i.keys.Store(&keys) }

func (i *testIssuer) serveKeys(w http.ResponseWriter, r *http.Request) {
	i.count.Add(1)
	if instead := i.instead.Load(); instead != nil {
		(*instead)(w, r)
		return
	}
	i.servePublished(w)
}

func (i *testIssuer) servePublished(w http.ResponseWriter) {
	set := jwkset.JWKSMarshal{Keys: []jwkset.JWKMarshal{}}
	for _, k := range *i.keys.Load() {
		set.Keys = append(set.Keys, k.public())
	}
	json.MarshalWrite(w, set)
}

// answer makes the issuer answer so in place of its keys; nil ends that.
func (i *testIssuer) answer(f http.HandlerFunc) {
	if f == nil {
		i.instead.Store(nil)
		return
	}
	i.instead.Store(&f)
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func (i *testIssuer) fetches(t testing.TB, want int64) {
	t.Helper()
	if got := i.count.Load(); got != want {
		t.Errorf("%d fetches of the keys, want %d", got, want)
	}
}

// claims are those of a good token, changed: a nil value removes one.
func (i *testIssuer) claims(changes object) object {
	c := object{
		"iss": i.URL, "sub": "ana", "aud": audience, "scope": "inbox.read", "client_id": "c1",
		"iat": i.clock.in(0), "nbf": i.clock.in(0), "exp": i.clock.in(time.Hour),
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// token is a good one, signed by the first of the published keys, with changes
// to its claims.
func (i *testIssuer) token(changes object) string {
	return (*i.keys.Load())[0].sign(i.claims(changes), nil)
}

// verifier is one of the issuers' tokens, on the first's clock.
func verifier(t testing.TB, issuers ...*testIssuer) *JWT {
	o := Options{Audience: audience, Now: issuers[0].clock.now}
	for _, i := range issuers {
		o.Issuers = append(o.Issuers, Issuer{URL: i.URL})
	}
	v, err := NewJWT(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// accepts fails the test unless the token is good.
func accepts(t testing.TB, v access.Verifier, token string) access.Token {
	t.Helper()
	got, err := v.Verify(context.Background(), token)
	if err != nil {
		t.Errorf("refused: %v", err)
	}
	return got
}

// refuses fails the test unless the token is refused for the reason given, by
// an error that has nothing of the token (12.18).
func refuses(t testing.TB, v access.Verifier, token string, kind error, why string) {
	t.Helper()
	got, err := v.Verify(context.Background(), token)
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v, want %v because of %q", err, kind, why)
		return
	}
	if got != (access.Token{}) {
		t.Errorf("refused, but says %+v", got)
	}
	leaksNothing(t, err, token)
}

func leaksNothing(t testing.TB, err error, token string) {
	t.Helper()
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 5 && strings.Contains(err.Error(), part) {
			t.Errorf("12.18: the error has a part of the token: %v", err)
		}
	}
}
