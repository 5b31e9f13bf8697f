package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

// maxReads is how often an agent is asked whose answer never arrives: each may
// cost.
const maxReads = 3

// reading is an e-mail that its agent is to read.
type reading struct {
	inbox   inbox.Inbox
	agent   inbox.Agent
	email   inboxstore.Stored[inbox.Email]
	content inbox.EmailContent
	run     inbox.AgentRun
}

// read has the agent read an e-mail, and writes what became of it: the run, what
// it cost, how the e-mail ended and the jobs that follow, or none of it.
func (w *Worker) read(ctx context.Context, job inboxstore.TakenJob) error {
	r, err := w.open(ctx, job)
	if inbox.CodeOf(err) == inbox.CodeNotFound { // the e-mail was deleted: a reading that began has an end, too
		return w.conclude(ctx, job, r, pipeline.Failed("The e-mail was deleted before it was read."))
	}
	if stopped, ok := errors.AsType[stop](err); ok {
		return w.conclude(ctx, job, r, pipeline.Failed("%s", string(stopped)))
	}
	if err != nil {
		return err
	}
	if err := w.begin(ctx, job, &r); err != nil {
		return err
	}
	o, err := w.ask(ctx, &r)
	if err != nil {
		return err
	}
	return w.conclude(ctx, job, r, o)
}

// stop is why an e-mail is not read, in a sentence for people.
type stop string

func (s stop) Error() string { return string(s) }

// open gathers what an agent needs to read an e-mail.
func (w *Worker) open(ctx context.Context, job inboxstore.TakenJob) (r reading, err error) {
	db, ws := w.opts.DB, job.Workspace
	if r.email, err = inboxstore.Get[inbox.Email](ctx, db, ws, string(job.Email)); err != nil {
		return r, err
	}
	if r.content, err = db.EmailContent(ctx, ws, job.Email); err != nil {
		return r, err
	}
	if r.inbox, err = db.Inbox(ctx, ws, string(r.email.Record.InboxID)); err != nil {
		return r, orStop(err, "The inbox was deleted before its agent read the e-mail.")
	}
	if r.inbox.Status != inbox.Active {
		return r, stop("The inbox was made inactive before its agent read the e-mail.")
	}
	if r.agent, err = db.Agent(ctx, ws, string(*cmp.Or(r.email.Record.AgentID, new(inbox.ID)))); err != nil {
		return r, orStop(err, "The agent was deleted before it read the e-mail.")
	}
	now := w.now()
	r.run = inbox.AgentRun{
		ID: job.Run, WorkspaceID: ws, InboxID: r.inbox.ID, AgentID: r.agent.ID, EmailID: job.Email, LLMModel: r.agent.LLMModel,
		Status: inbox.RunRunning, StartedAt: &now, CreatedAt: now, UpdatedAt: now,
	}
	if job.Begun > maxReads {
		return r, stop(fmt.Sprintf("The reading was interrupted %d times.", maxReads))
	}
	return r, w.checkLimits(ctx, job)
}

// orStop is a stop for what is not there any more.
func orStop(err error, why string) error {
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		return stop(why)
	}
	return err
}

// checkLimits stops where the workspace has used what it may in this month (in
// UTC). It goes by the e-mails that agents have read, so that nobody uses a limit
// up with mail that is turned away. What is being read at the same time is not
// known yet: use may end a little above its limit.
func (w *Worker) checkLimits(ctx context.Context, job inboxstore.TakenJob) error {
	workspace, err := inboxstore.Get[inboxstore.Workspace](ctx, w.opts.DB, job.Workspace, string(job.Workspace))
	if err != nil {
		return err
	}
	now := w.now()
	month, err := w.opts.DB.Usage(ctx, job.Workspace, time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC), now)
	if err != nil {
		return err
	}
	if l := workspace.Record.MonthlyEmailsLimit; l != nil && month.Total.Runs >= *l {
		return stop(fmt.Sprintf("limit_exceeded: Agents may read %d e-mails a month for this workspace, and have.", *l))
	}
	if l := workspace.Record.MonthlyCostLimit; l != nil && month.Total.Cost >= *l {
		return stop(fmt.Sprintf("limit_exceeded: The workspace may spend USD %.2f a month, and has.", *l))
	}
	return nil
}

// begin shows that the e-mail is being read, unless a worker before this one
// did.
func (w *Worker) begin(ctx context.Context, job inboxstore.TakenJob, r *reading) error {
	run, err := inboxstore.Get[inbox.AgentRun](ctx, w.opts.DB, job.Workspace, string(job.Run))
	if err == nil {
		r.run = run.Record
		return nil
	}
	if inbox.CodeOf(err) != inbox.CodeNotFound {
		return err
	}
	flow, err := inboxstore.Get[inbox.WorkflowRun](ctx, w.opts.DB, job.Workspace, string(job.Workflow))
	if err != nil {
		return err
	}
	p := w.opts.Pipeline.Reading(flow.Record, r.email.Record)
	return w.opts.DB.Apply(ctx, job.Workspace, inboxstore.Insert(r.run), inboxstore.Update(r.email, p.Email), inboxstore.Update(flow, p.Workflow))
}

// ask puts the e-mail before the agent's model, and writes into the run what
// came of it. Where the worker ends meanwhile nothing did, which is the error.
func (w *Worker) ask(ctx context.Context, r *reading) (pipeline.Outcome, error) {
	start := w.opts.Now()
	a, err := w.opts.Models.Answer(ctx, model.NewRequest(r.agent, r.inbox, r.email.Record, r.content))
	run := &r.run
	run.InputTokens, run.OutputTokens, run.CacheRead, run.CacheWrite = a.InputTokens, a.OutputTokens, a.CacheRead, a.CacheWrite
	run.DurationMS = new(w.opts.Now().Sub(start).Milliseconds())
	if m, known, e := inbox.ModelByID(run.LLMModel); known {
		run.TotalCost = model.Cost(m, a)
	} else if err == nil {
		err = cmp.Or(e, fmt.Errorf("worker: model %q is not in the catalogue", run.LLMModel))
	}
	if n := run.InputTokens + run.OutputTokens + run.CacheRead + run.CacheWrite; n > 0 {
		run.CostPerToken = run.TotalCost / float64(n)
	}
	if err != nil && cutOff(ctx) {
		return pipeline.Outcome{}, ctx.Err()
	}
	if err != nil {
		w.opts.Log.WarnContext(ctx, "an agent did not read an e-mail", "agent", r.agent.ID, "model", run.LLMModel, "run", run.ID, "error", err)
		sentence := "The agent could not be asked, by a fault of the server."
		if e, ok := errors.AsType[*model.Error](err); ok {
			sentence = e.Sentence
		}
		return pipeline.Failed("%s", sentence), nil
	}
	run.Output = &a.Text
	if a.Cut {
		return pipeline.Passed("The agent has read the e-mail; its answer was too long and is cut."), nil
	}
	return pipeline.Passed("The agent has read the e-mail."), nil
}

// conclude writes how the reading ended.
func (w *Worker) conclude(ctx context.Context, job inboxstore.TakenJob, r reading, o pipeline.Outcome) error {
	now := w.now()
	run := r.run
	run.Status, run.FinishedAt, run.UpdatedAt = inbox.RunSuccess, &now, now
	slug := inbox.EventAgentRunSucceeded
	if why := o.Failure(); why != "" {
		run.Status, run.Error, run.Output = inbox.RunFailed, &why, nil
		slug = inbox.EventAgentRunFailed
	}
	return w.settle(ctx, job.Workspace, func(ctx context.Context) ([]inboxstore.Change, error) {
		changes := []inboxstore.Change{inboxstore.Done(job)}
		var events []inbox.SystemEvent
		email, err := inboxstore.Get[inbox.Email](ctx, w.opts.DB, job.Workspace, string(job.Email))
		deleted := inbox.CodeOf(err) == inbox.CodeNotFound
		if err != nil && !deleted {
			return nil, err
		}
		if deleted {
			run.Output = nil // which tells what was in it
		}
		kept, run, err := w.keep(ctx, job, run)
		if err != nil {
			return nil, err
		}
		if kept != nil {
			changes = append(changes, kept, inboxstore.CountRun(run))
			events = append(events, w.runEvent(run, slug))
		}
		if !deleted {
			flow, err := inboxstore.Get[inbox.WorkflowRun](ctx, w.opts.DB, job.Workspace, string(job.Workflow))
			if err != nil {
				return nil, err
			}
			p := w.opts.Pipeline.Finish(flow.Record, email.Record, o, run.ID)
			changes = append(changes, inboxstore.Update(email, p.Email), inboxstore.Update(flow, p.Workflow))
			events = append(events, p.Events...)
		}
		return append(changes, w.follow(r, run, events)...), nil
	})
}

// keep writes the finished run, whether or not it was begun, and returns it as it
// is kept; nil: it never came to one.
func (w *Worker) keep(ctx context.Context, job inboxstore.TakenJob, run inbox.AgentRun) (inboxstore.Change, inbox.AgentRun, error) {
	old, err := inboxstore.Get[inbox.AgentRun](ctx, w.opts.DB, job.Workspace, string(job.Run))
	switch {
	case inbox.CodeOf(err) == inbox.CodeNotFound && run.ID == "":
		return nil, run, nil
	case inbox.CodeOf(err) == inbox.CodeNotFound:
		return inboxstore.Insert(run), run, nil
	case err != nil:
		return nil, run, err
	}
	began := old.Record
	began.Status, began.Error, began.Output, began.FinishedAt, began.UpdatedAt = run.Status, run.Error, run.Output, run.FinishedAt, run.UpdatedAt
	began.InputTokens, began.OutputTokens, began.CacheRead, began.CacheWrite = run.InputTokens, run.OutputTokens, run.CacheRead, run.CacheWrite
	began.CostPerToken, began.TotalCost, began.DurationMS = run.CostPerToken, run.TotalCost, run.DurationMS
	return inboxstore.Update(old, began), began, nil
}

// runEvent is the run's entry in the event log.
func (w *Worker) runEvent(run inbox.AgentRun, slug string) inbox.SystemEvent {
	payload, _ := json.Marshal(struct { // it always can be
		Run    inbox.ID        `json:"agent_run_id"`
		Agent  inbox.ID        `json:"agent_id"`
		Status inbox.RunStatus `json:"status"`
		Error  *string         `json:"error"`
	}{run.ID, run.AgentID, run.Status, run.Error})
	at := w.opts.Now().Add(-time.Microsecond) // before that of the e-mail's end
	return inbox.SystemEvent{
		ID: inbox.NewID(at), WorkspaceID: run.WorkspaceID, InboxID: &run.InboxID, EmailID: &run.EmailID,
		Slug: slug, Payload: payload, CreatedAt: w.now(), UpdatedAt: w.now(),
	}
}

// follow are the events of a reading and the jobs that follow from it.
func (w *Worker) follow(r reading, run inbox.AgentRun, events []inbox.SystemEvent) (changes []inboxstore.Change) {
	now := w.opts.Now()
	if len(events) > 0 {
		changes = append(changes, inboxstore.Happened(now, events...))
	}
	if r.inbox.Reply == inbox.On && run.Output != nil {
		changes = append(changes, inboxstore.Enqueue(inboxstore.Job{
			ID: inboxstore.NewJobID(now), Kind: inboxstore.JobReply, Due: now, Email: run.EmailID, Run: run.ID,
		}))
	}
	return changes
}
