package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Options configure a [Gate].
type Options struct {
	Verifier  Verifier
	Directory *Directory
	// PublicURL is the origin that clients reach the server at, as
	// "https://inbox.example.com": PUBLIC_URL. The endpoint is /mcp there.
	PublicURL string
	// AuthorizationServers are the issuers that clients sign in at. MCP demands
	// one; only a local server with fixed tokens has none.
	AuthorizationServers []string
	// ResourceName names the server to people who sign in.
	ResourceName string
	Limit        RateLimit        // zero: 20 requests a second, with a burst of 60
	Now          func() time.Time // nil: time.Now
}

// Gate decides who may come in. Its methods fit the fields of the same name in
// mcp.Options and catalog.Options, and are safe for concurrent use.
//
// Its errors are, or wrap, an [*mcp.Refusal] whose JSON-RPC code is the HTTP
// status: own codes are to stay outside JSON-RPC's reserved range (checklist
// 4.04). What they wrap besides is the cause, for the log only.
type Gate struct {
	opts      Options
	challenge challenger
	metadata  []byte // the RFC 9728 document
	near      []byte // what addresses near the endpoint answer
	members   *recent[Person, remembered]
	buckets   *recent[Person, *rate.Limiter]
}

// NewGate makes a gate. Its error says what is wrong with the options.
func NewGate(o Options) (*Gate, error) {
	base, err := publicOrigin(o.PublicURL)
	if err != nil {
		return nil, err
	}
	o.PublicURL = base
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Limit == (RateLimit{}) {
		o.Limit = RateLimit{PerSecond: 20, Burst: 60}
	}
	c := challenger{base}
	return &Gate{
		opts:      o,
		challenge: c,
		metadata:  metadataDocument(o),
		near:      nearDocument(c),
		members:   newRecent[Person, remembered](maxPeople),
		buckets:   newRecent[Person, *rate.Limiter](maxPeople),
	}, nil
}

// credentials are what a request presented; the token is never logged.
type credentials struct {
	token     string
	workspace WorkspaceID // of the header, "" when absent
}

// Authenticate verifies the bearer token in the Authorization header, the only
// place it is taken from (checklist 12.10), and returns the request's context
// with it.
func (g *Gate) Authenticate(r *http.Request) (context.Context, error) {
	token, err := g.bearer(r.Header.Values("Authorization"))
	if err != nil {
		return nil, err
	}
	c := credentials{token, WorkspaceID(strings.Join(r.Header.Values(WorkspaceHeader), ","))}
	t, err := g.verify(r.Context(), c, g.opts.Verifier.Verify)
	if err != nil {
		return nil, err
	}
	return WithToken(context.WithValue(r.Context(), credentialsKey, c), t), nil
}

// bearer finds the token in the values of the Authorization header.
func (g *Gate) bearer(values []string) (string, error) {
	if len(values) > 1 {
		return "", g.challenge.malformed()
	}
	scheme, token, _ := strings.Cut(strings.Join(values, ""), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", g.challenge.missing()
	}
	token = strings.Trim(token, " ")
	if !isBearerToken(token) {
		return "", g.challenge.malformed()
	}
	return token, nil
}

// isBearerToken reports whether s is a b64token (RFC 6750 §2.1). Two headers
// that a gateway joined by a comma are not.
func isBearerToken(s string) bool {
	body := strings.TrimRight(s, "=")
	return body != "" && !strings.ContainsFunc(body, func(c rune) bool {
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		return !alphanumeric && !strings.ContainsRune("-._~+/", c)
	})
}

// verify asks the verifier, by one of its methods.
func (g *Gate) verify(ctx context.Context, c credentials, ask func(context.Context, string) (Token, error)) (Token, error) {
	t, err := ask(ctx, c.token)
	if err == nil && t.Person.Subject == "" {
		err = fmt.Errorf("%w: no subject", ErrInvalidToken) // nobody may be the person ""
	}
	switch {
	case err == nil:
		return t, nil
	case errors.Is(err, ErrInvalidToken):
		return Token{}, because(g.challenge.invalid(), err)
	}
	return Token{}, because(unavailable("Your access token could not be checked now, so nothing was done. Try again in a few seconds."), err)
}

// RequireScope returns nil when the caller's token has the scopes needed, and
// otherwise the refusal that asks for them, all in one challenge (checklist
// 12.12 to 12.14). Permission is judged before.
func (g *Gate) RequireScope(c *Caller, need Scopes) error {
	if c.Scopes.Allow(need) {
		return nil
	}
	return g.challenge.scope(need)
}
