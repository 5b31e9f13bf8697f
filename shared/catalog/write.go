package catalog

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Plan is what a call of a writing tool is about to do, judged by the records
// as they stand: it could run now.
type Plan struct {
	// Targets, Cascades and Notes are what a person is shown of it.
	Targets  []confirm.Target
	Cascades []confirm.Cascade
	Notes    []confirm.Text
	// Workspace is the one it works in; nil: the caller's.
	Workspace *inbox.Workspace
	// Do carries it out. When a record is not any more as the plan has it, it
	// does nothing and returns a conflict that [inbox.ErrChanged] matches.
	Do func(ctx context.Context, by inbox.Actor) (Output, error)
	// Done is the answer when all is already as it was asked for: there is
	// nothing to do then, and nobody is asked.
	Done *Output
}

// maxTries is how often a write is tried while its records keep changing.
const maxTries = 3

// write runs a tool that asks nobody. What changed in the meantime is read and
// judged again; an expected_updated_at then no longer holds.
func write(ctx context.Context, t *Tool, call *Call, by inbox.Actor) (out Output, err error) {
	for range maxTries {
		plan, err := t.Plan(ctx, call)
		if err != nil {
			return Output{}, err
		}
		if plan.Done != nil {
			return *plan.Done, nil
		}
		if plan.Workspace != nil {
			by.Workspace = plan.Workspace.ID
		}
		out, err = plan.Do(ctx, by)
		if !errors.Is(err, inbox.ErrChanged) {
			return out, begun(err)
		}
	}
	return Output{}, inbox.Errorf(inbox.CodeConflict, "", "The record keeps changing. Nothing was changed by this call. Try again later.")
}

// writing returns the context that a write runs in. A client that hangs up does
// not stop it halfway, nor with a yes spent for nothing; the request's deadline
// does.
func (c *Catalog) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	end := time.Now().Add(c.opts.Timeout)
	if at, ok := ctx.Deadline(); ok && at.Before(end) {
		end = at
	}
	return context.WithDeadline(context.WithoutCancel(ctx), end)
}

// begunError is the error of a write that had begun: nobody knows what was
// done, and the writer leaves the system event of it.
type begunError struct{ error }

func (e begunError) Unwrap() error { return e.error }

// begun is the error of a write. A refusal comes before anything begins.
func begun(err error) error {
	if err == nil {
		return nil
	}
	switch inbox.CodeOf(err) {
	case inbox.CodeInvalid, inbox.CodeNotFound, inbox.CodeConflict, inbox.CodeLimit:
		return err
	}
	return begunError{err}
}

// digest is the digest of a call's arguments, by the key in force.
func (c *Catalog) digest(ctx context.Context, t *Tool, args jsontext.Value) (string, error) {
	if c.opts.AuditKey == nil {
		return "", nil
	}
	key, err := c.opts.AuditKey(ctx)
	if err != nil {
		c.opts.Log.ErrorContext(ctx, "audit key unavailable", "tool", t.Name, "cause", err)
		return "", inbox.Errorf(inbox.CodeUnavailable, "", "What this call does cannot be recorded now. Nothing was changed. Try again later.")
	}
	return digest(key, t.Input, args)
}

// digest is the keyed digest of a call's arguments for the audit: HMAC-SHA256
// of their canonical form (RFC 8785), without secret fields. Without a key
// there is none: whoever can guess arguments could tell which they were.
func digest(key []byte, fs Fields, args jsontext.Value) (string, error) {
	if len(key) == 0 {
		return "", nil
	}
	var open map[string]jsontext.Value
	if err := json.Unmarshal(args, &open); err != nil {
		return "", err
	}
	for _, name := range fs.secrets() {
		delete(open, name)
	}
	b, err := json.Marshal(open)
	if err != nil {
		return "", err
	}
	if b, err = confirm.Canonical(b); err != nil {
		return "", err
	}
	h := hmac.New(sha256.New, key)
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// create plans to make a record of a draft.
func create[T any](draft T, write func(ctx context.Context, by inbox.Actor, draft T) (T, error)) Plan {
	return Plan{Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
		return show(write(ctx, by, draft))
	}}
}

// change plans to change a record from was to now.
func change[T any](target confirm.Target, was, now T, write func(ctx context.Context, by inbox.Actor, was, now T) (T, error)) Plan {
	return Plan{Targets: []confirm.Target{target}, Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
		return show(write(ctx, by, was, now))
	}}
}

// update is change, unless the two look the same.
func update[T any](target confirm.Target, was, now T, write func(ctx context.Context, by inbox.Actor, was, now T) (T, error)) (Plan, error) {
	before, err := show(was, nil)
	if err != nil {
		return Plan{}, err
	}
	after, err := show(now, nil)
	if err == nil && bytes.Equal(before.JSON, after.JSON) {
		return Plan{Done: &before}, nil
	}
	return change(target, was, now, write), err
}

// remove plans to delete a record.
func remove[T any](target confirm.Target, was T, write func(ctx context.Context, by inbox.Actor, was T) error) Plan {
	type deleted struct {
		ID      string `json:"id"`
		Deleted bool   `json:"deleted"`
	}
	return Plan{Targets: []confirm.Target{target}, Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
		return show(deleted{target.ID, true}, write(ctx, by, was))
	}}
}
