package pipeline

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
)

// The bounds of an e-mail's record in bytes, so that a page of them stays
// small. All headers and all recipients are in the raw message.
const (
	maxSubject     = 4 << 10
	maxLine        = 1 << 10  // of other texts
	maxAddresses   = 12 << 10 // of one list, as JSON
	maxAttachments = 32 << 10 // of the list, as JSON
)

// Sender is what the server that took a message found of its sender.
type Sender string

// What may be known of a sender.
const (
	SenderUnverified      Sender = "unverified"      // nobody looked, or nothing was to be seen
	SenderVerified        Sender = "verified"        // the address is the sender's (DMARC)
	SenderUnauthenticated Sender = "unauthenticated" // nothing shows that it is
)

// Metadata is what an e-mail says of its sender, "" being unverified, before
// it goes through the pipeline.
func (s Sender) Metadata() inbox.Object { return notes{Sender: s}.object() }

// SenderOf is what an e-mail's metadata says of its sender.
func SenderOf(e inbox.Email) Sender { return cmp.Or(notesOf(e).Sender, SenderUnverified) }

// notes are the metadata of an e-mail.
type notes struct {
	Sender   Sender   `json:"sender"`
	Warnings []string `json:"warnings,omitempty"` // what was wrong with the message
}

// notesOf reads the metadata of an e-mail.
func notesOf(e inbox.Email) (n notes) {
	_ = json.Unmarshal(e.Metadata, &n) // what cannot be read says nothing
	return n
}

func (n notes) object() inbox.Object {
	if n.Sender == "" {
		n.Sender = SenderUnverified
	}
	b, _ := json.Marshal(n) // sentences always can be
	return b
}

// arrived is the e-mail before its message was read, within bounds.
func arrived(in inbox.Inbox, e inbox.Email, raw []byte) inbox.Email {
	complete := true
	e.AgentID, e.RawSize = in.AgentID, int64(len(raw))
	e.From, e.To = line(e.From), within(lines(e.To), maxAddresses, &complete)
	e.Status, e.RejectionReason, e.ProcessedAt = inbox.EmailReceived, nil, nil
	e.Metadata = notesOf(e).object()
	return e
}

// parse reads the message into the record. The sender that it names takes the
// place of the envelope's.
func (p *Pipeline) parse(_ context.Context, r *Run) (Outcome, error) {
	m, err := p.opts.Parse(r.raw)
	if err != nil {
		return Failed("The message could not be read: %v.", err), nil
	}
	e, complete := &r.Email, true
	e.MessageID, e.FromName, e.SentAt, e.Subject = line(m.MessageID), line(m.FromName), m.Date, nil
	if m.From != "" {
		e.From = line(m.From)
	}
	if m.Subject != nil {
		e.Subject = new(clip.Bytes(*m.Subject, maxSubject))
	}
	e.Forwarded, e.ForwardedFor = forwarded(m, e.To)
	e.HeaderTo = within(m.HeaderTo, maxAddresses, &complete)
	e.Cc = within(m.Cc, maxAddresses, &complete)
	e.Bcc = within(m.Bcc, maxAddresses, &complete)
	e.Attachments = within(m.Attachments, maxAttachments, &complete)
	n := notes{Sender: SenderOf(*e), Warnings: slices.Clone(m.Warnings)}
	if !complete {
		n.Warnings = append(n.Warnings, "The message has too many recipients or attachments; not all are listed.")
	}
	e.Metadata = n.object()
	r.Content = &inbox.EmailContent{Headers: m.Headers, Text: m.Text, HTML: m.HTML, Truncated: m.Truncated}
	r.message = m
	if len(n.Warnings) > 0 {
		return Passed("The message was read, with %s.", count(len(n.Warnings), "warning")), nil
	}
	return Passed("The message was read."), nil
}

// forwarded reports whether a message came by way of another address, and the
// address that its sender wrote to, if that is known.
func forwarded(m *mail.Message, recipients []string) (bool, *string) {
	elsewhere := func(list, other []string) int {
		return slices.IndexFunc(list, func(a string) bool {
			return !slices.ContainsFunc(other, func(b string) bool { return inbox.SameAddress(a, b) })
		})
	}
	if len(m.Forwarding) == 0 && (len(m.HeaderTo) == 0 || elsewhere(recipients, m.HeaderTo) < 0) {
		return false, nil
	}
	if i := elsewhere(m.HeaderTo, recipients); i >= 0 {
		return true, new(line(m.HeaderTo[i]))
	}
	return true, nil
}

// within returns the beginning of a list that is at most size bytes long as
// JSON; complete becomes false if that is not all of it.
func within[T any](list []T, size int, complete *bool) []T {
	for i, e := range list {
		b, err := json.Marshal(e)
		if size -= len(b) + 1; err != nil || size < 0 {
			*complete = false
			return list[:i]
		}
	}
	return list
}

// line is a text of the envelope or the header, bounded.
func line(s string) string { return clip.Bytes(s, maxLine) }

func lines(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = line(s)
	}
	return out
}
