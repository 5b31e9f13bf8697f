package inboxstore

import (
	"context"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Event is what the system event of a person's change says, beside who made it
// and how.
type Event struct {
	Slug    string
	Outcome inbox.Outcome // "": done
	Target  inbox.ID      // the record that was to be changed
	Also    []inbox.ID    // records that changed with it
	// Inbox and Email are those that the event concerns, "" for none.
	Inbox, Email inbox.ID
}

// payload is that of a person's system event. Of secrets it has
// the first three members only (R4).
type payload struct {
	Person       access.Person `json:"person"`
	Tool         string        `json:"tool"`
	Outcome      inbox.Outcome `json:"outcome"`
	Client       string        `json:"client,omitzero"`
	Confirmation string        `json:"confirmation_id,omitzero"`
	Arguments    string        `json:"arguments_digest,omitzero"`
	Target       inbox.ID      `json:"target_id,omitzero"`
	Also         []inbox.ID    `json:"also_changed,omitempty"`
}

// maxClient bounds the OAuth client id in events, in bytes: it may be a URL, as
// long as its issuer lets it be.
const maxClient = 256

// Audited is [DB.Apply] in the name of a person: with the changes it leaves the
// system event that tells of them and, where the person was asked, claims the
// confirmation, so that no yes has two effects. What goes out of
// the house is audited as started; how it ended is another [DB.Event].
func (db *DB) Audited(ctx context.Context, by inbox.Actor, e Event, changes ...Change) error {
	event, err := db.event(by, e)
	if err != nil {
		return err
	}
	// The event comes first: when a write whose reply was lost is sent again, it
	// meets itself there, and not a record that it changed.
	all := []Change{Insert(event)}
	if by.Confirmation != "" {
		all = append(all, claim("confirmation/"+by.Confirmation, event.ID, &inbox.Error{
			Code: inbox.CodeConflict, Message: "This confirmation was used before. Nothing was done now.", Err: ErrClaimed,
		}))
	}
	return db.Apply(ctx, by.Workspace, append(all, changes...)...)
}

// Event is the system event alone, as a change.
func (db *DB) Event(by inbox.Actor, e Event) Change {
	return func(t *transaction) error {
		event, err := db.event(by, e)
		if err != nil {
			return err
		}
		return Insert(event)(t)
	}
}

// Record implements inbox.Editor.
func (db *DB) Record(ctx context.Context, by inbox.Actor, o inbox.Outcome) error {
	return db.Apply(ctx, by.Workspace, db.Event(by, Event{Slug: o.Slug(), Outcome: o}))
}

// event makes the record of an event that happens now.
func (db *DB) event(by inbox.Actor, e Event) (inbox.SystemEvent, error) {
	p := payload{Person: by.Person, Tool: by.Tool, Outcome: e.Outcome}
	if p.Outcome == "" {
		p.Outcome = inbox.OutcomeDone
	}
	if !strings.HasPrefix(by.Tool, "secrets_") && !strings.HasPrefix(e.Slug, "secret.") {
		p.Client, _ = prefix(by.Client, maxClient, maxClient)
		p.Confirmation, p.Arguments, p.Target, p.Also = by.Confirmation, by.Arguments, e.Target, e.Also
	}
	value, err := encode(p)
	now := db.now()
	event := inbox.SystemEvent{ID: inbox.NewID(db.opts.Now()), WorkspaceID: by.Workspace, Slug: e.Slug, Payload: value, CreatedAt: now, UpdatedAt: now}
	if e.Inbox != "" {
		event.InboxID = &e.Inbox
	}
	if e.Email != "" {
		event.EmailID = &e.Email
	}
	return event, err
}
