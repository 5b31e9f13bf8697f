// Package catalog is the tools: one file per record family, each tool's
// schema, hints, permission and handler together in one value. Everything
// else that clients are offered (resources, prompts, completions, the
// reference page) derives from it.
//
// It may import mcp, access, inbox and untrusted, and confirm for the
// question that destructive tools ask first.
package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// Options configure a [Catalog].
type Options struct {
	Service inbox.Reader
	// ReadOnly hides and refuses every writing tool: the operator's switch.
	ReadOnly bool
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
	for _, family := range [][]Tool{
		modelTools(), usageTools(), workspaceTools(), inboxTools(), emailTools(), agentTools(), agentRunTools(),
		workflowRunTools(), webhookTools(), deliveryTools(), systemEventTools(), secretTools(),
	} {
		for i := range family {
			t := &family[i]
			if t.Hints.ReadOnly || !o.ReadOnly {
				c.tools = append(c.tools, t)
				c.byName[t.Name] = t
			}
		}
	}
	return c
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
// the data (R3, R18). Errors are [*inbox.Error]s, or broken machinery.
func (c *Catalog) Read(ctx context.Context, caller *access.Caller, name string, args map[string]string) (jsontext.Value, error) {
	t, ok := c.byName[name]
	if !ok || !t.Hints.ReadOnly || !t.may(caller) {
		return nil, fmt.Errorf("catalog: %q may not be read", name)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		raw = []byte("{}")
	}
	out, err := c.run(ctx, t, caller, raw)
	if err == nil && 2*len(out.JSON) > maxResult {
		return nil, t.tooLarge()
	}
	return out.JSON, err
}

// Methods are tools/list and tools/call.
func (c *Catalog) Methods() map[string]mcp.Method {
	return map[string]mcp.Method{"tools/list": c.list, "tools/call": c.call}
}
