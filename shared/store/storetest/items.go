package storetest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// full is an item with every field set.
func full(sort string) store.Item {
	i := item(sort, "value\x00\xff")
	i.Version = math.MaxInt64
	i.Counts = map[string]int64{"a": math.MaxInt64, "contagem é": math.MinInt64, "zero": 0}
	i.Expires = time.Date(2026, 12, 2, 10, 0, 0, 0, time.UTC)
	return i
}

func itemRules() []rule {
	return []rule{
		{"a put item is read as it was", func(t *testing.T, table store.Table) {
			bare := store.Item{Key: key("bare")}
			negative := store.Item{Key: key("negative"), Version: math.MinInt64}
			write(t, table, store.Put(full("full")))
			write(t, table, store.Put(bare), store.Put(negative))
			wantItem(t, table, full("full"))
			wantItem(t, table, bare)
			wantItem(t, table, negative)
			if diff := diff([]store.Item{bare, full("full"), negative}, query(t, table, store.Query{Partition: "p"}).Items); diff != "" {
				t.Errorf("Query (-want +got):\n%s", diff)
			}
		}},
		{"what is not there is ErrNotFound, or an empty page", func(t *testing.T, table store.Table) {
			wantNone(t, table, key("a"))
			wantSorts(t, table, store.Query{Partition: "p"})
			write(t, table, store.Put(item("a", "")))
			wantNone(t, table, key("b"), store.Key{Partition: "q", Sort: "a"}, key("A"), key("a\x00"))
			wantSorts(t, table, store.Query{Partition: "q"})
		}},
		{"Put replaces the item whole, Counts and Expires too", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(full("a")))
			write(t, table, store.Put(item("a", "new")))
			wantItem(t, table, item("a", "new"))
		}},
		{"Delete removes, and does not mind an absent item", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(full("a")), store.Put(item("b", "")))
			write(t, table, store.Delete(key("a")))
			write(t, table, store.Delete(key("a")))
			wantNone(t, table, key("a"))
			wantSorts(t, table, store.Query{Partition: "p"}, "b")
		}},
		{"Expires has whole seconds, rounded down, in UTC", func(t *testing.T, table store.Table) {
			second := time.Date(2026, 12, 2, 10, 0, 0, 0, time.UTC)
			i := item("a", "")
			i.Expires = second.Add(time.Second - 1).In(time.FixedZone("BRT", -3*60*60))
			write(t, table, store.Put(i))
			i.Expires = second
			wantItem(t, table, i)
			got, _ := table.Get(t.Context(), i.Key)
			if got.Expires.Location() != time.UTC {
				t.Errorf("Expires is in %v", got.Expires.Location())
			}
		}},
		{"TTL read rule: an expired item is given until it is deleted", func(t *testing.T, table store.Table) {
			now := time.Now().Truncate(time.Second).UTC()
			cases := []struct {
				sort    string
				expires time.Time
				expired bool
			}{
				{"a second ago", now.Add(-time.Second), true},
				{"exactly now", now, true},
				{"in a second", now.Add(time.Second), false},
				{"never", time.Time{}, false},
			}
			for n, c := range cases {
				i := item(c.sort, "v")
				i.Expires = c.expires
				write(t, table, store.Put(i))
				wantItem(t, table, i)
				items := query(t, table, store.Query{Partition: "p", Prefix: c.sort}).Items
				if len(items) != 1 || items[0].Expired(now) != c.expired {
					t.Errorf("case %d, %s: %+v, want Expired %t", n, c.sort, items, c.expired)
				}
			}
		}},
		{"what goes in and comes out is copied", func(t *testing.T, table store.Table) {
			i := full("a")
			i.Value = bytes.Repeat([]byte("v"), 10_000) // too large for a page of a file
			want := clone(i)
			write(t, table, store.Put(i))
			i.Value[0], i.Counts["a"] = 'X', 0
			got, _ := table.Get(t.Context(), i.Key)
			got.Value[0], got.Counts["a"] = 'Y', 1
			page := query(t, table, store.Query{Partition: "p"})
			page.Items[0].Value[0], page.Items[0].Counts["a"] = 'Z', 2
			wantItem(t, table, want)

			counts := map[string]int64{"n": 1}
			write(t, table, store.Add(key("b"), counts, time.Time{}))
			counts["n"] = 7
			wantItem(t, table, store.Item{Key: key("b"), Counts: map[string]int64{"n": 1}})
		}},
		{"no op at all is no error", func(t *testing.T, table store.Table) {
			write(t, table)
		}},
		{"a context that ended stops the call before it does anything", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(item("a", "old")))
			cancelled, cancel := context.WithCancel(t.Context())
			cancel()
			late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
			defer cancel()
			for ctx, want := range map[context.Context]error{cancelled: context.Canceled, late: context.DeadlineExceeded} {
				if _, err := table.Get(ctx, key("a")); !errors.Is(err, want) {
					t.Errorf("Get = %v, want %v", err, want)
				}
				if _, err := table.Query(ctx, store.Query{Partition: "p"}); !errors.Is(err, want) {
					t.Errorf("Query = %v, want %v", err, want)
				}
				if err := table.Write(ctx, store.Put(item("a", "new"))); !errors.Is(err, want) {
					t.Errorf("Write = %v, want %v", err, want)
				}
				if err := table.Write(ctx, store.Put(item("a", "new")), store.Put(item("b", "new"))); !errors.Is(err, want) {
					t.Errorf("Write of a transaction = %v, want %v", err, want)
				}
			}
			wantItem(t, table, item("a", "old"))
			wantNone(t, table, key("b"))
		}},
	}
}
