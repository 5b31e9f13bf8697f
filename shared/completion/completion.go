// Package completion suggests values while a person types an argument of a
// prompt or the id of a resource: completion/complete. What it suggests
// derives from the tables of packages prompts and resources, and is never more
// than the caller could list (R9, R10).
//
// It may import mcp, access, inbox, catalog, prompts and resources.
package completion

import (
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
)

// MaxValues is the most values in an answer (checklist 9.04).
const MaxValues = 100

// Tools says what a caller may run: the catalog of tools.
type Tools = prompts.Tools

// Service gives the ids of records; see [inbox.Reader.RecentIDs].
type Service interface {
	RecentIDs(ctx context.Context, ws access.WorkspaceID, f inbox.Family, prefix string, n int) (ids []string, more bool, err error)
}

// Options configure a [Completion].
type Options struct {
	Tools   Tools
	Service Service
	Now     func() time.Time // default time.Now
}

// Completion answers completion/complete.
type Completion struct{ opts Options }

// New makes the handler of completion/complete.
func New(o Options) *Completion {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Completion{opts: o}
}

// Methods is completion/complete.
func (x *Completion) Methods() map[string]mcp.Method {
	return map[string]mcp.Method{"completion/complete": x.complete}
}

// values is what an answer suggests. A total is not given: counting all
// matches would cost more than showing the newest.
type values struct {
	Values  []string
	HasMore bool
}

func (x *Completion) complete(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, err := access.CallerFrom(ctx)
	if err != nil {
		return nil, err
	}
	a, typed, err := find(r)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*mcp.Result, error) {
		v, err := x.suggest(ctx, caller, a, typed)
		if err != nil {
			return nil, err
		}
		o := mcp.NewObject().Begin("completion").Texts("values", v.Values).Bool("hasMore", v.HasMore).End()
		return &mcp.Result{Fields: o.Close()}, nil
	}, nil
}
