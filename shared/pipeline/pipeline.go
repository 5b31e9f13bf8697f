// Package pipeline takes an e-mail through its inbox, which is its workflow
// run: the message is read and the inbox's rules let it in or not, and later, when
// its agent has read it, the run is finished. Its rules are functions of the
// inbox and the message alone, so that the same mail meets the same end when it
// is reprocessed.
//
// It may import inbox, mail, clip and untrusted, and stores nothing: who calls it
// does. The agent's step is the worker's; what follows from it is here.
package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
)

// Options configure a [Pipeline].
type Options struct {
	Log   *slog.Logger                        // default slog.Default
	Now   func() time.Time                    // default time.Now
	NewID func(t time.Time) inbox.ID          // default inbox.NewID
	Parse func([]byte) (*mail.Message, error) // default mail.Parse
}

// Pipeline is the steps that an e-mail goes through. It is safe for concurrent
// use.
type Pipeline struct {
	opts  Options
	rules []step
}

// step is one part of the pipeline. An error is a fault of the machinery, not
// of the e-mail.
type step struct {
	name inbox.StepName
	run  func(context.Context, *Run) (Outcome, error)
}

// New returns a pipeline.
func New(o Options) *Pipeline {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = inbox.NewID
	}
	if o.Parse == nil {
		o.Parse = mail.Parse
	}
	p := &Pipeline{opts: o}
	p.rules = []step{
		{inbox.StepParse, p.parse},
		{inbox.StepCheckSender, rule(checkSender)},
		{inbox.StepApplyFilters, applyFilters},
		{inbox.StepCheckAttachments, rule(checkAttachments)},
	}
	return p
}

// Run is one e-mail on its way through the pipeline. Steps see what those
// before them found.
type Run struct {
	Inbox    inbox.Inbox
	Email    inbox.Email
	Content  *inbox.EmailContent // nil when the message could not be read
	Workflow inbox.WorkflowRun
	Events   []inbox.SystemEvent // what became of the e-mail, in order

	raw     []byte
	message *mail.Message // nil until it was read
	reading inbox.ID      // the agent run by which it ended, "" for none
}

// Waits reports whether the inbox's agent has still to read the e-mail.
func (r *Run) Waits() bool { return r.Workflow.Status == inbox.RunRunning }

// Outcome is how a step ended. Make it with [Passed], [Skipped], [Rejected] or
// [Failed].
type Outcome struct {
	step   inbox.StepStatus
	email  inbox.EmailStatus // where the run ends here: what becomes of the e-mail
	result string
}

// Failure is why the step ended the e-mail, "" where it did not.
func (o Outcome) Failure() string {
	if o.email == "" {
		return ""
	}
	return o.result
}

// Passed lets the e-mail go on.
func Passed(format string, args ...any) Outcome {
	return Outcome{step: inbox.StepSuccess, result: fmt.Sprintf(format, args...)}
}

// Skipped lets the e-mail go on, nothing having been done.
func Skipped(result string) Outcome { return Outcome{step: inbox.StepSkipped, result: result} }

// Rejected ends the run: the inbox's rules do not let the e-mail in. The
// sentence has nothing that the sender wrote.
func Rejected(code Code, format string, args ...any) Outcome {
	return Outcome{inbox.StepFailed, inbox.EmailRejected, string(code) + ": " + fmt.Sprintf(format, args...)}
}

// Failed ends the run: the e-mail could not be dealt with.
func Failed(format string, args ...any) Outcome {
	return Outcome{inbox.StepFailed, inbox.EmailFailed, line(fmt.Sprintf(format, args...))}
}

// Run takes the e-mail through the rules. Where the inbox has an agent, an
// e-mail that was let in is approved then, and its workflow run waits for
// [Pipeline.Finish]; otherwise the run is over, and the e-mail processed,
// rejected or failed. Of the e-mail it needs what its delivery said: ids, the
// key of its raw message, the envelope, verdicts, [Sender.Metadata] and when it
// was received; an e-mail that went through before has all that. The error is
// the context's: then nothing is known of the e-mail.
func (p *Pipeline) Run(ctx context.Context, in inbox.Inbox, e inbox.Email, raw []byte) (*Run, error) {
	start := p.now()
	r := &Run{Inbox: in, Email: arrived(in, e, raw), raw: raw}
	r.Workflow = inbox.WorkflowRun{
		WorkspaceID: in.WorkspaceID, InboxID: in.ID, EmailID: e.ID, Status: inbox.RunRunning, StartedAt: &start, Steps: steps(),
	}
	for _, s := range p.rules {
		at := p.now()
		o, err := p.try(ctx, s, r)
		if err != nil {
			return nil, err
		}
		if r.end(s.name, o, at, p.now()); o.email != "" {
			break
		}
	}
	now := p.opts.Now() // in full, so that ids of one millisecond are in order
	r.Workflow.ID, r.Workflow.CreatedAt = p.opts.NewID(now), millis(now)
	if r.Email.CreatedAt.IsZero() {
		r.Email.CreatedAt = millis(now)
	}
	if r.Email.Status == inbox.EmailReceived {
		r.Email.Status = inbox.EmailApproved
		r.tell(p.opts.NewID(now), now)
		if in.AgentID != nil {
			r.touch(now)
			return r, nil
		}
		r.end(inbox.StepRunAgent, Skipped("The inbox has no agent."), now, now)
	}
	p.close(r, now.Add(time.Microsecond)) // the event of the end comes after that of the approval
	return r, nil
}

// Reading is the run of an e-mail that its agent begins to read.
func (p *Pipeline) Reading(w inbox.WorkflowRun, e inbox.Email) *Run {
	now := p.opts.Now()
	r := resume(w, e)
	r.Email.Status = inbox.EmailProcessing
	s := r.step(inbox.StepRunAgent)
	s.Status, s.StartedAt = inbox.StepRunning, new(millis(now))
	r.touch(now)
	return r
}

// Finish ends the run of an e-mail by what became of its agent's reading.
func (p *Pipeline) Finish(w inbox.WorkflowRun, e inbox.Email, o Outcome, reading inbox.ID) *Run {
	now := p.opts.Now()
	r := resume(w, e)
	r.reading = reading
	at := now
	if s := r.step(inbox.StepRunAgent); s.StartedAt != nil {
		at = *s.StartedAt
	}
	r.end(inbox.StepRunAgent, o, at, now)
	p.close(r, now)
	return r
}

// resume is a run that goes on, apart from the record that it was read from.
func resume(w inbox.WorkflowRun, e inbox.Email) *Run {
	w.Steps = slices.Clone(w.Steps)
	return &Run{Email: e, Workflow: w}
}

// steps are those of a run that begins.
func steps() (list []inbox.Step) {
	for _, name := range []inbox.StepName{
		inbox.StepParse, inbox.StepCheckSender, inbox.StepApplyFilters, inbox.StepCheckAttachments, inbox.StepRunAgent, inbox.StepDeliverWebhooks,
	} {
		list = append(list, inbox.Step{Name: name, Status: inbox.StepPending})
	}
	return list
}

// step is the run's step of that name.
func (r *Run) step(name inbox.StepName) *inbox.Step {
	i := slices.IndexFunc(r.Workflow.Steps, func(s inbox.Step) bool { return s.Name == name })
	return &r.Workflow.Steps[i]
}

// end ends a step, and the e-mail by it if the outcome says so.
func (r *Run) end(name inbox.StepName, o Outcome, from, to time.Time) {
	s := r.step(name)
	s.Status, s.Result = o.step, &o.result
	if o.step != inbox.StepSkipped {
		s.StartedAt, s.FinishedAt = new(millis(from)), new(millis(to))
	}
	if o.email != "" {
		r.Email.Status, r.Email.RejectionReason = o.email, &o.result
	}
}

// close ends the run: what was not come to is skipped, and webhooks are told
// how it ended, however that is.
func (p *Pipeline) close(r *Run, now time.Time) {
	r.end(inbox.StepDeliverWebhooks, Passed("Webhooks that subscribed to it are told."), now, now)
	for i, s := range r.Workflow.Steps {
		if s.Status == inbox.StepPending {
			r.Workflow.Steps[i].Status = inbox.StepSkipped
		}
	}
	r.Workflow.Status = inbox.RunFailed
	switch r.Email.Status {
	case inbox.EmailRejected, inbox.EmailFailed:
	default:
		r.Email.Status, r.Email.ProcessedAt = inbox.EmailProcessed, new(millis(now))
		r.Workflow.Status = inbox.RunSuccess
	}
	r.Workflow.FinishedAt = new(millis(now))
	r.touch(now)
	r.tell(p.opts.NewID(now), now)
}

// touch dates the records.
func (r *Run) touch(now time.Time) {
	r.Workflow.UpdatedAt, r.Email.UpdatedAt = millis(now), millis(now)
}

func (p *Pipeline) now() time.Time { return millis(p.opts.Now()) }

// millis is a time as records have it.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// tell leaves the e-mail's entry in the event log: email.approved, .rejected,
// .failed or .processed.
func (r *Run) tell(id inbox.ID, now time.Time) {
	e, at := r.Email, millis(now)
	payload, _ := json.Marshal(struct { // it always can be: all of it is bounded UTF-8
		Status   inbox.EmailStatus `json:"status"`
		Reason   *string           `json:"rejection_reason"`
		Workflow inbox.ID          `json:"workflow_run_id"`
		Run      inbox.ID          `json:"agent_run_id,omitzero"`
	}{e.Status, e.RejectionReason, r.Workflow.ID, r.reading})
	r.Events = append(r.Events, inbox.SystemEvent{
		ID: id, WorkspaceID: e.WorkspaceID, InboxID: &e.InboxID, EmailID: &e.ID,
		Slug: "email." + string(e.Status), Payload: payload, CreatedAt: at, UpdatedAt: at,
	})
}

// try runs one step. A fault in it, which must not take the e-mail along, is
// logged and fails the step; only the end of the context is an error.
func (p *Pipeline) try(ctx context.Context, s step, r *Run) (o Outcome, err error) {
	fault := Failed("The step %s failed by a fault of the server.", s.name)
	defer func() {
		if f := recover(); f != nil {
			p.opts.Log.ErrorContext(ctx, "pipeline step panicked", "step", s.name, "email", r.Email.ID,
				"type", fmt.Sprintf("%T", f), "stack", string(debug.Stack()))
			o, err = fault, nil
		}
	}()
	if err := ctx.Err(); err != nil {
		return o, err
	}
	if o, err = s.run(ctx, r); err == nil {
		return o, nil
	}
	if ctx.Err() != nil {
		return o, err
	}
	p.opts.Log.ErrorContext(ctx, "pipeline step failed", "step", s.name, "email", r.Email.ID, "error", err)
	return fault, nil
}

// rule is a step that only judges.
func rule(judge func(*Run) Outcome) func(context.Context, *Run) (Outcome, error) {
	return func(_ context.Context, r *Run) (Outcome, error) { return judge(r), nil }
}
