package actions

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
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
		{[]string{"bob@sender.example", "ana@sender.example"}, inbox.EmailProcessed, inbox.RunSuccess},
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
		if want.Status, want.UpdatedAt, want.ProcessedAt = c.status, w.now, &w.now; c.status == inbox.EmailRejected {
			want.RejectionReason, want.ProcessedAt = new(reason), nil
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
	w.wantOutcomes(t, "email.processed", "", "")
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

// Nothing is left to an agent without a yes, and with one it is one job of that
// name; an e-mail that waits for its agent is not reprocessed.
func TestReprocessLeavesTheAgentItsJob(t *testing.T) {
	w := local(t)
	e := w.receive(t, message)
	agent := inbox.Agent{ID: inbox.NewID(noon), WorkspaceID: w.ws, ExternalID: new("agent"), Label: "Agent", LLMModel: "rules/demo"}
	stored, err := inboxstore.Get[inbox.Inbox](t.Context(), w.DB, w.ws, string(w.box.ID))
	if err != nil {
		t.Fatal(err)
	}
	box := stored.Record
	box.AgentID = &agent.ID
	if err := w.Apply(t.Context(), w.ws, inboxstore.Insert(agent), inboxstore.Update(stored, box)); err != nil {
		t.Fatal(err)
	}
	by := w.by("emails_reprocess")
	nobody := by
	nobody.Confirmation = ""
	if _, err := w.ReprocessEmail(t.Context(), nobody, e); !errors.Is(err, errNoConfirmation) {
		t.Errorf("without a confirmation: %v", err)
	}
	w.now = w.now.Add(time.Minute)
	run, err := w.ReprocessEmail(t.Context(), by, e)
	if err != nil || run.Status != inbox.RunRunning || run.FinishedAt != nil {
		t.Fatalf("run %+v, %v", run, err)
	}
	job, err := w.TakeJob(t.Context(), inboxstore.JobID(by.Confirmation), func(inboxstore.Job) time.Duration { return time.Minute })
	if err != nil || job.Kind != inboxstore.JobRead || job.Email != e.ID || job.Workflow != run.ID || !job.Run.Valid() {
		t.Errorf("job %+v, %v", job, err)
	}
	now, _ := w.email(t, e.ID)
	if now.Status != inbox.EmailApproved || *now.AgentID != agent.ID {
		t.Errorf("e-mail %+v", now)
	}
	_, err = w.ReprocessEmail(t.Context(), w.by("emails_reprocess"), now)
	wantError(t, err, inbox.CodeConflict)
	wantError(t, w.CanReprocess(t.Context(), now), inbox.CodeConflict)
}
