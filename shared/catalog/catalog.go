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
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Tool is one action on one record family: what clients are told of it, who
// may run it, and what it does.
type Tool struct {
	Name        string // family, underscore, action
	Title       string
	Description string
	Permission  access.Permission
	Hints       Hints
	Input       Fields
	Run         func(ctx context.Context, c *Call) (Output, error)
}

// Hints are the four tool annotations, all always given (checklist 5.07). A
// tool that is not ReadOnly needs the scope inbox.write.
type Hints struct {
	ReadOnly    bool
	Destructive bool
	Idempotent  bool
	OpenWorld   bool
}

// Call is one permitted call of a tool with valid arguments.
type Call struct {
	Service inbox.Reader
	Caller  *access.Caller
	Args    Args
	Now     time.Time
}

// Output is what a tool answers.
type Output struct {
	// JSON is a record, or a page of them: structuredContent, and the first
	// text block.
	JSON jsontext.Value
	// ForUser are further text blocks, meant for the person only.
	ForUser []string
}

// Options configure a [Catalog].
type Options struct {
	Service inbox.Reader
	// ReadOnly hides and refuses every writing tool: the operator's switch.
	ReadOnly bool
	// Limit counts a tools/call for its caller and says how long to wait when
	// it is one too many.
	Limit func(c *access.Caller) (wait time.Duration, ok bool)
	Now   func() time.Time // default time.Now
}

// Catalog is the tools, ready to be listed and called.
type Catalog struct{ opts Options }

// New makes the catalog of all tools.
func New(o Options) *Catalog { return &Catalog{opts: o} }

// Tools returns every tool, in the order listed.
func (c *Catalog) Tools() []*Tool { panic("not yet") }

// May reports whether the caller may run the named tool: by permission, scope
// and the operator's switch. An unknown tool may not be run.
func (c *Catalog) May(caller *access.Caller, name string) bool { panic("not yet") }

// Read runs the named read-only tool for the caller, who may run it, and
// returns its JSON. It is how resources are read: there is no second path to
// the data. Errors are [*inbox.Error]s, or broken machinery.
func (c *Catalog) Read(ctx context.Context, caller *access.Caller, name string, args map[string]string) (jsontext.Value, error) {
	panic("not yet")
}

// Methods are tools/list and tools/call.
func (c *Catalog) Methods() map[string]mcp.Method { panic("not yet") }
