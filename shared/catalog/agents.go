package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func agentTools() []Tool {
	return []Tool{{
		Name:        "agents_list",
		Title:       "List agents",
		Description: "List the workspace's AI agents, newest first: model, system message and skills.",
		Permission:  access.AgentsRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Agents(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "agents_get",
		Title:       "Get agent",
		Description: "Get an AI agent: model, system message and skills.",
		Permission:  access.AgentsRead,
		Hints:       reads,
		Input:       Fields{idField("id", "id or external_id")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Agent(ctx, c.workspace(), c.Args.String("id")))
		},
	}}
}
