package local

import (
	"fmt"
	"io"
	"strings"
)

// Banner tells a person at the terminal where the server is and how to connect
// a client to it.
func (s *Server) Banner(w io.Writer) {
	mcp := s.URL + "/mcp"
	fmt.Fprintf(w, `Kobana Inbox MCP is at %s

Demo tokens (this machine only; sign-in needs an identity provider, so they are the way in):
%s
Connect a client:
  curl         curl -sS %[1]s -H 'Authorization: Bearer demo-owner' -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"resources/list"}'
  Claude Code  claude mcp add --transport http kobana-inbox %[1]s --header "Authorization: Bearer demo-owner"
  VS Code      code --add-mcp '{"name":"kobana-inbox","type":"http","url":"%[1]s","headers":{"Authorization":"Bearer demo-owner"}}'
  Inspector    npx @modelcontextprotocol/inspector --cli --server-url %[1]s --transport http --header "Authorization: Bearer demo-owner" --method resources/list

Stop with Ctrl-C.
`, mcp, demoTokenLines())
}

func demoTokenLines() string {
	var b strings.Builder
	for _, t := range demoTokenList {
		fmt.Fprintf(&b, "  %-14s %s\n", t.token, t.who)
	}
	return b.String()
}
