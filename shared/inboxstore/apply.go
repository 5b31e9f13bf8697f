package inboxstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// ErrClaimed is what [DB.Apply] returns when the work of a [Claim] is somebody
// else's. Nothing was written.
var ErrClaimed = errors.New("inboxstore: already claimed")

// Change is one part of a transaction: see [DB.Apply].
type Change func(*transaction) error

// transaction gathers the ops of changes in one workspace.
type transaction struct {
	space     space
	retention time.Duration
	seal      func(k store.Key, value any) ([]byte, error)
	ops       []store.Op
	refusals  []error // for each op, what it means that its condition does not hold
	jobs      []Job   // that are left by it
}

// Apply carries out all changes in one workspace, or none: records of another
// workspace are refused. A name that is taken is a conflict that names the
// field; a record that changed since it was read is a conflict too, and
// [inbox.ErrChanged]. An insertion or a claim that meets itself, because a client
// repeated a write whose reply was lost, has happened and is no error.
func (db *DB) Apply(ctx context.Context, ws access.WorkspaceID, changes ...Change) error {
	t := &transaction{space: space(ws), retention: db.opts.Retention}
	t.seal = func(k store.Key, value any) ([]byte, error) { return db.seal(ctx, k, value) }
	for _, change := range changes {
		if err := change(t); err != nil {
			return err
		}
	}
	err := db.opts.Table.Write(ctx, t.ops...)
	if refused, ok := errors.AsType[*store.ConditionError](err); ok {
		if op := t.ops[refused.Op]; op.If != store.Absent() || refused.Old == nil || !bytes.Equal(op.Item.Value, refused.Old.Value) {
			return t.refusals[refused.Op]
		}
		err = nil // it met itself
	}
	switch {
	case err == nil:
		if len(t.jobs) > 0 {
			db.opts.Wake(context.WithoutCancel(ctx), t.jobs...)
		}
	case errors.Is(err, store.ErrLimit):
		return &inbox.Error{Code: inbox.CodeLimit, Message: "This is too large to be kept. Nothing was changed.", Err: err}
	case errors.Is(err, store.ErrUnavailable): // perhaps only the reply was lost
		return &inbox.Error{Code: inbox.CodeUnavailable, Message: "The change could not be confirmed. See whether it took effect before trying again.", Err: err}
	}
	return err
}

// Insert adds a new record. Its id, its external_id, an inbox's address and a
// secret's name must not be in use; all but a secret's name stay in use after
// the record is deleted.
func Insert[T Record](r T) Change {
	return func(t *transaction) error {
		value, err := settle(&r)
		if err != nil {
			return err
		}
		p, err := placeOf(t.space, &r)
		if err != nil {
			return err
		}
		taken := inbox.Errorf(inbox.CodeConflict, "id", "Another %s has this id. Nothing was changed.", p.noun)
		t.write(p, p.names, value, 1, store.Absent(), taken)
		return nil
	}
}

// Update replaces a record as it was read by another state of it.
func Update[T Mutable](old Stored[T], r T) Change {
	return func(t *transaction) error {
		before, err := placeOf(t.space, &old.Record)
		if err != nil {
			return err
		}
		value, err := settle(&r)
		if err != nil {
			return err
		}
		p, err := placeOf(t.space, &r)
		if err != nil {
			return err
		}
		if p.primary != before.primary {
			return fmt.Errorf("inboxstore: update of %v moves it to %v", before.primary, p.primary)
		}
		t.deleteAll(without(before.copies, p.copies))
		t.deleteAll(without(before.beside, p.beside))
		t.write(p, without(p.names, before.names), value, old.Version+1, store.VersionIs(old.Version), changed(p.noun))
		return nil
	}
}

// Delete takes a record away from its lists, with what is kept beside it. Of
// e-mails, runs, deliveries and secrets nothing stays; the others stay out of
// sight as a tombstone, which keeps their names from being used again.
func Delete[T Mutable](old Stored[T]) Change {
	return func(t *transaction) error {
		p, err := placeOf(t.space, &old.Record)
		if err != nil {
			return err
		}
		t.add(store.Delete(p.primary, store.VersionIs(old.Version)), changed(p.noun))
		t.deleteAll(p.copies)
		t.deleteAll(p.beside)
		if !p.tombstone {
			return nil
		}
		value, err := encode(old.Record)
		t.add(store.Put(store.Item{Key: t.space.deleted(p.family, p.id), Value: value, Version: old.Version}), nil)
		return err
	}
}

// Content keeps the headers and the body of an e-mail, cut to fit.
func Content(email inbox.ID, c inbox.EmailContent) Change {
	return func(t *transaction) error {
		value, err := encode(fit(c))
		t.add(store.Put(store.Item{Key: t.space.content(email), Value: value, Expires: t.expires(email)}), nil)
		return err
	}
}

// Claim makes sure that the named work is done once in a workspace: the
// transaction fails with [ErrClaimed] if it was claimed before. By is the
// record that stands for the work; the claim lasts as long as an e-mail.
func Claim(work string, by inbox.ID) Change { return claim(work, by, ErrClaimed) }

// claim is [Claim] with what a claim made before means.
func claim(work string, by inbox.ID, refusal error) Change {
	return func(t *transaction) error {
		t.add(store.Put(store.Item{Key: t.space.claim(work), Value: []byte(by), Expires: t.expires(by)}, store.Absent()), refusal)
		return nil
	}
}

// Release gives a claim back, so that the work can be claimed again.
func Release(work string) Change {
	return func(t *transaction) error {
		t.add(store.Delete(t.space.claim(work)), nil)
		return nil
	}
}

// Claimed returns which record stands for the named work; nobody having
// claimed it is a not_found.
func (db *DB) Claimed(ctx context.Context, ws access.WorkspaceID, work string) (by inbox.ID, err error) {
	item, err := db.get(ctx, space(ws).claim(work))
	return inbox.ID(item.Value), failure(err, "claim", "")
}

// settle turns a record into what reading it will give, so that it is listed
// by that, and returns its JSON.
func settle[T Record](r *T) ([]byte, error) {
	value, err := encode(r)
	if err != nil {
		return nil, fmt.Errorf("inboxstore: %w", err)
	}
	s, err := decode[T](store.Item{Value: value})
	*r = s.Record
	return value, err
}

// write puts a record and its copies, with names that it did not have before.
// The condition is the primary item's.
func (t *transaction) write(p place, names []name, value []byte, version int64, c store.Condition, refusal error) {
	for _, n := range names {
		t.add(store.Put(store.Item{Key: n.key, Value: []byte(string(p.id) + "#" + string(t.space))}, store.Absent()),
			inbox.Errorf(inbox.CodeConflict, n.field, "Another %s has this %s, or a deleted one had it. Nothing was changed.", p.noun, n.field))
	}
	item := store.Item{Key: p.primary, Value: value, Version: version}
	if p.retained {
		item.Expires = t.expires(p.id)
	}
	t.add(store.Put(item, c), refusal)
	for _, item.Key = range p.copies {
		t.add(store.Put(item), nil)
	}
}

func (t *transaction) deleteAll(keys []store.Key) {
	for _, k := range keys {
		t.add(store.Delete(k), nil)
	}
}

// add appends an op with what it means that its condition does not hold. Two
// additions to one item become one, as a transaction names a key once.
func (t *transaction) add(op store.Op, refusal error) {
	for i := range t.ops {
		if op.Action == store.ActionAdd && t.ops[i].Item.Key == op.Item.Key {
			for counter, n := range op.Item.Counts {
				t.ops[i].Item.Counts[counter] += n
			}
			return
		}
	}
	t.ops = append(t.ops, op)
	t.refusals = append(t.refusals, refusal)
}

// expires is when an e-mail of that id ends, or what has something of one in it.
func (t *transaction) expires(id inbox.ID) time.Time {
	if t.retention == 0 {
		return time.Time{}
	}
	return id.Time().Add(t.retention)
}

// changed is the conflict over a record that is not as it was read.
func changed(noun string) error {
	return &inbox.Error{
		Code:    inbox.CodeConflict,
		Message: fmt.Sprintf("The %s changed in the meantime. Nothing was done.", noun),
		Err:     inbox.ErrChanged,
	}
}

// without returns the elements of list that are not in other.
func without[E comparable](list, other []E) []E {
	return slices.DeleteFunc(slices.Clone(list), func(e E) bool { return slices.Contains(other, e) })
}
