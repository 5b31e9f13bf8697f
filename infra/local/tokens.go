package local

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// demoTokenList is the fixed tokens of the demo. They exist in this package
// only, so no function can be made to accept them.
var demoTokenList = []struct {
	token  string
	person access.Person
	scopes access.Scopes
	who    string
}{
	{"demo-owner", demo.Owner, allScopes, "owner of the workspace Aurora: may do everything"},
	{"demo-operator", demo.Operator, allScopes, "operator: reads all but secrets, writes e-mails and webhooks"},
	{"demo-viewer", demo.Viewer, allScopes, "viewer: reads all but secrets"},
	{"demo-readonly", demo.Owner, access.ScopeRead, "the owner, with a token that only reads"},
	{"demo-other", demo.Other, allScopes, "owner of a workspace in another organization"},
}

const allScopes = access.ScopeRead | access.ScopeWrite

// demoTokens verifies the tokens of the demo.
type demoTokens struct{}

// Verify implements [access.Verifier].
func (demoTokens) Verify(_ context.Context, token string) (access.Token, error) {
	for _, t := range demoTokenList {
		if t.token == token {
			return access.Token{Person: t.person, Scopes: t.scopes}, nil
		}
	}
	return access.Token{}, fmt.Errorf("%w: not a demo token", access.ErrInvalidToken)
}

// onlyLoopback refuses whatever did not come from this machine to a loopback
// name: fixed tokens must not be usable from the network, nor by a web page
// whose own name was pointed at this machine (DNS rebinding).
func onlyLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopbackPeer(r.RemoteAddr) || !loopbackHost(r.Host) {
			http.Error(w, "This server answers only this machine, at 127.0.0.1 or localhost.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func loopbackPeer(addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

func loopbackHost(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		host = host[1 : n-1]
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
