// Package intake takes a raw message that arrived for an inbox and keeps it:
// the message as it came, then what could be read of it. Nothing that arrives
// is dropped, however broken.
//
// It may import inbox, inboxstore and mail.
package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
)

// MaxRaw is the largest message taken, in bytes: what SES receives at most.
const MaxRaw = 40 << 20

// ErrDeleted is returned for a delivery that was kept before, when its e-mail
// has been deleted since: there is nothing to do.
var ErrDeleted = errors.New("intake: the e-mail of this delivery was deleted")

// Options configure an [Intake].
type Options struct {
	DB    *inboxstore.DB
	Log   *slog.Logger                        // default slog.Default
	Now   func() time.Time                    // default time.Now
	NewID func(t time.Time) inbox.ID          // default inbox.NewID
	Parse func([]byte) (*mail.Message, error) // default mail.Parse
}

// Intake keeps arriving mail.
type Intake struct{ opts Options }

// New returns an intake.
func New(o Options) *Intake {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = inbox.NewID
	}
	if o.Parse == nil {
		o.Parse = mail.Parse
	}
	return &Intake{opts: o}
}

// Delivery is the arrival of one message at one inbox.
type Delivery struct {
	// ID names the arrival at its source, such as SES's id of the message. An
	// inbox keeps a delivery of one ID once; "" is never the same. (That of the
	// message itself says nothing: senders leave it out, or use one twice.)
	ID           string
	Inbox        inbox.Inbox
	Raw          []byte
	EnvelopeFrom string
	Recipients   []string  // of the envelope, this inbox's workspace only; empty: the inbox
	ReceivedAt   time.Time // zero: now
	SpamVerdict  *string
	VirusVerdict *string
	SESMetadata  inbox.Object // a few KB at most, as it is in the record
}

// work names what is done once.
func (d *Delivery) work() string { return fmt.Sprintf("delivery/%s/%s", d.Inbox.ID, d.ID) }

// Receive keeps a message and returns its e-mail, which is failed when the
// message could not be read. The raw message is stored first, and all else in
// one transaction after it: on an error, deliver again. A message over [MaxRaw]
// is a limit_exceeded. For a delivery that was kept before it returns the
// e-mail of then, or [ErrDeleted].
func (in *Intake) Receive(ctx context.Context, d Delivery) (inbox.Email, error) {
	if len(d.Raw) > MaxRaw {
		return inbox.Email{}, errTooLarge()
	}
	if email, err := in.kept(ctx, d); err != nil || email.ID != "" {
		return email, err
	}
	if d.ReceivedAt.IsZero() {
		d.ReceivedAt = in.opts.Now()
	}
	id := in.opts.NewID(d.ReceivedAt)
	key, err := in.opts.DB.KeepRaw(ctx, d.Inbox.WorkspaceID, id, d.Raw)
	if err != nil {
		return inbox.Email{}, err
	}
	a := arrival{Delivery: d, id: id, key: key, started: in.opts.Now().UTC()}
	a.message, a.failure = in.parse(ctx, d.Raw)
	a.finished = in.opts.Now().UTC()
	email := a.email()
	err = in.opts.DB.Apply(ctx, d.Inbox.WorkspaceID, a.changes(email, in.opts.NewID)...)
	if errors.Is(err, inboxstore.ErrClaimed) {
		return in.lost(ctx, d, id)
	}
	if err != nil {
		return inbox.Email{}, err
	}
	return email, nil
}

func errTooLarge() error {
	return inbox.Errorf(inbox.CodeLimit, "", "The message is over %d MiB. It was not kept.", MaxRaw>>20)
}

// kept returns the e-mail that a delivery became before; none is the zero
// e-mail.
func (in *Intake) kept(ctx context.Context, d Delivery) (inbox.Email, error) {
	if d.ID == "" {
		return inbox.Email{}, nil
	}
	id, err := in.opts.DB.Claimed(ctx, d.Inbox.WorkspaceID, d.work())
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		return inbox.Email{}, nil
	}
	if err != nil {
		return inbox.Email{}, err
	}
	email, err := inboxstore.Get[inbox.Email](ctx, in.opts.DB, d.Inbox.WorkspaceID, string(id))
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		err = ErrDeleted
	}
	return email.Record, err
}

// lost returns the e-mail that a delivery became while this call was at it,
// and removes this call's raw message.
func (in *Intake) lost(ctx context.Context, d Delivery, id inbox.ID) (inbox.Email, error) {
	email, err := in.kept(ctx, d)
	if err == nil && email.ID == "" { // the claim expired with it, and is still stored
		err = ErrDeleted
	}
	if err := in.opts.DB.DropRaw(ctx, d.Inbox.WorkspaceID, id); err != nil {
		in.opts.Log.WarnContext(ctx, "raw message of a repeated delivery stays", "email", id, "error", err)
	}
	return email, err
}

// parse reads a message. What it cannot read is a sentence in failure; so is a
// fault of the parser, which must not take a message with it.
func (in *Intake) parse(ctx context.Context, raw []byte) (m *mail.Message, failure string) {
	defer func() {
		if fault := recover(); fault != nil {
			in.opts.Log.ErrorContext(ctx, "mail parser panicked", "type", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			m, failure = nil, "The message could not be read: the parser failed."
		}
	}()
	m, err := in.opts.Parse(raw)
	if err != nil {
		return nil, fmt.Sprintf("The message could not be read: %v.", err)
	}
	return m, ""
}
