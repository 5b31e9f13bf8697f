package prompts

import (
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Prompt is one row of the table of [Table]. Its text is in the folder texts,
// one file per language.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitzero"`
	Description string     `json:"description"`
	Arguments   []Argument `json:"arguments"`
	// Tools are those that the text leans on: without one of them the prompt
	// is not offered (R7). All of them only read.
	Tools []string `json:"-"`
}

// Argument is a value that the person gives for a [Prompt].
type Argument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	// Kind is a [catalog.Date], by default seven days ago, a [catalog.Month],
	// by default this month, or the [catalog.UUID] of a record of Family, which
	// is not looked up (R8).
	Kind   catalog.Kind `json:"-"`
	Family inbox.Family `json:"-"`
}

// table is never changed.
var table = []Prompt{
	{
		Name: "review_failed_runs", Title: "Review failed agent runs",
		Description: "Finds the agent runs that failed, groups them by cause and points at the e-mails behind them.",
		Arguments: []Argument{
			{
				Name: "since", Title: "Since", Kind: catalog.Date,
				Description: "First day to look at, UTC, as YYYY-MM-DD. Default: the last 7 days.",
			},
			{
				Name: "agent_id", Title: "Agent", Kind: catalog.UUID, Family: inbox.Agents,
				Description: "Id of the only agent to look at. Default: all agents.",
			},
		},
		Tools: []string{"agent_runs_list", "agent_runs_get", "emails_get"},
	},
	{
		Name: "inbox_overview", Title: "Inbox overview",
		Description: "An inbox at a glance: its configuration, its latest e-mails and how its agent is doing.",
		Arguments: []Argument{
			{
				Name: "inbox_id", Title: "Inbox", Required: true, Kind: catalog.UUID, Family: inbox.Inboxes,
				Description: "Id of the inbox.",
			},
		},
		Tools: []string{"inboxes_get", "agents_get", "emails_list", "agent_runs_list"},
	},
	{
		Name: "webhook_health", Title: "Webhook health",
		Description: "Which outgoing webhooks are failing to deliver, and since when.",
		Tools:       []string{"webhooks_list", "webhooks_deliveries_list"},
	},
	{
		Name: "usage_report", Title: "Usage report",
		Description: "What the workspace processed and spent in a month, by model.",
		Arguments: []Argument{
			{
				Name: "month", Title: "Month", Kind: catalog.Month,
				Description: "The month, UTC, as YYYY-MM. Default: this month.",
			},
		},
		Tools: []string{"usage_get", "models_list"},
	},
}

// Table returns every prompt, in the order listed (R7).
func Table() []Prompt { return slices.Clone(table) }

// Find returns the prompt of that name.
func Find(name string) (Prompt, bool) {
	i := slices.IndexFunc(table, func(p Prompt) bool { return p.Name == name })
	if i < 0 {
		return Prompt{}, false
	}
	return table[i], true
}

// For reports whether the prompt is offered to the caller, who then may run
// all tools that it leans on (R7).
func (p Prompt) For(caller *access.Caller, tools Tools) bool {
	return !slices.ContainsFunc(p.Tools, func(tool string) bool { return !tools.May(caller, tool) })
}
