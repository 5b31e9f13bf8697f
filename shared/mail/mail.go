// Package mail reads raw Internet messages: RFC 5322 headers, MIME bodies,
// and what senders make of both. It never fails on a message that a person
// could still make sense of: what is broken is salvaged or left out, with a
// warning. Whatever the input, it neither panics nor takes more time or memory
// than a small multiple of the input's size.
//
// Nothing it returns is safe to show: the texts are as the sender wrote them.
// Every string is valid UTF-8 without NUL; header texts have no line breaks.
//
// It builds on the standard library and, for charsets, golang.org/x/text and
// golang.org/x/net. It imports clip, and inbox for the shapes of a header field
// and an attachment only.
package mail

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The bounds of a [Message]. What goes beyond one is left out or cut, with a
// warning.
const (
	maxHeaderRead  = 512 << 10 // bytes read of a header, of the message and of each part
	maxFields      = 1000      // header fields read
	maxFieldSize   = 64 << 10  // bytes read of one header field
	maxHeaderKept  = 64 << 10  // bytes kept of all names and decoded values in Headers
	maxValueSize   = 8 << 10   // bytes kept of one decoded value
	maxAddresses   = 500       // addresses kept of one list
	maxIDs         = 200       // message ids kept of References
	maxIDSize      = 998       // bytes, the longest line RFC 5322 allows
	maxDepth       = 20        // multiparts within one another
	maxParts       = 500       // parts read, multiparts included
	maxAttachments = 250       // attachments listed
	maxNameSize    = 255       // bytes of a file name or a content id
	maxBodySize    = 1 << 20   // bytes of text and of HTML, before their charset is decoded
	maxWarnings    = 20
)

// Message is what a raw message says. Addresses are bare addr-specs, message
// ids come without their angle brackets.
type Message struct {
	MessageID     string // "" when the message has none
	InReplyTo     string // the first id when there are several
	References    []string
	From          string // the first address of the first From that has one, or ""
	FromName      string
	Subject       *string // nil when there is no such field
	ReplyTo       []string
	HeaderTo      []string
	Cc            []string
	Bcc           []string
	Date          *time.Time // UTC; nil when missing or not understood
	Headers       []inbox.Header
	Text          *string // nil when there is no plain text, or only blank text beside HTML
	HTML          *string
	Truncated     bool // Text or HTML was cut
	Attachments   []inbox.Attachment
	Incomplete    bool     // it has parts beyond what is read, which may be attachments
	Forwarding    []string // addresses in Delivered-To, X-Forwarded-To, X-Original-To, Resent-To
	AutoSubmitted bool     // a machine wrote it, by its own account (RFC 3834)
	Warnings      []string // sentences on what was wrong with the message
}

// The errors of [Parse]; their texts are for people.
var (
	ErrEmpty    = errors.New("the message is empty")
	ErrNoHeader = errors.New("this is not an e-mail message: it does not begin with header fields")
)

// Parse reads a raw message. It fails only when raw does not begin with a
// header block, so that nothing of it can be called a message: with [ErrEmpty]
// or [ErrNoHeader].
func Parse(raw []byte) (*Message, error) {
	raw = bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\ufeff")), "\r\n")
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, ErrEmpty
	}
	if !bytes.Contains(raw, []byte("\n")) { // line ends of old Macs
		raw = bytes.ReplaceAll(raw, []byte("\r"), []byte("\n"))
	}
	h, body := parseHeader(skipEnvelope(raw))
	if len(h.fields) == 0 {
		return nil, ErrNoHeader
	}

	m := &Message{References: []string{}, Attachments: []inbox.Attachment{}, Warnings: []string{}}
	charset := m.readBody(h, body)
	m.readHeader(h, charset)
	return m, nil
}

// skipEnvelope removes the "From sender date" line that mbox files put before
// a message.
func skipEnvelope(raw []byte) []byte {
	if bytes.HasPrefix(raw, []byte("From ")) || bytes.HasPrefix(raw, []byte(">From ")) {
		_, raw = cutLine(raw)
	}
	return raw
}

// readHeader fills in what the header says; charset is that of the body's
// first text, a hint for raw 8-bit values.
func (m *Message) readHeader(h header, charset string) {
	if h.broken {
		m.warn("Some header lines are malformed; they were ignored.")
	}
	if h.cut {
		m.warn("The header is too long; only its beginning was read.")
	}
	m.MessageID = first(messageIDs(h.get("Message-ID")))
	m.InReplyTo = first(messageIDs(h.get("In-Reply-To")))
	for v := range h.all("References") {
		m.References = append(m.References, messageIDs(v)...)
	}
	m.References = m.References[:min(len(m.References), maxIDs)]

	m.ReplyTo = m.addresses(h, charset, "Reply-To")
	m.HeaderTo = m.addresses(h, charset, "To")
	m.Cc = m.addresses(h, charset, "Cc")
	m.Bcc = m.addresses(h, charset, "Bcc")
	m.Forwarding = m.addresses(h, charset, "Delivered-To", "X-Forwarded-To", "X-Original-To", "Resent-To")
	m.readFrom(h, charset)

	if v, ok := h.lookup("Subject"); ok {
		m.Subject = new(clip.Bytes(decodeText(v, charset), maxValueSize))
	}
	m.Date = parseDate(h.get("Date"))
	if m.Date == nil && h.get("Date") != "" {
		m.warn("The date of the message cannot be read.")
	}
	auto := strings.ToLower(firstWord(h.get("Auto-Submitted")))
	m.AutoSubmitted = auto != "" && auto != "no"
	m.Headers = m.decodeHeaders(h, charset)
}

// readFrom takes the first sender that the message names.
func (m *Message) readFrom(h header, charset string) {
	var from []address
	for v := range h.all("From") {
		from = append(from, parseAddresses(v, charset)...)
	}
	if len(from) > 1 {
		m.warn("The message names several senders; the first one counts.")
	}
	if len(from) > 0 {
		m.From, m.FromName = from[0].addr, from[0].name
	}
}

// addresses returns the different addresses in all fields of the given names.
func (m *Message) addresses(h header, charset string, names ...string) []string {
	list := []string{}
	seen := map[string]bool{}
	for _, f := range h.fields {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, f.name) }) {
			continue
		}
		for _, a := range parseAddresses(f.value, charset) {
			if len(list) == maxAddresses {
				m.warn("The message has too many recipients; not all are listed.")
				return list
			}
			if !seen[a.addr] {
				seen[a.addr] = true
				list = append(list, a.addr)
			}
		}
	}
	return list
}

// decodeHeaders returns the header for reading, within its bounds.
func (m *Message) decodeHeaders(h header, charset string) []inbox.Header {
	headers := []inbox.Header{}
	size := 0
	for _, f := range h.fields {
		v := decodeText(f.value, charset)
		if len(v) > maxValueSize {
			m.warn("A header value is too long; it was cut.")
			v = clip.Bytes(v, maxValueSize)
		}
		if size += len(f.name) + len(v); size > maxHeaderKept {
			m.warn("The header is too long; not all of it is listed.")
			break
		}
		headers = append(headers, inbox.Header{Name: f.name, Value: v})
	}
	return headers
}

// warn notes what was wrong, once.
func (m *Message) warn(sentence string) {
	if len(m.Warnings) < maxWarnings && !slices.Contains(m.Warnings, sentence) {
		m.Warnings = append(m.Warnings, sentence)
	}
}

// messageIDs returns the message ids in v without their angle brackets. Some
// programs leave the brackets out; then a word with an @ is an id.
func messageIDs(v string) []string {
	ids := []string{}
	add := func(id string) {
		if id != "" && len(id) <= maxIDSize && !strings.ContainsAny(id, " \t") {
			ids = append(ids, valid(id))
		}
	}
	for rest := v; ; {
		_, after, ok := strings.Cut(rest, "<")
		id, next, closed := strings.Cut(after, ">")
		if !ok || !closed {
			break
		}
		add(strings.TrimSpace(id))
		rest = next
	}
	if len(ids) == 0 {
		for word := range strings.FieldsSeq(v) {
			if strings.Contains(word, "@") && !strings.Contains(word, "<") {
				add(strings.Trim(word, ",>"))
			}
		}
	}
	return ids
}

// first returns the first of ids, or "".
func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}
