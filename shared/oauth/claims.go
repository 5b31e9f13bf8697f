package oauth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// The bounds of what a token says.
const (
	maxToken = 8 << 10          // bytes of a whole token
	maxText  = 512              // bytes of one claim: people and workspaces become keys in a store
	skew     = 60 * time.Second // by which clocks may differ
	maxDate  = 253402300799     // the last second of the year 9999
)

// ClaimNames are the claims that say what is not standard, or not everywhere.
// Of several names, the first that a token has counts.
type ClaimNames struct {
	Subject      []string // nil: sub
	Organization []string // nil: org_id
	Workspace    []string // nil: workspace_id
	Scope        []string // nil: scope, scp
	Client       []string // nil: client_id, azp
}

func (n ClaimNames) withDefaults() ClaimNames {
	for _, d := range []struct {
		names *[]string
		usual []string
	}{
		{&n.Subject, []string{"sub"}},
		{&n.Organization, []string{"org_id"}},
		{&n.Workspace, []string{"workspace_id"}},
		{&n.Scope, []string{"scope", "scp"}},
		{&n.Client, []string{"client_id", "azp"}},
	} {
		if len(*d.names) == 0 {
			*d.names = d.usual
		}
	}
	return n
}

// claims is what a token, or the answer to its introspection, says. Names are
// case-sensitive, and a document that has one twice is none.
type claims map[string]jsontext.Value

func parseClaims(document []byte) (c claims, ok bool) {
	err := json.Unmarshal(document, &c)
	return c, err == nil && c != nil
}

// first returns the first of the named claims that is there and not null.
func (c claims) first(names ...string) (name string, value jsontext.Value) {
	for _, n := range names {
		if v, ok := c[n]; ok && v.Kind() != 'n' {
			return n, v
		}
	}
	return "", nil
}

// text is the first of the named claims, "" when there is none.
func (c claims) text(names ...string) (string, error) {
	name, v := c.first(names...)
	if v == nil {
		return "", nil
	}
	var s string
	if json.Unmarshal(v, &s) != nil || len(s) > maxText {
		return "", invalid(fmt.Sprintf("%s is no text of at most %d bytes", name, maxText))
	}
	return s, nil
}

// texts is the first of the named claims, which is a text or a list of texts.
func (c claims) texts(names ...string) ([]string, error) {
	name, v := c.first(names...)
	if v == nil {
		return nil, nil
	}
	list := make([]string, 1)
	into := any(&list[0])
	if v.Kind() == '[' {
		into = &list
	}
	if json.Unmarshal(v, into) != nil {
		return nil, invalid(name + " is neither a text nor a list of texts")
	}
	return list, nil
}

// date is a claim in seconds since 1970 (RFC 7519 §2), the zero time when it is
// not there.
func (c claims) date(name string) (time.Time, error) {
	_, v := c.first(name)
	if v == nil {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseFloat(string(v), 64)
	if err != nil || seconds < 0 || seconds > maxDate {
		return time.Time{}, invalid(name + " is no time")
	}
	return time.UnixMilli(int64(seconds * 1000)), nil
}

// token judges what the issuer says at the given time, and puts it into the
// product's terms. It does not judge the issuer.
func (o *Options) token(c claims, issuer string, now time.Time) (t access.Token, err error) {
	if t.Expires, err = c.lifetime(now); err != nil {
		return t, err
	}
	audience, err := c.texts("aud")
	if err != nil {
		return t, err
	}
	if !slices.Contains(audience, o.Audience) {
		return t, invalid("issued for another server")
	}
	scopes, err := c.texts(o.Claims.Scope...)
	if err != nil {
		return t, err
	}
	t.Scopes = access.ParseScopes(strings.Join(scopes, " "))
	t.Person.Issuer = issuer
	for _, text := range []struct {
		names []string
		into  *string
	}{
		{o.Claims.Subject, &t.Person.Subject},
		{o.Claims.Client, &t.Client},
		{o.Claims.Organization, (*string)(&t.Organization)},
		{o.Claims.Workspace, (*string)(&t.Workspace)},
	} {
		if *text.into, err = c.text(text.names...); err != nil {
			return t, err
		}
	}
	if t.Person.Subject == "" {
		return t, invalid("no subject")
	}
	return t, nil
}

// lifetime checks that now is within the token's, and returns its end, the zero
// time when it names none.
func (c claims) lifetime(now time.Time) (end time.Time, err error) {
	if end, err = c.date("exp"); err != nil {
		return end, err
	}
	if !end.IsZero() && !now.Before(end.Add(skew)) {
		return end, invalid("expired")
	}
	for _, name := range []string{"nbf", "iat"} {
		begin, err := c.date(name)
		if err != nil {
			return end, err
		}
		if begin.After(now.Add(skew)) {
			return end, invalid("not valid yet")
		}
	}
	return end, nil
}
