package inboxstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// What passes is begun anew, for 10 s; what does not ends at once. (The table is
// never reached: this is on a clock of its own.)
func TestPersist(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		passes bool
		code   inbox.Code
	}{
		"the store is away":      {store.ErrUnavailable, true, inbox.CodeUnavailable},
		"a transaction conflict": {fmt.Errorf("%w: TransactionConflict", store.ErrUnavailable), true, inbox.CodeUnavailable},
		"a record changed":       {changed("e-mail"), true, inbox.CodeConflict},
		"a record is gone":       {inbox.Errorf(inbox.CodeNotFound, "", "It is gone."), true, inbox.CodeNotFound},
		"a name is taken":        {inbox.Errorf(inbox.CodeConflict, "id", "It is taken."), false, inbox.CodeConflict},
		"too large":              {store.ErrLimit, false, inbox.CodeLimit},
		"claimed":                {ErrClaimed, false, ""},
		"broken":                 {errors.New("AccessDenied"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := storetest.NewFault(nil)
				table.Inject(storetest.Injection{Effect: storetest.Fail, Err: c.err})
				db, ws := New(Options{Table: table}), access.WorkspaceID(inbox.NewID(noon))
				made := 0
				changes := func(context.Context) ([]Change, error) {
					made++
					return []Change{Claim("work", "id")}, nil
				}
				begin := time.Now()
				err := db.Persist(t.Context(), ws, changes)
				took := time.Since(begin)
				if inbox.CodeOf(err) != c.code || made != len(table.Calls()) {
					t.Errorf("%v, made %d times and applied %d", err, made, len(table.Calls()))
				}
				if !c.passes && (made != 1 || took != 0) || c.passes && (made < 30 || took > persistence || took < persistence-longestPause) {
					t.Errorf("made %d times within %v", made, took)
				}
				if !c.passes {
					return
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second) // the time that the caller has
				defer cancel()
				begin = time.Now()
				if err := db.Persist(ctx, ws, changes); inbox.CodeOf(err) != c.code || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
					t.Errorf("%v after %v", err, time.Since(begin))
				}
			})
		})
	}
}

// Many who change one record all get on, each from where the one before it left
// the record.
func TestPersistManyAtOnce(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	agent := anAgent(ws)
	agent.SystemMessage = ""
	w.apply(t, ws, Insert(agent))
	const many = 20
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if err := w.Persist(t.Context(), ws, func(ctx context.Context) ([]Change, error) {
				old, err := Get[inbox.Agent](ctx, w.DB, ws, string(agent.ID))
				next := old.Record
				next.SystemMessage += "x"
				return []Change{Update(old, next)}, err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := must[inbox.Agent](t)(w.Agent(t.Context(), ws, string(agent.ID))); len(got.SystemMessage) != many {
		t.Errorf("%d of %d changes are there", len(got.SystemMessage), many)
	}
}
