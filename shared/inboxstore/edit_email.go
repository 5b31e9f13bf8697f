package inboxstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// erasedAtOnce is how many agent runs lose their output, or deliveries what they
// say, in one transaction.
const erasedAtOnce = 10

// erasure is the work that is left when the record of an e-mail is deleted:
// what cannot be in the transaction.
type erasure struct {
	Workspace access.WorkspaceID `json:"workspace_id"`
	Email     inbox.ID           `json:"email_id"`
}

// DeleteEmail implements inbox.Editor. What one transaction cannot do is noted
// in it, and done after it; what of that fails is left to [DB.ResumeErasures].
func (db *DB) DeleteEmail(ctx context.Context, by inbox.Actor, was inbox.Email) error {
	old, err := Current(ctx, db, by.Workspace, was)
	if err != nil {
		return err
	}
	outputs, err := db.eraseOutputs(ctx, by.Workspace, was.ID)
	if err != nil {
		return err
	}
	work := erasure{by.Workspace, was.ID}
	e := Event{Slug: inbox.EventEmailDeleted, Target: was.ID, Inbox: was.InboxID, Email: was.ID}
	if err := db.Audited(ctx, by, e, append([]Change{Delete(old), work.note}, outputs...)...); err != nil {
		return err
	}
	if err := db.erase(ctx, work); err != nil {
		db.opts.Log.ErrorContext(ctx, "the rest of a deleted e-mail is still to be erased", "workspace", work.Workspace, "email", work.Email, "cause", err)
	}
	return nil
}

// ResumeErasures finishes the erasure of deleted e-mails, of all workspaces,
// that were interrupted. It is the operator's, for the start of a server or a
// worker's rounds.
func (db *DB) ResumeErasures(ctx context.Context) error {
	var failed []error
	for item, err := range db.items(ctx, store.Query{Partition: allErasures}) {
		var work erasure
		if err == nil {
			err = json.Unmarshal(item.Value, &work)
		}
		if err == nil {
			err = db.erase(ctx, work)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// note leaves the work to be found.
func (e erasure) note(t *transaction) error {
	value, err := encode(e)
	t.add(store.Put(store.Item{Key: t.space.erasure(e.Email), Value: value}), nil)
	return err
}

// done takes the note of the work away.
func (e erasure) done(t *transaction) error {
	t.add(store.Delete(t.space.erasure(e.Email)), nil)
	return nil
}

// erase does the work, which may be done again and by several at once.
func (db *DB) erase(ctx context.Context, work erasure) error {
	for {
		outputs, err := db.eraseOutputs(ctx, work.Workspace, work.Email)
		if err == nil && len(outputs) > 0 {
			err = db.Apply(ctx, work.Workspace, outputs...)
		}
		if errors.Is(err, inbox.ErrChanged) {
			continue // somebody else was as quick
		}
		if err != nil {
			return fmt.Errorf("inboxstore: erase outputs: %w", err)
		}
		if len(outputs) < erasedAtOnce {
			break
		}
	}
	for {
		done, err := db.eraseTold(ctx, work.Workspace, work.Email)
		if err != nil {
			return err
		}
		if done {
			break
		}
	}
	if err := db.DropRaw(ctx, work.Workspace, work.Email); err != nil {
		return fmt.Errorf("inboxstore: erase raw message: %w", err)
	}
	return db.Apply(ctx, work.Workspace, work.done)
}

// eraseOutputs are changes that take away what agents wrote about an e-mail,
// which tells what was in it: [erasedAtOnce] of them, or the last ones.
func (db *DB) eraseOutputs(ctx context.Context, ws access.WorkspaceID, email inbox.ID) ([]Change, error) {
	var changes []Change
	partition := space(ws).listed(agentRuns.name, "", "email", string(email))
	for item, err := range db.items(ctx, store.Query{Partition: partition}) {
		if err != nil {
			return nil, unavailable(err)
		}
		run, err := decode[inbox.AgentRun](item)
		if err != nil {
			return nil, err
		}
		if run.Record.Output == nil {
			continue
		}
		r := run.Record
		r.Output, r.UpdatedAt = nil, db.later(r.UpdatedAt)
		if changes = append(changes, Update(run, r)); len(changes) == erasedAtOnce {
			break
		}
	}
	return changes, nil
}
