package catalog

import (
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// Tool is one action on one record family: what clients are told of it, who
// may run it, and what it does.
type Tool struct {
	Name        string // family, underscore, action
	Title       string
	Description string
	Permission  access.Permission
	// Anywhere has the permission judged in each of the caller's workspaces:
	// the tool's record is a workspace, so the membership there decides.
	Anywhere bool
	Hints    Hints
	Input    Fields
	// IfTooLarge says what to do instead when the answer is too large.
	IfTooLarge string
	// Run answers a tool that only reads. Plan prepares one that writes.
	Run  func(ctx context.Context, c *Call) (Output, error)
	Plan func(ctx context.Context, c *Call) (Plan, error)
	// Action is what a person is asked to agree to, of a tool that writes.
	Action confirm.Text
}

// Hints are the four tool annotations, all always given (checklist 5.07). A
// tool that is not ReadOnly needs the scope inbox.write; one that is
// Destructive asks the person first (R11).
type Hints struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// The hints of each kind of tool. They are never changed.
var (
	reads    = Hints{ReadOnly: true, Idempotent: true}
	creates  = Hints{}
	updates  = Hints{Idempotent: true}
	destroys = Hints{Destructive: true, Idempotent: true}
	renews   = Hints{Destructive: true}
	sends    = Hints{Destructive: true, OpenWorld: true}
)

// Call is one permitted call of a tool with valid arguments.
type Call struct {
	Service  inbox.Service
	Caller   *access.Caller
	Args     Args
	Now      time.Time
	nonce    string             // of the marks around untrusted text, new for every call
	checkURL func(string) error // of webhooks; nil: any will do
	home     *inbox.Workspace   // what workspaceRecord has read
}

// Output is what a tool answers.
type Output struct {
	// JSON is a record, or a page of them: structuredContent, and the first
	// text block.
	JSON jsontext.Value
	// ForUser are further text blocks, meant for the person only.
	ForUser []string
}

// Scope is what a caller's token needs for the tool.
func (t *Tool) Scope() access.Scopes {
	if t.Hints.ReadOnly {
		return access.ScopeRead
	}
	return access.ScopeWrite
}

// may reports whether the caller has both the permission and the scope.
func (t *Tool) may(c *access.Caller) bool { return t.permitted(c) && c.Scopes.Allow(t.Scope()) }

func (t *Tool) permitted(c *access.Caller) bool {
	if t.Anywhere {
		return len(workspacesWith(c, t.Permission)) > 0
	}
	return c.May(t.Permission)
}

// workspacesWith returns the workspaces where the caller has p, oldest
// membership first.
func workspacesWith(c *access.Caller, p access.Permission) []access.WorkspaceID {
	var ids []access.WorkspaceID
	for i := range c.Memberships {
		if c.Memberships[i].Permissions().Has(p) {
			ids = append(ids, c.Memberships[i].Workspace)
		}
	}
	return ids
}

// workspace is the one that the call works in.
func (c *Call) workspace() access.WorkspaceID { return c.Caller.WorkspaceID() }

// workspaceRecord is the record of that workspace, read once in a call: for its
// name and the language of its people.
func (c *Call) workspaceRecord(ctx context.Context) (inbox.Workspace, error) {
	if c.home == nil {
		id := c.workspace()
		w, err := c.Service.Workspace(ctx, []access.WorkspaceID{id}, string(id))
		if err != nil {
			return w, err
		}
		c.home = &w
	}
	return *c.home, nil
}

// id reads a UUID argument.
func (c *Call) id(name string) inbox.ID { return inbox.ID(c.Args.String(name)) }

// page is what the call's limit and cursor ask for.
func (c *Call) page() inbox.PageRequest {
	return inbox.PageRequest{Limit: int(c.Args.Int("limit")), Cursor: c.Args.String("cursor"), MaxBytes: maxPage}
}

// mark wraps text that a stranger wrote, already cleaned, so that a model can
// tell where it begins and ends.
func (c *Call) mark(text string) string { return untrusted.Mark(text, c.nonce) }

// idField is a required id.
func idField(name, description string) Field {
	return Field{Name: name, Description: description, Kind: UUID, Required: true}
}

// sinceField and untilField are the ends of a time to filter by.
func sinceField() Field {
	return Field{Name: "since", Kind: Moment, Description: "From this YYYY-MM-DD (UTC) or RFC 3339 time on"}
}

func untilField() Field {
	return Field{Name: "until", Kind: Moment, Description: "Through this YYYY-MM-DD (UTC, whole day), or before this RFC 3339 time"}
}

// paged adds to the filters of a list the arguments that every list has.
func paged(filters ...Field) Fields {
	return append(filters,
		Field{Name: "limit", Kind: Integer, Min: 1, Max: inbox.MaxLimit, Default: inbox.DefaultLimit},
		Field{Name: "cursor", Kind: String, Min: 1, Max: 4096, Description: "next_cursor of the page before"})
}

// oneOf are the names of an enum.
func oneOf[T ~string](values ...T) []string {
	names := make([]string, 0, len(values))
	for _, v := range values {
		names = append(names, string(v))
	}
	return names
}
