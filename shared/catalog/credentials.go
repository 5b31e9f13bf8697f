package catalog

import (
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The names of what a webhook's requests may authenticate with.
const (
	basicUser     = "auth_basic_user"
	basicPassword = "auth_basic_password"
	bearerToken   = "auth_bearer_token"
	headerKey     = "auth_header_key"
	headerValue   = "auth_header_value"
)

// credentialFields are those arguments.
func credentialFields() (fs Fields) {
	for _, name := range []string{basicUser, basicPassword, bearerToken, headerKey, headerValue} {
		fs = append(fs, Field{Name: name, Max: 4096, Secret: true})
	}
	return fs
}

// credentials reads the arguments that the kind of auth takes. It refuses all
// others: whoever gives them expects them to be sent.
func (c *Call) credentials(auth inbox.WebhookAuth) (inbox.Credentials, error) {
	takes := map[inbox.WebhookAuth][]string{
		inbox.AuthBasic:  {basicUser, basicPassword},
		inbox.AuthBearer: {bearerToken},
		inbox.AuthHeader: {headerKey, headerValue},
	}[auth]
	for _, f := range credentialFields() {
		switch taken := slices.Contains(takes, f.Name); {
		case taken && !c.Args.Has(f.Name):
			return inbox.Credentials{}, inbox.Errorf(inbox.CodeInvalid, f.Name, "auth %s needs %s.", auth, f.Name)
		case !taken && c.Args.Has(f.Name):
			return inbox.Credentials{}, inbox.Errorf(inbox.CodeInvalid, f.Name, "auth %s takes no %s.", auth, f.Name)
		}
	}
	return inbox.Credentials{
		BasicUser: c.Args.String(basicUser), BasicPassword: c.Args.String(basicPassword),
		BearerToken: c.Args.String(bearerToken),
		HeaderKey:   c.Args.String(headerKey), HeaderValue: c.Args.String(headerValue),
	}, nil
}
