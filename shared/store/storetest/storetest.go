// Package storetest is the contract of package store as tests: [Run] for the
// tables, [RunBlobs] for the blobs. Every driver passes them; they ask for
// nothing that DynamoDB does not do. For the tests of other packages there are
// [Temp], a table to use, and [Fault], one that fails on demand.
//
// It imports package store and, for [Temp], the embedded driver.
package storetest

import (
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
)

// rule is one rule of the contract and the test of it, on an empty table.
type rule struct {
	name string
	test func(t *testing.T, table store.Table)
}

// Run tests the contract of [store.Table], each rule on a table from open,
// which must be empty and usable until the end of the test.
func Run(t *testing.T, open func(t *testing.T) store.Table) {
	groups := []struct {
		name  string
		rules []rule
	}{
		{"items", itemRules()},
		{"conditions", conditionRules()},
		{"transactions", transactionRules()},
		{"counts", countRules()},
		{"ranges", rangeRules()},
		{"pages", pageRules()},
		{"limits", limitRules()},
		{"races", raceRules()},
		{"model", modelRules()},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, r := range g.rules {
				t.Run(r.name, func(t *testing.T) { r.test(t, open(t)) })
			}
		})
	}
}

// Temp opens an embedded database in a directory of the test and closes it at
// the end. It does not wait for the disk.
func Temp(t testing.TB) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.NoSync())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// key returns a key of the partition that most tests live in.
func key(sort string) store.Key { return store.Key{Partition: "p", Sort: sort} }

// item returns an item there.
func item(sort, value string) store.Item {
	return store.Item{Key: key(sort), Value: []byte(value)}
}

// write writes what must succeed.
func write(t *testing.T, table store.Table, ops ...store.Op) {
	t.Helper()
	if err := table.Write(t.Context(), ops...); err != nil {
		t.Fatalf("Write: %v", err)
	}
}

// wantErr writes what must fail so.
func wantErr(t *testing.T, table store.Table, want error, ops ...store.Op) {
	t.Helper()
	if err := table.Write(t.Context(), ops...); !errors.Is(err, want) {
		t.Fatalf("Write = %v, want %v", err, want)
	}
}

// wantCondition writes what must fail by the condition of one op, old being
// the item stored there.
func wantCondition(t *testing.T, table store.Table, op int, old *store.Item, ops ...store.Op) {
	t.Helper()
	err := table.Write(t.Context(), ops...)
	failed, ok := errors.AsType[*store.ConditionError](err)
	if !ok || !errors.Is(err, store.ErrCondition) {
		t.Fatalf("Write = %v, want a ConditionError", err)
	}
	if diff := diff(&store.ConditionError{Op: op, Old: old}, failed); diff != "" {
		t.Fatalf("ConditionError (-want +got):\n%s", diff)
	}
}

// wantItem reads what must be stored.
func wantItem(t *testing.T, table store.Table, want store.Item) {
	t.Helper()
	got, err := table.Get(t.Context(), want.Key)
	if err != nil {
		t.Fatalf("Get(%q): %v", want.Key, err)
	}
	if diff := diff(want, got); diff != "" {
		t.Fatalf("Get(%q) (-want +got):\n%s", want.Key, diff)
	}
}

// wantNone reads where nothing must be stored.
func wantNone(t *testing.T, table store.Table, keys ...store.Key) {
	t.Helper()
	for _, k := range keys {
		if got, err := table.Get(t.Context(), k); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("Get(%q) = %v, %v, want ErrNotFound", k, got, err)
		}
	}
}

// query reads one page.
func query(t *testing.T, table store.Table, q store.Query) store.Page {
	t.Helper()
	page, err := table.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("Query(%+v): %v", q, err)
	}
	if q.Limit > 0 && len(page.Items) > q.Limit {
		t.Fatalf("Query(%+v) gave %d items", q, len(page.Items))
	}
	if page.Next != "" && len(page.Items) == 0 {
		t.Fatalf("Query(%+v) gave an empty page that is not the last", q)
	}
	return page
}

// queryAll reads a range page after page.
func queryAll(t *testing.T, table store.Table, q store.Query) []store.Item {
	t.Helper()
	var all []store.Item
	for {
		page := query(t, table, q)
		all = append(all, page.Items...)
		if page.Next == "" {
			return all
		}
		q.After = page.Next
	}
}

// wantSorts reads a whole range, which must have these sort keys.
func wantSorts(t *testing.T, table store.Table, q store.Query, want ...string) {
	t.Helper()
	if diff := diff(want, sorts(queryAll(t, table, q))); diff != "" {
		t.Errorf("Query(%+v) (-want +got):\n%s", q, diff)
	}
}

func sorts(items []store.Item) []string {
	var keys []string
	for _, i := range items {
		keys = append(keys, i.Sort)
	}
	return keys
}

// diff compares; an empty value is as good as none.
func diff(want, got any) string {
	large := func(a, b []byte) bool { return len(a) > 4<<10 } // byte by byte takes seconds
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.FilterValues(large, cmp.Comparer(bytes.Equal)))
}

// clone copies an item whole.
func clone(i store.Item) store.Item {
	i.Value = append([]byte(nil), i.Value...)
	i.Counts = maps.Clone(i.Counts)
	return i
}
