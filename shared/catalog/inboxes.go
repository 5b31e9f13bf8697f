package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func inboxTools() []Tool {
	return []Tool{{
		Name:        "inboxes_list",
		Title:       "List inboxes",
		Description: "List the workspace's inboxes, newest first: address, agent, who may send, filters and attachment rules.",
		Permission:  access.InboxesRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Inboxes(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "inboxes_get",
		Title:       "Get inbox",
		Description: "Get an inbox: address, agent, who may send (empty allowed_recipients: anyone), filters and attachment rules.",
		Permission:  access.InboxesRead,
		Hints:       reads,
		Input:       Fields{idField("id", "id or external_id")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Inbox(ctx, c.workspace(), c.Args.String("id")))
		},
	}}
}
