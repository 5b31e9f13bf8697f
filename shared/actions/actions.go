// Package actions is the part of the inbox that leaves the house or puts the
// pipeline to work: webhook tests, replays, reprocessing. With what inboxstore
// reads and writes it is the whole of inbox.Service.
//
// What goes out happens at most once for each yes of a person, and never
// without a trace: the confirmation is claimed and the event says that it
// started before anything is sent, and another event says how it ended.
// After a crash between the two it is not sent again.
//
// It may import inbox, access (for ids), inboxstore, store, deliveries, intake,
// pipeline and webhooks.
package actions

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Options configure a [Service].
type Options struct {
	DB       *inboxstore.DB
	Blobs    store.Blobs        // raw messages
	Pipeline *pipeline.Pipeline // default: one with the Log and Now of here
	Sender   *webhooks.Sender   // default: one for the cloud
	Log      *slog.Logger       // default slog.Default
	Now      func() time.Time   // default time.Now
}

// Service is the whole inbox on a store.
type Service struct {
	*inboxstore.DB
	opts Options
}

var _ inbox.Service = (*Service)(nil)

// New returns the inbox.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pipeline == nil {
		o.Pipeline = pipeline.New(pipeline.Options{Log: o.Log, Now: o.Now})
	}
	if o.Sender == nil {
		o.Sender = webhooks.New(webhooks.Options{Now: o.Now})
	}
	return &Service{DB: o.DB, opts: o}
}

// errNoConfirmation: nothing goes out that no person said yes to.
var errNoConfirmation = errors.New("actions: the actor has no confirmation")

// start claims the confirmation and leaves the event that something begins to
// go out, with the changes. On an error nothing may go out.
func (s *Service) start(ctx context.Context, by inbox.Actor, e inboxstore.Event, changes ...inboxstore.Change) error {
	if by.Confirmation == "" {
		return errNoConfirmation
	}
	e.Outcome = inbox.OutcomeStarted
	err := s.Audited(ctx, by, e, changes...)
	if inbox.CodeOf(err) == inbox.CodeUnavailable {
		return &inbox.Error{Code: inbox.CodeUnavailable, Message: "It could not be noted that this begins, so nothing was sent. Try again later.", Err: err}
	}
	return err
}

const (
	recording = 5 * time.Second // for writing down how something ended, whatever became of the call
	tries     = 3               // to do so while the store does not answer
)

// finish writes down how something ended that went out, also when the call's
// time is over: change says what, from what is there by then. It inserts
// before it updates: where a reply is lost and all is written again, it meets
// itself there, and not a record that it changed.
func (s *Service) finish(ctx context.Context, by inbox.Actor, change func(context.Context) ([]inboxstore.Change, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recording)
	defer cancel()
	for n := 1; ; n++ {
		changes, err := change(ctx)
		if err == nil {
			err = s.Apply(ctx, by.Workspace, changes...)
		}
		switch {
		case err == nil:
			return nil
		case errors.Is(err, inbox.ErrChanged) && ctx.Err() == nil: // others are at the same record: one of all gets on
		case n < tries && inbox.CodeOf(err) == inbox.CodeUnavailable:
		default:
			s.opts.Log.ErrorContext(ctx, "the outcome of an action is not recorded", "tool", by.Tool, "confirmation", by.Confirmation, "error", err)
			return err
		}
	}
}

// outcome is that of a status.
func outcome(failed bool) inbox.Outcome {
	if failed {
		return inbox.OutcomeFailed
	}
	return inbox.OutcomeDone
}
