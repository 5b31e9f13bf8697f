package oauth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// FromEnv makes the verifier that environment variables describe, and lists
// the issuers that clients sign in at. An error names the variable.
//
//   - OAUTH_ISSUERS: their URLs, separated by commas or spaces; or a JSON list
//     of [Issuer], to say more of each.
//   - OAUTH_AUDIENCE: what tokens are issued for, else PUBLIC_URL/mcp.
//   - OAUTH_INTROSPECTION_URL: set, it is asked for every token, and tokens may
//     be of any form; else they are JWTs.
//   - OAUTH_INTROSPECTION_CLIENT_ID: who this server is there. secret returns
//     its secret, and is not called before the first token.
//   - OAUTH_CLAIM_SUBJECT, …_ORGANIZATION, …_WORKSPACE, …_SCOPE, …_CLIENT: the
//     claims that [ClaimNames] has, separated by commas or spaces.
func FromEnv(getenv func(string) string, publicURL string, secret func(context.Context) (string, error), log *slog.Logger) (v access.Verifier, issuers []string, err error) {
	o := Options{Audience: getenv("OAUTH_AUDIENCE"), Log: log}
	if o.Audience == "" { // spelled as in the metadata (checklist 12.07)
		o.Audience = strings.ToLower(strings.TrimSuffix(publicURL, "/")) + "/mcp"
	}
	if o.Issuers, err = parseIssuers(getenv("OAUTH_ISSUERS")); err != nil {
		return nil, nil, fmt.Errorf("OAUTH_ISSUERS: %w", err)
	}
	for _, i := range o.Issuers {
		issuers = append(issuers, i.URL)
	}
	o.Claims = ClaimNames{
		Subject:      words(getenv("OAUTH_CLAIM_SUBJECT")),
		Organization: words(getenv("OAUTH_CLAIM_ORGANIZATION")),
		Workspace:    words(getenv("OAUTH_CLAIM_WORKSPACE")),
		Scope:        words(getenv("OAUTH_CLAIM_SCOPE")),
		Client:       words(getenv("OAUTH_CLAIM_CLIENT")),
	}
	e := Endpoint{getenv("OAUTH_INTROSPECTION_URL"), getenv("OAUTH_INTROSPECTION_CLIENT_ID"), secret}
	switch {
	case e.URL == "" && e.ClientID == "":
		v, err = NewJWT(o)
	case e.URL == "":
		err = errors.New("OAUTH_INTROSPECTION_URL: needed where OAUTH_INTROSPECTION_CLIENT_ID is set")
	case e.ClientID == "":
		err = errors.New("OAUTH_INTROSPECTION_CLIENT_ID: needed where OAUTH_INTROSPECTION_URL is set")
	default:
		if v, err = NewIntrospection(o, e); err != nil {
			err = fmt.Errorf("OAUTH_INTROSPECTION_URL: %w", err)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return v, issuers, nil
}

func parseIssuers(s string) (issuers []Issuer, err error) {
	if strings.HasPrefix(strings.TrimSpace(s), "[") {
		if err := json.Unmarshal([]byte(s), &issuers, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf(`not a JSON list such as [{"issuer":"https://login.example.com","algorithms":["RS256"]}]: %w`, err)
		}
	} else {
		for _, u := range words(s) {
			issuers = append(issuers, Issuer{URL: u})
		}
	}
	return issuers, checkIssuers(issuers)
}

// words splits a list at commas and spaces.
func words(s string) []string { return strings.Fields(strings.ReplaceAll(s, ",", " ")) }
