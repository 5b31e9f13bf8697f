package local

import (
	"context"
	"log/slog"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/oauth"
)

// signIn returns what verifies access tokens, and the issuers that the metadata
// names. Those are the configured ones; or else the identity provider that can
// be run beside this server, and demo tokens are the way in.
func signIn(c Config, url string, log *slog.Logger) (access.Verifier, []string, error) {
	if c.OAuth == nil {
		return demoTokens{}, []string{demo.Issuer}, nil
	}
	secret := func(context.Context) (string, error) { return c.OAuth("OAUTH_INTROSPECTION_SECRET"), nil }
	issued, issuers, err := oauth.FromEnv(c.OAuth, url, secret, log)
	return anyToken{issued}, issuers, err
}

// anyToken verifies the tokens of the demo, and others by their issuers.
type anyToken struct{ issued access.Verifier }

// Verify implements [access.Verifier].
func (v anyToken) Verify(ctx context.Context, token string) (access.Token, error) {
	return v.verify(ctx, token, v.issued.Verify)
}

// VerifyFresh implements [access.FreshVerifier].
func (v anyToken) VerifyFresh(ctx context.Context, token string) (access.Token, error) {
	if fresh, ok := v.issued.(access.FreshVerifier); ok {
		return v.verify(ctx, token, fresh.VerifyFresh)
	}
	return v.Verify(ctx, token)
}

func (anyToken) verify(ctx context.Context, token string, issued func(context.Context, string) (access.Token, error)) (access.Token, error) {
	if t, err := (demoTokens{}).Verify(ctx, token); err == nil {
		return t, nil
	}
	return issued(ctx, token)
}
