package demo

import (
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/rules"
)

// aurora is the organization to try things in.
func (s *Seeder) aurora(ctx context.Context) error {
	ws, err := s.workspace(ctx, access.Organization{ID: Aurora, Name: "Aurora Coffee"}, "Aurora", inbox.English,
		map[access.Person]access.Role{Owner: access.Owner, Operator: access.Operator, Viewer: access.Viewer})
	if err != nil {
		return err
	}
	made := s.ago(85 * 24 * time.Hour)
	agent := func(label, message string, after time.Duration) inbox.Agent {
		at := made.Add(after)
		id := inbox.NewID(at)
		return inbox.Agent{ID: id, ExternalID: new(string(id)), WorkspaceID: ws, Label: label, LLMModel: rules.ID,
			SystemMessage: message, CreatedAt: at, UpdatedAt: at}
	}
	helpdesk := agent("Helpdesk", "You answer customers of a coffee roaster. Be brief and kind. "+
		"Never promise a date that you do not know. Refunds are decided by a person.", 0)
	clerk := agent("Invoice clerk", "You read invoices: sender, number, amount, due date. Answer with JSON only.", time.Minute)
	secret := inbox.Secret{ID: inbox.NewID(made), WorkspaceID: ws, Name: "ERP_TOKEN",
		Description: new("Lets the invoice clerk look up orders."), CreatedAt: made, UpdatedAt: made}
	if err := s.db.Apply(ctx, ws, inboxstore.Insert(helpdesk), inboxstore.Insert(clerk),
		inboxstore.Insert(secret), inboxstore.Confidential(secret.ID, "not a real token")); err != nil {
		return err
	}

	support, err := s.inbox(ctx, ws, "Support", "aurora-support@inbox.kobana.com.br", &helpdesk.ID, func(in *inbox.Inbox) {
		in.Filters = []inbox.Object{inbox.Object(`{"field":"header","name":"Precedence","operator":"equals","value":"bulk","action":"reject"}`)}
	})
	if err != nil {
		return err
	}
	invoices, err := s.inbox(ctx, ws, "Invoices", "aurora-invoices@inbox.kobana.com.br", &clerk.ID, func(in *inbox.Inbox) {
		in.AllowedRecipients = []string{"faturas@rodoviaria.example", "billing@paper-mill.example"}
	})
	if err != nil {
		return err
	}
	jobs, err := s.inbox(ctx, ws, "Jobs", "aurora-jobs@inbox.kobana.com.br", nil, func(in *inbox.Inbox) {
		in.Status = inbox.Inactive
	})
	if err != nil {
		return err
	}
	if err := s.webhooks(ctx, ws); err != nil {
		return err
	}
	const hour = time.Hour
	return s.run(ctx, []arrival{
		{"08-refund", support, 21 * 24 * hour},
		{"07-newsletter", support, 12 * 24 * hour}, // filtered
		{"06-forwarded", support, 6 * 24 * hour},
		{"03-invoice", invoices, 5 * 24 * hour},
		{"10-thanks", support, 4 * 24 * hour},
		{"09-broken", support, 3 * 24 * hour}, // cannot be read
		{"04-hidden-instructions", invoices, 2 * 24 * hour},
		{"05-application", jobs, 40 * hour},           // the inbox is not active
		{"01-late-delivery", support, 30 * hour},      // no rule of the agent's fits
		{"02-late-delivery-again", support, 4 * hour}, // nor this one
	})
}
