package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	hooks "github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// webhooks makes one webhook that works and one that has been failing, each
// with its deliveries of the processed e-mails.
func (s *Seeder) webhooks(ctx context.Context, ws access.WorkspaceID, processed []inbox.Email) error {
	made := s.ago(60 * 24 * time.Hour)
	webhook := func(label, url string, after time.Duration) inbox.Webhook {
		at := made.Add(after)
		id := inbox.NewID(at)
		return inbox.Webhook{ID: id, ExternalID: new(string(id)), WorkspaceID: ws, Status: inbox.Active, Label: label, URL: url,
			Auth: inbox.AuthNone, SubscribedEvents: []string{inbox.EventEmailProcessed}, CreatedAt: at, UpdatedAt: at}
	}
	erp := webhook("ERP", "https://erp.aurora.example/hooks/inbox", 0)
	crm := webhook("CRM", "https://crm.aurora.example/kobana", time.Minute)
	crm.ConsecutiveFailures = int64(len(processed))
	for _, w := range []inbox.Webhook{erp, crm} {
		signing := inboxstore.Signing(w.ID, hooks.NewSecret(), hooks.Credentials{}, w.CreatedAt)
		if err := s.DB.Apply(ctx, ws, inboxstore.Insert(w), signing); err != nil {
			return err
		}
	}
	for _, email := range processed {
		told := inbox.SystemEventFilter{Slug: inbox.EventEmailProcessed, Email: email.ID}
		events, err := s.DB.SystemEvents(ctx, ws, told, inbox.PageRequest{Limit: 1})
		if err != nil {
			return err
		}
		event := events.Data[0]
		at := event.CreatedAt.Add(2 * time.Second)
		ok := delivery(event, erp.ID, at)
		ok.Status, ok.ResponseStatus, ok.ResponseBody = inbox.DeliverySuccess, new(int64(200)), new("ok")
		ok.ResponseHeaders = new(inbox.Object(`{"Content-Type":"text/plain"}`))
		bad := delivery(event, crm.ID, at)
		bad.Status, bad.ResponseStatus, bad.ResponseBody = inbox.DeliveryFailed, new(int64(503)), new("<h1>503 Service Unavailable</h1>")
		bad.ResponseHeaders = new(inbox.Object(`{"Content-Type":"text/html"}`))
		bad.Error = new("The receiver answered 503.")
		if err := s.DB.Apply(ctx, ws, inboxstore.Insert(ok), inboxstore.Insert(bad)); err != nil {
			return err
		}
	}
	return nil
}

// delivery is a first attempt to tell a webhook of the event.
func delivery(e inbox.SystemEvent, webhook inbox.ID, at time.Time) inbox.Delivery {
	return inbox.Delivery{
		ID: inbox.NewID(at), WebhookID: webhook, SystemEventID: e.ID, Attempt: 1,
		RequestHeaders: inbox.Object(`{"Content-Type":"application/json","User-Agent":"Kobana-Inbox/1"}`),
		RequestBody:    inbox.Object(fmt.Sprintf(`{"event":{"slug":%q,"id":%q}}`, e.Slug, e.ID)),
		DurationMS:     new(int64(212)), DeliveredAt: &at, CreatedAt: at, UpdatedAt: at,
	}
}
