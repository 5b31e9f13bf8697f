// Package worker does the jobs that arriving mail leaves behind: an agent reads
// the e-mail, webhooks are told of what happened, an answer goes out. It is the
// same on one machine, where it runs beside the server, and in the cloud, where
// a queue wakes it up.
//
// A job is claimed by a conditional write before anything else, and goes away in
// the transaction of its results. Whatever crashes in between, the job is found
// again when its lease is over: an agent may be asked twice and a webhook told
// twice then (at least once), but nothing is recorded or counted twice, and an
// answer is not sent again. No workspace waits for all that another one has to
// do: rounds take them in turns.
//
// It may import everything of the domain: inbox, access (for ids), inboxstore,
// pipeline, deliveries, webhooks, model and reply.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Options configure a [Worker].
type Options struct {
	DB      *inboxstore.DB
	Models  model.Model  // what agents run on
	Sender  Sender       // default: one for the cloud
	Replies reply.Sender // how answers go out; nil: none does
	// VerifiedOnly answers only senders who are known to be who they say; for
	// wherever that is looked at.
	VerifiedOnly bool
	Pipeline     *pipeline.Pipeline // default: one with the Log and Now of here
	// Wake, when set, is told of what a sweep finds to do; otherwise the sweep
	// does it.
	Wake   func(ctx context.Context, jobs ...inboxstore.DueJob) error
	Log    *slog.Logger     // default slog.Default
	Now    func() time.Time // default time.Now
	Jitter func() float64   // from 0 to 1, default random
}

// Sender sends deliveries, as a webhooks.Sender does.
type Sender interface {
	Send(ctx context.Context, r webhooks.Request) (inbox.Delivery, error)
}

// Worker does jobs. It is safe for concurrent use.
type Worker struct{ opts Options }

// New returns a worker.
func New(o Options) *Worker {
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
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return &Worker{opts: o}
}

// task is how jobs of a kind are done.
type task struct {
	timeout time.Duration // the most that it takes
	do      func(*Worker, context.Context, inboxstore.TakenJob) error
}

func taskOf(k inboxstore.JobKind) task {
	switch k {
	case inboxstore.JobRead:
		return task{4 * time.Minute, (*Worker).read}
	case inboxstore.JobTell:
		return task{30 * time.Second, (*Worker).tell}
	case inboxstore.JobDeliver:
		return task{30 * time.Second, (*Worker).deliver}
	case inboxstore.JobReply:
		return task{time.Minute, (*Worker).reply}
	}
	return task{time.Minute, func(*Worker, context.Context, inboxstore.TakenJob) error {
		return fmt.Errorf("worker: jobs of kind %q are not known", k) // one of a newer version, left to it
	}}
}

const (
	margin   = 30 * time.Second // of a lease, beyond what the job takes, for clocks and recording
	maxLease = time.Hour
	maxBegun = 24 // how often a job is begun that never gets to its end, for about a day
)

// lease is how long nobody else begins a job: longer each time that it did not
// get to its end, so that one that takes its worker along does no great harm.
func lease(j inboxstore.Job) time.Duration {
	return min((taskOf(j.Kind).timeout+margin)<<min(j.Begun-1, 10), maxLease)
}

// Do does the job of that id. Nil: there is nothing left to do about it now, as
// it is done, or somebody is at it, or its time has not come; after an error, a
// sweep will find it again.
func (w *Worker) Do(ctx context.Context, id inboxstore.JobID) (err error) {
	job, err := w.opts.DB.TakeJob(ctx, id, lease)
	switch {
	case errors.Is(err, inboxstore.ErrNotDue) || inbox.CodeOf(err) == inbox.CodeNotFound:
		return nil
	case err != nil:
		return fmt.Errorf("worker: take job %s: %w", id, err)
	case job.Begun > maxBegun:
		w.opts.Log.ErrorContext(ctx, "a job never gets to its end, and is given up", "job", id, "kind", job.Kind, "email", job.Email, "webhook", job.Webhook)
		return w.done(ctx, job)
	}
	started := w.opts.Now()
	err = w.run(ctx, job)
	switch {
	case errors.Is(err, inboxstore.ErrJobLost):
		return nil // who took it does it
	case err != nil && ctx.Err() != nil: // this worker ends: another one need not wait for the lease
		next := job.Job // with how often it was begun: a worker may end because of it
		next.Due = w.opts.Now()
		err = errors.Join(err, w.opts.DB.Apply(context.WithoutCancel(ctx), job.Workspace, inboxstore.Again(job, next)))
	}
	level := slog.LevelInfo
	if err != nil && ctx.Err() == nil {
		level = slog.LevelError
	}
	w.opts.Log.Log(ctx, level, "job", "job", id, "kind", job.Kind, "begun", job.Begun, "workspace", job.Workspace,
		"duration_ms", w.opts.Now().Sub(started).Milliseconds(), "error", err)
	return err
}

// errTime is why a job's context ends when its time is over.
var errTime = errors.New("worker: the job's time is over")

// cutOff reports whether a job is cut off because its worker ends, not by its
// own time: what came of that is nobody's failure, and another worker begins
// the job again.
func cutOff(ctx context.Context) bool { return ctx.Err() != nil && context.Cause(ctx) != errTime }

// run does a taken job within its time. A panic is an error.
func (w *Worker) run(ctx context.Context, job inboxstore.TakenJob) (err error) {
	t := taskOf(job.Kind)
	ctx, cancel := context.WithTimeoutCause(ctx, t.timeout, errTime)
	defer cancel()
	defer func() {
		if f := recover(); f != nil {
			w.opts.Log.ErrorContext(ctx, "job panicked", "job", job.ID, "kind", job.Kind, "type", fmt.Sprintf("%T", f), "stack", string(debug.Stack()))
			err = fmt.Errorf("worker: job %s panicked", job.ID)
		}
	}()
	return t.do(w, ctx, job)
}

// done takes away a job that there is nothing to do for.
func (w *Worker) done(ctx context.Context, job inboxstore.TakenJob) error {
	return w.settle(ctx, job.Workspace, func(context.Context) ([]inboxstore.Change, error) {
		return []inboxstore.Change{inboxstore.Done(job)}, nil
	})
}

// recording is the time for writing down how a job ended, whatever became of its own.
const recording = 10 * time.Second

// settle writes how a job ended, and does so anew when a record changed that
// changes were made of: they say what becomes of the records as they are then.
// Where a write that seemed to fail had happened, the job is another's by now.
func (w *Worker) settle(ctx context.Context, ws access.WorkspaceID, changes func(context.Context) ([]inboxstore.Change, error)) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recording)
	defer cancel()
	return w.opts.DB.Persist(ctx, ws, changes)
}

// now is the time as records have it.
func (w *Worker) now() time.Time { return w.opts.Now().UTC().Truncate(time.Millisecond) }
