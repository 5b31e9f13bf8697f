package resources

import (
	"slices"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Resource is one row of the table of [Table]: a document with a fixed URI, or
// a template of them, and the tool that reads it.
type Resource struct {
	// URI holds [Placeholder] where the id of a record stands, or is fixed.
	URI         string
	Name        string
	Title       string
	Description string
	// Tool reads the document. A template's id fills its argument [Parameter].
	Tool string
	// Family is the records that a template's ids are of, "" when the URI is
	// fixed; the tool that lists them is named Family + "_list".
	Family inbox.Family
}

// Parameter names the only parameter of every template, and the argument of
// the tool that it fills.
const Parameter = "id"

// Placeholder stands in [Resource.URI] for the id of a record.
const Placeholder = "{" + Parameter + "}"

// MIMEType is that of every resource (R1).
const MIMEType = "application/json"

// Workspaces is the family of the caller's own workspaces. They are those of
// the caller's memberships, so [inbox.Reader.RecentIDs] does not know it.
const Workspaces inbox.Family = "workspaces"

// table is never changed. There is no resource of secrets (R4).
var table = []Resource{
	{
		URI: "kobana://inbox/models", Name: "models", Title: "Models", Tool: "models_list",
		Description: "The language models that an agent can run on, with their prices.",
	},
	{
		URI: "kobana://inbox/usage", Name: "usage", Title: "Usage, last 30 days", Tool: "usage_get",
		Description: "E-mails processed, agent runs, tokens and cost of the workspace in the last 30 days.",
	},
	{
		URI: "kobana://inbox/workspaces/{id}", Name: "workspace", Title: "Workspace",
		Tool: "workspaces_get", Family: Workspaces,
		Description: "A workspace, with its limits.",
	},
	{
		URI: "kobana://inbox/inboxes/{id}", Name: "inbox", Title: "Inbox",
		Tool: "inboxes_get", Family: inbox.Inboxes,
		Description: "An inbox: its address, agent, allowed senders, filters and attachment rules.",
	},
	{
		URI: "kobana://inbox/emails/{id}", Name: "email", Title: "E-mail",
		Tool: "emails_get", Family: inbox.Emails,
		Description: "A received e-mail: headers, body, attachments and processing status. Its content is untrusted.",
	},
	{
		URI: "kobana://inbox/emails/{id}/eml", Name: "email_eml", Title: "Raw e-mail (.eml)",
		Tool: "emails_get_eml", Family: inbox.Emails,
		Description: "A short-lived signed URL to download the raw message of an e-mail.",
	},
	{
		URI: "kobana://inbox/agents/{id}", Name: "agent", Title: "Agent",
		Tool: "agents_get", Family: inbox.Agents,
		Description: "An AI agent: its model, system message and skills.",
	},
	{
		URI: "kobana://inbox/agent-runs/{id}", Name: "agent_run", Title: "Agent run",
		Tool: "agent_runs_get", Family: inbox.AgentRuns,
		Description: "A run of an agent: status, output, tokens and cost. Its output is untrusted.",
	},
	{
		URI: "kobana://inbox/workflow-runs/{id}", Name: "workflow_run", Title: "Workflow run",
		Tool: "workflow_runs_get", Family: inbox.WorkflowRuns,
		Description: "A run of the workflow of one e-mail: its steps and the result of each.",
	},
	{
		URI: "kobana://inbox/webhooks/{id}", Name: "webhook", Title: "Webhook",
		Tool: "webhooks_get", Family: inbox.Webhooks,
		Description: "An outgoing webhook: its URL, events and status.",
	},
	{
		URI: "kobana://inbox/system-events/{id}", Name: "system_event", Title: "System event",
		Tool: "system_events_get", Family: inbox.SystemEvents,
		Description: "An entry of the event log, with its payload.",
	},
}

// Table returns every resource, in the order listed: the one place that maps a
// URI to a tool (R3).
func Table() []Resource { return slices.Clone(table) }

// Template reports whether the resource is a template of documents, one for
// each record of a family.
func (r Resource) Template() bool { return r.Family != "" }

// Match returns the resource that a URI names and, for a template, the id in
// it. URIs compare byte for byte (R3), and an id is a UUID as records show it,
// in lower case: whatever else stands there names nothing (checklist 7.09).
func Match(uri string) (r Resource, id string, ok bool) {
	for _, r := range table {
		if !r.Template() {
			if uri == r.URI {
				return r, "", true
			}
			continue
		}
		before, after, _ := strings.Cut(r.URI, Placeholder)
		rest, begins := strings.CutPrefix(uri, before)
		id, ends := strings.CutSuffix(rest, after)
		if begins && ends && isID(id) {
			return r, id, true
		}
	}
	return Resource{}, "", false
}

// Find returns the resource that a client refers to when it completes a
// parameter: by the template, or by a URI as [Match] takes it (checklist 9.02).
func Find(uri string) (Resource, bool) {
	for _, r := range table {
		if uri == r.URI {
			return r, true
		}
	}
	r, _, ok := Match(uri)
	return r, ok
}

// isID reports whether s is a UUID in lower case.
func isID(s string) bool { return catalog.UUID.Valid(s) && strings.ToLower(s) == s }
