// Package access says who calls, for which workspace, and what they may do:
// people, organizations, workspaces, memberships, roles, permissions, scopes,
// and the OAuth side of HTTP (tokens, challenges, metadata).
//
// It may import mcp, for the refusals it answers with, and store, where
// memberships live. It knows nothing of e-mail.
package access

import (
	"context"
	"errors"
	"slices"
	"time"
)

// OrganizationID names an organization.
type OrganizationID string

// WorkspaceID names a workspace.
type WorkspaceID string

// Person is who a token was issued to. The subject alone is not a person: two
// issuers may use the same one.
type Person struct {
	Issuer  string `json:"issuer"`
	Subject string `json:"subject"`
}

// Token is what a verified access token says.
type Token struct {
	Person       Person
	Client       string         // OAuth client id, "" when the token has none
	Organization OrganizationID // "" when the token names none
	Workspace    WorkspaceID    // "" when the token names none
	Scopes       Scopes
	Expires      time.Time
}

// Verifier checks an access token: signature, issuer, audience and time. Its
// errors wrap [ErrInvalidToken], and anything else means that it could not
// tell now, as [ErrUnavailable] says. They never contain the token.
type Verifier interface {
	Verify(ctx context.Context, token string) (Token, error)
}

// FreshVerifier is a [Verifier] that remembers its answers. VerifyFresh checks
// past what it remembers, for calls that a person confirmed.
type FreshVerifier interface {
	Verifier
	VerifyFresh(ctx context.Context, token string) (Token, error)
}

// Errors of a [Verifier]; test with errors.Is.
var (
	// ErrInvalidToken: the token is forged, expired, revoked, or meant for
	// another server. Only a new one helps.
	ErrInvalidToken = errors.New("access: invalid token")
	// ErrUnavailable: keys or the issuer could not be reached; trying later
	// may work.
	ErrUnavailable = errors.New("access: token verification unavailable")
)

// Membership is what a person may do in one workspace.
type Membership struct {
	Person       Person         `json:"person"`
	Organization OrganizationID `json:"organization_id"`
	Workspace    WorkspaceID    `json:"workspace_id"`
	Role         Role           `json:"role"`
	// Explicit, when not nil, replaces the role's permissions. An empty list
	// grants nothing, and survives being stored.
	Explicit  []string  `json:"permissions,omitzero"`
	Suspended bool      `json:"suspended"`
	CreatedAt time.Time `json:"created_at"`
}

// Permissions are those of the membership: none when it is suspended.
func (m Membership) Permissions() Permissions {
	if m.Suspended {
		return 0
	}
	if m.Explicit != nil {
		return parsePermissions(m.Explicit)
	}
	return m.Role.Permissions()
}

// Caller is the person behind a request, admitted to one workspace. The
// token's Organization and Workspace are those of Membership here, also where
// the token names none.
type Caller struct {
	Token
	Membership  Membership // of the workspace the request works in
	Permissions Permissions
	// Memberships are all of the person's active ones, oldest first: those in
	// the token's organization when it names one.
	Memberships []Membership
}

// May reports whether the caller's role allows p.
func (c *Caller) May(p Permission) bool { return c.Permissions.Has(p) }

// WorkspaceID is the workspace that the request works in.
func (c *Caller) WorkspaceID() WorkspaceID { return c.Membership.Workspace }

// In returns the caller's active membership of ws. Tools that reach a
// workspace other than the request's judge by this one.
func (c *Caller) In(ws WorkspaceID) (Membership, bool) {
	i := slices.IndexFunc(c.Memberships, func(m Membership) bool { return m.Workspace == ws })
	if i < 0 {
		return Membership{}, false
	}
	return c.Memberships[i], true
}

type contextKey int

const (
	tokenKey contextKey = iota
	callerKey
	credentialsKey
)

// WithToken returns a context that carries a verified token.
func WithToken(ctx context.Context, t Token) context.Context {
	return context.WithValue(ctx, tokenKey, t)
}

// TokenFrom returns the verified token of a request.
func TokenFrom(ctx context.Context) (Token, bool) {
	t, ok := ctx.Value(tokenKey).(Token)
	return t, ok
}

// WithCaller returns a context that carries an admitted caller.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey, c)
}

// CallerFrom returns the admitted caller of a request. That there is none is a
// fault of the server's wiring, not of the request.
func CallerFrom(ctx context.Context) (*Caller, error) {
	if c, ok := ctx.Value(callerKey).(*Caller); ok {
		return c, nil
	}
	return nil, errors.New("access: the request was not admitted")
}
