package inboxstore

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

const (
	maxTries = 64 // how often a change is begun anew because another came first
	maxPause = 20 * time.Millisecond
)

// errAnew: another change came first, and nothing was written. It never leaves
// the package.
var errAnew = errors.New("inboxstore: another change came first")

// anew calls change until no other one comes between what it reads and what it
// writes, as [along] and turns find out.
func anew(ctx context.Context, change func() error) error {
	for n := range maxTries {
		if err := change(); !errors.Is(err, errAnew) {
			return err
		}
		select {
		case <-time.After(mathrand.N(min(time.Duration(n+1)*time.Millisecond, maxPause))):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return inbox.Errorf(inbox.CodeUnavailable, "", "Others are changing this workspace now. Nothing was changed. Try again later.")
}

// inTurn is [anew] for changes of which records a workspace has, and of which of
// them refer to others. They take turns, by writing turn: each is made on what
// it read while no other was. So the limits of a workspace hold, and nothing
// comes to refer to what is being deleted, however many change things at once.
func (db *DB) inTurn(ctx context.Context, ws access.WorkspaceID, change func(turn Change) error) error {
	return anew(ctx, func() error {
		turn, err := db.turn(ctx, ws)
		if err != nil {
			return err
		}
		return change(turn)
	})
}

// turn is the change that makes the next turn of a workspace this one.
func (db *DB) turn(ctx context.Context, ws access.WorkspaceID) (Change, error) {
	next, free := store.Item{Key: space(ws).turns(), Version: 1}, store.Absent()
	last, err := db.get(ctx, next.Key)
	switch {
	case err == nil:
		next.Version, free = last.Version+1, store.VersionIs(last.Version)
	case !errors.Is(err, store.ErrNotFound):
		return nil, unavailable(err)
	}
	next.Value = []byte(rand.Text()) // a turn is only ever like itself
	return func(t *transaction) error {
		t.add(store.Put(next, free), errAnew)
		return nil
	}, nil
}

// along are changes that are begun [anew] when a record is not as it was read any
// more: those that come with another one, and those of a record of which parts
// move by themselves.
func along(changes ...Change) Change {
	return func(t *transaction) error {
		first := len(t.ops)
		for _, change := range changes {
			if err := change(t); err != nil {
				return err
			}
		}
		for i := range t.refusals[first:] {
			t.refusals[first+i] = errAnew
		}
		return nil
	}
}

// How many records can change along with one that is deleted, and their bytes,
// so that all is one transaction.
const (
	maxAlong      = 40
	maxAlongBytes = store.MaxTransactionBytes * 3 / 8
)

// tooMany reports whether records are too many to change along.
func tooMany[T Record](found []Stored[T]) bool {
	bytes := 0
	for _, f := range found {
		bytes += f.size
	}
	return len(found) > maxAlong || bytes > maxAlongBytes
}

// present makes sure that the record that a field refers to exists.
func present[T Record](field string, id inbox.ID) Change {
	return func(t *transaction) error {
		f := familyOf[T]()
		missing := inbox.Errorf(inbox.CodeNotFound, field, "There is no such %s in this workspace. Nothing was changed.", f.noun)
		if !id.Valid() {
			return missing
		}
		t.add(store.Check(store.Key{Partition: t.space.records(f.name, ""), Sort: string(id)}, store.Present()), missing)
		return nil
	}
}

// room makes sure that a workspace may have one more record, of most in all.
func room[T Record](ctx context.Context, db *DB, ws access.WorkspaceID, most int) error {
	f := familyOf[T]()
	there, err := atMost[T](ctx, db, space(ws).records(f.name, ""), most)
	if err == nil && len(there) == most {
		err = inbox.Errorf(inbox.CodeLimit, "", "A workspace has at most %d %s. Nothing was changed.", most, f.name)
	}
	return err
}

// bound returns the records, at most, that have a value in the named index.
func bound[T Record](ctx context.Context, db *DB, ws access.WorkspaceID, index string, value inbox.ID, most int) ([]Stored[T], error) {
	return atMost[T](ctx, db, space(ws).listed(familyOf[T]().name, "", index, string(value)), most)
}

// atMost reads the records of a partition, as many at most.
func atMost[T Record](ctx context.Context, db *DB, partition string, most int) ([]Stored[T], error) {
	var found []Stored[T]
	for item, err := range db.items(ctx, store.Query{Partition: partition, Limit: most}) {
		if err != nil {
			return nil, failure(err, familyOf[T]().noun, "")
		}
		r, err := decode[T](item)
		if err != nil {
			return nil, err
		}
		if found = append(found, r); len(found) == most {
			break
		}
	}
	return found, nil
}
