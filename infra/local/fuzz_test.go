package local

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	rawmail "github.com/universokobana/kobana-inbox-mcp/shared/mail"
	answers "github.com/universokobana/kobana-inbox-mcp/shared/reply"
)

// FuzzProduct sends any body, to any family, in either era: the answer is
// JSON, or nothing, and never a fault of the server's.
func FuzzProduct(f *testing.F) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, body := range []string{
		ping, "[" + ping + "]", "{", "null",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"emails_list","arguments":{"limit":1,"since":"2026-02-30"},` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"usage_get","arguments":{"month":"2026-01"}}}`,
		`{"jsonrpc":"2.0","id":"x","method":"resources/read","params":{"uri":"kobana://inbox/emails/` + someID + `",` + meta + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"inbox_overview","arguments":{"inbox_id":"` + someID + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"usage_report"},"argument":{"name":"month","value":"2"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
	} {
		f.Add(body, "", "tools/call", "emails_list", "")
		f.Add(body, "/resources", "resources/read", "kobana://inbox/emails/"+someID, "2026-07-28")
	}
	f.Fuzz(func(t *testing.T, body, path, method, name, version string) {
		target, err := url.Parse(shared.URL + "/mcp" + path)
		if err != nil {
			t.Skip()
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.URL, r.RemoteAddr = target, "127.0.0.1:1"
		r.Header.Set("Authorization", "Bearer demo-readonly")
		for header, value := range map[string]string{"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		w := httptest.NewRecorder()
		shared.handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError {
			t.Errorf("HTTP %d %s", w.Code, w.Body)
		}
		if w.Header().Get("Content-Type") == "application/json" && !jsontext.Value(w.Body.Bytes()).IsValid() {
			t.Errorf("HTTP %d, not JSON: %s", w.Code, w.Body)
		}
	})
}

// FuzzTraced has any data in a bounce, of no sender: the line that tells so is as
// it was written, and where all else would let it be answered, it is a bounce.
func FuzzTraced(f *testing.F) {
	const plain = "From: ana@sender.example\r\n\r\nx"
	for _, beginning := range []string{
		"", " x\r\n", "\tx\n\t <eva@sender.example>\n", "\r\n x\r\n", "\ufeff x\r\n", "\ufeff\r\n\t\r\n", " \n", "From x\r\n y\r\n", "Return-Path: <a@b.example>\r\n",
	} {
		f.Add([]byte(beginning + plain))
	}
	f.Add([]byte(" x\rFrom: ana@sender.example\r\rx"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := rawmail.Parse(raw); err != nil {
			t.Skip() // it is kept as it came, and nobody is there to be answered
		}
		m, err := rawmail.Parse(traced("", raw))
		if err != nil || m.Headers[0] != (inbox.Header{Name: "Return-Path", Value: "<>"}) {
			t.Fatalf("%q: %v %v", raw, m, err)
		}
		in, e := inbox.Inbox{Email: "support@inbox.example"}, inbox.Email{From: m.From, Attachments: m.Attachments}
		got := answers.Refusal(in, e, inbox.EmailContent{Headers: m.Headers}, false)
		without := answers.Refusal(in, e, inbox.EmailContent{Headers: m.Headers[1:]}, false)
		if got == "" || without == "" && got != answers.CodeBounce {
			t.Errorf("%q: %v: refusal %q", raw, m.Headers, got)
		}
	})
}
