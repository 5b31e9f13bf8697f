package bolt

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func expiring(sort string, at time.Time) store.Item {
	return store.Item{Key: store.Key{Partition: "p", Sort: sort}, Expires: at}
}

func write(t *testing.T, table *Table, ops ...store.Op) {
	t.Helper()
	if err := table.Write(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
}

// holds returns the sort keys of the items, and the number of entries in the
// expiry index.
func holds(t *testing.T, table *Table) (sorts []string, indexed int) {
	t.Helper()
	page, err := table.Query(t.Context(), store.Query{Partition: "p"})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range page.Items {
		sorts = append(sorts, i.Sort)
	}
	err = table.db.view(t.Context(), func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(expiryBucket + table.name)).ForEach(func(_, _ []byte) error {
			indexed++
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return sorts, indexed
}

func sweep(t *testing.T, db *DB, now time.Time) int {
	t.Helper()
	removed, err := db.Sweep(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	return removed
}

func TestSweepRemovesWhatExpiredLongAgo(t *testing.T) {
	db := temp(t)
	now := time.Unix(1_800_000_000, 0)
	due := now.Add(-SweepAfter)
	one, two := db.Table("one"), db.Table("two")
	if n := sweep(t, db, now); n != 0 {
		t.Errorf("removed %d of nothing", n)
	}
	write(t, one, store.Put(expiring("before 1970", time.Unix(-5, 0))), store.Put(expiring("due", due.Add(-time.Second))),
		store.Put(expiring("not yet", due)), store.Put(expiring("expired", now)), store.Put(expiring("never", time.Time{})))
	write(t, two, store.Put(expiring("due", due.Add(-time.Hour))))
	if n := sweep(t, db, now); n != 3 {
		t.Errorf("removed %d, want 3", n)
	}
	if sorts, indexed := holds(t, one); fmt.Sprint(sorts) != "[expired never not yet]" || indexed != 2 {
		t.Errorf("one holds %v, %d indexed", sorts, indexed)
	}
	if sorts, indexed := holds(t, two); sorts != nil || indexed != 0 {
		t.Errorf("two holds %v, %d indexed", sorts, indexed)
	}
	if n := sweep(t, db, now); n != 0 {
		t.Errorf("removed %d the second time", n)
	}
}

func TestSweepGoesByTheExpiryThatStands(t *testing.T) {
	old, now := time.Unix(1_000_000_000, 0), time.Unix(1_800_000_000, 0)
	k := expiring("a", old).Key
	cases := []struct {
		name    string
		then    store.Op
		removed int
	}{
		{"put later", store.Put(expiring("a", now)), 0},
		{"put without", store.Put(expiring("a", time.Time{})), 0},
		{"put earlier", store.Put(expiring("a", old.Add(-time.Hour))), 1},
		{"put the same", store.Put(expiring("a", old)), 1},
		{"deleted", store.Delete(k), 0},
		{"added later", store.Add(k, nil, now), 0},
		{"added without", store.Add(k, nil, time.Time{}), 1},
		{"checked", store.Check(k, store.Present()), 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			db := temp(t)
			write(t, db.Table("t"), store.Put(expiring("a", old)))
			write(t, db.Table("t"), c.then)
			if n := sweep(t, db, now); n != c.removed {
				t.Errorf("removed %d, want %d", n, c.removed)
			}
			sorts, indexed := holds(t, db.Table("t"))
			item, _ := db.Table("t").Get(t.Context(), k)
			if wantIndexed := len(sorts); item.Expires.IsZero() && indexed != 0 || !item.Expires.IsZero() && indexed != wantIndexed {
				t.Errorf("holds %v, %d indexed", sorts, indexed)
			}
		})
	}
}

func TestSweepWorksInBatches(t *testing.T) {
	db := temp(t)
	const items = 2*sweepBatch + 7
	for n := range items {
		write(t, db.Table("t"), store.Put(expiring(fmt.Sprintf("%04d", n), time.Unix(int64(n), 0))))
	}
	now := time.Unix(1_800_000_000, 0)
	if n, err := db.Table("t").sweep(t.Context(), now); n != sweepBatch || err != nil {
		t.Errorf("a batch removed %d, %v", n, err)
	}
	if sorts, _ := holds(t, db.Table("t")); sorts[0] != fmt.Sprintf("%04d", sweepBatch) {
		t.Errorf("a batch left %s first, want the oldest gone", sorts[0])
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := db.Sweep(ctx, now); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Sweep of an ended context = %d, %v", n, err)
	}
	if n := sweep(t, db, now); n != items-sweepBatch {
		t.Errorf("removed %d", n)
	}
}
