package inboxstore

import (
	"context"
	"errors"
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Workspaces implements inbox.Reader: a read and a query of this month's use
// for each.
func (db *DB) Workspaces(ctx context.Context, ids []access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Workspace], error) {
	page := inbox.Page[inbox.Workspace]{Data: []inbox.Workspace{}}
	sheet, err := newSheet[Workspace](p)
	if err != nil {
		return page, err
	}
	cursors := cursorsOf(string(workspacesFamily))
	last, err := cursors.open(p.Cursor)
	if err != nil {
		return page, err
	}
	if last != "" {
		i := slices.Index(ids, access.WorkspaceID(last))
		if i < 0 {
			return page, errCursor()
		}
		ids = ids[i+1:]
	}
	for _, id := range ids {
		w, err := Get[Workspace](ctx, db, id, string(id))
		if inbox.CodeOf(err) == inbox.CodeNotFound {
			continue // deleted
		}
		if err != nil {
			return page, err
		}
		if !sheet.add(w) {
			page.NextCursor = cursors.seal(last)
			break
		}
		last = string(id)
	}
	for _, w := range sheet.Data {
		if err := db.monthlyUse(ctx, &w.Workspace); err != nil {
			return page, err
		}
		page.Data = append(page.Data, w.Workspace)
	}
	return page, nil
}

// Workspace implements inbox.Reader: a read, one more by external_id, and a
// query of this month's use.
func (db *DB) Workspace(ctx context.Context, ids []access.WorkspaceID, ref string) (inbox.Workspace, error) {
	id := access.WorkspaceID(ref)
	if !slices.Contains(ids, id) && ref != "" {
		var err error
		id, _, err = db.named(ctx, workspaceName(ref))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return inbox.Workspace{}, failure(err, workspaces.noun, "id")
		}
	}
	if !slices.Contains(ids, id) {
		return inbox.Workspace{}, errNoWorkspace()
	}
	w, err := Get[Workspace](ctx, db, id, string(id))
	switch {
	case inbox.CodeOf(err) == inbox.CodeNotFound:
		err = errNoWorkspace()
	case err == nil:
		err = db.monthlyUse(ctx, &w.Record.Workspace)
	}
	return w.Record.Workspace, err
}

func errNoWorkspace() error {
	return inbox.Errorf(inbox.CodeNotFound, "id", "There is no such workspace among yours.")
}

// WorkspaceIDs returns the ids of all workspaces, oldest first. It is for the
// operator's own work: no caller of a tool may learn of another's workspace.
func (db *DB) WorkspaceIDs(ctx context.Context) ([]access.WorkspaceID, error) {
	var ids []access.WorkspaceID
	for item, err := range db.items(ctx, store.Query{Partition: allWorkspaces}) {
		if err != nil {
			return nil, failure(err, workspaces.noun, "")
		}
		ids = append(ids, access.WorkspaceID(item.Sort))
	}
	return ids, nil
}
