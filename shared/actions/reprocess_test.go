package actions

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

const message = "From: Ana <ana@sender.example>\r\nTo: support@inbox.example\r\nSubject: Hello\r\n\r\nGood morning.\r\n"

// allow sets who may send to the world's inbox.
func (w *world) allow(t testing.TB, addresses ...string) {
	t.Helper()
	was, err := w.Inbox(t.Context(), w.ws, string(w.box.ID))
	if err != nil {
		t.Fatal(err)
	}
	if w.box, err = w.SetRecipients(t.Context(), w.by("inboxes_add_recipient"), was, addresses); err != nil {
		t.Fatal(err)
	}
}

// email reads an e-mail again.
func (w *world) email(t testing.TB, id inbox.ID) (inbox.Email, inbox.EmailContent) {
	t.Helper()
	e, content, err := w.Email(t.Context(), w.ws, id)
	if err != nil {
		t.Fatal(err)
	}
	return e, content
}

func (w *world) runs(t testing.TB, e inbox.Email) []inbox.WorkflowRun {
	t.Helper()
	page, err := w.WorkflowRuns(t.Context(), w.ws, inbox.WorkflowRunFilter{Email: e.ID}, inbox.PageRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return page.Data
}

func TestReprocessByTheRulesOfNow(t *testing.T) {
	w := local(t)
	first := w.receive(t, message)
	_, content := w.email(t, first.ID)
	const reason = "sender_not_allowed: The sender is not among those who may send to this inbox."
	for i, c := range []struct {
		allowed []string
		status  inbox.EmailStatus
		run     inbox.RunStatus
	}{
		{[]string{"bob@sender.example"}, inbox.EmailRejected, inbox.RunFailed},
		{[]string{"bob@sender.example", "ana@sender.example"}, inbox.EmailApproved, inbox.RunSuccess},
	} {
		w.now = w.now.Add(time.Minute)
		w.allow(t, c.allowed...)
		was, _ := w.email(t, first.ID)
		run, err := w.ReprocessEmail(t.Context(), w.by("emails_reprocess"), was)
		if err != nil || run.Status != c.run || run.FinishedAt == nil {
			t.Fatalf("run %+v, %v", run, err)
		}
		now, kept := w.email(t, first.ID)
		want := first
		if want.Status, want.UpdatedAt = c.status, w.now; c.status == inbox.EmailRejected {
			want.RejectionReason = new(reason)
		}
		if d := cmp.Diff(want, now); d != "" {
			t.Errorf("e-mail (-want +got):\n%s", d)
		}
		if d := cmp.Diff(content, kept); d != "" {
			t.Errorf("content (-want +got):\n%s", d)
		}
		if runs := w.runs(t, first); len(runs) != i+2 || !cmp.Equal(runs[0], run, cmpopts.EquateEmpty()) {
			t.Errorf("%d runs, the newest %+v; want %+v", len(runs), runs[0], run)
		}
	}
	w.wantOutcomes(t, "email.reprocessed", done, done)
	w.wantOutcomes(t, "email.rejected", "")
	w.wantOutcomes(t, "email.approved", "", "") // on arrival, too
	page, err := w.Emails(t.Context(), w.ws, inbox.EmailFilter{Status: inbox.EmailRejected}, inbox.PageRequest{})
	usage, usageErr := w.Usage(t.Context(), w.ws, noon, noon)
	if err != nil || usageErr != nil || len(page.Data) != 0 || usage.Total.Emails != 1 {
		t.Errorf("%d rejected e-mails, %d counted, %v, %v; want 0 and 1", len(page.Data), usage.Total.Emails, err, usageErr)
	}
}

func TestRefusedReprocessing(t *testing.T) {
	w := local(t)
	e := w.receive(t, message)
	reprocess := func(was inbox.Email, code inbox.Code, cause error) {
		t.Helper()
		_, err := w.ReprocessEmail(t.Context(), w.by("emails_reprocess"), was)
		if wantError(t, err, code); cause != nil && !errors.Is(err, cause) {
			t.Errorf("error = %v, want %v", err, cause)
		}
	}
	changed := e
	changed.Status = inbox.EmailRejected
	reprocess(changed, inbox.CodeConflict, inbox.ErrChanged)

	other := w.by("emails_reprocess")
	other.Workspace = w.workspace(t, "Bosque")
	_, err := w.ReprocessEmail(t.Context(), other, e)
	wantError(t, err, inbox.CodeNotFound)

	raw, err := os.ReadFile(w.eml(e))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.eml(e)); err != nil {
		t.Fatal(err)
	}
	reprocess(e, inbox.CodeConflict, nil)
	wantError(t, w.CanReprocess(t.Context(), e), inbox.CodeConflict)
	if err := w.blobs.Put(t.Context(), e.RawS3Key, raw); err != nil {
		t.Fatal(err)
	}

	box, err := w.Inbox(t.Context(), w.ws, string(w.box.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteInbox(t.Context(), w.by("inboxes_delete"), box, 0); err != nil {
		t.Fatal(err)
	}
	reprocess(e, inbox.CodeConflict, nil)
	wantError(t, w.CanReprocess(t.Context(), e), inbox.CodeConflict)

	if err := w.DeleteEmail(t.Context(), w.by("emails_delete"), e); err != nil {
		t.Fatal(err)
	}
	reprocess(e, inbox.CodeNotFound, nil)
	w.wantOutcomes(t, "email.reprocessed")
}

// A run that stays in the house is one change: done whole, once for a yes, or
// not at all.
func TestReprocessOnce(t *testing.T) {
	for _, c := range []struct {
		effect      storetest.Effect
		code, again inbox.Code
	}{
		{storetest.Fail, inbox.CodeUnavailable, ""},
		{storetest.LoseReply, inbox.CodeUnavailable, inbox.CodeConflict},
		{storetest.Resend, "", inbox.CodeConflict},
	} {
		w := local(t)
		e := w.receive(t, message)
		w.table.Reset()
		w.table.Inject(storetest.Injection{Effect: c.effect, Method: storetest.Write, Nth: 1})
		by := w.by("emails_reprocess")
		for n, code := range []inbox.Code{c.code, c.again} {
			if _, err := w.ReprocessEmail(t.Context(), by, e); inbox.CodeOf(err) != code || err != nil && code == "" {
				t.Errorf("effect %v, time %d: %v, want %q", c.effect, n+1, err, code)
			}
			e, _ = w.email(t, e.ID)
		}
		if n := len(w.runs(t, e)); n != 2 {
			t.Errorf("effect %v: %d workflow runs, want 2", c.effect, n)
		}
		w.wantOutcomes(t, "email.reprocessed", done)
	}
}

// With an engine that acts on mail, a yes is claimed before it acts.
func TestReprocessWithAnEngine(t *testing.T) {
	var acted int
	var during func()
	engine := func(ctx context.Context, r *pipeline.Run) (pipeline.Outcome, error) {
		acted++
		if during != nil {
			during()
		}
		r.Email.Status = inbox.EmailProcessed
		return pipeline.Passed("Answered."), ctx.Err()
	}
	for _, c := range []struct {
		name   string
		during func(w *world, e inbox.Email, cancel func())
		status inbox.EmailStatus // "": it is gone
		err    bool
		want   []inbox.Outcome
	}{
		{"all goes well", nil, inbox.EmailProcessed, false, []inbox.Outcome{started, done}},
		{"the call ends", func(_ *world, _ inbox.Email, cancel func()) { cancel() }, inbox.EmailApproved, true, []inbox.Outcome{started, failed}},
		{"the e-mail is deleted", func(w *world, e inbox.Email, _ func()) {
			if err := w.DeleteEmail(context.Background(), w.by("emails_delete"), e); err != nil {
				t.Error(err)
			}
		}, "", false, []inbox.Outcome{started, done}},
		{"the outcome cannot be written", func(w *world, _ inbox.Email, _ func()) {
			w.table.Inject(storetest.Injection{Effect: storetest.Fail, Method: storetest.Write})
		}, inbox.EmailApproved, true, []inbox.Outcome{started}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := local(t)
			e := w.receive(t, message)
			w.opts.Pipeline = pipeline.New(pipeline.Options{Agent: engine, Log: w.opts.Log})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			acted, during = 0, nil
			if c.during != nil {
				during = func() { c.during(w, e, cancel) }
			}
			by := w.by("emails_reprocess")
			if _, err := w.ReprocessEmail(ctx, by, e); (err != nil) != c.err {
				t.Errorf("error = %v, want one: %v", err, c.err)
			}
			w.table.Reset()
			if c.status != "" {
				now, _ := w.email(t, e.ID)
				if now.Status != c.status {
					t.Errorf("the e-mail is %s, want %s", now.Status, c.status)
				}
				_, err := w.ReprocessEmail(t.Context(), by, now)
				wantError(t, err, inbox.CodeConflict)
			}
			if acted != 1 {
				t.Errorf("the engine acted %d times for one yes", acted)
			}
			w.wantOutcomes(t, "email.reprocessed", c.want...)
		})
	}
	w := newWorld(t, pipeline.Options{Agent: engine}, webhooks.Options{})
	e := w.receive(t, message)
	by := w.by("emails_reprocess")
	acted, by.Confirmation = 0, ""
	if _, err := w.ReprocessEmail(t.Context(), by, e); !errors.Is(err, errNoConfirmation) || acted != 0 {
		t.Errorf("without a confirmation: %v, acted %d times", err, acted)
	}
}
