package mcp

import (
	"net/http"
	"strings"
)

// allowHeaders are the protocol's own request headers, for preflights.
// Options.AllowHeaders adds to them.
var allowHeaders = []string{"Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id", "Last-Event-ID"}

// checkOrigin refuses a foreign Origin (checklist 1.02) and returns the one
// that may read the answer, "" when none was sent.
func (s *Server) checkOrigin(h http.Header) (string, error) {
	origin, given := headerValue(h, "Origin")
	if given && (s.opts.AllowOrigin == nil || !s.opts.AllowOrigin(origin)) {
		return "", refuse(http.StatusForbidden, CodeInvalidRequest, "this origin is not allowed")
	}
	return origin, nil
}

// preflight answers a browser that asks before it sends. GET and DELETE are
// named so that scripts can read the 405 they get.
func (s *Server) preflight() answer {
	h := make(http.Header)
	h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
	h.Set("Access-Control-Allow-Headers", s.allowHeaders)
	h.Set("Access-Control-Max-Age", "7200")
	return answer{status: http.StatusNoContent, header: h}
}

// SetCORS lets the scripts of an allowed origin read the answer that has these
// headers, and its challenge. "" is nobody's origin.
func SetCORS(h http.Header, origin string) {
	h.Set("Vary", "Origin")
	if origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After")
	}
}

func joinHeaders(more []string) string {
	return strings.Join(append(allowHeaders[:len(allowHeaders):len(allowHeaders)], more...), ", ")
}
