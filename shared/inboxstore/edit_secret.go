package inboxstore

import (
	"cmp"
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Secret implements inbox.Editor.
func (db *DB) Secret(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.Secret, error) {
	return record[inbox.Secret](ctx, db, ws, string(id))
}

// CreateSecret implements inbox.Editor.
func (db *DB) CreateSecret(ctx context.Context, by inbox.Actor, draft inbox.Secret, value string) (inbox.Secret, error) {
	r, now := draft, db.now()
	r.ID, r.WorkspaceID, r.CreatedAt, r.UpdatedAt = inbox.NewID(now), by.Workspace, now, now
	if err := cmp.Or(r.Validate(), inbox.CheckSecretValue(value)); err != nil {
		return inbox.Secret{}, err
	}
	return written(r, db.inTurn(ctx, by.Workspace, func(turn Change) error {
		if err := room[inbox.Secret](ctx, db, by.Workspace, inbox.MaxSecrets); err != nil {
			return err
		}
		return db.Audited(ctx, by, Event{Slug: inbox.EventSecretCreated, Target: r.ID}, turn, Insert(r), Confidential(r.ID, value))
	}))
}

// UpdateSecret implements inbox.Editor.
func (db *DB) UpdateSecret(ctx context.Context, by inbox.Actor, was, now inbox.Secret, value *string) (inbox.Secret, error) {
	old, err := Current(ctx, db, by.Workspace, was)
	if err != nil {
		return inbox.Secret{}, err
	}
	r := old.Record
	r.Description, r.UpdatedAt = now.Description, db.later(r.UpdatedAt)
	if err := r.Validate(); err != nil {
		return inbox.Secret{}, err
	}
	changes := []Change{Update(old, r)}
	if value != nil {
		if err := inbox.CheckSecretValue(*value); err != nil {
			return inbox.Secret{}, err
		}
		changes = append(changes, Confidential(r.ID, *value))
	}
	return written(r, db.Audited(ctx, by, Event{Slug: inbox.EventSecretUpdated, Target: r.ID}, changes...))
}

// DeleteSecret implements inbox.Editor.
func (db *DB) DeleteSecret(ctx context.Context, by inbox.Actor, was inbox.Secret) error {
	old, err := Current(ctx, db, by.Workspace, was)
	if err != nil {
		return err
	}
	return db.Audited(ctx, by, Event{Slug: inbox.EventSecretDeleted, Target: was.ID}, Delete(old))
}
