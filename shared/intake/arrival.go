package intake

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
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

// arrival is a delivery while it is taken in.
type arrival struct {
	Delivery
	id                inbox.ID
	key               string        // of the raw message
	message           *mail.Message // nil when it could not be read
	failure           string        // why not
	started, finished time.Time     // of reading it
}

// changes are all that is kept of the arrival, but the raw message.
func (a *arrival) changes(email inbox.Email, newID func(time.Time) inbox.ID) []inboxstore.Change {
	changes := []inboxstore.Change{
		inboxstore.Insert(email),
		inboxstore.Insert(a.workflowRun(newID(a.finished))),
		inboxstore.Insert(a.event(newID(a.finished))),
		inboxstore.Count(a.ReceivedAt, "", inbox.UsageSum{Emails: 1}),
	}
	if a.ID != "" {
		changes = append(changes, inboxstore.Claim(a.work(), a.id))
	}
	if m := a.message; m != nil {
		changes = append(changes, inboxstore.Content(a.id, inbox.EmailContent{
			Headers: m.Headers, Text: m.Text, HTML: m.HTML, Truncated: m.Truncated,
		}))
	}
	return changes
}

// email is the record of the arrival.
func (a *arrival) email() inbox.Email {
	recipients := a.Recipients
	if len(recipients) == 0 {
		recipients = []string{a.Inbox.Email}
	}
	e := inbox.Email{
		ID: a.id, WorkspaceID: a.Inbox.WorkspaceID, InboxID: a.Inbox.ID, AgentID: a.Inbox.AgentID,
		RawS3Key: a.key, RawSize: int64(len(a.Raw)),
		From:        line(a.EnvelopeFrom),
		Status:      inbox.EmailReceived,
		SpamVerdict: a.SpamVerdict, VirusVerdict: a.VirusVerdict, SESMetadata: a.SESMetadata,
		ReceivedAt: a.ReceivedAt.UTC().Truncate(time.Millisecond),
		CreatedAt:  a.finished, UpdatedAt: a.finished,
	}
	complete := true
	e.To = within(lines(recipients), maxAddresses, &complete)
	m := a.message
	if m == nil {
		e.Status, e.RejectionReason = inbox.EmailFailed, new(line(a.failure))
		return e
	}
	e.MessageID, e.FromName = line(m.MessageID), line(m.FromName)
	if m.From != "" {
		e.From = line(m.From)
	}
	if m.Subject != nil {
		e.Subject = new(cut(*m.Subject, maxSubject))
	}
	e.SentAt = m.Date
	e.Forwarded, e.ForwardedFor = forwarded(m, recipients)
	e.HeaderTo = within(m.HeaderTo, maxAddresses, &complete)
	e.Cc = within(m.Cc, maxAddresses, &complete)
	e.Bcc = within(m.Bcc, maxAddresses, &complete)
	e.Attachments = within(m.Attachments, maxAttachments, &complete)
	e.Metadata = metadata(m.Warnings, complete)
	return e
}

// metadata says what was wrong with a message, if anything.
func metadata(warnings []string, complete bool) inbox.Object {
	if !complete {
		warnings = append(slices.Clone(warnings), "The message has too many recipients or attachments; not all are listed.")
	}
	if len(warnings) == 0 {
		return inbox.Object("{}")
	}
	b, _ := json.Marshal(map[string][]string{"warnings": warnings}) // sentences always can be
	return b
}

// forwarded reports whether a message came by way of another address, and the
// address that its sender wrote to, if that is known (inbox-api: Email).
func forwarded(m *mail.Message, recipients []string) (bool, *string) {
	elsewhere := func(list, other []string) int {
		return slices.IndexFunc(list, func(a string) bool {
			return !slices.ContainsFunc(other, func(b string) bool { return strings.EqualFold(a, b) })
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

// workflowRun is the pipeline of the e-mail: reading it is done, the rest
// waits, or is skipped when there is nothing to go on with.
func (a *arrival) workflowRun(id inbox.ID) inbox.WorkflowRun {
	parse := inbox.Step{Name: inbox.StepParse, Status: inbox.StepSuccess, StartedAt: &a.started, FinishedAt: &a.finished}
	r := inbox.WorkflowRun{
		ID: id, WorkspaceID: a.Inbox.WorkspaceID, InboxID: a.Inbox.ID, EmailID: a.id,
		Status: inbox.RunRunning, StartedAt: &a.started, CreatedAt: a.finished, UpdatedAt: a.finished,
	}
	rest := inbox.StepPending
	if a.message == nil {
		parse.Status, parse.Result = inbox.StepFailed, new(line(a.failure))
		r.Status, r.FinishedAt = inbox.RunFailed, &a.finished
		rest = inbox.StepSkipped
	}
	r.Steps = []inbox.Step{parse}
	for _, name := range []inbox.StepName{
		inbox.StepCheckSender, inbox.StepApplyFilters, inbox.StepCheckAttachments, inbox.StepRunAgent, inbox.StepDeliverWebhooks,
	} {
		r.Steps = append(r.Steps, inbox.Step{Name: name, Status: rest})
	}
	return r
}

// event is the arrival's entry in the event log. Its payload has nothing that
// the sender wrote.
func (a *arrival) event(id inbox.ID) inbox.SystemEvent {
	slug := "email.received"
	if a.message == nil {
		slug = "email.failed"
	}
	return inbox.SystemEvent{
		ID: id, WorkspaceID: a.Inbox.WorkspaceID, InboxID: &a.Inbox.ID, EmailID: &a.id, Slug: slug,
		Payload:   inbox.Object(`{"raw_size":` + strconv.Itoa(len(a.Raw)) + `}`),
		CreatedAt: a.finished, UpdatedAt: a.finished,
	}
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
func line(s string) string { return cut(s, maxLine) }

func lines(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = line(s)
	}
	return out
}

// cut shortens s to at most n bytes of UTF-8, at the end of a character.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
