package inboxstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Current reads a record of a workspace again, to change it. Unless it is as it
// was, but for what moves by itself, it is a conflict and [inbox.ErrChanged].
// A change of what it returns is conditioned on exactly this state, so that
// none of two people's changes is lost.
func Current[T Mutable](ctx context.Context, db *DB, ws access.WorkspaceID, was T) (Stored[T], error) {
	p, err := placeOf(space(ws), &was)
	if err != nil { // of another workspace, or no record at all
		return Stored[T]{}, failure(store.ErrNotFound, familyOf[T]().noun, "id")
	}
	item, err := db.get(ctx, p.primary)
	if err != nil {
		return Stored[T]{}, failure(err, p.noun, "id")
	}
	found, err := decode[T](item)
	if err != nil {
		return found, err
	}
	same, err := sameState(found.Record, was)
	if err == nil && !same {
		err = changed(p.noun)
	}
	return found, err
}

// sameState compares two states of a record by their JSON.
func sameState[T Mutable](a, b T) (bool, error) {
	if still := familyOf[T]().still; still != nil {
		still(&a)
		still(&b)
	}
	x, err := encode(a)
	if err != nil {
		return false, fmt.Errorf("inboxstore: %w", err)
	}
	y, err := encode(b)
	if err != nil {
		return false, fmt.Errorf("inboxstore: %w", err)
	}
	return bytes.Equal(x, y), nil
}

// newRecord returns what a new record begins with: its id, its external_id,
// which is the id unless one is given, and the time.
func (db *DB) newRecord(externalID *string) (inbox.ID, *string, time.Time, error) {
	now := db.now()
	id := inbox.NewID(now)
	if externalID == nil {
		return id, new(string(id)), now, nil
	}
	return id, new(strings.ToLower(*externalID)), now, inbox.CheckExternalID(*externalID)
}

// later is the time of a change of what was changed at t before: now, but
// never the same, so that no two states of a record look alike.
func (db *DB) later(t time.Time) time.Time {
	now := db.now()
	if !now.After(t) {
		now = t.Add(time.Millisecond)
	}
	return now
}

// written returns a record as reading it will give it, if writing it succeeded.
func written[T Record](r T, err error) (T, error) {
	if err == nil {
		_, err = settle(&r)
	}
	if err != nil {
		return *new(T), err
	}
	return r, nil
}
