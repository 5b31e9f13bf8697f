package worker

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/deliveries"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

// How a delivery that failed is tried again: eight attempts over about a day.
const (
	maxAttempts  = 8
	firstBackoff = 30 * time.Second // each is four times the one before it
	maxBackoff   = 12 * time.Hour
	// disableAfter is how many deliveries of a webhook must have failed in a row,
	// when one fails for the last time, for the webhook to be switched off: a
	// receiver that is away for an hour, however much it is sent, is not.
	disableAfter = 2 * maxAttempts
)

// refused reports whether the receiver says that it wants no more.
func refused(d inbox.Delivery) bool {
	return d.ResponseStatus != nil && *d.ResponseStatus == http.StatusGone
}

// backoff is how long to wait after an attempt, give or take a fifth, so that
// what failed together does not come back together.
func backoff(attempt int64, jitter float64) time.Duration {
	d := min(firstBackoff<<(2*(attempt-1)), maxBackoff)
	return time.Duration(float64(d) * (0.8 + 0.4*jitter))
}

// toldAtOnce is how many deliveries are begun in one transaction.
const toldAtOnce = 40

// tell finds out which webhooks are to be told of events, and leaves a job for
// each of both.
func (w *Worker) tell(ctx context.Context, job inboxstore.TakenJob) error {
	db := w.opts.DB
	var events []inbox.SystemEvent
	for _, id := range job.Events {
		e, err := db.SystemEvent(ctx, job.Workspace, id)
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	page, err := db.Webhooks(ctx, job.Workspace, inbox.PageRequest{Limit: inbox.MaxLimit}) // which is more than there can be
	if err != nil {
		return err
	}
	slices.SortFunc(page.Data, func(a, b inbox.Webhook) int { return cmp.Compare(a.ID, b.ID) })
	now := w.opts.Now()
	var changes []inboxstore.Change
	left := job.Job
	end := inboxstore.Done(job)
	for _, hook := range page.Data {
		if hook.ID <= job.After {
			continue
		}
		if len(changes) > toldAtOnce-len(events) {
			left.Due, left.Begun = now, 0
			end = inboxstore.Again(job, left)
			break
		}
		for _, e := range events {
			if listens(hook, e) {
				changes = append(changes, inboxstore.Enqueue(inboxstore.Job{
					ID: inboxstore.NewJobID(now), Kind: inboxstore.JobDeliver, Due: now, Webhook: hook.ID, Events: []inbox.ID{e.ID}, Attempt: 1,
				}))
			}
		}
		left.After = hook.ID
	}
	return db.Apply(ctx, job.Workspace, append([]inboxstore.Change{end}, changes...)...)
}

// listens reports whether a webhook is told of an event.
func listens(w inbox.Webhook, e inbox.SystemEvent) bool {
	here := w.InboxID == nil || e.InboxID != nil && *w.InboxID == *e.InboxID
	return w.Status == inbox.Active && here && w.Subscribes(e.Slug)
}

// deliver makes one attempt to tell a webhook of an event.
func (w *Worker) deliver(ctx context.Context, job inboxstore.TakenJob) error {
	db := w.opts.DB
	hook, err := db.Webhook(ctx, job.Workspace, string(job.Webhook))
	if inbox.CodeOf(err) == inbox.CodeNotFound || err == nil && hook.Status != inbox.Active {
		return w.done(ctx, job) // nobody wants to be told any more
	}
	if err != nil {
		return err
	}
	e, err := db.SystemEvent(ctx, job.Workspace, job.Events[0])
	if err != nil {
		return err
	}
	r, err := deliveries.Signed(ctx, db, hook)
	if inbox.CodeOf(err) == inbox.CodeConflict { // it has no secret, and says so when it is tested
		w.opts.Log.WarnContext(ctx, "a webhook without a signing secret is not told", "webhook", hook.ID)
		return w.done(ctx, job)
	}
	if err != nil {
		return err
	}
	if r.Body, err = deliveries.Body(ctx, db, e); err != nil {
		return err
	}
	r.Attempt, r.Body.DeliveryID = job.Attempt, inbox.NewID(w.opts.Now())
	d, err := w.opts.Sender.Send(ctx, r)
	if err != nil { // there is no delivery, and will be none
		w.opts.Log.ErrorContext(ctx, "a delivery cannot be made", "webhook", hook.ID, "event", e.ID, "error", err)
		return w.done(ctx, job)
	}
	if d.Status != inbox.DeliverySuccess && cutOff(ctx) {
		return ctx.Err() // it is attempted again, as if it had not been
	}
	end, last := w.after(job, &d)
	return w.settle(ctx, job.Workspace, func(ctx context.Context) ([]inboxstore.Change, error) {
		kept, err := deliveries.Record(ctx, db, e, d, func(hook inbox.Webhook) bool {
			return last && (hook.ConsecutiveFailures >= disableAfter || refused(d))
		})
		return append([]inboxstore.Change{end}, kept...), err
	})
}

// after is what becomes of the job by its delivery, which says when the next one
// is, and whether this one was the last.
func (w *Worker) after(job inboxstore.TakenJob, d *inbox.Delivery) (end inboxstore.Change, last bool) {
	if d.Status == inbox.DeliverySuccess || refused(*d) || job.Attempt >= maxAttempts {
		return inboxstore.Done(job), true
	}
	next := job.Job
	next.Attempt, next.Begun = next.Attempt+1, 0
	next.Due = w.now().Add(backoff(job.Attempt, w.opts.Jitter())).Truncate(time.Millisecond)
	d.NextRetryAt = &next.Due
	return inboxstore.Again(job, next), false
}
