package access

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// endpoint is the path of the MCP endpoint below the public URL.
const endpoint = "/mcp"

// MetadataPath is the root address of the metadata (RFC 9728 §3). The one that
// clients try first, and that challenges name, is MetadataPath + "/mcp".
const MetadataPath = "/.well-known/oauth-protected-resource"

// metadataDocument is the protected resource metadata of RFC 9728. Members
// without elements are left out, as §3.2 there demands.
func metadataDocument(o Options) []byte {
	// The resource is one exact identifier wherever the document is read, and
	// the audience of tokens (checklist 12.07, case 13).
	d := mcp.NewObject().Text("resource", o.PublicURL+endpoint)
	if len(o.AuthorizationServers) > 0 {
		d.Texts("authorization_servers", o.AuthorizationServers)
	}
	// The scopes are the minimal set: clients ask for all that they find here,
	// and learn of inbox.write from the challenge of a call that needs it
	// (checklist 12.06, §15).
	d.Texts("scopes_supported", []string{ScopeReadName}).Texts("bearer_methods_supported", []string{"header"})
	if o.ResourceName != "" {
		d.Text("resource_name", o.ResourceName)
	}
	return d.Close()
}

// Mount puts on mux what a server owes to clients that are not signed in,
// beside the endpoint itself: [Gate.Metadata] at the well-known addresses, and
// [Gate.Challenge] at those near /mcp.
func (g *Gate) Mount(mux *http.ServeMux) {
	for _, suffix := range []string{"", endpoint, endpoint + "/{$}"} {
		mux.Handle(MetadataPath+suffix, g.Metadata())
	}
	for _, near := range []string{"/{$}", "/mcp/{$}", "/MCP", "/MCP/{$}"} {
		mux.Handle(near, g.Challenge())
	}
}

// Metadata serves the protected resource metadata (RFC 9728) to anybody, the
// same at every address (case 13). It suffices for signing in, where a gateway
// hides the challenge's header (case 1).
func (g *Gate) Metadata() http.Handler {
	const methods = "GET, HEAD, OPTIONS"
	return public(methods, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", methods)
			http.Error(w, "This document can only be read.", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=300")
		if r.Method == http.MethodGet {
			w.Write(g.metadata)
		}
	}))
}

// publicOrigin checks a public URL and returns it in its one spelling:
// lowercase, without a trailing slash (checklist 12.07).
func publicOrigin(s string) (string, error) {
	fail := func(why string) (string, error) {
		return "", fmt.Errorf("public URL %q: %s; it is an origin such as https://inbox.example.com", s, why)
	}
	origin := strings.ToLower(strings.TrimSuffix(s, "/"))
	u, ok := parseOrigin(origin)
	switch {
	case !ok:
		return fail("not a scheme and a host alone, in ASCII")
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return origin, nil
	}
	return fail("tokens need https, except on a loopback host (checklist 12.18)")
}
