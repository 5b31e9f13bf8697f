package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// The issuers of the tests: the demo's, and one that is as trusted and vouches
// for others by the same names.
const (
	issuer      = demo.Issuer
	otherIssuer = "https://other.example"
)

// clock is the time of a test.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// issuers are the authorization servers: their keys, by URL. (ES256 is what the
// race detector slows down least.)
type issuers map[string]*ecdsa.PrivateKey

func newIssuers(t *testing.T) issuers {
	t.Helper()
	i := issuers{}
	for _, url := range []string{issuer, otherIssuer} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		i[url] = key
	}
	return i
}

// RoundTrip answers requests for the keys of an issuer. No other leaves the
// test.
func (i issuers) RoundTrip(r *http.Request) (*http.Response, error) {
	key, ok := i[strings.TrimSuffix(r.URL.String(), "/keys")]
	if !ok {
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Header: http.Header{}, Request: r}, nil
	}
	public, err := jwkset.NewJWKFromKey(key.Public(), jwkset.JWKOptions{Metadata: jwkset.JWKMetadataOptions{KID: "1", USE: jwkset.UseSig}})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(object{"keys": []any{public.Marshal()}})
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), Request: r,
	}, err
}

// token is an access token of the person, for as long as a test may take.
// Changes replace claims, and nil takes one away.
func (w *world) token(t *testing.T, p access.Person, scope string, changes object) string {
	t.Helper()
	return w.sign(t, jwt.SigningMethodES256, w.issuers[p.Issuer], p, scope, changes)
}

// signedByPublicKey is a token that whoever reads the issuer's keys can make.
func (w *world) signedByPublicKey(t *testing.T, p access.Person, scope string) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(w.issuers[p.Issuer].Public())
	if err != nil {
		t.Fatal(err)
	}
	return w.sign(t, jwt.SigningMethodHS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), p, scope, nil)
}

func (w *world) sign(t *testing.T, method jwt.SigningMethod, key any, p access.Person, scope string, changes object) string {
	t.Helper()
	claims := object{
		"iss": p.Issuer, "sub": p.Subject, "aud": resource, "scope": scope, "client_id": "test-client",
		"iat": w.clock.now().Unix(), "exp": w.clock.now().Add(24 * time.Hour).Unix(),
	}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	signed := jwt.NewWithClaims(method, jwt.MapClaims(claims))
	signed.Header["kid"] = "1"
	s, err := signed.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
