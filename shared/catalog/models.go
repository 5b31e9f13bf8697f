package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func modelTools() []Tool {
	return []Tool{{
		Name:        "models_list",
		Title:       "List models",
		Description: "List the language models that agents can run on, with their prices in USD per million tokens.",
		Permission:  access.ModelsRead,
		Hints:       reads,
		Run: func(ctx context.Context, c *Call) (Output, error) {
			models, err := c.Service.Models(ctx)
			return show(inbox.Page[inbox.Model]{Data: models}, err)
		},
	}}
}
