package access

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// The bounds of what a gate remembers, in people and in time.
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
// act.
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
// active one.
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
	// Taken before the store answers, and from the wall clock, since a frozen
	// instance's monotonic one stands still: the age is never understated.
	asked := g.opts.Now().Round(0)
	list, err := g.opts.Directory.Memberships(ctx, p)
	if err != nil {
		return nil, err
	}
	g.members.update(p, func(remembered) remembered { return remembered{asked, list} })
	return list, nil
}
