package catalog

import (
	"context"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// list answers tools/list: what this caller may run with this token
// (checklist 5.01, 12.20).
func (c *Catalog) list(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, err := access.CallerFrom(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.lists.of(c.tools, c.visible(caller), r.Version).Page(r)
	if err != nil {
		return nil, err
	}
	return func(context.Context) (*mcp.Result, error) { return res, nil }, nil
}

// visible is the set of tools that the caller may run: bit i is tool i.
func (c *Catalog) visible(caller *access.Caller) (set uint64) {
	for i, t := range c.tools {
		if t.may(caller) {
			set |= 1 << i
		}
	}
	return set
}

// lists keeps the lists of tools that were shown, so that each is marshalled
// once. Its zero value is empty.
type lists struct {
	mu   sync.Mutex
	kept map[listKey]*mcp.List
}

type listKey struct {
	set    uint64
	titled bool
}

// maxLists bounds the memory of [lists]. There are as many sets as roles times
// scopes, and a few more where memberships have explicit permissions.
const maxLists = 64

// of returns the list of a set of tools as a revision shows it.
func (l *lists) of(tools []*Tool, set uint64, v mcp.Version) *mcp.List {
	key := listKey{set, v.Titles()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if list, ok := l.kept[key]; ok {
		return list
	}
	entries := []jsontext.Value{}
	for i, t := range tools {
		if set&(1<<i) != 0 {
			entries = append(entries, t.entry(key.titled))
		}
	}
	list := mcp.NewList("tools", entries, &mcp.Cache{TTL: 30 * time.Second}, 0)
	if len(l.kept) >= maxLists || l.kept == nil {
		l.kept = map[listKey]*mcp.List{}
	}
	l.kept[key] = list
	return list
}

// entry is the tool as tools/list shows it. Tools have a title of their own
// since 2025-06-18; before, it is an annotation (checklist 5.06, 5.07).
func (t *Tool) entry(titled bool) jsontext.Value {
	o := mcp.NewObject().Grow(1024).Text("name", t.Name)
	if titled {
		o.Text("title", t.Title)
	}
	t.Input.describe(o.Text("description", t.Description).Begin("inputSchema"))
	o.End().Begin("annotations")
	if !titled {
		o.Text("title", t.Title)
	}
	return o.Bool("readOnlyHint", t.Hints.ReadOnly).Bool("destructiveHint", t.Hints.Destructive).
		Bool("idempotentHint", t.Hints.Idempotent).Bool("openWorldHint", t.Hints.OpenWorld).End().Close()
}
