package bolt

import (
	"bytes"
	"context"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// SweepAfter is how long an expired item stays before [DB.Sweep] removes it:
// long enough that a reader who takes "not deleted" for "not expired" fails
// here as well as in DynamoDB, where it can take days.
const SweepAfter = 24 * time.Hour

// sweepBatch is the most items that one transaction of a sweep removes, so
// that writes get their turn in between.
const sweepBatch = 100

// Sweep removes the items of all tables that expired more than [SweepAfter]
// before now, and returns how many. It looks at nothing else, so it costs
// little when there are none. DynamoDB does this by itself.
func (db *DB) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	names, err := db.tableNames(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		for {
			n, err := db.Table(name).sweep(ctx, now.Add(-SweepAfter))
			removed += n
			if err != nil {
				return removed, err
			}
			if n == 0 {
				break
			}
		}
	}
	return removed, nil
}

func (db *DB) tableNames(ctx context.Context) (names []string, err error) {
	err = db.view(ctx, func(tx *bbolt.Tx) error {
		return tx.ForEach(func(bucket []byte, _ *bbolt.Bucket) error {
			if name, ok := strings.CutPrefix(string(bucket), expiryBucket); ok {
				names = append(names, name)
			}
			return nil
		})
	})
	return names, err
}

// sweep removes one batch of the items that expired before a time.
func (t *Table) sweep(ctx context.Context, before time.Time) (removed int, err error) {
	due, err := t.due(ctx, before)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	err = t.db.update(ctx, func(tx *bbolt.Tx) error {
		items, expiry := tx.Bucket([]byte(itemsBucket+t.name)), tx.Bucket([]byte(expiryBucket+t.name))
		for _, entry := range due {
			key, err := keyOf(entry[expirySize:])
			if err != nil {
				return err
			}
			item, err := load(items, key)
			if err != nil {
				return err
			}
			if item == nil || !bytes.Equal(expiryKey(*item), entry) {
				continue // written anew meanwhile
			}
			if err := replace(items, expiry, item, nil); err != nil {
				return err
			}
			removed++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// due returns the first expiry keys before a time, a batch at most.
func (t *Table) due(ctx context.Context, before time.Time) (due [][]byte, err error) {
	end := appendSeconds(nil, before)
	err = t.db.view(ctx, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(expiryBucket + t.name)).Cursor()
		for key, _ := c.First(); key != nil && len(due) < sweepBatch && bytes.Compare(key, end) < 0; key, _ = c.Next() {
			due = append(due, bytes.Clone(key))
		}
		return nil
	})
	return due, err
}
