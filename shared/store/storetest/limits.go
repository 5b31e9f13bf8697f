package storetest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// sized returns an item that counts exactly size bytes.
func sized(sort string, size int) store.Item {
	i := store.Item{Key: key(sort)}
	i.Value = make([]byte, size-i.Size())
	return i
}

// counts returns n counts.
func counts(n int) map[string]int64 {
	m := make(map[string]int64)
	for i := range n {
		m[fmt.Sprintf("n%d", i)] = int64(i)
	}
	return m
}

func limitRules() []rule {
	long := strings.Repeat("é", store.MaxSortBytes) // more bytes than characters
	return []rule{
		{"keys up to the limit, in bytes", func(t *testing.T, table store.Table) {
			for _, k := range []store.Key{
				{Partition: strings.Repeat("p", store.MaxPartitionBytes), Sort: "s"},
				{Partition: "p", Sort: strings.Repeat("s", store.MaxSortBytes)},
				{Partition: long[:store.MaxPartitionBytes], Sort: long[:store.MaxSortBytes]},
			} {
				i := store.Item{Key: k, Value: []byte("v")}
				write(t, table, store.Put(i, store.Absent()))
				wantItem(t, table, i)
				for _, backward := range []bool{false, true} {
					q := store.Query{Partition: k.Partition, Prefix: k.Sort, Limit: 1, Backward: backward}
					wantSorts(t, table, q, k.Sort)
				}
				write(t, table, store.Delete(k))
				wantNone(t, table, k)
			}
		}},
		{"keys over the limit are ErrLimit", func(t *testing.T, table store.Table) {
			tooLong := strings.Repeat("s", store.MaxSortBytes+1)
			wantKeyErr(t, table, store.ErrLimit, store.Key{Partition: strings.Repeat("p", store.MaxPartitionBytes+1), Sort: "s"})
			wantKeyErr(t, table, store.ErrLimit, store.Key{Partition: "p", Sort: tooLong})
			wantKeyErr(t, table, store.ErrLimit, store.Key{Partition: "p", Sort: long[:store.MaxSortBytes+2]})
			wantQueryErr(t, table, store.ErrLimit,
				store.Query{Partition: strings.Repeat("p", store.MaxPartitionBytes+1)},
				store.Query{Partition: "p", Prefix: tooLong}, store.Query{Partition: "p", From: tooLong},
				store.Query{Partition: "p", To: tooLong}, store.Query{Partition: "p", After: tooLong})
		}},
		{"empty and non-UTF-8 keys are ErrInvalid", func(t *testing.T, table store.Table) {
			for _, k := range []store.Key{{}, {Sort: "s"}, {Partition: "p"}, {Partition: "\xff", Sort: "s"}, {Partition: "p", Sort: "s\xc3"}, {Partition: "p", Sort: "\xed\xa0\x80"}} {
				wantKeyErr(t, table, store.ErrInvalid, k)
			}
			wantQueryErr(t, table, store.ErrInvalid,
				store.Query{}, store.Query{Partition: "\xff"}, store.Query{Partition: "p", Limit: -1},
				store.Query{Partition: "p", Prefix: "a\xff"}, store.Query{Partition: "p", From: "\xff"},
				store.Query{Partition: "p", To: "a\xff"}, store.Query{Partition: "p", After: "\x80"})
		}},
		{"actions and conditions that do not exist are ErrInvalid", func(t *testing.T, table store.Table) {
			put := store.Put(item("a", ""))
			put.Action = store.ActionCheck + 1
			wantErr(t, table, store.ErrInvalid, put)
			wantErr(t, table, store.ErrInvalid, store.Put(item("a", ""), store.Condition{Kind: store.KindVersion + 1}))
			wantNone(t, table, key("a"))
		}},
		{"an item of 390 KB, and one byte more", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(sized("a", store.MaxItemBytes)))
			wantItem(t, table, sized("a", store.MaxItemBytes))
			wantErr(t, table, store.ErrLimit, store.Put(sized("b", store.MaxItemBytes+1)))
			wantErr(t, table, store.ErrLimit, store.Put(item("c", "")), store.Put(sized("b", store.MaxItemBytes+1)))
			wantNone(t, table, key("b"), key("c"))
		}},
		{"100 counts with names of 255 bytes, and one more of each", func(t *testing.T, table store.Table) {
			most, name := counts(store.MaxCounts-1), long[:store.MaxCountNameBytes-1]+"n"
			most[name] = 1
			write(t, table, store.Add(key("a"), most, time.Time{}))
			wantItem(t, table, store.Item{Key: key("a"), Counts: most})

			over := maps.Clone(most)
			over["more"] = 1
			wantErr(t, table, store.ErrLimit, store.Add(key("b"), over, time.Time{}))
			wantErr(t, table, store.ErrLimit, store.Put(store.Item{Key: key("b"), Counts: over}))
			wantErr(t, table, store.ErrLimit, store.Add(key("b"), map[string]int64{name + "n": 1}, time.Time{}))
			wantErr(t, table, store.ErrInvalid, store.Add(key("b"), map[string]int64{"": 1}, time.Time{}))
			wantErr(t, table, store.ErrInvalid, store.Add(key("b"), map[string]int64{"\xff": 1}, time.Time{}))
			wantNone(t, table, key("b"))
		}},
		{"a transaction of 101 items is ErrLimit", func(t *testing.T, table store.Table) {
			var ops []store.Op
			for n := range store.MaxTransactionItems + 1 {
				ops = append(ops, store.Put(item(fmt.Sprint(n), "")))
			}
			wantErr(t, table, store.ErrLimit, ops...)
			wantNone(t, table, key("0"), key("100"))
		}},
		{"a transaction of 4 MB, and one byte more", func(t *testing.T, table store.Table) {
			const items = 11
			transaction := func(bytes int) (ops []store.Op) {
				for n := range items - 1 {
					ops = append(ops, store.Put(sized(fmt.Sprint(n), store.MaxItemBytes)))
				}
				return append(ops, store.Put(sized("last", bytes-(items-1)*store.MaxItemBytes)))
			}
			wantErr(t, table, store.ErrLimit, transaction(store.MaxTransactionBytes+1)...)
			wantNone(t, table, key("0"), key("last"))
			write(t, table, transaction(store.MaxTransactionBytes)...)
			if n := len(queryAll(t, table, store.Query{Partition: "p"})); n != items {
				t.Errorf("%d items stored", n)
			}
		}},
	}
}

// wantKeyErr uses a key in every way there is.
func wantKeyErr(t *testing.T, table store.Table, want error, k store.Key) {
	t.Helper()
	if _, err := table.Get(t.Context(), k); !errors.Is(err, want) {
		t.Errorf("Get = %v, want %v", err, want)
	}
	for _, op := range []store.Op{
		store.Put(store.Item{Key: k}), store.Delete(k), store.Check(k, store.Absent()), store.Add(k, counts(1), time.Time{}),
	} {
		wantErr(t, table, want, op)
		wantErr(t, table, want, store.Put(item("other", "")), op)
	}
	wantNone(t, table, key("other"))
}

func wantQueryErr(t *testing.T, table store.Table, want error, queries ...store.Query) {
	t.Helper()
	for _, q := range queries {
		if _, err := table.Query(t.Context(), q); !errors.Is(err, want) {
			t.Errorf("Query = %v, want %v", err, want)
		}
	}
}
