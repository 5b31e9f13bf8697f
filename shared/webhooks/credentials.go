package webhooks

import (
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Credentials are what a webhook's requests authenticate with. Which fields
// count depends on its [inbox.WebhookAuth]. They do not print; their JSON is
// for sealing.
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

// maxCredential bounds each value, in bytes.
const maxCredential = 4096

// Check reports, by an [*inbox.Error] that names the field and never its
// value, credentials that a request of that kind cannot carry.
func (c Credentials) Check(auth inbox.WebhookAuth) error {
	type field struct {
		name, value string
		ok          func(string) bool
		rule        string
	}
	var fields []field
	switch auth {
	case inbox.AuthNone:
	case inbox.AuthBasic:
		fields = []field{
			{"auth_basic_user", c.BasicUser, userName, "be text without colons and control characters"},
			{"auth_basic_password", c.BasicPassword, printable, "have no control characters"},
		}
	case inbox.AuthBearer:
		fields = []field{
			{"auth_bearer_token", c.BearerToken, bearerToken, "be ASCII without spaces and control characters"},
		}
	case inbox.AuthHeader:
		fields = []field{
			{"auth_header_key", c.HeaderKey, headerKey, "be a header name of letters, digits and hyphens, and none that deliveries or HTTP itself use"},
			{"auth_header_value", c.HeaderValue, headerValue, "be ASCII without control characters, and neither begin nor end with a space"},
		}
	default:
		return inbox.Errorf(inbox.CodeInvalid, "auth", "auth must be none, basic, bearer or header.")
	}
	for _, f := range fields {
		if len(f.value) > maxCredential {
			return inbox.Errorf(inbox.CodeInvalid, f.name, "%s must have at most %d bytes.", f.name, maxCredential)
		}
		if !f.ok(f.value) {
			return inbox.Errorf(inbox.CodeInvalid, f.name, "%s must %s.", f.name, f.rule)
		}
	}
	return nil
}

// set puts the credentials into a request.
func (c Credentials) set(r *http.Request, auth inbox.WebhookAuth) {
	switch auth {
	case inbox.AuthBasic:
		r.SetBasicAuth(c.BasicUser, c.BasicPassword)
	case inbox.AuthBearer:
		r.Header.Set("Authorization", "Bearer "+c.BearerToken)
	case inbox.AuthHeader:
		r.Header.Set(c.HeaderKey, c.HeaderValue)
	}
}

// values are the texts that no record may show: of a header also its parts,
// since the first may name a scheme.
func (c Credentials) values(auth inbox.WebhookAuth) []string {
	switch auth {
	case inbox.AuthBasic:
		return []string{c.BasicPassword, base64.StdEncoding.EncodeToString([]byte(c.BasicUser + ":" + c.BasicPassword))}
	case inbox.AuthBearer:
		return []string{c.BearerToken}
	case inbox.AuthHeader:
		parts := slices.DeleteFunc(strings.Fields(c.HeaderValue), func(p string) bool { return len(p) < shortestSquashed })
		return append([]string{c.HeaderValue}, parts...)
	}
	return nil
}

// userName, bearerToken, headerKey and headerValue are what HTTP can carry, and
// are not empty. A password may be.
func userName(s string) bool    { return s != "" && printable(s) && !strings.Contains(s, ":") }
func bearerToken(s string) bool { return headerValue(s) && !strings.Contains(s, " ") }
func headerKey(s string) bool   { return s != "" && alphanumeric(s, "-_") && !reservedHeader(s) }
func headerValue(s string) bool {
	outside := func(r rune) bool { return r < ' ' || r > '~' }
	return s != "" && !strings.ContainsFunc(s, outside) && strings.Trim(s, " ") == s
}

// printable reports whether s is UTF-8 without control characters.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// alphanumeric reports whether s is of ASCII letters, digits and the others.
func alphanumeric(s, others string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(others, r)
	})
}

// reservedHeader reports whether a header field is not for credentials.
func reservedHeader(name string) bool {
	name = strings.ToLower(name)
	for _, prefix := range []string{"accept", "content-", "proxy-", "webhook-", "x-kobana-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains([]string{"connection", "expect", "host", "http2-settings", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade", "user-agent"}, name)
}
