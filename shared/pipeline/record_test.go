package pipeline

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
)

func TestForwarded(t *testing.T) {
	const box = "support@inbox.example"
	for _, c := range []struct {
		name         string
		to, via, env []string
		forwarded    bool
		address      string
	}{
		{"direct", []string{box}, nil, nil, false, ""},
		{"direct, in other case", []string{"Support@Inbox.Example"}, nil, nil, false, ""},
		{"direct, among others", []string{"bob@b.example", box}, nil, nil, false, ""},
		{"forwarded", []string{"help@customer.example"}, nil, nil, true, "help@customer.example"},
		{"forwarded, to several", []string{"help@customer.example", "bob@b.example"}, nil, nil, true, "help@customer.example"},
		{"by its headers", []string{box}, []string{"help@customer.example"}, nil, true, ""},
		{"by its headers, among others", []string{box, "bob@b.example"}, []string{box}, nil, true, "bob@b.example"},
		{"no To", nil, nil, nil, false, ""},
		{"no To, by its headers", nil, []string{box}, nil, true, ""},
		{"two recipients, one written to", []string{box}, nil, []string{box, "sales@inbox.example"}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.env == nil {
				c.env = []string{box}
			}
			got, address := forwarded(&mail.Message{HeaderTo: c.to, Forwarding: c.via}, c.env)
			if address == nil {
				address = new("")
			}
			if got != c.forwarded || *address != c.address {
				t.Errorf("forwarded %v for %q, want %v for %q", got, *address, c.forwarded, c.address)
			}
		})
	}
}

// A record is at most 120 KB, so that the transaction with its copies, and a
// page of a few, stay within the store's bounds.
const maxRecord = 120 << 10

func TestHugeHeadersAreCutToFit(t *testing.T) {
	var raw strings.Builder
	raw.WriteString("From: " + strings.Repeat("f", 5000) + " <" + strings.Repeat("a", 5000) + "@b.example>\r\nSubject: " + strings.Repeat("é", 5000) + "\r\n")
	for _, name := range []string{"To", "Cc", "Bcc"} {
		raw.WriteString(name + ": a@b.example")
		for i := range 400 {
			fmt.Fprintf(&raw, ",\r\n a%d@%s.example", i, strings.Repeat("b", 60))
		}
		raw.WriteString("\r\n")
	}
	raw.WriteString("Content-Type: multipart/mixed; boundary=x\r\n\r\n")
	for i := range 200 {
		fmt.Fprintf(&raw, "--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"%d%s\"\r\n\r\nx\r\n", i, strings.Repeat("\\\"", 100))
	}
	raw.WriteString("--x--\r\n")

	e := run(t, Options{}, box(), raw.String()).Email
	b, err := json.Marshal(e)
	if err != nil || len(b) > maxRecord {
		t.Errorf("record of %d bytes, %v", len(b), err)
	}
	if len(*e.Subject) > maxSubject || !utf8.ValidString(*e.Subject) || len(e.HeaderTo) == 0 || len(e.Attachments) == 0 || e.Status != approved {
		t.Errorf("subject of %d bytes, %d recipients, %d attachments, %s", len(*e.Subject), len(e.HeaderTo), len(e.Attachments), e.Status)
	}
	if !bytes.Contains(e.Metadata, []byte("too many recipients or attachments")) {
		t.Errorf("metadata %s does not say what was left out", e.Metadata)
	}
}

func TestWarningsAreKept(t *testing.T) {
	r := run(t, Options{}, box(), "From: a@b.example\r\nDate: yesterday\r\n\r\nhi")
	if got := string(r.Email.Metadata); got != `{"sender":"unverified","warnings":["The date of the message cannot be read."]}` {
		t.Errorf("metadata %s", got)
	}
	if got := *r.Workflow.Steps[0].Result; got != "The message was read, with 1 warning." {
		t.Errorf("result %q", got)
	}
}

// Whatever arrives, whatever the rules, one of the ends is reached, and the
// records are JSON in UTF-8 and within their bound.
func FuzzRun(f *testing.F) {
	f.Add([]byte(message), "a@b.example", "in@inbox.example", `{"field":"subject","operator":"contains","value":"x","action":"reject"}`)
	f.Add([]byte(""), "", "", "")
	f.Add([]byte("From: \xff\r\nSubject: =?x?B?/w==?=\r\n\r\n\x00"), "\xff", "\x00", `{"field":"body","operator":"matches","value":"(a*)*$","action":"reject"}`)
	f.Add([]byte("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Disposition: attachment; filename*=x''%ff\r\n\r\n--x--"), "<>", "\u2028", "[")
	p := New(Options{Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, raw []byte, from, to, filter string) {
		in := box(func(in *inbox.Inbox) { in.AllowedRecipients = []string{from} })
		if filter != "" {
			in.Filters = []inbox.Object{inbox.Object(filter)}
		}
		r, err := p.Run(t.Context(), in, inbox.Email{From: from, To: []string{to, to}}, raw)
		if err != nil {
			t.Fatal(err)
		}
		switch r.Email.Status {
		case approved, inbox.EmailRejected, inbox.EmailFailed:
		default:
			t.Errorf("e-mail is %s", r.Email.Status)
		}
		for _, v := range []any{r.Email, r.Workflow} {
			if b, err := json.Marshal(v); err != nil || !utf8.Valid(b) || len(b) > maxRecord {
				t.Errorf("%T of %d bytes, %v", v, len(b), err)
			}
		}
	})
}
