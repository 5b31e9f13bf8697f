package access

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
)

// countedTable counts queries, and fails them while down.
type countedTable struct {
	store.Table
	queries atomic.Int64
	down    atomic.Bool
}

func (c *countedTable) Query(ctx context.Context, q store.Query) (store.Page, error) {
	c.queries.Add(1)
	if c.down.Load() {
		return store.Page{}, store.ErrUnavailable
	}
	return c.Table.Query(ctx, q)
}

func newTable(t *testing.T) *countedTable {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "data"), bolt.NoSync())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &countedTable{Table: db.Table("data")}
}
