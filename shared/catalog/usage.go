package catalog

import (
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// usageDays is how many days usage_get sums when no month is asked for, today
// included (R1).
const usageDays = 30

func usageTools() []Tool {
	return []Tool{{
		Name:  "usage_get",
		Title: "Get usage",
		Description: "Get what the workspace processed and spent: e-mails, agent runs, tokens and cost in USD, " +
			"in all, by model and by day. E-mails count when they arrive; by model, when an agent has read them. " +
			"Without month: the last 30 days. Kept for 13 months.",
		Permission: access.UsageRead,
		Hints:      reads,
		Input:      Fields{{Name: "month", Kind: Month, Description: "YYYY-MM, in UTC"}},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			to := c.Now.Truncate(24 * time.Hour)
			from := to.AddDate(0, 0, 1-usageDays)
			if c.Args.Has("month") {
				from, to = c.Args.Start("month"), c.Args.End("month").AddDate(0, 0, -1)
			}
			return show(c.Service.Usage(ctx, c.workspace(), from, to))
		},
	}}
}
