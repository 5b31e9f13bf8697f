package oauth

import (
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func TestAccepted(t *testing.T) {
	ec := newEC("ec")
	p384 := signer{"p384", jwt.SigningMethodES384, newCurve(elliptic.P384())}
	i := newIssuer(t, rsaKey(), ec, edKey(), p384)
	v := verifier(t, i)
	for _, c := range []struct {
		name    string
		signer  signer
		headers object
	}{
		{"RS256", rsaKey(), nil},
		{"PS256", signer{"rsa", jwt.SigningMethodPS256, rsaKey().key}, nil},
		{"ES256", ec, nil},
		{"EdDSA", edKey(), nil},
		{"type of RFC 9068", ec, object{"typ": "at+jwt"}},
		{"type in full", ec, object{"typ": "application/at+jwt"}},
		{"type in capitals", ec, object{"typ": "AT+JWT"}},
		{"no type", ec, object{"typ": nil}},
		{"no key id, and a single key fits", ec, object{"kid": nil}},
		{"a header that means nothing here", ec, object{"jku": "https://evil.example/keys", "jwk": object{}, "x": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := accepts(t, v, c.signer.sign(i.claims(nil), c.headers))
			want := access.Token{
				Person: access.Person{Issuer: i.URL, Subject: "ana"}, Client: "c1", Scopes: access.ScopeRead,
				Expires: i.clock.now().Add(time.Hour),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	i.fetches(t, 1)
}

// refusal is a token that does not count, and why.
type refusal struct{ name, token, why string }

func testRefusals(t *testing.T, v access.Verifier, refusals []refusal) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) { refuses(t, v, c.token, access.ErrInvalidToken, c.why) })
	}
}

func TestForged_12_08(t *testing.T) {
	ec, other := newEC("ec"), newEC("ec")
	i, stranger := newIssuer(t, rsaKey(), ec, weakKey()), newIssuer(t, other)
	second := newIssuer(t, newEC("second"))
	v := verifier(t, i, second)
	unsigned := func(alg string) string {
		t := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims(i.claims(nil)))
		t.Header["alg"] = alg
		s, _ := t.SignedString(jwt.UnsafeAllowNoneSignatureType)
		return s
	}
	// The public key, in each spelling that a careless verifier would take for
	// the shared secret.
	der, _ := x509.MarshalPKIXPublicKey(rsaKey().key.Public())
	withPublicKey := func(secret []byte) string {
		t := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(i.claims(nil)))
		t.Header["kid"] = "rsa"
		s, _ := t.SignedString(secret)
		return s
	}
	good, modulus := i.token(nil), rsaKey().public().N
	parts := strings.Split(good, ".")
	forgedClaims := strings.Split(i.token(object{"sub": "bia"}), ".")[1]

	const notSigned, notUsed, nobody = "not signed by a key", "algorithm that the issuer does not use", "nobody who is trusted"
	testRefusals(t, v, []refusal{
		{"12.08 alg none", unsigned("none"), notUsed},
		{"12.08 alg None", unsigned("None"), notUsed},
		{"12.08 alg NONE", unsigned("NONE"), notUsed},
		{"12.08 no alg", ec.sign(i.claims(nil), object{"alg": nil}), notUsed},
		{"12.08 signature removed", parts[0] + "." + parts[1] + ".", notSigned},
		{"12.08 HS256 with the public key as PEM", withPublicKey(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), notUsed},
		{"12.08 HS256 with the public key as DER", withPublicKey(der), notUsed},
		{"12.08 HS256 with the modulus", withPublicKey([]byte(modulus)), notUsed},
		{"12.08 an algorithm that is not pinned", signer{"rsa", jwt.SigningMethodRS512, rsaKey().key}.sign(i.claims(nil), nil), notUsed},
		{"12.08 claims changed", parts[0] + "." + forgedClaims + "." + parts[2], notSigned},
		{"12.08 header changed", base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"rsa"}`)) + "." + parts[1] + "." + parts[2], notSigned},
		{"12.08 another key under a known id", other.sign(i.claims(nil), nil), notSigned},
		{"12.08 unknown key id", other.sign(i.claims(nil), object{"kid": "new"}), notSigned},
		{"12.08 key id of another kind of key", ec.sign(i.claims(nil), object{"kid": "rsa"}), notSigned},
		{"12.08 weak key", weakKey().sign(i.claims(nil), nil), notSigned},
		{"12.08 brings its own key", other.sign(i.claims(nil), object{"kid": nil, "jwk": other.public()}), notSigned},
		{"12.08 names its own keys", other.sign(i.claims(nil), object{"kid": "own", "jku": stranger.URL + "/keys"}), notSigned},
		{"12.08 key of another trusted issuer", second.token(object{"iss": i.URL}), notSigned},
		{"12.08 names another trusted issuer", i.token(object{"iss": second.URL}), notSigned},
		{"12.08 unknown issuer", stranger.token(nil), nobody},
		{"12.08 no issuer", i.token(object{"iss": nil}), nobody},
		{"12.08 issuer with a slash", i.token(object{"iss": i.URL + "/"}), nobody},
		{"12.08 list of issuers", i.token(object{"iss": []string{i.URL}}), "iss is no text"},
	})
	stranger.fetches(t, 0)
}

// Without a key id, a token is understood only where a single key fits.
func TestNoKeyID(t *testing.T) {
	a, b := newEC("a"), newEC("b")
	i := newIssuer(t, a)
	v := verifier(t, i)
	anonymous := object{"kid": nil}
	accepts(t, v, a.sign(i.claims(nil), anonymous))
	i.publish(a, b)
	i.clock.advance(refreshAfter)
	for _, s := range []signer{a, b} {
		refuses(t, v, s.sign(i.claims(nil), anonymous), access.ErrInvalidToken, "not signed by a key")
	}
	// The only key is replaced: nothing but the signature tells.
	i.publish(b)
	i.clock.advance(askEvery)
	accepts(t, v, b.sign(i.claims(nil), anonymous))
}

func TestMalformed_12_08(t *testing.T) {
	ec := newEC("ec")
	i := newIssuer(t, ec)
	v := verifier(t, i)
	good := i.token(nil)
	parts := strings.Split(good, ".")
	with := func(n int, part string) string {
		p := append([]string(nil), parts...)
		p[n] = part
		return strings.Join(p, ".")
	}
	document := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	// 64 bytes leave four bits of the last character unused.
	twin := good[:len(good)-1] + string(good[len(good)-1]+1)

	const base64url, header, claims, shape = "not in base64url", "its header is no JSON", "its claims are no JSON", "not a signed JWT"
	testRefusals(t, v, []refusal{
		{"empty", "", shape},
		{"garbage", "garbage", shape},
		{"dots", "..", header},
		{"two parts", parts[0] + "." + parts[1], shape},
		{"four parts", good + ".x", shape},
		{"five parts, as an encrypted one", good + ".x.x", shape},
		{"more dots than a token", strings.Repeat(".", maxToken), shape},
		{"longer than 8 KB", i.token(object{"x": strings.Repeat("x", maxToken)}), "longer than 8 KB"},
		{"padded", good + "==", base64url},
		{"line break", good + "\n", base64url},
		{"line break inside", with(1, parts[1][:4]+"\r\n"+parts[1][4:]), base64url},
		{"standard base64", with(2, "+/"+parts[2][2:]), base64url},
		{"another spelling of the signature", twin, base64url},
		{"not ASCII", with(2, "é"), base64url},
		{"header no JSON", with(0, document("x")), header},
		{"header a list", with(0, document("[]")), header},
		{"header null", with(0, document("null")), "algorithm that the issuer does not use"},
		{"header twice", with(0, document(`{"alg":"none","alg":"ES256","kid":"ec"}`)), header},
		{"header in capitals", with(0, document(`{"ALG":"ES256","kid":"ec"}`)), "algorithm that the issuer does not use"},
		{"alg a list", with(0, document(`{"alg":["ES256"]}`)), header},
		{"kid a number", ec.sign(i.claims(nil), object{"kid": 7}), header},
		{"critical extension", ec.sign(i.claims(nil), object{"crit": []string{"exp"}}), "critical extension"},
		{"critical, but empty", ec.sign(i.claims(nil), object{"crit": []string{}}), "critical extension"},
		{"type of a logout token", ec.sign(i.claims(nil), object{"typ": "logout+jwt"}), "not an access token"},
		{"type of a DPoP proof", ec.sign(i.claims(nil), object{"typ": "dpop+jwt"}), "not an access token"},
		{"claims no JSON", with(1, document("x")), claims},
		{"claims a list", with(1, document("[]")), claims},
		{"claims null", with(1, document("null")), claims},
		{"claims cut", with(1, document(`{"iss":"`+i.URL)), claims},
		{"claim twice", with(1, document(`{"iss":"`+i.URL+`","sub":"ana","sub":"bia"}`)), claims},
		{"claims not UTF-8", with(1, document("{\"sub\":\"\xff\"}")), claims},
	})
	i.fetches(t, 0)
}

func TestPinnedAlgorithms_12_08(t *testing.T) {
	ec := newEC("ec")
	i := newIssuer(t, rsaKey(), ec)
	v, err := NewJWT(Options{Issuers: []Issuer{{URL: i.URL, Algorithms: []string{"RS384"}}}, Audience: audience, Now: i.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, v, signer{"rsa", jwt.SigningMethodRS384, rsaKey().key}.sign(i.claims(nil), nil))
	refuses(t, v, i.token(nil), access.ErrInvalidToken, "does not use")
	refuses(t, v, ec.sign(i.claims(nil), nil), access.ErrInvalidToken, "does not use")
	for _, name := range []string{"none", "HS256", "HS512", "rs256", ""} {
		_, err := NewJWT(Options{Issuers: []Issuer{{URL: i.URL, Algorithms: []string{name}}}, Audience: audience})
		if err == nil || !strings.Contains(err.Error(), "algorithm") {
			t.Errorf("algorithm %q: %v", name, err)
		}
	}
}
