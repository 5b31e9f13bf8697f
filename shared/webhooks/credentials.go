package webhooks

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// carry returns the header by which a request carries the credentials ("" for
// none), and the texts of it that no record may show: of a header's value also
// its parts, since the first may name a scheme.
func carry(auth inbox.WebhookAuth, c inbox.Credentials) (name, value string, secrets []string) {
	const authorization = "Authorization"
	switch auth {
	case inbox.AuthBasic:
		encoded := base64.StdEncoding.EncodeToString([]byte(c.BasicUser + ":" + c.BasicPassword))
		return authorization, "Basic " + encoded, []string{c.BasicPassword, encoded}
	case inbox.AuthBearer:
		return authorization, "Bearer " + c.BearerToken, []string{c.BearerToken}
	case inbox.AuthHeader:
		parts := slices.DeleteFunc(strings.Fields(c.HeaderValue), func(p string) bool { return len(p) < shortestSquashed })
		return c.HeaderKey, c.HeaderValue, append([]string{c.HeaderValue}, parts...)
	}
	return "", "", nil
}
