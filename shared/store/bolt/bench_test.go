package bolt_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// sizes are the numbers of items over which Get, Query and Put should cost the
// same.
var sizes = [...]int{100, 10_000, 100_000}

// benchKey is the key of item n: partitions of a thousand, newest last.
func benchKey(n int) store.Key {
	return store.Key{Partition: fmt.Sprintf("workspace/%d/emails", n/1000), Sort: fmt.Sprintf("%08d", n)}
}

func benchItem(n int) store.Item { return store.Item{Key: benchKey(n), Value: make([]byte, 300)} }

// loaded returns a table with items 0 to n, written without waiting for the
// disk.
func loaded(b *testing.B, n int) *bolt.Table {
	b.Helper()
	table := storetest.Temp(b).Table("t")
	var ops []store.Op
	for i := range n {
		ops = append(ops, store.Put(benchItem(i)))
		if len(ops) == store.MaxTransactionItems || i == n-1 {
			if err := table.Write(b.Context(), ops...); err != nil {
				b.Fatal(err)
			}
			ops = ops[:0]
		}
	}
	return table
}

// overSizes runs fn on a table of each size, with a number that goes round all
// the items by leaps.
func overSizes(b *testing.B, fn func(b *testing.B, table *bolt.Table, n int)) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("items=%d", size), func(b *testing.B) {
			table := loaded(b, size)
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n = (n + 7919) % size
				fn(b, table, n)
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	overSizes(b, func(b *testing.B, table *bolt.Table, n int) {
		if _, err := table.Get(b.Context(), benchKey(n)); err != nil {
			b.Fatal(err)
		}
	})
}

func BenchmarkQueryPageOf50(b *testing.B) {
	overSizes(b, func(b *testing.B, table *bolt.Table, n int) {
		page, err := table.Query(b.Context(), store.Query{Partition: benchKey(n).Partition, Backward: true, Limit: 50})
		if err != nil || len(page.Items) != 50 {
			b.Fatal(len(page.Items), err)
		}
	})
}

// BenchmarkConditionalPutWithoutSync is what a write costs besides the disk.
func BenchmarkConditionalPutWithoutSync(b *testing.B) {
	overSizes(b, func(b *testing.B, table *bolt.Table, n int) {
		if err := table.Write(b.Context(), store.Put(benchItem(n), store.VersionIs(0))); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkConditionalPut waits for the disk, as a server does.
func BenchmarkConditionalPut(b *testing.B) {
	table := open(b, filepath.Join(b.TempDir(), "store.db")).Table("t")
	n := 0
	for b.Loop() {
		n++
		if err := table.Write(b.Context(), store.Put(benchItem(n), store.Absent())); err != nil {
			b.Fatal(err)
		}
	}
}
