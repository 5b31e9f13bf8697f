package catalog

import (
	"cmp"
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The tools of workspaces reach each one that the caller is a member of, under
// the permissions of the membership there.
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
	}, {
		Name:        "workspaces_update",
		Title:       "Update workspace",
		Description: "Change a workspace. What is left out stays as it is.",
		Permission:  access.WorkspacesWrite,
		Anywhere:    true,
		Hints:       updates,
		Input: Fields{
			idField("id", "id or external_id"),
			{Name: "label", Min: 1, Max: inbox.MaxLabel},
			{Name: "email_prefix", Kind: Slug, Min: 1, Max: inbox.MaxEmailPrefix, Description: "Begins the addresses of new inboxes"},
			{Name: "locale", Enum: oneOf(inbox.English, inbox.Portuguese), Description: "The language that its people are asked in"},
			{Name: "monthly_cost_limit", Kind: Number, Positive: true, Nullable: true, Description: "USD; null: none"},
			{Name: "monthly_emails_limit", Kind: Integer, Min: 1, Nullable: true, Description: "null: none"},
			{Name: "custom_metadata", Kind: Object},
			{Name: "metadata", Kind: Object},
			expectedField(),
		},
		Action: confirm.Text{EN: "Change this workspace.", PT: "Alterar este workspace."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Workspace(ctx, workspacesWith(c.Caller, access.WorkspacesWrite), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			if err := c.expect("workspace", was.UpdatedAt); err != nil {
				return Plan{}, err
			}
			now := was
			setText(c.Args, "label", &now.Label)
			setText(c.Args, "email_prefix", &now.EmailPrefix)
			setText(c.Args, "locale", &now.Locale)
			setNullable(c.Args, "monthly_cost_limit", &now.MonthlyCostLimit, Args.Float)
			setNullable(c.Args, "monthly_emails_limit", &now.MonthlyEmailsLimit, Args.Int)
			set(c.Args, "custom_metadata", &now.CustomMetadata, Args.Object)
			set(c.Args, "metadata", &now.Metadata, Args.Object)
			if err := now.Validate(); err != nil {
				return Plan{}, err
			}
			plan, err := update(workspaceTarget(was), was, now, c.Service.UpdateWorkspace)
			plan.Workspace = &was
			return plan, err
		},
	}}
}
