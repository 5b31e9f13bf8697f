package oauth

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// Audience: checklist 12.09 and case 14, a token for another service or
// environment.
func TestAudience_12_09_case_14(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	const other = "issued for another server"
	for _, c := range []struct {
		name string
		aud  any
		why  string // "": accepted
	}{
		{"12.09 text", audience, ""},
		{"12.09 list of one", []string{audience}, ""},
		{"12.09 one of several", []string{"https://sandbox.example.com/mcp", audience}, ""},
		{"case 14 of the sandbox", "https://sandbox.example.com/mcp", other},
		{"case 14 of the sandbox, in a list", []string{"https://sandbox.example.com/mcp"}, other},
		{"case 14 missing", nil, other},
		{"case 14 empty", "", other},
		{"case 14 empty list", []string{}, other},
		{"case 13 with a slash", audience + "/", other},
		{"case 13 the origin alone", "https://inbox.example.com", other},
		{"case 14 in capitals", strings.ToUpper(audience), other},
		{"case 14 longer", audience + "2", other},
		{"case 14 within a text", "x " + audience, other},
		{"case 14 an object", object{"a": audience}, "aud is neither"},
		{"case 14 a number", 7, "aud is neither"},
		{"case 14 a number beside ours", []any{7, audience}, "aud is neither"},
		{"case 14 a list in a list", []any{[]string{audience}}, "aud is neither"},
	} {
		t.Run(c.name, func(t *testing.T) {
			token := i.token(object{"aud": c.aud})
			if c.why == "" {
				accepts(t, v, token)
				return
			}
			refuses(t, v, token, access.ErrInvalidToken, c.why)
		})
	}
}

func TestTime_12_08(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	for _, c := range []struct {
		name, claim string
		value       any
		why         string // "": accepted
	}{
		{"expired 59 s ago", "exp", i.clock.in(-59 * time.Second), ""},
		{"expired 60 s ago", "exp", i.clock.in(-60 * time.Second), "expired"},
		{"expired 61 s ago", "exp", i.clock.in(-61 * time.Second), "expired"},
		{"expires in a fraction", "exp", i.clock.in(-59*time.Second - 500*time.Millisecond), ""},
		{"never expires", "exp", nil, "no exp"},
		{"exp null", "exp", jsonNull{}, "no exp"},
		{"exp 0", "exp", 0, "expired"},
		{"exp a text", "exp", "9999999999", "exp is no time"},
		{"exp negative", "exp", -1, "exp is no time"},
		{"exp beyond all years", "exp", 1e300, "exp is no time"},
		{"exp a list", "exp", []int{1}, "exp is no time"},
		{"valid in 59 s", "nbf", i.clock.in(59 * time.Second), ""},
		{"valid in 60 s", "nbf", i.clock.in(60 * time.Second), ""},
		{"valid in 61 s", "nbf", i.clock.in(61 * time.Second), "not valid yet"},
		{"no nbf", "nbf", nil, ""},
		{"nbf a text", "nbf", "0", "nbf is no time"},
		{"issued in 59 s", "iat", i.clock.in(59 * time.Second), ""},
		{"issued in 61 s", "iat", i.clock.in(61 * time.Second), "not valid yet"},
		{"no iat", "iat", nil, ""},
		{"iat true", "iat", true, "iat is no time"},
	} {
		t.Run("12.08 "+c.name, func(t *testing.T) {
			token := i.token(object{c.claim: c.value})
			if c.why == "" {
				accepts(t, v, token)
				return
			}
			refuses(t, v, token, access.ErrInvalidToken, c.why)
		})
	}
}

// jsonNull is encoded as null: a nil removes a claim.
type jsonNull struct{}

func (jsonNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func TestClaims(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	usual := verifier(t, i)
	named, err := NewJWT(Options{Issuers: []Issuer{{URL: i.URL}}, Audience: audience, Now: i.clock.now, Claims: ClaimNames{
		Subject:      []string{"uid"},
		Organization: []string{"https://kobana.example/org", "org"},
		Workspace:    []string{"ws"},
		Scope:        []string{"permissions"},
		Client:       []string{"app"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const both = access.ScopeRead | access.ScopeWrite
	person := access.Person{Issuer: i.URL, Subject: "ana"}
	for _, c := range []struct {
		name    string
		v       *JWT
		changes object
		want    access.Token
	}{
		{"organization and workspace", usual, object{"org_id": "acme", "workspace_id": "books"},
			access.Token{Person: person, Client: "c1", Organization: "acme", Workspace: "books", Scopes: access.ScopeRead}},
		{"empty or null ones", usual, object{"org_id": "", "workspace_id": jsonNull{}},
			access.Token{Person: person, Client: "c1", Scopes: access.ScopeRead}},
		{"several scopes, foreign ones too", usual, object{"scope": "openid inbox.read  inbox.write"},
			access.Token{Person: person, Client: "c1", Scopes: both}},
		{"scope a list", usual, object{"scope": []string{"inbox.read", "inbox.write"}},
			access.Token{Person: person, Client: "c1", Scopes: both}},
		{"scp a text", usual, object{"scope": nil, "scp": "inbox.read inbox.write"},
			access.Token{Person: person, Client: "c1", Scopes: both}},
		{"scp a list", usual, object{"scope": nil, "scp": []string{"inbox.write"}},
			access.Token{Person: person, Client: "c1", Scopes: access.ScopeWrite}},
		{"scope before scp", usual, object{"scp": "inbox.write"},
			access.Token{Person: person, Client: "c1", Scopes: access.ScopeRead}},
		{"no scope", usual, object{"scope": nil}, access.Token{Person: person, Client: "c1"}},
		{"azp", usual, object{"client_id": nil, "azp": "c2"}, access.Token{Person: person, Client: "c2", Scopes: access.ScopeRead}},
		{"no client", usual, object{"client_id": nil}, access.Token{Person: person, Scopes: access.ScopeRead}},
		{"names of one's own", named, object{"uid": "bia", "org": "acme", "ws": "books", "permissions": []string{"inbox.write"}, "app": "c3", "org_id": "x", "workspace_id": "x"},
			access.Token{Person: access.Person{Issuer: i.URL, Subject: "bia"}, Client: "c3", Organization: "acme", Workspace: "books", Scopes: access.ScopeWrite}},
		{"the first of several names", named, object{"uid": "bia", "https://kobana.example/org": "acme", "org": "agro"},
			access.Token{Person: access.Person{Issuer: i.URL, Subject: "bia"}, Organization: "acme"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Expires = i.clock.now().Add(time.Hour)
			if diff := cmp.Diff(c.want, accepts(t, c.v, i.token(c.changes))); diff != "" {
				t.Error(diff)
			}
		})
	}
	long := strings.Repeat("x", maxText+1)
	testRefusals(t, usual, []refusal{
		{"no subject", i.token(object{"sub": nil}), "no subject"},
		{"empty subject", i.token(object{"sub": ""}), "no subject"},
		{"subject in capitals", i.token(object{"sub": nil, "SUB": "ana"}), "no subject"},
		{"subject a number", i.token(object{"sub": 7}), "sub is no text"},
		{"long subject", i.token(object{"sub": long}), "sub is no text of at most 512 bytes"},
		{"organization a number", i.token(object{"org_id": 7}), "org_id is no text"},
		{"organization a list", i.token(object{"org_id": []string{"acme"}}), "org_id is no text"},
		{"workspace false", i.token(object{"workspace_id": false}), "workspace_id is no text"},
		{"scope an object", i.token(object{"scope": object{}}), "scope is neither"},
		{"scope with a number", i.token(object{"scope": []any{"inbox.read", 1}}), "scope is neither"},
		{"client a list", i.token(object{"client_id": []string{"c1"}}), "client_id is no text"},
	})
	testRefusals(t, named, []refusal{{"only the usual subject", i.token(nil), "no subject"}})
}
