package oauth

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// JWT verifies signed tokens (RFC 7519, RFC 9068) of the configured issuers. It
// remembers their keys, but no token: each is verified anew.
type JWT struct {
	opts    Options
	issuers map[string]issuer // by URL
}

// issuer is one whose tokens count.
type issuer struct {
	algorithms []string
	keys       *keySource
}

// NewJWT makes a verifier. Its error says what is wrong with the options.
func NewJWT(o Options) (*JWT, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &JWT{o, map[string]issuer{}}
	for _, i := range o.Issuers {
		names := i.Algorithms
		if len(names) == 0 {
			names = []string{"RS256", "PS256", "ES256", "EdDSA"}
		}
		v.issuers[i.URL] = issuer{names, newKeySource(i, o)}
	}
	return v, nil
}

// Verify implements [access.Verifier]. What a token says of itself is judged
// before its signature, so that only one that could count has keys fetched.
func (v *JWT) Verify(ctx context.Context, token string) (access.Token, error) {
	s, err := parse(token)
	if err != nil {
		return access.Token{}, err
	}
	name, err := s.claims.text("iss")
	if err != nil {
		return access.Token{}, err
	}
	i, ok := v.issuers[name]
	if !ok {
		return access.Token{}, invalid("issued by nobody who is trusted here")
	}
	if !slices.Contains(i.algorithms, s.header.Algorithm) {
		return access.Token{}, invalid("signed by an algorithm that the issuer does not use")
	}
	t, err := v.opts.token(s.claims, name, v.opts.Now())
	switch {
	case err != nil:
		return access.Token{}, err
	case t.Expires.IsZero():
		return access.Token{}, invalid("no exp")
	}
	if err := i.keys.verify(ctx, s); err != nil {
		return access.Token{}, err
	}
	return t, nil
}

// signed is a token taken apart: nothing in it is true before its signature is
// verified.
type signed struct {
	header    header
	claims    claims
	input     string // what was signed
	signature []byte
}

// header is what decides how a token is verified. Keys, and addresses of keys,
// that it may carry are never looked at.
type header struct {
	Algorithm string         `json:"alg"`
	Type      string         `json:"typ"`
	KeyID     string         `json:"kid"`
	Critical  jsontext.Value `json:"crit"`
}

// parse takes a token apart, and accepts one spelling of each only.
func parse(token string) (s signed, err error) {
	if len(token) > maxToken {
		return s, invalid("longer than 8 KB")
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return s, invalid("not a signed JWT")
	}
	var decoded [3][]byte
	for i, part := range parts {
		// Go's decoder skips line breaks.
		decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || strings.ContainsAny(part, "\r\n") {
			return s, invalid("not in base64url")
		}
	}
	if json.Unmarshal(decoded[0], &s.header) != nil {
		return s, invalid("its header is no JSON object with a text for alg, typ and kid")
	}
	// RFC 9068 wants at+jwt, which not every issuer writes. Other types, such
	// as logout+jwt, are no access tokens; an ID token has another audience.
	switch strings.TrimPrefix(strings.ToLower(s.header.Type), "application/") {
	case "at+jwt", "jwt", "":
	default:
		return s, invalid("not an access token by its type")
	}
	if s.header.Critical != nil { // no extension is understood (RFC 7515 §4.1.11)
		return s, invalid("its header has a critical extension")
	}
	var ok bool
	if s.claims, ok = parseClaims(decoded[1]); !ok {
		return s, invalid("its claims are no JSON object")
	}
	s.input = token[:len(parts[0])+1+len(parts[1])]
	s.signature = decoded[2]
	return s, nil
}
