// Package intake takes a raw message that arrived for an inbox and keeps it:
// the message as it came, then what the pipeline's rules made of it, with the
// jobs that follow from it. Nothing that arrives is dropped, however broken or
// unwanted.
//
// It may import inbox, inboxstore and pipeline.
package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

// MaxRaw is the largest message taken, in bytes.
const MaxRaw = inbox.MaxMessage

// ErrDeleted is returned for a delivery that was kept before, when its e-mail
// has been deleted since: there is nothing to do.
var ErrDeleted = errors.New("intake: the e-mail of this delivery was deleted")

// Options configure an [Intake].
type Options struct {
	DB       *inboxstore.DB
	Pipeline *pipeline.Pipeline         // default: one with the defaults of this intake
	Log      *slog.Logger               // default slog.Default
	Now      func() time.Time           // default time.Now
	NewID    func(t time.Time) inbox.ID // default inbox.NewID
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
	if o.Pipeline == nil {
		o.Pipeline = pipeline.New(pipeline.Options{Log: o.Log, Now: o.Now, NewID: o.NewID})
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
	Sender       pipeline.Sender // what was found of who sent it; "": unverified
	Recipients   []string        // of the envelope, this inbox's workspace only; empty: the inbox
	ReceivedAt   time.Time       // zero: now
	SpamVerdict  *string
	VirusVerdict *string
	SESMetadata  inbox.Object // a few KB at most, as it is in the record
}

// work names what is done once.
func (d *Delivery) work() string { return fmt.Sprintf("delivery/%s/%s", d.Inbox.ID, d.ID) }

// Receive keeps a message and returns its e-mail: approved, which waits for the
// inbox's agent; processed, where there is none; rejected by the inbox's rules;
// or failed when it could not be read. The raw message is stored first, and all
// else in one transaction after it, which is begun anew where it meets others
// ([inboxstore.DB.Persist]): on an error, deliver again. A message over [MaxRaw]
// is a limit_exceeded. For a delivery that was kept before it returns the e-mail
// of then, or [ErrDeleted].
func (in *Intake) Receive(ctx context.Context, d Delivery) (inbox.Email, error) {
	if len(d.Raw) > MaxRaw {
		return inbox.Email{}, errTooLarge()
	}
	if email, err := in.Kept(ctx, d); err != nil || email.ID != "" {
		return email, err
	}
	email := in.arrived(d)
	if d.ID == "" { // a claim of its own all the same, by which a transaction that is repeated meets itself
		d.ID = string(email.ID)
	}
	var err error
	if email.RawS3Key, err = in.opts.DB.KeepRaw(ctx, email.WorkspaceID, email.ID, d.Raw); err != nil {
		return inbox.Email{}, err
	}
	r, err := in.opts.Pipeline.Run(ctx, d.Inbox, email, d.Raw)
	if err != nil {
		in.drop(ctx, email)
		return inbox.Email{}, err
	}
	changes, tries := in.changes(d, r), 0
	err = in.opts.DB.Persist(ctx, email.WorkspaceID, func(context.Context) ([]inboxstore.Change, error) {
		tries++
		return changes, nil
	})
	switch code := inbox.CodeOf(err); {
	case err == nil:
		return r.Email, nil
	case errors.Is(err, inboxstore.ErrClaimed), code == inbox.CodeConflict:
		return in.lost(ctx, d, email)
	case code != inbox.CodeUnavailable && ctx.Err() == nil && tries == 1: // it is certain that nothing was kept
		in.drop(ctx, email)
	}
	return inbox.Email{}, err
}

// drop removes a raw message that no e-mail is kept for. One that stays costs
// room and nothing else.
func (in *Intake) drop(ctx context.Context, email inbox.Email) {
	if err := in.opts.DB.DropRaw(context.WithoutCancel(ctx), email.WorkspaceID, email.ID); err != nil {
		in.opts.Log.WarnContext(ctx, "raw message without an e-mail stays", "email", email.ID, "error", err)
	}
}

// arrived is what the delivery says of the e-mail.
func (in *Intake) arrived(d Delivery) inbox.Email {
	if d.ReceivedAt.IsZero() {
		d.ReceivedAt = in.opts.Now()
	}
	if len(d.Recipients) == 0 {
		d.Recipients = []string{d.Inbox.Email}
	}
	return inbox.Email{
		ID: in.opts.NewID(d.ReceivedAt), WorkspaceID: d.Inbox.WorkspaceID, InboxID: d.Inbox.ID,
		From: d.EnvelopeFrom, To: d.Recipients, ReceivedAt: d.ReceivedAt.UTC().Truncate(time.Millisecond),
		SpamVerdict: d.SpamVerdict, VirusVerdict: d.VirusVerdict, SESMetadata: d.SESMetadata, Metadata: d.Sender.Metadata(),
	}
}

// changes are all that is kept of a delivery, but the raw message.
func (in *Intake) changes(d Delivery, r *pipeline.Run) []inboxstore.Change {
	received := in.event(r.Email, *r.Workflow.StartedAt)
	r.Events = slices.Insert(r.Events, 0, received)
	changes := []inboxstore.Change{
		inboxstore.Insert(r.Email),
		inboxstore.Count(r.Email.ReceivedAt, "", inbox.UsageSum{Emails: 1}),
		inboxstore.Claim(d.work(), r.Email.ID),
	}
	if r.Content != nil {
		changes = append(changes, inboxstore.Content(r.Email.ID, *r.Content))
	}
	now := in.opts.Now()
	return append(changes, Follow(r, inboxstore.NewJobID(now), now)...)
}

// Follow are the changes that keep a run of the pipeline and what happened, and
// leave what follows from it to a worker: that webhooks are told and, by the job
// of that id, that the agent reads what was let in.
func Follow(r *pipeline.Run, read inboxstore.JobID, now time.Time) []inboxstore.Change {
	changes := []inboxstore.Change{inboxstore.Insert(r.Workflow), inboxstore.Happened(now, r.Events...)}
	if r.Waits() {
		changes = append(changes, inboxstore.Enqueue(inboxstore.Job{
			ID: read, Kind: inboxstore.JobRead, Due: now, Email: r.Email.ID, Workflow: r.Workflow.ID, Run: inbox.NewID(now),
		}))
	}
	return changes
}

// event says in the event log that the e-mail came in; the pipeline's says how
// it ended. Its payload has nothing that the sender wrote.
func (in *Intake) event(e inbox.Email, at time.Time) inbox.SystemEvent {
	return inbox.SystemEvent{
		ID: in.opts.NewID(at), WorkspaceID: e.WorkspaceID, InboxID: &e.InboxID, EmailID: &e.ID, Slug: inbox.EventEmailReceived,
		Payload:   inbox.Object(`{"raw_size":` + strconv.FormatInt(e.RawSize, 10) + `}`),
		CreatedAt: at, UpdatedAt: at,
	}
}

func errTooLarge() error {
	return inbox.Errorf(inbox.CodeLimit, "", "The message is over %d MiB. It was not kept.", MaxRaw>>20)
}

// Kept returns the e-mail that a delivery became before, or [ErrDeleted]; none is
// the zero e-mail. Of the delivery it needs the ID and the inbox.
func (in *Intake) Kept(ctx context.Context, d Delivery) (inbox.Email, error) {
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

// lost returns the e-mail that a delivery became while this call was at it: by
// another call, and then it removes this one's raw message, or by a transaction
// of its own that seemed to fail.
func (in *Intake) lost(ctx context.Context, d Delivery, email inbox.Email) (inbox.Email, error) {
	winner, err := in.Kept(ctx, d)
	if err == nil && winner.ID == "" { // the claim expired with it, and is still stored
		err = ErrDeleted
	}
	if winner.ID != email.ID && (err == nil || errors.Is(err, ErrDeleted)) {
		in.drop(ctx, email)
	}
	return winner, err
}
