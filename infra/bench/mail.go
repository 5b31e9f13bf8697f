package main

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/rules"
)

// sender is who writes, and mailAddress whom to.
const (
	sender      = "ana@sender.example"
	mailAddress = "mail@inbox.example"
)

// mailbox is an inbox on a stack, in a workspace of its own, whose e-mails are
// read by an agent that asks no provider.
type mailbox struct {
	*stack
	db        *inboxstore.DB
	workspace access.WorkspaceID
	ingest    *lambdatest.Function // leaves the worker's jobs
	messages  int
}

func (b *bench) newMailbox(ctx context.Context, s *stack) (*mailbox, error) {
	now := time.Now()
	m := &mailbox{stack: s, db: inboxstore.New(s.records.Options), workspace: access.WorkspaceID(inbox.NewID(now))}
	agent := inbox.Agent{ID: inbox.NewID(now), WorkspaceID: m.workspace, Label: "Helpdesk", LLMModel: rules.ID, SystemMessage: "Be kind."}
	if err := m.db.Apply(ctx, m.workspace,
		inboxstore.Insert(inboxstore.Workspace{Organization: "aurora", Workspace: inbox.Workspace{ID: m.workspace, Label: "Mail"}}),
		inboxstore.Insert(agent),
		inboxstore.Insert(inbox.Inbox{
			ID: inbox.NewID(now), WorkspaceID: m.workspace, AgentID: &agent.ID, Label: "Support", Email: mailAddress, Status: inbox.Active,
			AllowedRecipients: []string{sender}, Reply: inbox.Off,
		})); err != nil {
		return nil, err
	}
	var err error
	m.ingest, err = b.functionOf(s, "ingest").start()
	return m, err
}

// Close ends what makes jobs.
func (m *mailbox) Close() error { return m.ingest.Close() }

// arrived puts a message where SES does, and returns SES's call for it.
func (m *mailbox) arrived(ctx context.Context) ([]byte, error) {
	m.messages++
	id, now := fmt.Sprint("ses-", m.messages), time.Now().UTC()
	pass := events.SimpleEmailVerdict{Status: "PASS"}
	return marshal(events.SimpleEmailEvent{Records: []events.SimpleEmailRecord{{EventSource: "aws:ses", EventVersion: "1.0", SES: events.SimpleEmailService{
		Mail: events.SimpleEmailMessage{Timestamp: now, Source: sender, MessageID: id, Destination: []string{mailAddress}},
		Receipt: events.SimpleEmailReceipt{
			Timestamp: now, Recipients: []string{mailAddress}, SpamVerdict: pass, VirusVerdict: pass, SPFVerdict: pass, DKIMVerdict: pass, DMARCVerdict: pass,
		},
	}}}}), m.records.Raw.Put(ctx, arriving.Prefix+id, []byte("From: Ana <"+sender+">\r\nTo: "+mailAddress+"\r\nSubject: Late delivery\r\n\r\nI want my money back.\r\n"))
}

// jobs has a message arrive, and returns SQS's call of the worker for the jobs
// that this leaves.
func (m *mailbox) jobs(ctx context.Context) ([]byte, error) {
	m.queue.Take() // what is not the worker's now
	event, err := m.arrived(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := m.ingest.Invoke(ctx, event); err != nil {
		return nil, err
	}
	var call events.SQSEvent
	for _, message := range m.queue.Take() {
		if message.Delay == 0 {
			call.Records = append(call.Records, events.SQSMessage{MessageId: message.Body, EventSource: "aws:sqs", Body: message.Body})
		}
	}
	return marshal(call), nil
}

// read reports whether the newest message was read by its agent.
func (m *mailbox) read(ctx context.Context) error {
	page, err := m.db.Emails(ctx, m.workspace, inbox.EmailFilter{}, inbox.PageRequest{Limit: 1})
	if err == nil && (len(page.Data) == 0 || page.Data[0].Status != inbox.EmailProcessed) {
		err = fmt.Errorf("the worker did not have the message read: %+v", page.Data)
	}
	return err
}
