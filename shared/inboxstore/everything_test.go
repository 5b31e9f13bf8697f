package inboxstore

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// witness is a table that knows every key that was ever written.
type witness struct {
	store.Table
	mu   sync.Mutex
	keys map[store.Key]bool
}

func (w *witness) Write(ctx context.Context, ops ...store.Op) error {
	w.mu.Lock()
	for _, op := range ops {
		w.keys[op.Item.Key] = true
	}
	w.mu.Unlock()
	return w.Table.Write(ctx, ops...)
}

// everything is all that the table holds.
func (w *world) everything(t testing.TB) map[store.Key]store.Item {
	t.Helper()
	w.witness.mu.Lock()
	keys := maps.Clone(w.witness.keys)
	w.witness.mu.Unlock()
	all := map[store.Key]store.Item{}
	for k := range keys {
		item, err := w.witness.Table.Get(context.Background(), k)
		if err == nil {
			all[k] = item
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	return all
}

// wantNothingChanged fails unless the table holds what it held.
func (w *world) wantNothingChanged(t testing.TB, before map[store.Key]store.Item) {
	t.Helper()
	after := w.everything(t)
	for k := range maps.Keys(before) {
		if _, ok := after[k]; !ok {
			t.Errorf("%v is gone", k)
		}
	}
	for k, item := range after {
		if !reflect.DeepEqual(before[k], item) {
			t.Errorf("%v was %q, and is %q", k, before[k].Value, item.Value)
		}
	}
}

// holds reports whether ops have happened, all or none of them; it fails when
// only some have.
func (w *world) holds(t testing.TB, ops []store.Op) bool {
	t.Helper()
	all, have := w.everything(t), 0
	for _, op := range ops {
		item, there := all[op.Item.Key]
		switch op.Action {
		case store.ActionPut:
			if there && string(item.Value) == string(op.Item.Value) && item.Version == op.Item.Version {
				have++
			}
		case store.ActionDelete:
			if !there {
				have++
			}
		default:
			have++
		}
	}
	if have != 0 && have != len(ops) {
		t.Errorf("%d of %d ops have happened", have, len(ops))
	}
	return have == len(ops)
}
