package worker

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// subscriber is a workspace with a webhook, and something to tell it of.
type subscriber struct {
	ws    access.WorkspaceID
	hook  inbox.ID
	event inbox.ID
}

func (w *world) subscriber(t *testing.T) subscriber {
	t.Helper()
	mine := w.ws
	defer func() { w.ws = mine }()
	w.ws = access.WorkspaceID(inbox.NewID(noon))
	event := inbox.SystemEvent{ID: inbox.NewID(noon), WorkspaceID: w.ws, Slug: inbox.EventEmailReceived, Payload: inbox.Object("{}")}
	w.apply(t, inboxstore.Insert(event), inboxstore.Insert(inboxstore.Workspace{
		Workspace: inbox.Workspace{ID: w.ws, ExternalID: new(string(w.ws)), Label: "Another"}, Organization: "another",
	}))
	hook, _ := w.hook(t, "https://receiver.example/")
	return subscriber{w.ws, hook.ID, event.ID}
}

// leave leaves n deliveries to it that are due.
func (w *world) leave(t *testing.T, s subscriber, n int) {
	t.Helper()
	for left := n; left > 0; left -= 40 {
		var changes []inboxstore.Change
		for range min(left, 40) {
			now := w.now()
			changes = append(changes, inboxstore.Enqueue(inboxstore.Job{
				ID: inboxstore.NewJobID(now), Kind: inboxstore.JobDeliver, Due: now, Webhook: s.hook, Events: []inbox.ID{s.event}, Attempt: 1,
			}))
		}
		if err := w.db.Apply(t.Context(), s.ws, changes...); err != nil {
			t.Fatal(err)
		}
	}
	w.pass(time.Millisecond) // to the next millisecond, as keys have it
}

// receivers answer when they are let to, each of its workspace.
type receivers struct {
	begun chan access.WorkspaceID
	hang  map[access.WorkspaceID]chan struct{} // one that is not there answers at once
}

func newReceivers() *receivers {
	return &receivers{make(chan access.WorkspaceID, 1000), map[access.WorkspaceID]chan struct{}{}}
}

// Send implements [Sender].
func (r *receivers) Send(ctx context.Context, q webhooks.Request) (inbox.Delivery, error) {
	r.begun <- q.Webhook.WorkspaceID
	if answer, ok := r.hang[q.Webhook.WorkspaceID]; ok {
		select {
		case <-answer:
		case <-ctx.Done():
		}
	}
	at := noon
	return inbox.Delivery{
		ID: q.Body.DeliveryID, WebhookID: q.Webhook.ID, SystemEventID: q.Body.Event.ID, Attempt: q.Attempt, Status: inbox.DeliverySuccess,
		RequestHeaders: inbox.Object("{}"), RequestBody: inbox.Object("{}"), DeliveredAt: &at, CreatedAt: at,
	}, ctx.Err()
}

// next are the workspaces of the next n deliveries that are begun.
func (r *receivers) next(n int) (of map[access.WorkspaceID]int) {
	of = map[access.WorkspaceID]int{}
	for range n {
		of[<-r.begun]++
	}
	return of
}

// crowd is a world of n subscribers, of which all but the last one's receivers
// hang.
func crowd(t *testing.T, n int) (*world, *receivers, []subscriber) {
	r := newReceivers()
	w := newWorld(t, func(o *Options) { o.Sender = r })
	var all []subscriber
	for range n {
		all = append(all, w.subscriber(t))
	}
	for _, s := range all[:n-1] {
		r.hang[s.ws] = make(chan struct{})
	}
	return w, r, all
}

// background does something until the test ends, or stop is called.
func background(t *testing.T, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); do(ctx) }()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return stop
}

// With a thousand jobs of one workspace due before that of another, which all
// hang, the other's is done at once, in a sweep as in a run.
func TestFloodOfOneWorkspaceDelaysNoOther(t *testing.T) {
	for name, do := range map[string]func(*world, context.Context){
		"sweep": func(w *world, ctx context.Context) { _ = w.Sweep(ctx) },
		"run":   func(w *world, ctx context.Context) { w.Run(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			w, r, all := crowd(t, 2)
			w.leave(t, all[0], 1000)
			w.leave(t, all[1], 1)
			stop := background(t, func(ctx context.Context) { do(w, ctx) })
			if of := r.next(share + 1); of[all[1].ws] != 1 {
				t.Errorf("begun: %v", of)
			}
			stop()
			if len(r.begun) != 0 {
				t.Errorf("%d deliveries more", len(r.begun))
			}
			if left := len(w.left(t)); left == 0 {
				t.Error("the flood is gone")
			}
		})
	}
}

// While all receivers of a workspace hang, what comes in for another is done.
func TestHangingReceiversKeepNobodyElseWaiting(t *testing.T) {
	w, r, all := crowd(t, 2)
	w.leave(t, all[0], 3*parallel)
	wake := make(chan struct{})
	background(t, func(ctx context.Context) { w.Run(ctx, wake) })
	if of := r.next(share); of[all[0].ws] != share {
		t.Fatalf("begun: %v", of)
	}
	for range 20 {
		w.leave(t, all[1], 1)
		wake <- struct{}{}
		if of := r.next(1); of[all[1].ws] != 1 {
			t.Fatalf("begun: %v", of)
		}
	}
}

// Where the receivers of several workspaces have every place, the next one that
// becomes free is for whoever has none, though the others have older jobs.
func TestFreePlaceGoesToWhoHasFewest(t *testing.T) {
	w, r, all := crowd(t, 3)
	w.leave(t, all[0], parallel)
	w.leave(t, all[1], parallel)
	wake := make(chan struct{})
	background(t, func(ctx context.Context) { w.Run(ctx, wake) })
	if of := r.next(parallel); of[all[0].ws] != share || of[all[1].ws] != share {
		t.Fatalf("begun: %v", of)
	}
	w.leave(t, all[2], 1)
	wake <- struct{}{}
	r.hang[all[0].ws] <- struct{}{}
	if of := r.next(1); of[all[2].ws] != 1 {
		t.Fatalf("begun: %v", of)
	}
	if of := r.next(1); of[all[0].ws] != 1 { // whose place it was
		t.Fatalf("begun: %v", of)
	}
}

// What one workspace has alone is done whole, one look after the other.
func TestFloodIsDoneWhole(t *testing.T) {
	w, r, all := crowd(t, 1)
	const n = 300 // more than a look finds
	w.leave(t, all[0], n)
	wake := make(chan struct{})
	stop := background(t, func(ctx context.Context) { w.Run(ctx, wake) })
	for begun := 0; begun < n; {
		select {
		case <-r.begun:
			begun++
		case wake <- struct{}{}:
		}
	}
	stop()
	if left := w.left(t); len(left) != 0 || len(r.begun) != 0 {
		t.Errorf("%d jobs are left, %d deliveries more", len(left), len(r.begun))
	}
}

// In the cloud a sweep has messages sent for all workspaces that have something
// due, however much one has.
func TestSweepWakesForAllWorkspaces(t *testing.T) {
	var woken []inboxstore.DueJob
	w := newWorld(t, func(o *Options) {
		o.Wake = func(_ context.Context, jobs ...inboxstore.DueJob) error { woken = append(woken, jobs...); return nil }
	})
	all := []subscriber{w.subscriber(t), w.subscriber(t), w.subscriber(t)}
	w.leave(t, all[0], 1000)
	w.leave(t, all[1], 1)
	w.leave(t, all[2], 1)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var first []access.WorkspaceID
	for _, j := range woken[:3] {
		first = append(first, j.Workspace)
	}
	if !slices.Equal(first, []access.WorkspaceID{all[0].ws, all[1].ws, all[2].ws}) || len(woken) > batch {
		t.Errorf("woken for %d jobs, first those of %v", len(woken), first)
	}
}
