package demo

import (
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	hooks "github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// webhooks makes one whose receiver works and one whose receiver has ceased to.
func (s *Seeder) webhooks(ctx context.Context, ws access.WorkspaceID) error {
	made := s.ago(60 * 24 * time.Hour)
	for i, w := range []struct {
		label, url string
		events     []string
	}{
		{"ERP", "https://erp.aurora.example/hooks/inbox", []string{inbox.EventEmailProcessed}},
		{"CRM", "https://crm.aurora.example/kobana", []string{inbox.EventEmailProcessed, inbox.EventEmailFailed}},
	} {
		at := made.Add(time.Duration(i) * time.Minute)
		id := inbox.NewID(at)
		hook := inbox.Webhook{ID: id, ExternalID: new(string(id)), WorkspaceID: ws, Status: inbox.Active, Label: w.label, URL: w.url,
			Auth: inbox.AuthNone, SubscribedEvents: w.events, CreatedAt: at, UpdatedAt: at}
		if err := s.db.Apply(ctx, ws, inboxstore.Insert(hook), inboxstore.Signing(id, hooks.NewSecret(), inbox.Credentials{}, at)); err != nil {
			return err
		}
	}
	return nil
}
