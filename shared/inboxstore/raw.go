package inboxstore

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// KeepRaw stores the raw message of an e-mail and returns the key of its blob.
func (db *DB) KeepRaw(ctx context.Context, ws access.WorkspaceID, email inbox.ID, raw []byte) (key string, err error) {
	key = space(ws).rawKey(email)
	return key, unavailable(db.opts.Blobs.Put(ctx, key, raw))
}

// DropRaw removes the raw message of an e-mail; one that is not there is no
// error.
func (db *DB) DropRaw(ctx context.Context, ws access.WorkspaceID, email inbox.ID) error {
	return unavailable(db.opts.Blobs.Delete(ctx, space(ws).rawKey(email)))
}
