package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// An e-mail is read once: its run, what it cost, how it ended and who is told
// are all there, or none of it.
func TestRead(t *testing.T) {
	w := newWorld(t)
	w.answer = func(_ context.Context, r model.Request) (model.Answer, error) {
		if r.Model != priced || !strings.Contains(r.System, "Be kind.") || !strings.Contains(r.Message, "Good morning.") || r.MaxTokens != model.MaxAnswerTokens {
			t.Errorf("the model is asked %+v", r)
		}
		w.pass(2 * time.Second)
		return model.Answer{Text: "Answered.", Tokens: model.Tokens{InputTokens: 1000, OutputTokens: 100, CacheRead: 10000, CacheWrite: 2000}}, nil
	}
	e := w.receive(t, message)
	if e.Status != inbox.EmailApproved {
		t.Fatalf("on arrival: %s", e.Status)
	}
	w.work(t)
	end := noon.Add(2 * time.Second)
	// 1000 × 3 + 100 × 15 + 10000 × 0.3 + 2000 × 3.75, in millionths of a dollar
	const cost = 0.015
	want := []inbox.AgentRun{{
		WorkspaceID: w.ws, InboxID: w.box.ID, AgentID: w.agent.ID, EmailID: e.ID, LLMModel: priced, Status: inbox.RunSuccess, Output: new("Answered."),
		InputTokens: 1000, OutputTokens: 100, CacheRead: 10000, CacheWrite: 2000, TotalCost: cost, CostPerToken: cost / 13100,
		DurationMS: new(int64(2000)), StartedAt: &noon, FinishedAt: &end, CreatedAt: noon, UpdatedAt: end,
	}}
	runs := w.runs(t, e.ID)
	if len(runs) == 1 {
		want[0].ID = runs[0].ID
	}
	if d := cmp.Diff(want, runs); d != "" {
		t.Errorf("runs (-want +got):\n%s", d)
	}
	now := w.email(t, e.ID)
	if now.Status != inbox.EmailProcessed || !now.ProcessedAt.Equal(end) || now.RejectionReason != nil {
		t.Errorf("e-mail %+v", now)
	}
	flow := w.workflow(t, e.ID)
	if flow.Status != inbox.RunSuccess || !flow.FinishedAt.Equal(end) || *flow.Steps[4].Result != "The agent has read the e-mail." || !flow.Steps[4].StartedAt.Equal(noon) {
		t.Errorf("workflow run %+v", flow)
	}
	if got := w.slugs(t, e.ID); !slices.Equal(got, []string{"email.received", "email.approved", "agent_run.succeeded", "email.processed"}) {
		t.Errorf("events %q", got)
	}
	u := w.usage(t)
	sum := inbox.UsageSum{Emails: 1, Runs: 1, InputTokens: 1000, OutputTokens: 100, CacheRead: 10000, CacheWrite: 2000, Cost: cost}
	if d := cmp.Diff([]inbox.ModelUsage{{Model: priced, UsageSum: sum}}, u.ByModel); d != "" || u.Total.Emails != 1 {
		t.Errorf("usage %+v (-want +got):\n%s", u, d)
	}
	if ids := w.left(t); len(ids) != 0 {
		t.Errorf("jobs %v are left", ids)
	}
}

// What a model fails by shows, and what the failure cost counts.
func TestReadFails(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&model.Error{Sentence: "The model provider did not answer within 60 s.", Cause: errors.New("secret internals")}, "The model provider did not answer within 60 s."},
		{errors.New("secret internals"), "The agent could not be asked, by a fault of the server."},
	} {
		w := newWorld(t)
		w.answer = func(context.Context, model.Request) (model.Answer, error) {
			return model.Answer{Tokens: model.Tokens{InputTokens: 1000}}, c.err
		}
		e := w.receive(t, message)
		w.work(t)
		now, run, flow := w.email(t, e.ID), w.runs(t, e.ID)[0], w.workflow(t, e.ID)
		if now.Status != inbox.EmailFailed || *now.RejectionReason != c.want || now.ProcessedAt != nil {
			t.Errorf("e-mail %+v", now)
		}
		if run.Status != inbox.RunFailed || *run.Error != c.want || run.Output != nil || run.TotalCost != 0.003 {
			t.Errorf("run %+v", run)
		}
		if flow.Status != inbox.RunFailed || flow.Steps[4].Status != inbox.StepFailed || flow.Steps[5].Status != inbox.StepSuccess {
			t.Errorf("workflow run %+v", flow)
		}
		if u := w.usage(t).Total; u.Runs != 1 || u.FailedRuns != 1 || u.InputTokens != 1000 || u.Cost != 0.003 {
			t.Errorf("usage %+v", u)
		}
		if got := w.slugs(t, e.ID); !slices.Equal(got[2:], []string{"agent_run.failed", "email.failed"}) {
			t.Errorf("events %q", got)
		}
	}
}

// Of two hundred messages each ends in exactly one terminal state, and the
// counters are the sum of the runs.
func TestTwoHundredMessages(t *testing.T) {
	w := newWorld(t)
	box := must[inboxstore.Stored[inbox.Inbox]](t)(inboxstore.Get[inbox.Inbox](t.Context(), w.db, w.ws, string(w.box.ID)))
	w.box.AllowedRecipients = []string{"good@b.example"}
	w.apply(t, inboxstore.Update(box, w.box))
	w.answer = func(_ context.Context, r model.Request) (model.Answer, error) {
		tokens := model.Tokens{InputTokens: int64(len(r.Message)), OutputTokens: 7}
		if strings.Contains(r.Message, "fail") {
			return model.Answer{Tokens: tokens}, &model.Error{Sentence: "No."}
		}
		return model.Answer{Text: "Yes.", Tokens: tokens}, nil
	}
	raws := []string{"From: good@b.example\r\n\r\nhi", "From: bad@b.example\r\n\r\nhi", "", "From: good@b.example\r\n\r\nfail"}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() { w.receive(t, raws[i%4]) })
	}
	all.Wait()
	all.Go(func() { w.work(t) }) // two at once
	w.work(t)
	all.Wait()
	count := map[inbox.EmailStatus]int{}
	for _, e := range must[inbox.Page[inbox.Email]](t)(w.db.Emails(t.Context(), w.ws, inbox.EmailFilter{}, inbox.PageRequest{Limit: 200})).Data {
		count[e.Status]++
		if flow := w.workflow(t, e.ID); flow.FinishedAt == nil || (flow.Status == inbox.RunSuccess) != (e.Status == inbox.EmailProcessed) {
			t.Errorf("e-mail %s, workflow run %+v", e.Status, flow)
		}
	}
	if d := cmp.Diff(map[inbox.EmailStatus]int{inbox.EmailProcessed: 50, inbox.EmailRejected: 50, inbox.EmailFailed: 100}, count); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	sum := inbox.UsageSum{Emails: 200}
	for _, r := range w.runs(t, "") {
		sum.Runs, sum.InputTokens, sum.OutputTokens = sum.Runs+1, sum.InputTokens+r.InputTokens, sum.OutputTokens+r.OutputTokens
		if sum.Cost += r.TotalCost; r.Status == inbox.RunFailed {
			sum.FailedRuns++
		}
	}
	got := w.usage(t).Total
	if diff := got.Cost - sum.Cost; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("cost %v, want %v", got.Cost, sum.Cost)
	}
	if got.Cost = sum.Cost; got != sum || sum.Runs != 100 || sum.FailedRuns != 50 || w.asked != 100 {
		t.Errorf("usage %+v, want %+v; the model was asked %d times", got, sum, w.asked)
	}
}

// Wherever the worker is cut off, it goes on later, and nothing has two effects:
// one run, counted once, and one end.
func TestCrashAtEachStep(t *testing.T) {
	for _, effect := range []storetest.Effect{storetest.Fail, storetest.LoseReply, storetest.Resend} {
		for nth := 1; ; nth++ {
			hit := false
			t.Run(fmt.Sprintf("effect %d of write %d", effect, nth), func(t *testing.T) {
				w := newWorld(t)
				to := newReceiver(t, nil)
				hook, _ := w.hook(t, to.URL)
				e := w.receive(t, message)
				w.table.Inject(storetest.Injection{Effect: effect, Method: storetest.Write, Nth: nth, Match: func(storetest.Call) bool { hit = true; return true }})
				before := len(w.logs.String())
				for range 6 {
					_ = w.Sweep(t.Context())
					w.pass(11 * time.Minute) // beyond any first lease
				}
				w.table.Reset()
				w.work(t)
				if hit = w.injected(nth); !hit && before > 0 {
					t.Skip("there are no so many writes")
				}
				if now, flow := w.email(t, e.ID), w.workflow(t, e.ID); now.Status != inbox.EmailProcessed || flow.Status != inbox.RunSuccess {
					t.Errorf("e-mail %s, workflow run %s", now.Status, flow.Status)
				}
				if runs := w.runs(t, e.ID); len(runs) != 1 || runs[0].Status != inbox.RunSuccess {
					t.Errorf("runs %+v", runs)
				}
				if u := w.usage(t).Total; u.Runs != 1 || u.InputTokens != 1000 || u.Emails != 1 {
					t.Errorf("usage %+v", u)
				}
				want := []string{"email.received", "email.approved", "agent_run.succeeded", "email.processed"}
				if got := w.slugs(t, e.ID); !slices.Equal(got, want) {
					t.Errorf("events %q", got)
				}
				told := map[inbox.ID]int{}
				for _, d := range w.deliveries(t, hook) {
					told[d.SystemEventID]++
				}
				if len(told) != len(want) || to.requests() < len(want) || to.requests() > len(want)+1 {
					t.Errorf("the receiver was told of %d events, in %d requests", len(told), to.requests())
				}
				if ids := w.left(t); len(ids) != 0 {
					t.Errorf("jobs %v are left", ids)
				}
			})
			if !hit {
				break
			}
		}
	}
}

// injected reports whether so many writes were made at all.
func (w *world) injected(nth int) bool {
	writes := 0
	for _, c := range w.table.Calls() {
		if c.Method == storetest.Write {
			writes++
		}
	}
	return writes >= nth
}

// The limits of the month stop what would exceed them, with the reason.
func TestMonthlyLimits(t *testing.T) {
	for _, c := range []struct {
		emails int64
		cost   float64
		want   string
	}{
		{2, 0, ""}, {1, 0, "limit_exceeded: Agents may read 1 e-mails a month for this workspace, and have."},
		{0, 0.0046, ""}, {0, 0.0045, "limit_exceeded: The workspace may spend USD 0.00 a month, and has."},
	} {
		w := newWorld(t)
		old := must[inboxstore.Stored[inboxstore.Workspace]](t)(inboxstore.Get[inboxstore.Workspace](t.Context(), w.db, w.ws, string(w.ws)))
		limited := old.Record
		if c.emails > 0 {
			limited.MonthlyEmailsLimit = &c.emails
		}
		if c.cost > 0 {
			limited.MonthlyCostLimit = &c.cost
		}
		w.apply(t, inboxstore.Update(old, limited))
		w.box.AllowedRecipients = []string{"ana@sender.example"}
		stranger := w.receive(t, "From: nobody@sender.example\r\n\r\n") // is turned away below, and uses nothing up
		first := w.receive(t, message)
		w.work(t)
		if e := w.email(t, stranger.ID); e.Status != inbox.EmailRejected {
			t.Errorf("the stranger's e-mail is %s", e.Status)
		}
		second := w.receive(t, message)
		w.work(t)
		if e := w.email(t, first.ID); e.Status != inbox.EmailProcessed {
			t.Errorf("the first e-mail is %s: %v", e.Status, e.RejectionReason)
		}
		e, asked := w.email(t, second.ID), w.asked
		if c.want == "" {
			if e.Status != inbox.EmailProcessed || asked != 2 {
				t.Errorf("the second e-mail is %s, asked %d times", e.Status, asked)
			}
			continue
		}
		if e.Status != inbox.EmailFailed || *e.RejectionReason != c.want || asked != 1 {
			t.Errorf("the second e-mail is %s: %v; asked %d times", e.Status, e.RejectionReason, asked)
		}
		if runs := w.runs(t, second.ID); len(runs) != 1 || *runs[0].Error != c.want || runs[0].TotalCost != 0 {
			t.Errorf("runs %+v", runs)
		}
		w.pass(31 * 24 * time.Hour) // the next month
		third := w.receive(t, message)
		w.work(t)
		if e := w.email(t, third.ID); e.Status != inbox.EmailProcessed {
			t.Errorf("in the next month: %s, %v", e.Status, e.RejectionReason)
		}
	}
}
