// Package pipeline takes an e-mail through its inbox: the message is read, the
// inbox's rules let it in or not, and an agent and webhooks are told of it
// (design §5: workflow run). Its rules are functions of the inbox and the
// message alone, so that the same mail meets the same end when it is
// reprocessed.
//
// It may import inbox, mail and untrusted, and stores nothing: who calls it
// does.
package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
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

	// Agent has an agent read an e-mail that was let in, Deliver has webhooks
	// told of it. Nil: no such engine runs here, and the step is skipped.
	Agent, Deliver func(context.Context, *Run) (Outcome, error)
}

// Pipeline is the steps that an e-mail goes through. It is safe for concurrent
// use.
type Pipeline struct {
	opts  Options
	steps []step
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
	p.steps = []step{
		{inbox.StepParse, p.parse},
		{inbox.StepCheckSender, rule(checkSender)},
		{inbox.StepApplyFilters, applyFilters},
		{inbox.StepCheckAttachments, rule(checkAttachments)},
		{inbox.StepRunAgent, orSkip(o.Agent, "No agent engine runs here.")},
		{inbox.StepDeliverWebhooks, orSkip(o.Deliver, "No delivery queue runs here.")},
	}
	return p
}

// SendsOut reports whether a run has effects outside, which happen once and
// cannot be taken back.
func (p *Pipeline) SendsOut() bool { return p.opts.Agent != nil || p.opts.Deliver != nil }

// Run is one e-mail on its way through the pipeline. Steps see what those
// before them found.
type Run struct {
	Inbox    inbox.Inbox
	Email    inbox.Email
	Content  *inbox.EmailContent // nil when the message could not be read
	Workflow inbox.WorkflowRun
	Event    inbox.SystemEvent // how the e-mail ended

	raw     []byte
	message *mail.Message // nil until it was read
}

// Outcome is how a step ended. Make it with [Passed], [Skipped], [Rejected] or
// [Failed].
type Outcome struct {
	step   inbox.StepStatus
	email  inbox.EmailStatus // where the run ends here: what becomes of the e-mail
	result string
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

// Run takes the e-mail through all steps, and returns it as approved, rejected
// or failed (or as what the agent's step made of it), with its workflow run
// finished. Of the e-mail it needs what its delivery said: ids, the key of its
// raw message, the envelope, verdicts, [Sender.Metadata] and when it was
// received; an e-mail that went through before has all that. The error is the
// context's: then nothing is known of the e-mail.
func (p *Pipeline) Run(ctx context.Context, in inbox.Inbox, e inbox.Email, raw []byte) (*Run, error) {
	r := &Run{Inbox: in, Email: arrived(in, e, raw), raw: raw}
	start := p.now()
	w := inbox.WorkflowRun{
		WorkspaceID: in.WorkspaceID, InboxID: in.ID, EmailID: e.ID, Status: inbox.RunRunning, StartedAt: &start,
	}
	for _, s := range p.steps {
		done := inbox.Step{Name: s.name, Status: inbox.StepSkipped}
		if w.Status == inbox.RunRunning {
			at := p.now()
			o, err := p.try(ctx, s, r)
			if err != nil {
				return nil, err
			}
			done.Status, done.Result = o.step, &o.result
			if o.step != inbox.StepSkipped {
				done.StartedAt, done.FinishedAt = &at, new(p.now())
			}
			if o.email != "" {
				w.Status, r.Email.Status, r.Email.RejectionReason = inbox.RunFailed, o.email, &o.result
			}
		}
		w.Steps = append(w.Steps, done)
	}
	ended := p.opts.Now() // in full, so that ids of one millisecond are in order
	end := millis(ended)
	if w.Status == inbox.RunRunning {
		w.Status = inbox.RunSuccess
	}
	if r.Email.Status == inbox.EmailReceived {
		r.Email.Status = inbox.EmailApproved
	}
	if r.Email.CreatedAt.IsZero() {
		r.Email.CreatedAt = end
	}
	w.ID, w.FinishedAt, w.CreatedAt, w.UpdatedAt, r.Email.UpdatedAt = p.opts.NewID(ended), &end, end, end, end
	r.Workflow, r.Event = w, event(p.opts.NewID(ended), r.Email, w)
	return r, nil
}

func (p *Pipeline) now() time.Time { return millis(p.opts.Now()) }

// millis is a time as records have it.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// event is the e-mail's entry in the event log: email.approved, .rejected,
// .failed or .processed.
func event(id inbox.ID, e inbox.Email, w inbox.WorkflowRun) inbox.SystemEvent {
	payload, _ := json.Marshal(struct { // it always can be: all of it is bounded UTF-8
		Status   inbox.EmailStatus `json:"status"`
		Reason   *string           `json:"rejection_reason"`
		Workflow inbox.ID          `json:"workflow_run_id"`
	}{e.Status, e.RejectionReason, w.ID})
	return inbox.SystemEvent{
		ID: id, WorkspaceID: e.WorkspaceID, InboxID: &e.InboxID, EmailID: &e.ID,
		Slug: "email." + string(e.Status), Payload: payload, CreatedAt: e.UpdatedAt, UpdatedAt: e.UpdatedAt,
	}
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

// orSkip is the step run, or one that says why there is none.
func orSkip(run func(context.Context, *Run) (Outcome, error), why string) func(context.Context, *Run) (Outcome, error) {
	if run != nil {
		return run
	}
	return func(context.Context, *Run) (Outcome, error) { return Skipped(why), nil }
}
