package oauth

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// FuzzVerify: no token is accepted but the very ones that were issued, nothing
// panics, and no error has a part of the token.
func FuzzVerify(f *testing.F) {
	ec, old := newEC("ec"), newEC("old")
	i := newIssuer(f, rsaKey(), ec, edKey())
	v := verifier(f, i)
	issued := map[string]bool{}
	for _, s := range []signer{rsaKey(), ec, edKey()} {
		token := s.sign(i.claims(object{"org_id": "acme", "workspace_id": "books"}), object{"typ": "at+jwt"})
		accepts(f, v, token)
		issued[token] = true
		f.Add(token)
		f.Add(token + "=")
		f.Add(token[:len(token)-1])
		f.Add(strings.Replace(token, ".", "..", 1))
	}
	f.Add(old.sign(i.claims(nil), nil))
	f.Add(ec.sign(i.claims(object{"exp": "1", "aud": []any{1}}), object{"crit": 1}))
	f.Add(ec.sign(object{}, nil))
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		got, err := v.Verify(context.Background(), token)
		switch {
		case issued[token]:
			if err != nil {
				t.Errorf("an issued token is refused: %v", err)
			}
		case err == nil:
			t.Errorf("accepted %q as %+v", token, got)
		case !errors.Is(err, access.ErrInvalidToken):
			t.Errorf("got %v", err)
		default:
			leaksNothing(t, err, token)
		}
	})
}

// FuzzClaims: whatever an issuer or an endpoint says, there is a person with a
// name and the audience is ours, or it is refused.
func FuzzClaims(f *testing.F) {
	i := newIssuer(f)
	for _, changes := range []object{nil, {"aud": []string{audience}}, {"aud": nil}, {"exp": 1e300}, {"sub": ""}, {"scope": []string{"inbox.write"}}, {"nbf": -1}} {
		document, err := json.Marshal(i.claims(changes))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(document)
	}
	f.Add([]byte(`{"sub":"a","sub":"b"}`))
	o, err := Options{Issuers: []Issuer{{URL: i.URL}}, Audience: audience, Now: i.clock.now}.withDefaults()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		c, ok := parseClaims(document)
		if !ok {
			return
		}
		got, err := o.token(c, i.URL, o.Now())
		switch {
		case err != nil:
			if !errors.Is(err, access.ErrInvalidToken) {
				t.Errorf("got %v", err)
			}
		case got.Person.Subject == "" || len(got.Person.Subject) > maxText || !strings.Contains(string(document), "aud"):
			t.Errorf("accepted %s as %+v", document, got)
		case !got.Expires.IsZero() && !got.Expires.After(o.Now().Add(-skew)):
			t.Errorf("accepted until %v", got.Expires)
		}
	})
}

// FuzzKeySet: no key set, however broken, makes a verifier panic, take long, or
// accept what its keys did not sign.
func FuzzKeySet(f *testing.F) {
	ec := newEC("ec")
	i := newIssuer(f, ec)
	tokens := []string{
		i.token(nil), rsaKey().sign(i.claims(nil), object{"kid": nil}), edKey().sign(i.claims(nil), object{"kid": nil}),
	}
	var parsed []signed
	for _, token := range tokens {
		s, err := parse(token)
		if err != nil {
			f.Fatal(err)
		}
		s.header.KeyID = ""
		parsed = append(parsed, s)
	}
	stranger, _ := json.Marshal(object{"keys": []any{newEC("x").public()}})
	f.Add(stranger)
	for _, k := range []signer{rsaKey2(), weakKey()} {
		set, err := json.Marshal(object{"keys": []any{k.public()}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(set)
	}
	for _, set := range []string{`{}`, `{"keys":null}`, `{"keys":[null,1,{}]}`, `{"keys":[{"kty":"oct","k":"AAAA"}]}`,
		`{"keys":[{"kty":"RSA","n":"AA","e":"AA"}]}`, `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`,
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA","x5c":["AA"]}]}`} {
		f.Add([]byte(set))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		if len(document) > 16<<10 {
			return
		}
		keys, err := parseKeySet(document)
		if err != nil {
			return
		}
		for _, s := range parsed {
			if key, ok := keys.find(s.header); ok && algorithms[s.header.Algorithm].verify(s.input, s.signature, key) == nil {
				t.Errorf("verified by %s", document)
			}
		}
	})
}
