package worker

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// What is deleted while an e-mail waits for its agent, or is being read.
func TestDeletedMeanwhile(t *testing.T) {
	by := func(w *world, tool string) inbox.Actor {
		return inbox.Actor{Workspace: w.ws, Person: access.Person{Issuer: "test", Subject: "ana"}, Tool: tool}
	}
	deleteEmail := func(t *testing.T, w *world, e inbox.Email) {
		if err := w.db.DeleteEmail(context.WithoutCancel(t.Context()), by(w, "emails_delete"), w.email(t, e.ID)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the e-mail, before", func(t *testing.T) {
		w := newWorld(t)
		e := w.receive(t, message)
		deleteEmail(t, w, e)
		w.work(t)
		if runs := w.runs(t, ""); len(runs) != 0 || w.asked != 0 || len(w.left(t)) != 0 {
			t.Errorf("runs %+v, asked %d times", runs, w.asked)
		}
	})
	t.Run("the e-mail, while it is read", func(t *testing.T) {
		w := newWorld(t)
		var e inbox.Email
		w.answer = func(context.Context, model.Request) (model.Answer, error) {
			deleteEmail(t, w, e)
			return model.Answer{Text: "It said good morning.", Tokens: model.Tokens{InputTokens: 1000}}, nil
		}
		e = w.receive(t, message)
		w.work(t)
		if runs := w.runs(t, e.ID); len(runs) != 1 || runs[0].Status != inbox.RunSuccess || runs[0].Output != nil {
			t.Errorf("runs %+v: what was spent stays, what was written goes", runs)
		}
		if u := w.usage(t).Total; u.Runs != 1 || len(w.left(t)) != 0 {
			t.Errorf("usage %+v, jobs %v", u, w.left(t))
		}
	})
	t.Run("the e-mail, after a worker died while it was read", func(t *testing.T) {
		w := newWorld(t)
		w.answer = func(context.Context, model.Request) (model.Answer, error) { panic("oops") }
		e := w.receive(t, message)
		w.work(t)
		deleteEmail(t, w, e)
		w.pass(maxLease)
		w.work(t)
		if runs := w.runs(t, e.ID); len(runs) != 1 || runs[0].Status != inbox.RunFailed || runs[0].LLMModel != priced || w.usage(t).Total.FailedRuns != 1 || len(w.left(t)) != 0 {
			t.Errorf("runs %+v, usage %+v", runs, w.usage(t).Total)
		}
	})
	for name, c := range map[string]struct {
		forget func(*testing.T, *world)
		want   string
		runs   int
	}{
		"the inbox": {func(t *testing.T, w *world) {
			if err := w.db.DeleteInbox(t.Context(), by(w, "inboxes_delete"), must[inbox.Inbox](t)(w.db.Inbox(t.Context(), w.ws, string(w.box.ID))), 0); err != nil {
				t.Fatal(err)
			}
		}, "The inbox was deleted before its agent read the e-mail.", 0},
		"an inbox that is on": {func(t *testing.T, w *world) {
			old := must[inboxstore.Stored[inbox.Inbox]](t)(inboxstore.Get[inbox.Inbox](t.Context(), w.db, w.ws, string(w.box.ID)))
			in := old.Record
			in.Status = inbox.Inactive
			w.apply(t, inboxstore.Update(old, in))
		}, "The inbox was made inactive before its agent read the e-mail.", 0},
		"the agent": {func(t *testing.T, w *world) {
			if err := w.db.DeleteAgent(t.Context(), by(w, "agents_delete"), must[inbox.Agent](t)(w.db.Agent(t.Context(), w.ws, string(w.agent.ID))), 1); err != nil {
				t.Fatal(err)
			}
		}, "The agent was deleted before it read the e-mail.", 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := w.receive(t, message)
			c.forget(t, w)
			w.work(t)
			if now := w.email(t, e.ID); now.Status != inbox.EmailFailed || *now.RejectionReason != c.want || w.asked != 0 || len(w.runs(t, "")) != c.runs {
				t.Errorf("e-mail %s: %v", now.Status, now.RejectionReason)
			}
		})
	}
}

// ends are ways in which a worker ends: a signal, which tells itself as the
// cause, and the end of a function's time.
var ends = map[string]func(context.Context) (context.Context, func()){
	"canceled": func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
	"signalled": func(ctx context.Context) (context.Context, func()) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGUSR1)
		return ctx, func() { syscall.Kill(os.Getpid(), syscall.SIGUSR1) }
	},
	"out of time": func(ctx context.Context) (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(ctx)
		return ctx, func() { cancel(context.DeadlineExceeded) }
	},
}

// A delivery that is cut off as the worker ends is no attempt: the receiver may
// have had it and is told again, with no failure on record.
func TestStoppedWhileDelivering(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ctx, stop := end(t.Context())
			told := 0
			r := newReceiver(t, func(http.ResponseWriter, *http.Request) {
				if told++; told == 1 {
					stop()
					<-ctx.Done()
					panic(http.ErrAbortHandler)
				}
			})
			hook, _ := w.hook(t, r.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailReceived} })
			w.receive(t, message)
			w.until(t, inboxstore.JobDeliver)
			_ = w.Sweep(ctx)
			w.work(t)
			all := w.deliveries(t, hook)
			if len(all) != 1 || all[0].Status != inbox.DeliverySuccess || all[0].Attempt != 1 || w.webhook(t, hook).ConsecutiveFailures != 0 {
				t.Errorf("deliveries %+v, of %d requests", all, told)
			}
		})
	}
}

// A worker that is stopped leaves what it is at to the next one at once; one
// that dies leaves it for a lease; what always takes its worker along ends.
func TestStoppedAndKilled(t *testing.T) {
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			e := w.receive(t, message)
			ctx, stop := end(t.Context())
			answer := w.answer
			w.answer = func(ctx context.Context, _ model.Request) (model.Answer, error) {
				stop()
				<-ctx.Done()
				return model.Answer{}, &model.Error{Sentence: "The provider could not be reached.", Cause: ctx.Err()}
			}
			_ = w.Sweep(ctx)
			if now := w.email(t, e.ID); now.Status != inbox.EmailProcessing {
				t.Errorf("the e-mail is %s", now.Status)
			}
			w.answer = answer
			w.work(t)
			if now := w.email(t, e.ID); now.Status != inbox.EmailProcessed || len(w.runs(t, e.ID)) != 1 {
				t.Errorf("the e-mail is %s", now.Status)
			}
			if strings.Contains(w.logs.String(), "level=ERROR") || strings.Contains(w.logs.String(), "did not read") {
				t.Errorf("log: %s", w.logs.String())
			}
		})
	}

	w := newWorld(t)
	w.answer = func(context.Context, model.Request) (model.Answer, error) { panic("oops") }
	e := w.receive(t, message)
	for range maxReads {
		w.work(t)
		if now := w.email(t, e.ID); now.Status != inbox.EmailProcessing {
			t.Fatalf("the e-mail is %s", now.Status)
		}
		w.pass(maxLease)
	}
	w.work(t)
	const want = "The reading was interrupted 3 times."
	if now := w.email(t, e.ID); now.Status != inbox.EmailFailed || *now.RejectionReason != want || w.asked != maxReads || *w.runs(t, e.ID)[0].Error != want {
		t.Errorf("e-mail %s: %v, asked %d times", now.Status, now.RejectionReason, w.asked)
	}
	if !strings.Contains(w.logs.String(), "job panicked") || strings.Contains(w.logs.String(), "oops") {
		t.Errorf("log: %s", w.logs.String())
	}
}

// A worker whose lease is over while it waits for the model has lost the job to
// another one: what it brings is thrown away, and counted once.
func TestLeaseIsOver(t *testing.T) {
	w := newWorld(t)
	answer, first := w.answer, true
	w.answer = func(ctx context.Context, r model.Request) (model.Answer, error) {
		if first {
			first = false
			w.pass(maxLease)
			w.work(t) // another worker
			a, err := answer(ctx, r)
			a.Text = "Too late."
			return a, err
		}
		return answer(ctx, r)
	}
	e := w.receive(t, message)
	w.work(t)
	runs := w.runs(t, e.ID)
	if u := w.usage(t).Total; len(runs) != 1 || *runs[0].Output != "Answered." || u.Runs != 1 || w.asked != 2 {
		t.Errorf("runs %+v, usage %+v, asked %d times", runs, u, w.asked)
	}
	if got := w.slugs(t, e.ID); len(got) != 4 {
		t.Errorf("events %q", got)
	}
}

// A store that cannot answer for a moment costs no second reading.
func TestStoreIsAwayForAMoment(t *testing.T) {
	w := newWorld(t)
	answer, fails := w.answer, 0
	w.answer = func(ctx context.Context, r model.Request) (model.Answer, error) {
		w.table.Inject(storetest.Injection{Effect: storetest.Fail, Method: storetest.Write, Match: func(storetest.Call) bool { fails++; return fails <= 5 }})
		return answer(ctx, r)
	}
	e := w.receive(t, message)
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.table.Reset()
	w.work(t)
	if u := w.usage(t).Total; w.asked != 1 || u.Runs != 1 || w.email(t, e.ID).Status != inbox.EmailProcessed {
		t.Errorf("asked %d times, usage %+v", w.asked, u)
	}
}
