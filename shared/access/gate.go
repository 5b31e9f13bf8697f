package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

// The bounds of what a gate remembers, in people and in time (design §6).
const (
	maxPeople     = 4096
	membershipTTL = 30 * time.Second
)

// remembered is a person's memberships and when they were asked for.
type remembered struct {
	at   time.Time
	list []Membership
}

// WorkspaceHeader names the workspace to work in, for tokens that name none.
// Preflights allow it.
const WorkspaceHeader = "Kobana-Workspace"

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
	metadata, err1 := metadataDocument(o)
	near, err2 := nearDocument(c)
	return &Gate{
		opts:      o,
		challenge: c,
		metadata:  metadata,
		near:      near,
		members:   newRecent[Person, remembered](maxPeople),
		buckets:   newRecent[Person, *rate.Limiter](maxPeople),
	}, errors.Join(err1, err2)
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

// Admit finds the workspace that the request works in and what the person may
// do there, and returns a context with the [Caller]. It remembers memberships
// for 30 seconds. The methods that clients begin with need neither a
// membership nor a scope.
func (g *Gate) Admit(ctx context.Context, method string) (context.Context, error) {
	switch method {
	case "initialize", "server/discover", "ping":
		return ctx, nil
	}
	t, ok := TokenFrom(ctx)
	if !ok {
		return nil, g.challenge.missing()
	}
	c, _ := ctx.Value(credentialsKey).(credentials)
	caller, err := g.admit(ctx, t, c.workspace, g.rememberedMemberships)
	if err != nil {
		return nil, err
	}
	return WithCaller(ctx, caller), nil
}

// Readmit admits the request's person again past every cache: the token is
// verified anew, and so is the membership. Confirmed calls do so before they
// act (design §7).
func (g *Gate) Readmit(ctx context.Context) (*Caller, error) {
	c, ok := ctx.Value(credentialsKey).(credentials)
	if !ok {
		return nil, g.challenge.missing()
	}
	ask := g.opts.Verifier.Verify
	if fresh, ok := g.opts.Verifier.(FreshVerifier); ok {
		ask = fresh.VerifyFresh
	}
	t, err := g.verify(ctx, c, ask)
	if err != nil {
		return nil, err
	}
	return g.admit(ctx, t, c.workspace, g.freshMemberships)
}

func (g *Gate) admit(ctx context.Context, t Token, header WorkspaceID,
	memberships func(context.Context, Person) ([]Membership, error)) (*Caller, error) {
	if t.Scopes == 0 {
		return nil, g.challenge.scope(ScopeRead)
	}
	all, err := memberships(ctx, t.Person)
	if err != nil {
		return nil, because(unavailable("Your membership could not be looked up now, so nothing was done. Try again in a few seconds."), err)
	}
	m, err := choose(all, t, header)
	if err != nil {
		return nil, err
	}
	active := slices.DeleteFunc(slices.Clone(all), func(m Membership) bool {
		return m.Suspended || !owns(t.Organization, m)
	})
	t.Organization, t.Workspace = m.Organization, m.Workspace
	return &Caller{Token: t, Membership: m, Permissions: m.Permissions(), Memberships: active}, nil
}

// owns reports whether a token's organization, when it names one, owns the
// membership's workspace.
func owns(organization OrganizationID, m Membership) bool {
	return organization == "" || organization == m.Organization
}

// choose returns the membership to work under, among all of a person's, oldest
// first: the one that the token or else the header names, or else the oldest
// active one (design §6).
func choose(all []Membership, t Token, header WorkspaceID) (Membership, error) {
	want := t.Workspace
	if want == "" {
		want = header
	}
	if header != "" && header != want {
		return Membership{}, refuse(http.StatusForbidden, "The "+WorkspaceHeader+" header names another workspace than the access token does. Leave the header out, or sign in to that workspace.")
	}
	i := slices.IndexFunc(all, func(m Membership) bool {
		if want != "" {
			return m.Workspace == want
		}
		return !m.Suspended && owns(t.Organization, m)
	})
	switch {
	case i < 0 && want == "":
		return Membership{}, refuse(http.StatusForbidden, "You have no active membership of a workspace that this access token reaches. Ask an administrator of the workspace to add you, then try again.")
	case i < 0:
		return Membership{}, refuse(http.StatusForbidden, "You are not a member of this workspace. Ask one of its administrators to add you, or name a workspace of yours.")
	case !owns(t.Organization, all[i]):
		return Membership{}, refuse(http.StatusForbidden, "This workspace does not belong to the organization of your access token. Sign in to the organization that owns it.")
	case all[i].Suspended:
		return Membership{}, refuse(http.StatusForbidden, "Your membership of this workspace is suspended. Ask one of its administrators to restore it.")
	}
	return all[i], nil
}

func (g *Gate) rememberedMemberships(ctx context.Context, p Person) ([]Membership, error) {
	known := g.members.update(p, func(r remembered) remembered { return r })
	if age := g.opts.Now().Sub(known.at); 0 <= age && age < membershipTTL {
		return known.list, nil
	}
	return g.freshMemberships(ctx, p)
}

func (g *Gate) freshMemberships(ctx context.Context, p Person) ([]Membership, error) {
	asked := g.opts.Now() // before the store answers, so that the age is never understated
	list, err := g.opts.Directory.Memberships(ctx, p)
	if err != nil {
		return nil, err
	}
	g.members.update(p, func(remembered) remembered { return remembered{asked, list} })
	return list, nil
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
