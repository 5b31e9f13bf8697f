package catalog

import (
	"cmp"
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// The tools of workspaces reach each one that the caller is a member of, under
// the permissions of the membership there (design §6).
func workspaceTools() []Tool {
	return []Tool{{
		Name:        "workspaces_list",
		Title:       "List workspaces",
		Description: "List the workspaces you are a member of, with their limits and what of them is used this month.",
		Permission:  access.WorkspacesRead,
		Anywhere:    true,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Workspaces(ctx, workspacesWith(c.Caller, access.WorkspacesRead), c.page()))
		},
	}, {
		Name:        "workspaces_get",
		Title:       "Get workspace",
		Description: "Get a workspace you are a member of. Without id: the one this connection works in.",
		Permission:  access.WorkspacesRead,
		Anywhere:    true,
		Hints:       reads,
		Input:       Fields{{Name: "id", Kind: UUID, Description: "id or external_id"}},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			ref := cmp.Or(c.Args.String("id"), string(c.workspace()))
			return show(c.Service.Workspace(ctx, workspacesWith(c.Caller, access.WorkspacesRead), ref))
		},
	}}
}
