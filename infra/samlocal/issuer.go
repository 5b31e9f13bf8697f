package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
)

// keysPath is where the issuer's keys are (RFC 7517).
const keysPath = "/keys"

// lifetime is how long tokens and the certificate are good for.
const lifetime = 12 * time.Hour

type object = map[string]any

// issuer signs tokens in the name of the demo's issuer.
type issuer struct {
	key  *ecdsa.PrivateKey
	keys []byte
}

func newIssuer() (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return nil, err
	}
	encode := base64.RawURLEncoding.EncodeToString
	keys, err := json.Marshal(object{"keys": []any{object{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "local", "x": encode(point[1:33]), "y": encode(point[33:]),
	}}})
	return &issuer{key, keys}, err
}

// ServeHTTP answers with the keys.
func (i *issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/jwk-set+json")
	w.Write(i.keys)
}

// token is an access token of a person, for all scopes.
func (i *issuer) token(subject, audience string) (string, error) {
	now := time.Now()
	t := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": demo.Issuer, "sub": subject, "aud": audience, "scope": "inbox.read inbox.write", "client_id": "samlocal",
		"iat": now.Unix(), "exp": now.Add(lifetime).Unix(),
	})
	t.Header["kid"] = "local"
	return t.SignedString(i.key)
}

// variables are those of sam local, in its JSON. The issuer is the demo's, and
// its keys are here.
func variables(publicURL, keysURL string) string {
	issuers, _ := json.Marshal([]object{{"issuer": demo.Issuer, "jwks_uri": keysURL, "algorithms": []string{"ES256"}}})
	all, _ := json.Marshal(object{
		"Parameters": object{"PUBLIC_URL": publicURL, "OAUTH_ISSUERS": string(issuers)},
		"RouterFunction": object{
			"PUBLIC_URL": publicURL, "OAUTH_ISSUERS": string(issuers), "TOOLS_FUNCTION": "ToolsFunction",
			"RESOURCES_FUNCTION": "ResourcesFunction", "PROMPTS_FUNCTION": "PromptsFunction", "COMPLETION_FUNCTION": "CompletionFunction",
		},
	})
	return string(all)
}

// newCertificate makes a certificate of a host that is its own authority.
func newCertificate(host string) (*tls.Config, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), NotBefore: now.Add(-time.Minute), NotAfter: now.Add(lifetime),
		IPAddresses: []net.IP{net.ParseIP(host)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, "", err
	}
	c := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return &tls.Config{Certificates: []tls.Certificate{c}}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), nil
}
