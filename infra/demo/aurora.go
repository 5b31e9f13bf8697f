package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

// The models that the demo's agents ran on.
const (
	sonnet = "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0"
	haiku  = "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0"
)

// aurora is the organization to try things in.
func (s *Seeder) aurora(ctx context.Context) error {
	ws, err := s.workspace(ctx, access.Organization{ID: Aurora, Name: "Aurora Coffee"}, "Aurora", inbox.English,
		map[access.Person]access.Role{Owner: access.Owner, Operator: access.Operator, Viewer: access.Viewer})
	if err != nil {
		return err
	}
	made := s.ago(85 * 24 * time.Hour)
	agent := func(label, model, message string, after time.Duration) inbox.Agent {
		at := made.Add(after)
		id := inbox.NewID(at)
		return inbox.Agent{ID: id, ExternalID: new(string(id)), WorkspaceID: ws, Label: label, LLMModel: model,
			SystemMessage: message, CreatedAt: at, UpdatedAt: at}
	}
	helpdesk := agent("Helpdesk", sonnet, "You answer customers of a coffee roaster. Be brief and kind. "+
		"Never promise a date that you do not know. Refunds are decided by a person.", 0)
	clerk := agent("Invoice clerk", haiku, "You read invoices: sender, number, amount, due date. Answer with JSON only.", time.Minute)
	secret := inbox.Secret{ID: inbox.NewID(made), WorkspaceID: ws, Name: "ERP_TOKEN",
		Description: new("Lets the invoice clerk look up orders."), CreatedAt: made, UpdatedAt: made}
	if err := s.DB.Apply(ctx, ws, inboxstore.Insert(helpdesk), inboxstore.Insert(clerk),
		inboxstore.Insert(secret), inboxstore.Confidential(secret.ID, "not a real token")); err != nil {
		return err
	}

	support, err := s.inbox(ctx, ws, "Support", "aurora-support@inbox.kobana.com.br", &helpdesk.ID, nil)
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
	if err := s.month(ctx, ws); err != nil {
		return err
	}
	processed, err := s.mail(ctx, support, invoices, jobs, helpdesk, clerk)
	if err != nil {
		return err
	}
	return s.webhooks(ctx, ws, processed)
}

// mail lets Aurora's messages arrive. It returns the e-mails that were read
// well, oldest first.
func (s *Seeder) mail(ctx context.Context, support, invoices, jobs inbox.Inbox, helpdesk, clerk inbox.Agent) (processed []inbox.Email, err error) {
	const hour = time.Hour
	const silent = "The model provider did not answer within 60 s."
	for _, a := range []arrival{
		{"08-refund", support, 21 * 24 * hour, &helpdesk, "Asked the accountant to check the deposit of USD 350 from August.", ""},
		{"07-newsletter", support, 12 * 24 * hour, nil, "", ""},
		{"06-forwarded", support, 6 * 24 * hour, &helpdesk, "Offered to exchange ten bags of lot L2291 and sent the return label.", ""},
		{"03-invoice", invoices, 5 * 24 * hour, &clerk, `{"sender":"Rodoviária","number":"2026/0881","amount":"BRL 4318.20"}`, ""},
		{"10-thanks", support, 4 * 24 * hour, &helpdesk, "No answer needed: the customer says thanks.", ""},
		{"09-broken", support, 3 * 24 * hour, nil, "", ""},
		{"04-hidden-instructions", invoices, 2 * 24 * hour, &clerk, "", "The model answered with text where JSON was asked for."},
		{"05-application", jobs, 40 * hour, nil, "", ""}, // rejected: the inbox is not active
		{"01-late-delivery", support, 26 * hour, &helpdesk, "", silent},
		{"02-late-delivery-again", support, 3 * hour, &helpdesk, "", silent},
	} {
		email, err := s.receive(ctx, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		if email.Status == inbox.EmailProcessed {
			processed = append(processed, email)
		}
	}
	return processed, nil
}

// month counts thirty days of use, so that there is something to report.
func (s *Seeder) month(ctx context.Context, ws access.WorkspaceID) error {
	for day := range int64(30) {
		at := s.ago(time.Duration(day) * 24 * time.Hour)
		n := 4 + (day*7)%5 // between four and eight e-mails a day
		tokens := func(runs, in, out int64, cost float64) inbox.UsageSum {
			return inbox.UsageSum{Runs: runs, InputTokens: runs * in, OutputTokens: runs * out, Cost: float64(runs) * cost}
		}
		err := s.DB.Apply(ctx, ws,
			inboxstore.Count(at, "", inbox.UsageSum{Emails: n}),
			inboxstore.Count(at, sonnet, tokens(n-1, 1900, 140, 0.0078)),
			inboxstore.Count(at, haiku, tokens(1, 1200, 90, 0.00165)))
		if err != nil {
			return err
		}
	}
	return nil
}
