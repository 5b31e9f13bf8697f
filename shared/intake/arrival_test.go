package intake

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
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
	w := newWorld(t)
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
	for i := range 400 {
		fmt.Fprintf(&raw, "--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"%d%s\"\r\n\r\nx\r\n", i, strings.Repeat("\\\"", 100))
	}
	raw.WriteString("--x--\r\n")
	w.receive(t, raw.String())

	e := w.emails(t)[0]
	b, err := json.Marshal(e)
	if err != nil || len(b) > maxRecord {
		t.Errorf("record of %d bytes, %v", len(b), err)
	}
	if len(*e.Subject) > maxSubject || !utf8.ValidString(*e.Subject) || len(e.HeaderTo) == 0 || len(e.Attachments) == 0 || e.Status != inbox.EmailReceived {
		t.Errorf("subject of %d bytes, %d recipients, %d attachments, %s", len(*e.Subject), len(e.HeaderTo), len(e.Attachments), e.Status)
	}
	if !bytes.Contains(e.Metadata, []byte("too many recipients or attachments")) {
		t.Errorf("metadata %s does not say what was left out", e.Metadata)
	}
}

func TestWarningsAreKept(t *testing.T) {
	w := newWorld(t)
	e := w.receive(t, "From: a@b.example\r\nDate: yesterday\r\n\r\nhi")
	if string(e.Metadata) != `{"warnings":["The date of the message cannot be read."]}` {
		t.Errorf("metadata %s", e.Metadata)
	}
}

func TestLongBodiesAreCut(t *testing.T) {
	w := newWorld(t)
	e := w.receive(t, "From: a@b.example\r\n\r\n"+strings.Repeat("Ação \"1\".\r\n", 100000))
	_, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, e.ID)
	if err != nil || !content.Truncated || !utf8.ValidString(*content.Text) || len(*content.Text) < 200<<10 || len(*content.Text) > 256<<10 {
		t.Errorf("text of %d bytes, truncated %v, %v", len(*content.Text), content.Truncated, err)
	}
}

// An attachment is described, and its content is only in the raw message.
func TestCase35_AttachmentsAreMetadata(t *testing.T) {
	w := newWorld(t)
	pdf := bytes.Repeat([]byte("JVBERi0xLjQK"), 2<<20/12)
	lines := slices.Collect(slices.Chunk(pdf, 76))
	raw := "From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee the file.\r\n" +
		"--x\r\nContent-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\n" +
		string(bytes.Join(lines, []byte("\r\n"))) + "\r\n--x--\r\n"
	e := w.receive(t, raw)
	email, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, e.ID)
	if err != nil || len(email.Attachments) != 1 || email.Attachments[0].Size != int64(len(pdf)/4*3) {
		t.Fatalf("attachments %+v, %v", email.Attachments, err)
	}
	answer, err := json.Marshal(struct {
		inbox.Email
		Content inbox.EmailContent `json:"content"`
	}{email, content})
	if err != nil || len(answer) > 4<<10 {
		t.Errorf("an e-mail with a 2 MB PDF takes %d bytes, %v", len(answer), err)
	}
}

// Whatever arrives, its records are JSON in UTF-8 and within their bound. (No
// store here: what it remembers would make runs differ.)
func FuzzArrival(f *testing.F) {
	f.Add([]byte(message), "a@b.example", "in@inbox.example")
	f.Add([]byte(""), "", "")
	f.Add([]byte("From: \xff\r\nSubject: =?x?B?/w==?=\r\n\r\n\x00"), "\xff", "\x00")
	f.Add([]byte("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Disposition: attachment; filename*=x''%ff\r\n\r\n--x--"), "<>", "\u2028")
	in := New(Options{Log: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, raw []byte, from, to string) {
		a := arrival{Delivery: Delivery{Raw: raw, EnvelopeFrom: from, Recipients: []string{to, to}}}
		a.message, a.failure = in.parse(t.Context(), raw)
		for _, v := range []any{a.email(), a.workflowRun("w"), a.event("e")} {
			if b, err := json.Marshal(v); err != nil || !utf8.Valid(b) || len(b) > maxRecord {
				t.Errorf("%T of %d bytes, %v", v, len(b), err)
			}
		}
	})
}
