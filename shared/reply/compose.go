package reply

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// The bounds of an answer.
const (
	maxText       = 64 << 10 // bytes of what the agent wrote
	maxSubject    = 200      // characters
	maxReferences = 20       // message ids: the first one and the last ones
	maxMessageID  = 250      // bytes
	maxLine       = 78       // characters (RFC 5322 §2.1.1), where there is a space to break at
)

// What [Compose] cannot make a message of.
var (
	ErrNoText    = errors.New("reply: the agent wrote nothing that could be seen")
	ErrNoAddress = errors.New("reply: the sender or the inbox has no address that can be written to")
)

// Draft is what an answer is made of.
type Draft struct {
	ID      inbox.ID // of the answer
	At      time.Time
	Inbox   inbox.Inbox
	Locale  inbox.Locale       // of the inbox's workspace
	Email   inbox.Email        // that is answered
	Content inbox.EmailContent // of that e-mail
	Text    string             // what the agent wrote
}

// Compose makes the message that answers an e-mail, to its sender alone
// ([recipient]). Nothing of the e-mail is quoted: then it would be a way to have
// this inbox write anything to anybody. The error is [ErrNoText] or
// [ErrNoAddress].
func Compose(d Draft) (Message, error) {
	from, ok := asciiAddress(d.Inbox.Email)
	to, ok2 := recipient(d.Email)
	if !ok || !ok2 || !d.ID.Valid() {
		return Message{}, ErrNoAddress
	}
	text := shorten(untrusted.Text(d.Text))
	if text == "" {
		return Message{}, ErrNoText
	}
	var b bytes.Buffer
	for _, f := range [][2]string{
		{"From", named(line(d.Inbox.Label), from)},
		{"To", (&mail.Address{Address: to}).String()},
		{"Subject", mime.QEncoding.Encode("utf-8", subject(d.Email.Subject))},
		{"Date", d.At.UTC().Format("Mon, 02 Jan 2006 15:04:05 -0700")},
		{"Message-ID", "<" + string(d.ID) + "@" + domain(from) + ">"},
		{"In-Reply-To", inReplyTo(d.Email)},
		{"References", references(d.Email, d.Content)},
		{"Auto-Submitted", "auto-replied"}, // RFC 3834 §5
		{"X-Auto-Response-Suppress", "All"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		if f[1] != "" {
			writeField(&b, f[0], f[1])
		}
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	fmt.Fprintf(w, "%s\n\n%s\n", text, notice(d.Locale)) // neither fails: they write to memory
	w.Close()
	return Message{ID: d.ID, From: from, To: to, Raw: b.Bytes()}, nil
}

// notice says that no person wrote the answer.
func notice(l inbox.Locale) string {
	if l == inbox.Portuguese {
		return "Esta resposta é automática: foi escrita por um agente de inteligência artificial."
	}
	return "This answer is automatic: an artificial intelligence agent wrote it."
}

// writeField writes a header field, folded at spaces. The value is ASCII without
// controls and with single spaces.
func writeField(b *bytes.Buffer, name, value string) {
	b.WriteString(name + ":")
	length := len(name) + 1
	for i, word := range strings.Split(value, " ") {
		if i > 0 && length+1+len(word) > maxLine {
			b.WriteString("\r\n")
			length = 0
		}
		b.WriteString(" " + word)
		length += 1 + len(word)
	}
	b.WriteString("\r\n")
}

// named is an address with a name. One that is not ASCII is in base64, which may
// stand there whatever it is of (RFC 2047 §5); net/mail has others in Q, and
// leaves a backslash as it is.
func named(name, address string) string {
	plain := (&mail.Address{Name: name, Address: address}).String()
	if strings.HasPrefix(plain, "=?") {
		return mime.BEncoding.Encode("utf-8", name) + " <" + address + ">"
	}
	return plain
}

// line is a text for a header field: one line, without what cannot be seen, and
// without what a reader would take for an encoded word (RFC 2047) and decode.
func line(s string) string { return strings.ReplaceAll(untrusted.Line(s, maxSubject), "=?", "= ?") }

// answered is what the subject of an answer begins with.
var answered = regexp.MustCompile(`^(?i:(re|res|aw|sv)(\[\d+\])?\s*:\s*)+`)

// subject is that of the answer.
func subject(s *string) string {
	if s == nil {
		return "Re:"
	}
	return strings.TrimSpace("Re: " + answered.ReplaceAllString(line(*s), ""))
}

// messageID is an id as others send it, to be repeated as it came. What else is
// found there breaks the header of those who repeat it.
var messageID = regexp.MustCompile(`^[!#-'*+\--:=?A-~\[\]]+@[!#-'*+\--:=?A-~\[\]]+$`)

func inReplyTo(e inbox.Email) string {
	if len(e.MessageID) > maxMessageID || !messageID.MatchString(e.MessageID) {
		return ""
	}
	return "<" + e.MessageID + ">"
}

// bracketed are message ids in a header field.
var bracketed = regexp.MustCompile(`<([^<>\s]{3,250})>`)

// references are the ids of the messages that lead to the answer (RFC 5322
// §3.6.4): those of the e-mail, or else the one that it answers, and itself.
func references(e inbox.Email, c inbox.EmailContent) string {
	ids := idsIn(c, "References")
	if parents := idsIn(c, "In-Reply-To"); len(ids) == 0 && len(parents) == 1 {
		ids = parents
	}
	if own := inReplyTo(e); own != "" {
		ids = append(slices.DeleteFunc(ids, func(id string) bool { return id == own }), own)
	}
	if n := len(ids); n > maxReferences {
		ids = append(ids[:1], ids[n-maxReferences+1:]...)
	}
	return strings.Join(ids, " ")
}

// idsIn are the message ids in the fields of that name, each once.
func idsIn(c inbox.EmailContent, name string) (ids []string) {
	for _, h := range c.Headers {
		if !strings.EqualFold(h.Name, name) {
			continue
		}
		for _, m := range bracketed.FindAllStringSubmatch(h.Value, -1) {
			if messageID.MatchString(m[1]) && !slices.Contains(ids, m[0]) {
				ids = append(ids, m[0])
			}
		}
	}
	return ids
}

// shorten cuts what the agent wrote to maxText bytes.
func shorten(s string) string {
	if len(s) <= maxText {
		return s
	}
	return clip.Bytes(s, maxText) + "…"
}
