// Package catalog is the tools: one file per record family, each tool's
// schema, hints, permission and handler together in one value. Everything
// else that clients are offered (resources, prompts, completions, the
// reference page) derives from it.
//
// It may import mcp, access, inbox, untrusted and lazy, and confirm for the
// question that destructive tools ask first.
package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// Options configure a [Catalog].
type Options struct {
	Service inbox.Service
	// ReadOnly hides and refuses every writing tool: the operator's switch.
	ReadOnly bool
	// Confirmer asks the person before a destructive tool runs, and Readmit
	// admits them again, past all caches, before it does. Without both, these
	// tools answer confirmation_unavailable.
	Confirmer *confirm.Confirmer
	Readmit   func(ctx context.Context) (*access.Caller, error)
	// Organization looks up who owns the workspace, to be named in questions.
	// nil, or where it fails, questions have the id.
	Organization func(ctx context.Context, id access.OrganizationID) (access.Organization, error)
	// ConfirmAlso names further writing tools to be destructive: the operator's
	// CONFIRM_ALSO, which [CheckConfirmAlso] has judged (R11).
	ConfirmAlso []string
	// AuditKey fetches the key of the digests of arguments in system events.
	// Where it fails, no tool that writes runs: what it did could not be told
	// whole. nil: events have no digests.
	AuditKey func(ctx context.Context) ([]byte, error)
	// CheckURL returns an [*inbox.Error] for a URL that webhooks may not have.
	// nil: any URL will do.
	CheckURL func(url string) error
	// Limit counts a tools/call for its caller and says how long to wait when
	// it is one too many. nil: no limit.
	Limit func(c *access.Caller) (wait time.Duration, ok bool)
	// RequireScope returns the refusal of a caller whose token lacks need, nil
	// for one who has it. nil: a plain 403 without a challenge.
	RequireScope func(c *access.Caller, need access.Scopes) error
	// Timeout bounds one run of a tool; less than the server's own limit, so
	// that the answer is a tool error. Default 18 s.
	Timeout time.Duration
	// Log is told the cause of an answer that hides it: never arguments.
	// nil: nobody is.
	Log *slog.Logger
	// Nonce makes the random part of the marks around untrusted text.
	Nonce func() string    // default untrusted.Nonce
	Now   func() time.Time // default time.Now
}

// Catalog is the tools, ready to be listed and called. It is safe for
// concurrent use.
type Catalog struct {
	opts   Options
	tools  []*Tool
	byName map[string]*Tool
	lists  lists
}

// New makes the catalog of all tools: with Options.ReadOnly, of those that
// only read.
func New(o Options) *Catalog {
	if o.RequireScope == nil {
		o.RequireScope = requireScope
	}
	if o.Timeout == 0 {
		o.Timeout = 18 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Nonce == nil {
		o.Nonce = untrusted.Nonce
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Catalog{opts: o, byName: map[string]*Tool{}}
	for _, t := range allTools() {
		if o.ReadOnly && !t.Hints.ReadOnly {
			continue
		}
		if !t.Hints.ReadOnly && slices.Contains(o.ConfirmAlso, t.Name) {
			t.Hints.Destructive = true
		}
		if t.Hints.Destructive {
			t.Description += confirmNote
		}
		c.tools = append(c.tools, &t)
		c.byName[t.Name] = &t
	}
	return c
}

// allTools are the tools of all families, in the order listed.
func allTools() []Tool {
	return slices.Concat(
		modelTools(), usageTools(), workspaceTools(), inboxTools(), recipientTools(), emailTools(), agentTools(), agentRunTools(),
		workflowRunTools(), webhookTools(), webhookActionTools(), deliveryTools(), systemEventTools(), secretTools(),
	)
}

// CheckConfirmAlso says what is wrong with the names of further tools to
// confirm: each must be of one that writes.
func CheckConfirmAlso(names []string) error {
	var writing []string
	for _, t := range allTools() {
		if !t.Hints.ReadOnly {
			writing = append(writing, t.Name)
		}
	}
	for _, name := range names {
		if !slices.Contains(writing, name) {
			return fmt.Errorf("catalog: %q is no tool that writes; those are %s", name, strings.Join(writing, ", "))
		}
	}
	return nil
}

func requireScope(c *access.Caller, need access.Scopes) error {
	if c.Scopes.Allow(need) {
		return nil
	}
	return &mcp.Refusal{
		Status: http.StatusForbidden,
		Err:    mcp.Errorf(http.StatusForbidden, "This needs the scope %s. Nothing was done.", need),
	}
}

// Tools returns every tool of the catalog, in the order listed.
func (c *Catalog) Tools() []*Tool { return slices.Clone(c.tools) }

// May reports whether the caller may run the named tool: by permission, scope
// and the operator's switch. An unknown tool may not be run.
func (c *Catalog) May(caller *access.Caller, name string) bool {
	t, ok := c.byName[name]
	return ok && t.may(caller)
}

// Read runs the named read-only tool for the caller, who may run it, and
// returns its JSON. It is how resources are read: there is no second path to
// the data (R3, R18). Errors are [*inbox.Error]s, also when time is over, or
// broken machinery.
func (c *Catalog) Read(ctx context.Context, caller *access.Caller, name string, args map[string]string) (jsontext.Value, error) {
	t, ok := c.byName[name]
	if !ok || !t.Hints.ReadOnly || !t.may(caller) {
		return nil, fmt.Errorf("catalog: %q may not be read", name)
	}
	raw := mcp.NewObject()
	for name, value := range args {
		raw.Text(name, value)
	}
	out, err := c.read(ctx, t, caller, raw.Close())
	if err == nil && 2*len(out.JSON) > maxResult {
		return nil, t.tooLarge()
	}
	return out.JSON, t.timeout(err)
}

// Methods are tools/list and tools/call.
func (c *Catalog) Methods() map[string]mcp.Method {
	return map[string]mcp.Method{"tools/list": c.list, "tools/call": c.call}
}
