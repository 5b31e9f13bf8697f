package intake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

var errConflict = fmt.Errorf("%w: TransactionConflict", store.ErrUnavailable)

// A store that cannot answer for a moment, or a transaction that meets another
// one, fails no arrival; what lasts as long as the caller does is told, and the
// same delivery comes again.
func TestNothingIsLostWhenTheStoreFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault storetest.Injection
		err   bool
	}{
		{"nothing was written", storetest.Injection{Effect: storetest.Fail, Nth: 1}, false},
		{"it met another transaction", storetest.Injection{Effect: storetest.Fail, Err: errConflict, Nth: 1}, false},
		{"the reply was lost", storetest.Injection{Effect: storetest.LoseReply, Nth: 1}, false},
		{"the client library sent it again", storetest.Injection{Effect: storetest.Resend, Nth: 1}, false},
		{"nothing is ever written", storetest.Injection{Effect: storetest.Fail}, true},
		{"all replies are lost", storetest.Injection{Effect: storetest.LoseReply}, true},
	} {
		for _, id := range []string{"ses-1", ""} {
			t.Run(c.name+", id "+id, func(t *testing.T) {
				w := newWorld(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				writes := 0
				c.fault.Method, c.fault.Match = storetest.Write, func(storetest.Call) bool {
					if writes++; writes == 4 {
						cancel() // the caller has no more time
					}
					return true
				}
				w.table.Inject(c.fault)
				d := Delivery{ID: id, Inbox: w.box, Raw: []byte(message)}
				email, err := w.Receive(ctx, d)
				if (err != nil) != c.err || c.err && (inbox.CodeOf(err) != inbox.CodeUnavailable || !errors.Is(err, context.Canceled)) {
					t.Errorf("first time: %v", err)
				}
				if len(w.raws(t)) != 1 {
					t.Error("the raw message is not stored")
				}
				if w.table.Reset(); id == "" && !c.err {
					w.wantTrail(t, email, inbox.RunSuccess)
					w.wantCounted(t, 1)
				}
				if id == "" {
					return
				}
				again, err := w.Receive(t.Context(), d)
				if err != nil || email.ID != "" && again.ID != email.ID {
					t.Errorf("delivered again: %s, %v; the first time %s", again.ID, err, email.ID)
				}
				w.wantTrail(t, again, inbox.RunSuccess)
				if listed := w.emails(t); len(listed) != 1 || listed[0].ID != again.ID {
					t.Errorf("%d e-mails", len(listed))
				}
				if _, err := os.Stat(filepath.Join(w.blobs, again.RawS3Key)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// lossy is a table whose reply to the first write is lost, with what happens
// before it is repeated.
type lossy struct {
	store.Table
	then func()
}

func (l *lossy) Write(ctx context.Context, ops ...store.Op) error {
	err := l.Table.Write(ctx, ops...)
	if then := l.then; then != nil {
		l.then = nil
		then()
		return store.ErrUnavailable
	}
	return err
}

// What becomes of an e-mail between a transaction whose reply was lost and the
// one that repeats it stays as it is.
func TestReplyLostAndTheEmailMovedOn(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(inboxstore.Stored[inbox.Email]) inboxstore.Change
		emails    int
	}{
		"its agent has read it": {func(old inboxstore.Stored[inbox.Email]) inboxstore.Change {
			read := old.Record
			read.Status = inbox.EmailFailed
			return inboxstore.Update(old, read)
		}, 1},
		"it was deleted": {inboxstore.Delete[inbox.Email], 0},
	} {
		for _, id := range []string{"ses-1", ""} {
			t.Run(name+", id "+id, func(t *testing.T) {
				w := newWorld(t)
				blobs, err := files.Open(w.blobs)
				if err != nil {
					t.Fatal(err)
				}
				defer blobs.Close()
				table := &lossy{w.table, func() {
					e := w.emails(t)[0]
					old, err := inboxstore.Get[inbox.Email](t.Context(), w.db, e.WorkspaceID, string(e.ID))
					if err = errors.Join(err, w.db.Apply(t.Context(), e.WorkspaceID, c.meanwhile(old))); err != nil {
						t.Error(err)
					}
				}}
				o := w.opts
				o.DB = inboxstore.New(inboxstore.Options{Table: table, Blobs: blobs, Now: o.Now, Retention: retention})
				w.Intake = New(o)
				w.receive(t, message, func(d *Delivery) { d.ID = id })
				if listed := w.emails(t); len(listed) != c.emails || c.emails == 1 && listed[0].Status != inbox.EmailFailed {
					t.Errorf("e-mails %+v", listed)
				}
				if raws := w.raws(t); len(raws) != 1 {
					t.Errorf("raw messages %v", raws)
				}
			})
		}
	}
}

// Fifty messages come for one inbox at once, the transaction of each of which
// meets others twice: all are kept, once each.
func TestFiftyArriveAtOnce(t *testing.T) {
	const many = 50
	w := newWorld(t)
	w.box.AgentID = new(w.box.ID)
	var mu sync.Mutex
	met := map[store.Key]int{}
	w.table.Inject(storetest.Injection{Effect: storetest.Fail, Err: errConflict, Method: storetest.Write, Match: func(c storetest.Call) bool {
		mu.Lock()
		defer mu.Unlock()
		met[c.Ops[0].Item.Key]++
		return met[c.Ops[0].Item.Key] <= 2
	}})
	ids := make(map[inbox.ID]bool)
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			email := w.receive(t, message, func(d *Delivery) { d.ID = fmt.Sprint("ses-", n) })
			mu.Lock()
			defer mu.Unlock()
			ids[email.ID] = true
		})
	}
	all.Wait()
	if w.wantCounted(t, many); len(ids) != many || len(met) != many {
		t.Errorf("%d e-mails of %d deliveries", len(ids), len(met))
	}
	for _, e := range w.emails(t) {
		w.wantTrail(t, e, inbox.RunRunning)
	}
}
