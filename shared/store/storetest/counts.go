package storetest

import (
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func countRules() []rule {
	second := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	return []rule{
		{"Add creates the item, with no Value and Version 0", func(t *testing.T, table store.Table) {
			counts := map[string]int64{"emails": 1, "cost": -20, "nothing": 0}
			write(t, table, store.Add(key("a"), counts, second))
			wantItem(t, table, store.Item{Key: key("a"), Counts: counts, Expires: second})
		}},
		{"Add without counts creates an empty item, or changes nothing", func(t *testing.T, table store.Table) {
			nothing := []store.Op{store.Add(key("a"), nil, time.Time{}), store.Add(key("b"), nil, time.Time{}), store.Add(key("c"), nil, time.Time{})}
			write(t, table, store.Put(full("c")))
			write(t, table, nothing[0])
			write(t, table, nothing...)
			write(t, table, nothing[2])
			wantItem(t, table, store.Item{Key: key("a")})
			wantItem(t, table, store.Item{Key: key("b")})
			wantItem(t, table, full("c"))
		}},
		{"Add changes its counts and keeps the rest", func(t *testing.T, table store.Table) {
			want := item("a", "kept")
			want.Version, want.Expires = 9, second
			want.Counts = map[string]int64{"x": 1, "y": 2}
			write(t, table, store.Put(want))
			write(t, table, store.Add(key("a"), map[string]int64{"y": 40, "z": -1}, time.Time{}))
			want.Counts = map[string]int64{"x": 1, "y": 42, "z": -1}
			wantItem(t, table, want)
		}},
		{"Add sets Expires when given", func(t *testing.T, table store.Table) {
			i := item("a", "kept")
			i.Expires = second.Add(-time.Hour)
			write(t, table, store.Put(i))
			write(t, table, store.Add(key("a"), map[string]int64{"n": 1}, second))
			i.Expires, i.Counts = second, map[string]int64{"n": 1}
			wantItem(t, table, i)
		}},
		{"Add counts on in an expired item", func(t *testing.T, table store.Table) {
			i := item("a", "")
			i.Expires, i.Counts = time.Now().Add(-time.Hour).Truncate(time.Second).UTC(), map[string]int64{"n": 1}
			write(t, table, store.Put(i))
			write(t, table, store.Add(key("a"), map[string]int64{"n": 1}, time.Time{}))
			i.Counts["n"] = 2
			wantItem(t, table, i)
		}},
		{"Put replaces the counts", func(t *testing.T, table store.Table) {
			write(t, table, store.Add(key("a"), map[string]int64{"x": 1, "y": 1}, time.Time{}))
			i := item("a", "")
			i.Counts = map[string]int64{"y": 7}
			write(t, table, store.Put(i))
			wantItem(t, table, i)
		}},
		{"names of counts are any UTF-8", func(t *testing.T, table store.Table) {
			counts := map[string]int64{"a.b": 1, "#n": 2, ":n": 3, "ção": 4, " ": 5, "size": 6, "pk": 7, "Value": 8}
			write(t, table, store.Add(key("a"), counts, time.Time{}))
			wantItem(t, table, store.Item{Key: key("a"), Counts: counts})
		}},
	}
}
