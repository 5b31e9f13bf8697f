package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func secretTools() []Tool {
	return []Tool{{
		Name:        "secrets_list",
		Title:       "List secrets",
		Description: "List the names and descriptions of the workspace's secrets, newest first. Values are never shown.",
		Permission:  access.SecretsRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Secrets(ctx, c.workspace(), c.page()))
		},
	}}
}
