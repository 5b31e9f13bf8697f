package inboxstore

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// UpdateWorkspace implements inbox.Editor.
func (db *DB) UpdateWorkspace(ctx context.Context, by inbox.Actor, was, now inbox.Workspace) (inbox.Workspace, error) {
	none := inbox.Workspace{}
	stored, err := Get[Workspace](ctx, db, by.Workspace, string(was.ID))
	if err != nil {
		return none, err
	}
	old, err := Current(ctx, db, by.Workspace, Workspace{was, stored.Record.Organization})
	if err != nil {
		return none, err
	}
	r := old.Record
	r.Label, r.EmailPrefix, r.Locale = now.Label, now.EmailPrefix, now.Locale
	r.MonthlyCostLimit, r.MonthlyEmailsLimit = now.MonthlyCostLimit, now.MonthlyEmailsLimit
	r.CustomMetadata, r.Metadata = now.CustomMetadata, now.Metadata
	r.UpdatedAt = db.later(r.UpdatedAt)
	if err := r.Validate(); err != nil {
		return none, err
	}
	used := r.Workspace // read before it is too late to fail
	if err := db.monthlyUse(ctx, &used); err != nil {
		return none, err
	}
	r, err = written(r, db.Audited(ctx, by, Event{Slug: inbox.EventWorkspaceUpdated, Target: inbox.ID(r.ID)}, Update(old, r)))
	r.MonthlyCostUsed, r.MonthlyEmailsUsed = used.MonthlyCostUsed, used.MonthlyEmailsUsed
	return r.Workspace, err
}
