package inbox

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// WebhookAuth is how a webhook's requests authenticate.
type WebhookAuth string

// The kinds of webhook authentication. [CredentialTable] has what each takes.
const (
	AuthNone   WebhookAuth = "none"
	AuthBasic  WebhookAuth = "basic"
	AuthBearer WebhookAuth = "bearer"
	AuthHeader WebhookAuth = "header"
)

// Credentials are what a webhook's requests authenticate with. They go in and
// never come out, and do not print; their JSON is for sealing.
type Credentials struct {
	BasicUser     string `json:"auth_basic_user,omitzero"`
	BasicPassword string `json:"auth_basic_password,omitzero"`
	BearerToken   string `json:"auth_bearer_token,omitzero"`
	HeaderKey     string `json:"auth_header_key,omitzero"`
	HeaderValue   string `json:"auth_header_value,omitzero"`
}

// Format prints nothing of the credentials, whatever the verb.
func (Credentials) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[credentials]") }

// LogValue logs nothing of the credentials.
func (Credentials) LogValue() slog.Value { return slog.StringValue("[credentials]") }

// Credential is one field of [Credentials].
type Credential struct {
	Auth WebhookAuth                // the kind that takes it
	Name string                     // in arguments and in JSON
	Of   func(*Credentials) *string // where it is kept
	ok   func(string) bool          // whether HTTP can carry it
	rule string                     // what it must be or have for that, in words
}

// CredentialTable has what each kind of authentication takes: all of its fields,
// and no others. Only a password may be empty.
func CredentialTable() []Credential {
	return []Credential{
		{AuthBasic, "auth_basic_user", func(c *Credentials) *string { return &c.BasicUser },
			func(s string) bool { return s != "" && isText(s) && !strings.Contains(s, ":") },
			"be text without colons and control characters"},
		{AuthBasic, "auth_basic_password", func(c *Credentials) *string { return &c.BasicPassword },
			isText, "have no control characters"},
		{AuthBearer, "auth_bearer_token", func(c *Credentials) *string { return &c.BearerToken },
			func(s string) bool { return isHeaderValue(s) && !strings.Contains(s, " ") },
			"be ASCII without spaces and control characters"},
		{AuthHeader, "auth_header_key", func(c *Credentials) *string { return &c.HeaderKey },
			func(s string) bool { return plainName().MatchString(s) && !reservedHeader().MatchString(s) },
			"be a header name of letters, digits and hyphens, and none that deliveries or HTTP itself use"},
		{AuthHeader, "auth_header_value", func(c *Credentials) *string { return &c.HeaderValue },
			isHeaderValue, "be ASCII without control characters, and neither begin nor end with a space"},
	}
}

// WebhookAuths are the kinds there are.
func WebhookAuths() []WebhookAuth {
	kinds := []WebhookAuth{AuthNone}
	for _, f := range CredentialTable() {
		kinds = append(kinds, f.Auth)
	}
	return slices.Compact(kinds)
}

// MaxCredential bounds each credential, in bytes.
const MaxCredential = 4096

// Check reports, by an [*Error] that names the field and never its value,
// credentials that a request of that kind cannot carry, and those of another
// kind: whoever gives them expects them to be sent.
func (c Credentials) Check(auth WebhookAuth) error {
	if !slices.Contains(WebhookAuths(), auth) {
		return Errorf(CodeInvalid, "auth", "auth must be %s.", oneOf(WebhookAuths()))
	}
	for _, f := range CredentialTable() {
		switch value := *f.Of(&c); {
		case f.Auth != auth && value != "":
			return Errorf(CodeInvalid, f.Name, "auth %s takes no %s.", auth, f.Name)
		case f.Auth != auth:
		case len(value) > MaxCredential:
			return Errorf(CodeInvalid, f.Name, "%s must have at most %d bytes.", f.Name, MaxCredential)
		case !f.ok(value):
			return Errorf(CodeInvalid, f.Name, "%s must %s.", f.Name, f.rule)
		}
	}
	return nil
}

var (
	plainName      = lazy.Regexp(`^[A-Za-z0-9_-]+$`)
	reservedHeader = lazy.Regexp(`(?i)^(accept|content-|proxy-|webhook-|x-kobana-|(connection|expect|host|http2-settings|keep-alive|te|trailer|transfer-encoding|upgrade|user-agent)$)`)
)

// isHeaderValue reports whether s can be a header's value and is not empty.
func isHeaderValue(s string) bool {
	outside := func(r rune) bool { return r < ' ' || r > '~' }
	return s != "" && !strings.ContainsFunc(s, outside) && strings.Trim(s, " ") == s
}
