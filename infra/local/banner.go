package local

import (
	"fmt"
	"io"
	"strings"
)

// Banner tells a person at the terminal where the server is and how to connect
// a client to it: clients that can sign in do, where there is somebody to sign in
// at.
func (s *Server) Banner(w io.Writer) {
	mcp := s.URL + "/mcp"
	header, member := ` --header "Authorization: Bearer demo-owner"`, `,"headers":{"Authorization":"Bearer demo-owner"}`
	if s.issuers != nil {
		header, member = "", ""
	}
	fmt.Fprintf(w, `Kobana Inbox MCP is at %s
Its data is in %[2]s: give make import and make admin the same DATA_DIR.

%[3]s:
%[4]s
Connect a client:
  Claude Code  claude mcp add --transport http kobana-inbox %[1]s%[5]s
  VS Code      code --add-mcp '{"name":"kobana-inbox","type":"http","url":"%[1]s"%[6]s}'
  Inspector    npx @modelcontextprotocol/inspector@latest --cli --server-url %[1]s --transport http --header "Authorization: Bearer demo-owner" --method resources/list
  curl         curl -sS %[1]s -H 'Authorization: Bearer demo-owner' -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"resources/list"}'

%[7]s
Stop with Ctrl-C.
`, mcp, s.dir, s.wayIn(), demoTokenLines(), header, member, s.mailIn())
}

func (s *Server) wayIn() string {
	if s.issuers == nil {
		return "Demo tokens (this machine only; sign-in needs an identity provider, so they are the way in)"
	}
	return fmt.Sprintf("Sign in at %s: give a client the address alone, without a header.\nOr use a demo token (this machine only), as the Inspector and curl do below",
		strings.Join(s.issuers, " or "))
}

// mailIn says how mail comes in.
func (s *Server) mailIn() string {
	if s.mail == nil {
		return "Mail comes in by make import; SMTP is off.\n"
	}
	return fmt.Sprintf(`Send it mail by SMTP, at %[1]s (this machine only), such as the message in a file:
  curl smtp://%[1]s --mail-from you@example.com --mail-rcpt aurora-support@inbox.kobana.com.br --upload-file message.eml
`, s.mail.Addr())
}

func demoTokenLines() string {
	var b strings.Builder
	for _, t := range demoTokenList {
		fmt.Fprintf(&b, "  %-14s %s\n", t.token, t.who)
	}
	return b.String()
}
