package storetest

import (
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func conditionRules() []rule {
	stored := item("a", "old")
	stored.Version = 3
	expired := stored
	expired.Expires = time.Now().Add(-time.Hour).Truncate(time.Second).UTC()
	wanted := item("a", "new")

	// fails and holds try a condition with each action that takes one.
	fails := func(c store.Condition, old *store.Item) func(*testing.T, store.Table) {
		return func(t *testing.T, table store.Table) {
			if old != nil {
				write(t, table, store.Put(*old))
			}
			for _, op := range []store.Op{store.Put(wanted, c), store.Delete(wanted.Key, c), store.Check(wanted.Key, c)} {
				wantCondition(t, table, 0, old, op)
			}
			if old == nil {
				wantNone(t, table, wanted.Key)
			} else {
				wantItem(t, table, *old)
			}
		}
	}
	holds := func(c store.Condition, old *store.Item) func(*testing.T, store.Table) {
		return func(t *testing.T, table store.Table) {
			again := func() {
				if old == nil {
					write(t, table, store.Delete(wanted.Key))
				} else {
					write(t, table, store.Put(*old))
				}
			}
			again()
			write(t, table, store.Check(wanted.Key, c))
			write(t, table, store.Put(wanted, c))
			wantItem(t, table, wanted)
			again()
			write(t, table, store.Delete(wanted.Key, c))
			wantNone(t, table, wanted.Key)
		}
	}
	return []rule{
		{"Absent holds where nothing is stored", holds(store.Absent(), nil)},
		{"Absent fails on an item", fails(store.Absent(), &stored)},
		{"Absent fails on an expired item that is still stored", fails(store.Absent(), &expired)},
		{"Present holds on an item", holds(store.Present(), &stored)},
		{"Present holds on an expired item that is still stored", holds(store.Present(), &expired)},
		{"Present fails where nothing is stored", fails(store.Present(), nil)},
		{"VersionIs holds on that version", holds(store.VersionIs(3), &stored)},
		{"VersionIs holds on that version, expired", holds(store.VersionIs(3), &expired)},
		{"VersionIs fails on a lower version", fails(store.VersionIs(4), &stored)},
		{"VersionIs fails on a higher version", fails(store.VersionIs(2), &stored)},
		{"VersionIs 0 fails where nothing is stored", fails(store.VersionIs(0), nil)},
		{"VersionIs 0 holds on an item without a version", holds(store.VersionIs(0), &store.Item{Key: key("a")})},
		{"VersionIs 0 holds on an item that Add created", func(t *testing.T, table store.Table) {
			write(t, table, store.Add(key("a"), map[string]int64{"n": 1}, time.Time{}))
			wantCondition(t, table, 0, &store.Item{Key: key("a"), Counts: map[string]int64{"n": 1}}, store.Put(wanted, store.VersionIs(1)))
			write(t, table, store.Put(wanted, store.VersionIs(0)))
			wantItem(t, table, wanted)
		}},
	}
}
