package bolt

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"

	"go.etcd.io/bbolt"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Top-level buckets of a table, each followed by its name: the items by
// [itemKey], and an empty value by [expiryKey] for each item that expires.
const (
	itemsBucket  = "items/"
	expiryBucket = "expiry/"
)

// Table is a [store.Table] in a [DB].
type Table struct {
	db   *DB
	name string
}

var _ store.Table = (*Table)(nil)

// Table returns the table of that name. It comes to be with its first item.
func (db *DB) Table(name string) *Table { return &Table{db: db, name: name} }

// Get implements [store.Table].
func (t *Table) Get(ctx context.Context, k store.Key) (store.Item, error) {
	if err := k.Validate(); err != nil {
		return store.Item{}, err
	}
	var item *store.Item
	err := t.db.view(ctx, func(tx *bbolt.Tx) (err error) {
		item, err = load(tx.Bucket([]byte(itemsBucket+t.name)), k)
		return err
	})
	if err != nil {
		return store.Item{}, err
	}
	if item == nil {
		return store.Item{}, store.ErrNotFound
	}
	return *item, nil
}

// load returns the item at k of a bucket of items, or nil if there is none.
func load(items *bbolt.Bucket, k store.Key) (*store.Item, error) {
	if items == nil {
		return nil, nil
	}
	raw := items.Get(itemKey(k))
	if raw == nil {
		return nil, nil
	}
	item, err := decode(k, raw)
	if err != nil {
		return nil, err
	}
	return &item, nil
}

// Query implements [store.Table]. It reads as much as it returns, however
// many items the table or the partition holds.
func (t *Table) Query(ctx context.Context, q store.Query) (store.Page, error) {
	if err := q.Validate(); err != nil {
		return store.Page{}, err
	}
	var page store.Page
	err := t.db.view(ctx, func(tx *bbolt.Tx) error {
		items := tx.Bucket([]byte(itemsBucket + t.name))
		if items == nil {
			return nil
		}
		size := 0
		for key, raw := range scan(items.Cursor(), q) {
			item, err := decode(store.Key{Partition: q.Partition, Sort: sortOf(q.Partition, key)}, raw)
			if err != nil {
				return err
			}
			if size += item.Size(); size > store.MaxPageBytes {
				page.Next = page.Items[len(page.Items)-1].Sort
				return nil
			}
			page.Items = append(page.Items, item)
			if len(page.Items) == q.Limit {
				page.Next = item.Sort // like DynamoDB, without a look at what follows
				return nil
			}
		}
		return nil
	})
	if err != nil {
		return store.Page{}, err
	}
	return page, nil
}

// scan yields the stored keys and values that q is about, in its direction.
func scan(c *bbolt.Cursor, q store.Query) iter.Seq2[[]byte, []byte] {
	from, to := q.Range()
	if to == "" {
		to = "\xff" // above all UTF-8
	}
	low := itemKey(store.Key{Partition: q.Partition, Sort: from})
	high := itemKey(store.Key{Partition: q.Partition, Sort: to})
	return func(yield func([]byte, []byte) bool) {
		if q.Backward {
			step := c.Prev
			if above, _ := c.Seek(high); above == nil {
				step = c.Last
			}
			k, v := step()
			for k != nil && bytes.Compare(k, low) >= 0 && yield(k, v) {
				k, v = c.Prev()
			}
			return
		}
		k, v := c.Seek(low)
		for k != nil && bytes.Compare(k, high) < 0 && yield(k, v) {
			k, v = c.Next()
		}
	}
}

// Write implements [store.Table].
func (t *Table) Write(ctx context.Context, ops ...store.Op) error {
	if err := store.ValidateOps(ops); err != nil {
		return err
	}
	if len(ops) == 0 {
		return ctx.Err()
	}
	return t.db.update(ctx, func(tx *bbolt.Tx) error {
		items, err := tx.CreateBucketIfNotExists([]byte(itemsBucket + t.name))
		if err != nil {
			return err
		}
		expiry, err := tx.CreateBucketIfNotExists([]byte(expiryBucket + t.name))
		if err != nil {
			return err
		}
		for n, op := range ops {
			old, err := load(items, op.Item.Key)
			if err != nil {
				return err
			}
			if !op.If.Holds(old) {
				return &store.ConditionError{Op: n, Old: old}
			}
			if err := apply(items, expiry, old, op); err != nil {
				return err
			}
		}
		return nil
	})
}

// apply does op where old is stored, nil for nothing.
func apply(items, expiry *bbolt.Bucket, old *store.Item, op store.Op) error {
	switch op.Action {
	case store.ActionPut:
		return replace(items, expiry, old, &op.Item)
	case store.ActionDelete:
		return replace(items, expiry, old, nil)
	case store.ActionAdd:
		item, err := added(old, op.Item)
		if err != nil {
			return err
		}
		return replace(items, expiry, old, &item)
	}
	return nil
}

// replace puts item in the place of old, either nil for nothing, in both
// buckets.
func replace(items, expiry *bbolt.Bucket, old, item *store.Item) error {
	if old != nil && !old.Expires.IsZero() {
		if err := expiry.Delete(expiryKey(*old)); err != nil {
			return err
		}
	}
	if item == nil {
		if old == nil {
			return nil
		}
		return items.Delete(itemKey(old.Key))
	}
	if !item.Expires.IsZero() {
		if err := expiry.Put(expiryKey(*item), nil); err != nil {
			return err
		}
	}
	return items.Put(itemKey(item.Key), encode(*item))
}

// added returns old with the counts and the expiry of a [store.Add].
func added(old *store.Item, add store.Item) (store.Item, error) {
	item := store.Item{Key: add.Key}
	if old != nil {
		item = *old
	}
	counts := maps.Clone(item.Counts)
	if counts == nil {
		counts = make(map[string]int64, len(add.Counts))
	}
	for name, n := range add.Counts {
		sum := counts[name] + n
		if (sum > counts[name]) != (n > 0) {
			return store.Item{}, fmt.Errorf("%w: count %q overflows", store.ErrLimit, name)
		}
		counts[name] = sum
	}
	item.Counts = counts
	if !add.Expires.IsZero() {
		item.Expires = add.Expires
	}
	if size := item.Size(); size > store.MaxItemBytes {
		return store.Item{}, fmt.Errorf("%w: item of %d bytes", store.ErrLimit, size)
	}
	return item, nil
}
