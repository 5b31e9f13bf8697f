package inboxstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// How long [DB.Persist] goes on, and the longest of its random waits: of the first
// one, and of any.
const (
	persistence  = 10 * time.Second
	firstPause   = 20 * time.Millisecond
	longestPause = 320 * time.Millisecond
)

// Persist applies changes, as [DB.Apply] does, for a caller who will not come back.
// They are made and applied anew where a record that they are made of has changed
// or gone (a not_found), and where the store cannot answer or the transaction
// meets another: for as long as ctx lasts, 10 s at most.
//
// A transaction that seemed to fail may have been written. So the changes must hold
// something that is refused the second time, by which the caller knows.
func (db *DB) Persist(ctx context.Context, ws access.WorkspaceID, changes func(context.Context) ([]Change, error)) error {
	end := time.Now().Add(persistence)
	for longest := firstPause; ; longest = min(2*longest, longestPause) {
		list, err := changes(ctx)
		if err == nil {
			err = db.Apply(ctx, ws, list...)
		}
		code := inbox.CodeOf(err)
		pause := rand.N(longest)
		if !errors.Is(err, inbox.ErrChanged) && code != inbox.CodeNotFound && code != inbox.CodeUnavailable || time.Now().Add(pause).After(end) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}
