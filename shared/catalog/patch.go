package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// What an argument does to the field of a record that it is for: absent, it
// leaves the field alone; null clears it, where there is a null.

// setText sets a field to a text that was given.
func setText[T ~string](a Args, name string, field *T) {
	if a.Has(name) {
		*field = T(a.String(name))
	}
}

// set sets a field to an argument that was given, as get reads it.
func set[T any](a Args, name string, field *T, get func(Args, string) T) {
	if a.Has(name) {
		*field = get(a, name)
	}
}

// setNullable is set for a field that null clears.
func setNullable[T any](a Args, name string, field **T, get func(Args, string) T) {
	switch {
	case a.IsNull(name):
		*field = nil
	case a.Has(name):
		*field = new(get(a, name))
	}
}

// setRef sets a field to the id of the record that an argument names by its id
// or external_id.
func setRef[T any](ctx context.Context, c *Call, name string, field **inbox.ID,
	find func(ctx context.Context, ws access.WorkspaceID, ref string) (T, error), id func(T) inbox.ID) error {
	ref := c.Args.String(name)
	if ref == "" { // absent or null
		setNullable(c.Args, name, field, nil)
		return nil
	}
	found, err := find(ctx, c.workspace(), ref)
	*field = new(id(found))
	return about(name, err)
}

// about makes a not_found name the argument at fault.
func about(argument string, err error) error {
	if e, ok := errors.AsType[*inbox.Error](err); ok && e.Code == inbox.CodeNotFound {
		return &inbox.Error{Code: e.Code, Field: argument, Message: e.Message, Err: e.Err}
	}
	return err
}

// expectedField keeps people who edit one record from undoing each other's work.
func expectedField() Field {
	return Field{Name: "expected_updated_at", Kind: Instant, Description: "updated_at as last read: conflict if it changed since"}
}

// expect compares expected_updated_at, if it was given, with a record's.
func (c *Call) expect(noun string, updated time.Time) error {
	const name = "expected_updated_at"
	if !c.Args.Has(name) || c.Args.Start(name).Equal(updated) {
		return nil
	}
	return inbox.Errorf(inbox.CodeConflict, name, "The %s was last changed at %s, not at %s. Nothing was changed. Read it again and decide anew.",
		noun, updated.UTC().Format(time.RFC3339Nano), name)
}
