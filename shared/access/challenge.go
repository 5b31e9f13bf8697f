package access

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// challenger makes the refusals that tell a client how to authorize itself
// (RFC 6750 §3, checklist §12).
type challenger struct{ base string }

// missing is for a request without a bearer token: no error parameter, since
// nothing wrong was sent (checklist 12.04).
func (c challenger) missing() *mcp.Refusal {
	return c.refuse(http.StatusUnauthorized, "", ScopeRead,
		"This server needs an access token, in the header Authorization: Bearer. Sign in at the authorization server that "+c.metadataURL()+" names, for the resource "+c.base+endpoint+".")
}

// malformed is for an Authorization header that cannot be read (12.15).
func (c challenger) malformed() *mcp.Refusal {
	return c.refuse(http.StatusBadRequest, "invalid_request", ScopeRead,
		"The Authorization header could not be read. Send it once, as Bearer, a space and the access token.")
}

// invalid is for a token that does not count here, for whatever reason.
func (c challenger) invalid() *mcp.Refusal {
	return c.refuse(http.StatusUnauthorized, "invalid_token", ScopeRead,
		"The access token is not valid here: it is expired, revoked, or issued for another server. Sign in again to get a new one.")
}

// scope is for a token that lacks some of the scopes needed (12.12, 12.13).
func (c challenger) scope(need Scopes) *mcp.Refusal {
	return c.refuse(http.StatusForbidden, "insufficient_scope", need,
		"The access token lacks the scope that this request needs, so nothing was done. Sign in again and grant: "+need.String()+".")
}

// refuse makes a refusal with a challenge. The sentence is both its message
// and, beside an error, the error_description: it holds no quote and no
// backslash.
func (c challenger) refuse(status int, code string, need Scopes, sentence string) *mcp.Refusal {
	var params []string
	if code != "" {
		params = append(params, `error="`+code+`"`, `error_description="`+sentence+`"`)
	}
	params = append(params, `scope="`+need.String()+`"`, `resource_metadata="`+c.metadataURL()+`"`)
	r := refuse(status, sentence)
	r.Header.Set("WWW-Authenticate", "Bearer "+strings.Join(params, ", "))
	return r
}

// metadataURL is where the RFC 9728 document is: always the path-suffixed
// address (checklist 14.20).
func (c challenger) metadataURL() string { return c.base + MetadataPath + endpoint }

// refuse makes a refusal whose JSON-RPC code is the HTTP status.
func refuse(status int, sentence string) *mcp.Refusal {
	return &mcp.Refusal{Status: status, Header: http.Header{}, Err: &mcp.Error{Code: status, Message: sentence}}
}

// unavailable is for what may work later.
func unavailable(sentence string) *mcp.Refusal {
	r := refuse(http.StatusServiceUnavailable, sentence)
	r.Header.Set("Retry-After", "5")
	return r
}

// because adds to a refusal, which clients see, its cause, which they do not.
func because(r *mcp.Refusal, cause error) error { return fmt.Errorf("%w: %w", r, cause) }

// Challenge answers 401 with a challenge, whatever was sent. It is for
// addresses near /mcp that people type, such as / and /mcp/: a client learns
// there how to sign in, and for which address, where a 404 would end the
// search (case 17).
func (g *Gate) Challenge() http.Handler {
	r := g.challenge.missing()
	return public("POST", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("WWW-Authenticate", r.Header.Get("WWW-Authenticate"))
		w.WriteHeader(r.Status)
		w.Write(g.near)
	}))
}

// nearDocument is the body of [Gate.Challenge]: a JSON-RPC error without id.
func nearDocument(c challenger) []byte {
	return mcp.NewObject().Text("jsonrpc", "2.0").Begin("error").Int("code", http.StatusUnauthorized).
		Text("message", "The MCP server is at "+c.base+endpoint+", not here. "+c.missing().Err.Message).End().Close()
}

// public lets pages of any origin read what h answers, which is the same for
// everybody, and answers their preflight (case 15).
func public(methods string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", methods)
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, *")
			w.Header().Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Access-Control-Expose-Headers", "WWW-Authenticate")
		h.ServeHTTP(w, r)
	})
}
