package oauth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"
)

// algorithm verifies signatures by the keys that fit it.
type algorithm struct {
	verify func(input string, signature []byte, key any) error
	fits   func(key any) bool
}

// algorithms are all that may be configured: "none" and those with a shared
// secret are not among them (checklist 12.08).
var algorithms = map[string]algorithm{
	"RS256": {jwt.SigningMethodRS256.Verify, isRSA},
	"RS384": {jwt.SigningMethodRS384.Verify, isRSA},
	"RS512": {jwt.SigningMethodRS512.Verify, isRSA},
	"PS256": {jwt.SigningMethodPS256.Verify, isRSA},
	"PS384": {jwt.SigningMethodPS384.Verify, isRSA},
	"PS512": {jwt.SigningMethodPS512.Verify, isRSA},
	"ES256": {jwt.SigningMethodES256.Verify, isEC(256)},
	"ES384": {jwt.SigningMethodES384.Verify, isEC(384)},
	"ES512": {jwt.SigningMethodES512.Verify, isEC(521)},
	"EdDSA": {jwt.SigningMethodEdDSA.Verify, isEd25519},
}

// isRSA wants at least 2,048 bits (RFC 7518 §3.3), and no more than can be
// verified in a moment.
func isRSA(key any) bool {
	k, ok := key.(*rsa.PublicKey)
	return ok && k.N.BitLen() >= 2048 && k.N.BitLen() <= 8192
}

func isEC(bits int) func(any) bool {
	return func(key any) bool {
		k, ok := key.(*ecdsa.PublicKey)
		return ok && k.Curve.Params().BitSize == bits
	}
}

func isEd25519(key any) bool {
	_, ok := key.(ed25519.PublicKey)
	return ok
}

// keySet is the keys that an issuer published at one time.
type keySet []publicKey

type publicKey struct {
	id        string // "" when it has none
	algorithm string // the only one it is for, "" when it does not say
	key       any
}

// parseKeySet reads a JWK Set (RFC 7517 §5), without the keys that are of an
// unknown kind, broken, or not for verifying.
func parseKeySet(document []byte) (keySet, error) {
	var set struct {
		Keys *[]jsontext.Value `json:"keys"`
	}
	if json.Unmarshal(document, &set) != nil || set.Keys == nil {
		return nil, errors.New("not a JWK Set")
	}
	keys := keySet{}
	for _, raw := range *set.Keys {
		k, err := jwkset.NewJWKFromRawJSON([]byte(raw), jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err != nil {
			continue
		}
		m := k.Marshal()
		if m.USE != "" && m.USE != jwkset.UseSig || len(m.KEYOPS) > 0 && !slices.Contains(m.KEYOPS, jwkset.KeyOpsVerify) {
			continue
		}
		keys = append(keys, publicKey{m.KID, string(m.ALG), k.Key()})
	}
	return keys, nil
}

// find returns the key that a token names. One that names none is only
// understood where a single key fits.
func (s keySet) find(h header) (key any, ok bool) {
	fits := algorithms[h.Algorithm].fits
	for _, k := range s {
		if h.KeyID != "" && h.KeyID != k.id || k.algorithm != "" && k.algorithm != h.Algorithm || !fits(k.key) {
			continue
		}
		if h.KeyID != "" {
			return k.key, true
		}
		if ok {
			return nil, false
		}
		key, ok = k.key, true
	}
	return key, ok
}
