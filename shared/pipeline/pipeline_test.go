package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

const message = "Message-ID: <1@sender.example>\r\n" +
	"From: Ana <Ana@sender.example>\r\nTo: support@inbox.example\r\nCc: bob@sender.example\r\n" +
	"Subject: =?utf-8?q?Ol=C3=A1?=\r\nDate: Wed, 2 Dec 2026 08:59:00 -0300\r\n\r\nGood morning.\r\n"

// box is an inbox that takes anything.
func box(change ...func(*inbox.Inbox)) inbox.Inbox {
	in := inbox.Inbox{
		ID: inbox.NewID(noon), WorkspaceID: access.WorkspaceID(inbox.NewID(noon)), Email: "support@inbox.example",
		Status: inbox.Active, AttachmentsAllow: true,
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

// run takes a raw message through a pipeline of the options and an inbox.
func run(t testing.TB, o Options, in inbox.Inbox, raw string, change ...func(*inbox.Email)) *Run {
	t.Helper()
	e := inbox.Email{
		ID: inbox.NewID(noon), WorkspaceID: in.WorkspaceID, InboxID: in.ID, From: "bounce@sender.example",
		To: []string{in.Email}, ReceivedAt: noon,
	}
	for _, c := range change {
		c(&e)
	}
	o.Log = slog.New(slog.DiscardHandler)
	if o.Now == nil {
		o.Now = func() time.Time { return noon }
	}
	r, err := New(o).Run(t.Context(), in, e, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantSteps fails unless the run has these statuses of its steps.
func wantSteps(t testing.TB, r *Run, run inbox.RunStatus, statuses ...inbox.StepStatus) {
	t.Helper()
	names := []inbox.StepName{"parse", "check_sender", "apply_filters", "check_attachments", "run_agent", "deliver_webhooks"}
	w := r.Workflow
	if w.Status != run || w.StartedAt == nil || (w.FinishedAt == nil) != (run == inbox.RunRunning) || w.EmailID != r.Email.ID || len(w.Steps) != len(names) {
		t.Fatalf("workflow run: %+v; want it %s, with %d steps", w, run, len(names))
	}
	for i, s := range w.Steps {
		want := statuses[min(i, len(statuses)-1)]
		if i == len(names)-1 && len(statuses) < len(names) {
			want = inbox.StepSuccess // webhooks are told of any end
		}
		if ran := want != inbox.StepSkipped && want != inbox.StepPending; s.Name != names[i] || s.Status != want || (s.StartedAt != nil) != ran || (s.FinishedAt != nil) != ran || ran && *s.Result == "" {
			t.Errorf("step %d: %+v, want %s %s", i, s, names[i], want)
		}
	}
}

func TestApproved(t *testing.T) {
	at := noon
	tick := func() time.Time { at = at.Add(time.Millisecond); return at }
	in := box(func(in *inbox.Inbox) { in.AgentID = new(inbox.NewID(noon)) })
	r := run(t, Options{Now: tick}, in, message, func(e *inbox.Email) {
		e.RawS3Key, e.SpamVerdict, e.SESMetadata = "raw", new("PASS"), inbox.Object(`{"id":"ses"}`)
		e.Metadata = SenderVerified.Metadata()
	})
	want := inbox.Email{
		ID: r.Email.ID, WorkspaceID: in.WorkspaceID, InboxID: in.ID, AgentID: in.AgentID,
		MessageID: "1@sender.example", RawS3Key: "raw", RawSize: int64(len(message)),
		Subject: new("Olá"), From: r.Email.From, FromName: "Ana",
		To: []string{"support@inbox.example"}, Cc: []string{"bob@sender.example"}, Bcc: []string{}, HeaderTo: []string{"support@inbox.example"},
		Status: inbox.EmailApproved, SpamVerdict: new("PASS"), SESMetadata: inbox.Object(`{"id":"ses"}`),
		Metadata: inbox.Object(`{"sender":"verified"}`), Attachments: []inbox.Attachment{},
		SentAt: new(time.Date(2026, 12, 2, 11, 59, 0, 0, time.UTC)), ReceivedAt: noon, CreatedAt: at, UpdatedAt: at,
	}
	if d := cmp.Diff(want, r.Email); d != "" {
		t.Errorf("e-mail (-want +got):\n%s", d)
	}
	if !strings.EqualFold(r.Email.From, "ana@sender.example") || r.Content == nil || strings.TrimSpace(*r.Content.Text) != "Good morning." {
		t.Errorf("from %q, content %+v", r.Email.From, r.Content)
	}
	wantSteps(t, r, inbox.RunRunning, inbox.StepSuccess, inbox.StepSuccess, inbox.StepSuccess, inbox.StepSuccess, inbox.StepPending, inbox.StepPending)
	var results []string
	last := noon
	for _, s := range r.Workflow.Steps {
		if s.StartedAt != nil {
			results = append(results, *s.Result)
			if !s.StartedAt.After(last) || !s.FinishedAt.After(*s.StartedAt) {
				t.Errorf("%s ran from %v to %v, after %v", s.Name, s.StartedAt, s.FinishedAt, last)
			}
			last = *s.FinishedAt
		}
	}
	if d := cmp.Diff([]string{
		"The message was read.", "Anyone may send to this inbox.", "The inbox has no filters.", "The message has no attachments."}, results); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
}

// Records have times to the millisecond; ids of one millisecond are in order.
func TestTimes(t *testing.T) {
	at := noon.Truncate(time.Millisecond)
	tick := func() time.Time { at = at.Add(7777 * time.Nanosecond); return at }
	r := run(t, Options{Now: tick}, box(), message)
	w := r.Workflow
	times := []*time.Time{w.StartedAt, w.FinishedAt, &w.CreatedAt, &w.UpdatedAt, &r.Email.CreatedAt, &r.Email.UpdatedAt, &r.Events[0].CreatedAt, &r.Events[1].CreatedAt}
	for _, s := range w.Steps {
		times = append(times, s.StartedAt, s.FinishedAt)
	}
	for i, at := range times {
		if at != nil && !at.Equal(noon.Truncate(time.Millisecond)) {
			t.Errorf("time %d is %v", i, at)
		}
	}
	if first := inbox.NewID(*w.StartedAt); first >= w.ID || first >= r.Events[0].ID || r.Events[0].ID >= r.Events[1].ID {
		t.Errorf("an id of the beginning is %s, of the end %s and %s, %s", first, w.ID, r.Events[0].ID, r.Events[1].ID)
	}
}

// When the agent of an inbox has read an e-mail, its run ends by that.
func TestFinish(t *testing.T) {
	in := box(func(in *inbox.Inbox) { in.AgentID = new(inbox.NewID(noon)) })
	at := noon
	tick := func() time.Time { at = at.Add(time.Millisecond); return at }
	p := New(Options{Now: tick})
	run1 := inbox.NewID(noon)
	for _, c := range []struct {
		o      Outcome
		status inbox.EmailStatus
		reason string
		steps  inbox.StepStatus
		run    inbox.RunStatus
	}{
		{Passed("Answered."), inbox.EmailProcessed, "", inbox.StepSuccess, inbox.RunSuccess},
		{Failed("The model did not answer."), inbox.EmailFailed, "The model did not answer.", inbox.StepFailed, inbox.RunFailed},
	} {
		let := run(t, Options{Now: tick}, in, message)
		if !let.Waits() {
			t.Fatal("the run does not wait for the agent")
		}
		began := p.Reading(let.Workflow, let.Email)
		if began.Email.Status != inbox.EmailProcessing || began.step(inbox.StepRunAgent).Status != inbox.StepRunning || !began.Waits() {
			t.Errorf("while it is read: %+v, %+v", began.Email, began.Workflow)
		}
		if let.step(inbox.StepRunAgent).Status != inbox.StepPending {
			t.Error("the record that the run goes on from is changed")
		}
		r := p.Finish(began.Workflow, began.Email, c.o, run1)
		if r.Email.Status != c.status || c.reason != "" && *r.Email.RejectionReason != c.reason || (r.Email.ProcessedAt != nil) != (c.reason == "") {
			t.Errorf("e-mail %+v", r.Email)
		}
		wantSteps(t, r, c.run, inbox.StepSuccess, inbox.StepSuccess, inbox.StepSuccess, inbox.StepSuccess, c.steps, inbox.StepSuccess)
		if s := r.step(inbox.StepRunAgent); !s.StartedAt.Equal(*began.step(inbox.StepRunAgent).StartedAt) {
			t.Errorf("the reading began at %v", s.StartedAt)
		}
		if len(r.Events) != 1 || r.Events[0].Slug != "email."+string(c.status) || !strings.Contains(string(r.Events[0].Payload), `"agent_run_id":"`+string(run1)+`"`) {
			t.Errorf("events %+v", r.Events)
		}
	}
}

func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		name, raw, reason string
		parse             func([]byte) (*mail.Message, error)
	}{
		{"empty", "", "The message could not be read: the message is empty.", nil},
		{"binary", "\x00\x01\x02\xff\xfe", "The message could not be read: " + mail.ErrNoHeader.Error() + ".", nil},
		{"the parser panics", message, "The step parse failed by a fault of the server.", func([]byte) (*mail.Message, error) { panic("oops") }},
		{"a hostile error", message, "The message could not be read: \ufffd.", func([]byte) (*mail.Message, error) { return nil, errors.New("\xff") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, Options{Parse: c.parse}, box(), c.raw)
			if r.Email.Status != inbox.EmailFailed || *r.Email.RejectionReason != c.reason || r.Email.From != "bounce@sender.example" || r.Content != nil {
				t.Errorf("e-mail %+v, content %+v", r.Email, r.Content)
			}
			wantSteps(t, r, inbox.RunFailed, inbox.StepFailed, inbox.StepSkipped)
		})
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := New(Options{Parse: func([]byte) (*mail.Message, error) { cancel(); return mail.Parse([]byte(message)) }})
	for range 2 { // after a step, and before the first
		if _, err := p.Run(ctx, box(), inbox.Email{}, []byte(message)); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want context.Canceled", err)
		}
	}
}

// An e-mail that goes through again is judged anew, and keeps what its
// delivery said.
func TestAgain(t *testing.T) {
	in := box(func(in *inbox.Inbox) { in.Status = inbox.Inactive })
	raw := "Date: yesterday\r\n\r\nhi" // names no sender
	first := run(t, Options{}, in, raw, func(e *inbox.Email) { e.Metadata = SenderUnauthenticated.Metadata() })
	if first.Email.Status != inbox.EmailRejected {
		t.Fatalf("e-mail %+v", first.Email)
	}
	in.Status, in.AgentID = inbox.Active, new(inbox.NewID(noon))
	later := func() time.Time { return noon.Add(time.Hour) }
	second, err := New(Options{Now: later}).Run(t.Context(), in, first.Email, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := first.Email
	want.Status, want.RejectionReason, want.AgentID, want.UpdatedAt = inbox.EmailApproved, nil, in.AgentID, later()
	if d := cmp.Diff(want, second.Email); d != "" {
		t.Errorf("e-mail (-want +got):\n%s", d)
	}
	if got := string(second.Email.Metadata); got != `{"sender":"unauthenticated","warnings":["The date of the message cannot be read."]}` {
		t.Errorf("metadata %s", got)
	}
	if second.Workflow.ID == first.Workflow.ID {
		t.Error("both runs have one id")
	}
}
