package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func workflowRunTools() []Tool {
	return []Tool{{
		Name:        "workflow_runs_list",
		Title:       "List workflow runs",
		Description: "List e-mails' ways through the pipeline, newest first, with the outcome of each step.",
		Permission:  access.WorkflowRunsRead,
		Hints:       reads,
		Input:       paged(Field{Name: "email_id", Kind: UUID}),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			p, err := c.Service.WorkflowRuns(ctx, c.workspace(), inbox.WorkflowRunFilter{Email: c.id("email_id")}, c.page())
			return show(view(p, cleanWorkflowRun), err)
		},
	}, {
		Name:  "workflow_runs_get",
		Title: "Get workflow run",
		Description: "Get an e-mail's way through the pipeline: parse, check_sender, apply_filters, check_attachments, " +
			"run_agent, deliver_webhooks, each with status, times and result.",
		Permission: access.WorkflowRunsRead,
		Hints:      reads,
		Input:      Fields{idField("id", "")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			r, err := c.Service.WorkflowRun(ctx, c.workspace(), c.id("id"))
			return show(cleanWorkflowRun(r), err)
		},
	}}
}

// cleanWorkflowRun cleans the results of steps: they cite mail, agents and
// receivers.
func cleanWorkflowRun(r inbox.WorkflowRun) inbox.WorkflowRun {
	steps := make([]inbox.Step, 0, len(r.Steps))
	for _, s := range r.Steps {
		s.Result = maybe(s.Result, text)
		steps = append(steps, s)
	}
	r.Steps = steps
	return r
}
