package catalog

import (
	"cmp"
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// things are the records that a fake has, nil where nobody looks.
type things struct {
	workspace *inbox.Workspace
	inbox     *inbox.Inbox
	agent     *inbox.Agent
	webhook   *inbox.Webhook
	secret    *inbox.Secret
	bound     int   // webhooks to the inbox
	reads     int   // inboxes by the agent
	cannot    error // what an action on the records would be refused with
}

// changes are what a fake was told to change.
type changes struct {
	wrote    []wrote
	recorded []wrote
	// fault, when set, is the error of the nth write, counted from 1.
	fault func(n int) error
}

// wrote is one change, and what it was given.
type wrote struct {
	Method string
	By     inbox.Actor
	Given  []any
}

// found is the fake's own record, or else a plain one.
func found[T any](f *fake, own *T, plain T) T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own == nil {
		return plain
	}
	return *own
}

func (f *fake) write(ctx context.Context, method string, by inbox.Actor, given ...any) error {
	f.mu.Lock()
	f.wrote = append(f.wrote, wrote{method, by, given})
	n := len(f.wrote)
	f.mu.Unlock()
	if f.fault != nil {
		if err := f.fault(n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (f *fake) UpdateWorkspace(ctx context.Context, by inbox.Actor, was, now inbox.Workspace) (inbox.Workspace, error) {
	return now, f.write(ctx, "UpdateWorkspace", by, was, now)
}
func (f *fake) CreateInbox(ctx context.Context, by inbox.Actor, draft inbox.Inbox) (inbox.Inbox, error) {
	return draft, f.write(ctx, "CreateInbox", by, draft)
}
func (f *fake) UpdateInbox(ctx context.Context, by inbox.Actor, was, now inbox.Inbox) (inbox.Inbox, error) {
	return now, f.write(ctx, "UpdateInbox", by, was, now)
}
func (f *fake) DeleteInbox(ctx context.Context, by inbox.Actor, was inbox.Inbox, bound int) error {
	return f.write(ctx, "DeleteInbox", by, was, bound)
}
func (f *fake) BoundWebhooks(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (int, error) {
	return f.bound, cmp.Or(f.cannot, f.ask(ctx, "BoundWebhooks", ws, id))
}
func (f *fake) SetRecipients(ctx context.Context, by inbox.Actor, was inbox.Inbox, allowed []string) (inbox.Inbox, error) {
	now := was
	now.AllowedRecipients = allowed
	return now, f.write(ctx, "SetRecipients", by, was, allowed)
}
func (f *fake) CreateAgent(ctx context.Context, by inbox.Actor, draft inbox.Agent) (inbox.Agent, error) {
	return draft, f.write(ctx, "CreateAgent", by, draft)
}
func (f *fake) UpdateAgent(ctx context.Context, by inbox.Actor, was, now inbox.Agent) (inbox.Agent, error) {
	return now, f.write(ctx, "UpdateAgent", by, was, now)
}
func (f *fake) DeleteAgent(ctx context.Context, by inbox.Actor, was inbox.Agent, inboxes int) error {
	return f.write(ctx, "DeleteAgent", by, was, inboxes)
}
func (f *fake) AgentInboxes(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (int, error) {
	return f.reads, cmp.Or(f.cannot, f.ask(ctx, "AgentInboxes", ws, id))
}
func (f *fake) CreateWebhook(ctx context.Context, by inbox.Actor, draft inbox.Webhook, c inbox.Credentials) (inbox.Webhook, string, error) {
	return draft, signing, f.write(ctx, "CreateWebhook", by, draft, c)
}
func (f *fake) UpdateWebhook(ctx context.Context, by inbox.Actor, was, now inbox.Webhook) (inbox.Webhook, error) {
	return now, f.write(ctx, "UpdateWebhook", by, was, now)
}
func (f *fake) DeleteWebhook(ctx context.Context, by inbox.Actor, was inbox.Webhook) error {
	return f.write(ctx, "DeleteWebhook", by, was)
}
func (f *fake) RotateSecret(ctx context.Context, by inbox.Actor, was inbox.Webhook) (string, time.Time, error) {
	return signing, noon.Add(24 * time.Hour), f.write(ctx, "RotateSecret", by, was)
}
func (f *fake) TestWebhook(ctx context.Context, by inbox.Actor, was inbox.Webhook) (inbox.Delivery, error) {
	return f.deliver, f.write(ctx, "TestWebhook", by, was)
}
func (f *fake) ReplayDelivery(ctx context.Context, by inbox.Actor, webhook inbox.Webhook, was inbox.Delivery) (inbox.Delivery, error) {
	return f.deliver, f.write(ctx, "ReplayDelivery", by, webhook, was)
}
func (f *fake) ReprocessEmail(ctx context.Context, by inbox.Actor, was inbox.Email) (inbox.WorkflowRun, error) {
	return f.flow, f.write(ctx, "ReprocessEmail", by, was)
}
func (f *fake) CanTest(ctx context.Context, w inbox.Webhook) error {
	return cmp.Or(f.cannot, f.ask(ctx, "CanTest", w.ID))
}
func (f *fake) CanReplay(ctx context.Context, w inbox.Webhook, d inbox.Delivery) error {
	return cmp.Or(f.cannot, f.ask(ctx, "CanReplay", w.ID, d.ID))
}
func (f *fake) CanReprocess(ctx context.Context, e inbox.Email) error {
	return cmp.Or(f.cannot, f.ask(ctx, "CanReprocess", e.ID))
}
func (f *fake) DeleteEmail(ctx context.Context, by inbox.Actor, was inbox.Email) error {
	return f.write(ctx, "DeleteEmail", by, was)
}
func (f *fake) Secret(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.Secret, error) {
	return found(f, f.secret, inbox.Secret{}), f.ask(ctx, "Secret", ws, id)
}
func (f *fake) CreateSecret(ctx context.Context, by inbox.Actor, draft inbox.Secret, value string) (inbox.Secret, error) {
	return draft, f.write(ctx, "CreateSecret", by, draft, value)
}
func (f *fake) UpdateSecret(ctx context.Context, by inbox.Actor, was, now inbox.Secret, value *string) (inbox.Secret, error) {
	return now, f.write(ctx, "UpdateSecret", by, was, now, value)
}
func (f *fake) DeleteSecret(ctx context.Context, by inbox.Actor, was inbox.Secret) error {
	return f.write(ctx, "DeleteSecret", by, was)
}
func (f *fake) Record(ctx context.Context, by inbox.Actor, o inbox.Outcome) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.recorded = append(f.recorded, wrote{"Record", by, []any{o}})
	return f.err
}

// signing is the secret that every webhook of a fake gets.
const signing = "whsec_c2lnbmluZyBzZWNyZXQ"

// furnished is a fake with one record of each family.
func furnished() *fake {
	return &fake{
		email: inbox.Email{
			ID: id1, WorkspaceID: here, InboxID: id2, Subject: new("Invoice 7"), From: "ana@example.com", ReceivedAt: noon,
			Status: inbox.EmailProcessed,
		},
		flow: inbox.WorkflowRun{ID: id2, EmailID: id1, Status: inbox.RunRunning},
		deliver: inbox.Delivery{
			ID: id2, WebhookID: id1, SystemEventID: id1, Attempt: 3, Status: inbox.DeliveryFailed, CreatedAt: noon,
			RequestBody: inbox.Object(`{"event":{"slug":"email.processed","id":"` + id1 + `"}}`),
		},
		things: things{
			workspace: &inbox.Workspace{ID: here, Label: "Aurora", EmailPrefix: "aurora", Locale: inbox.English, UpdatedAt: noon,
				MonthlyCostLimit: new(50.0), MonthlyEmailsLimit: new(int64(1000))},
			inbox: &inbox.Inbox{
				ID: id1, WorkspaceID: here, AgentID: new(inbox.ID(id2)), Label: "Support", Email: "support@inbox.example", Status: inbox.Active,
				AllowedRecipients: []string{"ana@example.com", "rui@example.com"}, Filters: []inbox.Object{}, AttachmentsAllow: true,
				AttachmentsMaxFileNumber: 10, AttachmentsMaxFileSize: 1 << 20, AttachmentsMaxTotalSize: 2 << 20, UpdatedAt: noon,
			},
			agent: &inbox.Agent{ID: id2, WorkspaceID: here, Label: "Helpdesk", LLMModel: "rules/demo", SystemMessage: "Help.",
				SkillsRepo: new("https://example.com/skills"), CreatedAt: noon, UpdatedAt: noon},
			webhook: &inbox.Webhook{ID: id1, WorkspaceID: here, InboxID: new(inbox.ID(id2)), Status: inbox.Active, Label: "CRM", URL: "https://crm.example/hook?k=1",
				Auth: inbox.AuthNone, SubscribedEvents: []string{"*"}, UpdatedAt: noon},
			secret: &inbox.Secret{ID: id1, WorkspaceID: here, Name: "API_KEY", Description: new("of the CRM"), CreatedAt: noon, UpdatedAt: noon},
			bound:  12, reads: 1,
		},
	}
}
