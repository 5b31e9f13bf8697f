package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func webhookTools() []Tool {
	return []Tool{{
		Name:        "webhooks_list",
		Title:       "List webhooks",
		Description: "List the workspace's outgoing webhooks, newest first: URL, events, status and consecutive failures.",
		Permission:  access.WebhooksRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Webhooks(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "webhooks_get",
		Title:       "Get webhook",
		Description: "Get an outgoing webhook: URL, events, status and consecutive failures. Credentials and signing secret are never shown.",
		Permission:  access.WebhooksRead,
		Hints:       reads,
		Input:       Fields{idField("id", "id or external_id")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Webhook(ctx, c.workspace(), c.Args.String("id")))
		},
	}}
}
