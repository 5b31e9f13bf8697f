package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func transactionRules() []rule {
	return []rule{
		{"all happen", func(t *testing.T, table store.Table) {
			other := store.Item{Key: store.Key{Partition: "q", Sort: "a"}, Value: []byte("other partition")}
			write(t, table, store.Put(item("gone", "")), store.Put(item("checked", "kept")))
			write(t, table,
				store.Put(item("new", "1"), store.Absent()),
				store.Put(other),
				store.Delete(key("gone"), store.Present()),
				store.Add(key("count"), map[string]int64{"n": 2}, time.Time{}),
				store.Check(key("checked"), store.Present()),
				store.Check(key("nothing"), store.Absent()),
				store.Check(key("whatever"), store.Condition{}),
			)
			wantItem(t, table, item("new", "1"))
			wantItem(t, table, other)
			wantItem(t, table, item("checked", "kept"))
			wantItem(t, table, store.Item{Key: key("count"), Counts: map[string]int64{"n": 2}})
			wantNone(t, table, key("gone"), key("nothing"))
		}},
		{"none happens when a condition fails, whichever op it is on", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(item("put", "old")), store.Put(item("gone", "old")),
				store.Add(key("count"), map[string]int64{"n": 5}, time.Time{}))
			good := []store.Op{
				store.Put(item("put", "new")), store.Put(item("new", "")), store.Delete(key("gone")),
				store.Add(key("count"), map[string]int64{"n": 1}, time.Now()),
				store.Add(key("count 2"), map[string]int64{"n": 1}, time.Time{}),
			}
			for n := range len(good) + 1 {
				ops := append(append(append([]store.Op(nil), good[:n]...), store.Check(key("missing"), store.Present())), good[n:]...)
				wantCondition(t, table, n, nil, ops...)
			}
			wantItem(t, table, item("put", "old"))
			wantItem(t, table, item("gone", "old"))
			wantItem(t, table, store.Item{Key: key("count"), Counts: map[string]int64{"n": 5}})
			wantNone(t, table, key("new"), key("count 2"), key("missing"))
		}},
		{"of several failing conditions the first is told, with its item", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(full("a")), store.Put(full("b")))
			old := full("a")
			wantCondition(t, table, 1, &old,
				store.Put(item("c", "")), store.Put(item("a", ""), store.Absent()), store.Put(item("b", ""), store.Absent()))
			wantCondition(t, table, 0, nil,
				store.Put(item("c", ""), store.VersionIs(1)), store.Put(item("a", ""), store.Absent()))
		}},
		{"conditions are judged on what was before", func(t *testing.T, table store.Table) {
			// The partition is the same, the keys are neighbours: no op sees
			// what another writes.
			write(t, table, store.Put(item("a", ""), store.Absent()), store.Put(item("a\x00", ""), store.Absent()))
			wantSorts(t, table, store.Query{Partition: "p"}, "a", "a\x00")
		}},
		{"two ops on one key are refused", func(t *testing.T, table store.Table) {
			put, del := store.Put(item("a", "1")), store.Delete(key("a"))
			add, check := store.Add(key("a"), map[string]int64{"n": 1}, time.Time{}), store.Check(key("a"), store.Absent())
			for _, ops := range [][]store.Op{{put, put}, {put, del}, {add, add}, {check, put}, {add, store.Put(item("b", "")), check}} {
				wantErr(t, table, store.ErrInvalid, ops...)
			}
			wantNone(t, table, key("a"), key("b"))
		}},
		{"the same sort key in two partitions is two keys", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(item("a", "")), store.Put(store.Item{Key: store.Key{Partition: "q", Sort: "a"}}))
		}},
		{"100 items are one transaction", func(t *testing.T, table store.Table) {
			var ops []store.Op
			for n := range store.MaxTransactionItems {
				ops = append(ops, store.Put(item(fmt.Sprintf("%03d", n), "v"), store.Absent()))
			}
			write(t, table, ops...)
			if n := len(queryAll(t, table, store.Query{Partition: "p"})); n != store.MaxTransactionItems {
				t.Errorf("%d items stored", n)
			}
			first := item("000", "v")
			wantCondition(t, table, 0, &first, ops...)
		}},
	}
}
