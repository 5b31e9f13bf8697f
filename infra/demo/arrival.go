package demo

import (
	"context"
	"embed"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

//go:embed mail/*.eml
var messages embed.FS

// arrival is one of the messages, and what became of it.
type arrival struct {
	name  string
	in    inbox.Inbox
	ago   time.Duration
	agent *inbox.Agent // who read it; nil: nobody yet
	wrote string       // what the agent wrote
	fault string       // or why it failed
}

// reading is how long an agent takes to read a message.
const reading = 4100 * time.Millisecond

// receive lets the message arrive as long ago as said, through the real intake
// and pipeline, with a stand-in for the engine that runs agents.
func (s *Seeder) receive(ctx context.Context, a arrival) (inbox.Email, error) {
	raw, err := messages.ReadFile("mail/" + a.name + ".eml")
	if err != nil {
		return inbox.Email{}, err
	}
	at := s.ago(a.ago)
	dated := strings.Replace(string(raw), "@DATE@", at.Add(-time.Minute).Format(time.RFC1123Z), 1)
	clock := at
	now := func() time.Time { // each look at it takes a millisecond
		clock = clock.Add(time.Millisecond)
		return clock
	}
	steps := pipeline.Options{Log: s.Log, Now: now}
	var ran []inboxstore.Change
	if a.agent != nil {
		steps.Agent = func(_ context.Context, r *pipeline.Run) (pipeline.Outcome, error) {
			start, end := clock, clock.Add(reading)
			clock = end
			run := a.run(r.Email, start, end)
			ran = []inboxstore.Change{inboxstore.Insert(run), inboxstore.CountRun(run)}
			if a.fault != "" {
				return pipeline.Failed("%s", a.fault), nil
			}
			r.Email.Status, r.Email.ProcessedAt = inbox.EmailProcessed, &end
			return pipeline.Passed("The agent has read the e-mail."), nil
		}
		steps.Deliver = func(context.Context, *pipeline.Run) (pipeline.Outcome, error) {
			return pipeline.Passed("Webhooks are told of it."), nil
		}
	}
	in := intake.New(intake.Options{DB: s.DB, Log: s.Log, Now: now, Pipeline: pipeline.New(steps)})
	email, err := in.Receive(ctx, intake.Delivery{ID: "demo/" + a.name, Inbox: a.in, Raw: []byte(dated), ReceivedAt: at})
	if err != nil {
		return email, err
	}
	return email, s.DB.Apply(ctx, email.WorkspaceID, ran...)
}

// run is the record of the agent's reading.
func (a *arrival) run(email inbox.Email, start, end time.Time) inbox.AgentRun {
	r := inbox.AgentRun{
		ID: inbox.NewID(start), WorkspaceID: email.WorkspaceID, InboxID: email.InboxID, AgentID: a.agent.ID, EmailID: email.ID,
		LLMModel: a.agent.LLMModel, Status: inbox.RunSuccess, Output: &a.wrote, InputTokens: 1840, OutputTokens: 126,
		TotalCost: 0.00741, DurationMS: new(end.Sub(start).Milliseconds()), StartedAt: &start, FinishedAt: &end,
		CreatedAt: start, UpdatedAt: end,
	}
	r.CostPerToken = r.TotalCost / float64(r.InputTokens+r.OutputTokens)
	if a.fault != "" {
		r.Status, r.Error, r.Output = inbox.RunFailed, &a.fault, nil
	}
	return r
}
