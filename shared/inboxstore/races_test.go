package inboxstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

const manyAtOnce = 32

// atOnce calls do many times at once, and returns their errors.
func atOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errs
}

// Of many that change the same state of a record, exactly one does.
func TestOfManyEditsOfOneStateOneWins(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		if e.creates {
			return
		}
		won := 0
		for _, err := range atOnce(manyAtOnce, func(int) error {
			_, err := e.do(t, w, actor(o.ws, e.tool), o)
			return err
		}) {
			if err == nil {
				won++
			} else {
				wantChanged(t, err)
			}
		}
		if events := w.events(t, o.ws, e.slug); won != 1 || len(events) != 1 {
			t.Errorf("%d won and left %d events, want 1 and 1", won, len(events))
		}
	})
}

// The limits of a workspace hold however many create at once.
func TestLimitsOfAWorkspace(t *testing.T) {
	for _, c := range []struct {
		name   string
		most   int
		has    int // the office, from the beginning
		insert func(o office) Change
		create func(w *world, o office, by inbox.Actor, i int) error
	}{
		{"inboxes", inbox.MaxInboxes, 2, func(o office) Change { return Insert(anInbox(o.ws)) }, func(w *world, o office, by inbox.Actor, _ int) error {
			_, err := w.CreateInbox(t.Context(), by, inbox.Inbox{Label: "x"})
			return err
		}},
		{"agents", inbox.MaxAgents, 1, func(o office) Change { return Insert(anAgent(o.ws)) }, func(w *world, o office, by inbox.Actor, _ int) error {
			_, err := w.CreateAgent(t.Context(), by, inbox.Agent{Label: "x", LLMModel: "rules/demo", SystemMessage: "x"})
			return err
		}},
		{"webhooks", inbox.MaxWebhooks, 3, func(o office) Change { return Insert(aWebhook(o.ws)) }, func(w *world, o office, by inbox.Actor, _ int) error {
			_, _, err := w.CreateWebhook(t.Context(), by, inbox.Webhook{Label: "x", URL: "https://a.example"}, inbox.Credentials{})
			return err
		}},
		{"secrets", inbox.MaxSecrets, 1, func(o office) Change {
			id := inbox.NewID(noon)
			return Insert(inbox.Secret{ID: id, WorkspaceID: o.ws, Name: string(id)})
		}, func(w *world, o office, by inbox.Actor, i int) error {
			_, err := w.CreateSecret(t.Context(), by, inbox.Secret{Name: fmt.Sprint("S", i)}, "x")
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			o := newOffice(t, w)
			for range c.most - 2 - c.has {
				w.apply(t, o.ws, c.insert(o))
			}
			made := 0
			for _, err := range atOnce(manyAtOnce, func(i int) error { return c.create(w, o, actor(o.ws, "tool"), i) }) {
				if err == nil {
					made++
				} else {
					wantError(t, err, inbox.CodeLimit, "")
				}
			}
			if made != 2 {
				t.Errorf("%d were made where there was room for 2", made)
			}
		})
	}
}

// meanwhile lets something happen right before the next write, by another
// instance.
func (w *world) meanwhile(do func(other *DB)) {
	other := New(w.opts)
	other.opts.Table = w.witness
	done := false
	w.table.Inject(storetest.Injection{Method: storetest.Write, Match: func(storetest.Call) bool {
		if !done {
			done = true
			do(other)
		}
		return false
	}})
}

// Whichever is first, nothing active comes to refer to what is deleted, and
// nothing is deleted with more than was agreed to.
func TestReferencesHoldWhileTheirTargetIsDeleted(t *testing.T) {
	type change func(ctx context.Context, db *DB, by inbox.Actor, o office) error
	deleteInbox := func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
		return db.DeleteInbox(ctx, by, o.box, 1)
	}
	deleteAgent := func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
		return db.DeleteAgent(ctx, by, o.agent, 1)
	}
	for name, c := range map[string]struct {
		field       string
		bind, unset change
	}{
		"webhook made for the inbox": {"inbox_id", func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
			_, _, err := db.CreateWebhook(ctx, by, inbox.Webhook{Label: "x", URL: "https://a.example", InboxID: &o.box.ID}, inbox.Credentials{})
			return err
		}, deleteInbox},
		"webhook bound to the inbox": {"inbox_id", func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
			now := o.free
			now.InboxID = &o.box.ID
			_, err := db.UpdateWebhook(ctx, by, o.free, now)
			return err
		}, deleteInbox},
		"webhook of the inbox switched on": {"inbox_id", func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
			now := o.off
			now.Status = inbox.Active
			_, err := db.UpdateWebhook(ctx, by, o.off, now)
			return err
		}, deleteInbox},
		"inbox made with the agent": {"agent_id", func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
			_, err := db.CreateInbox(ctx, by, inbox.Inbox{Label: "x", AgentID: &o.agent.ID})
			return err
		}, deleteAgent},
		"inbox given the agent": {"agent_id", func(ctx context.Context, db *DB, by inbox.Actor, o office) error {
			now := o.alone
			now.AgentID = &o.agent.ID
			_, err := db.UpdateInbox(ctx, by, o.alone, now)
			return err
		}, deleteAgent},
	} {
		for _, first := range []string{"it", "the deletion"} {
			t.Run(name+", "+first+" first", func(t *testing.T) {
				w := newWorld(t)
				o := newOffice(t, w)
				by := actor(o.ws, "tool")
				var bind, unset error
				if first == "it" {
					w.meanwhile(func(other *DB) { bind = c.bind(t.Context(), other, by, o) })
					unset = c.unset(t.Context(), w.DB, by, o)
				} else {
					w.meanwhile(func(other *DB) { unset = c.unset(t.Context(), other, by, o) })
					bind = c.bind(t.Context(), w.DB, by, o)
				}
				if first == "it" {
					if bind != nil || !errors.Is(unset, inbox.ErrChanged) {
						t.Errorf("bound: %v; the deletion, agreed to with less: %v", bind, unset)
					}
					return
				}
				if unset != nil {
					t.Errorf("the deletion failed: %v", unset)
				}
				wantError(t, bind, inbox.CodeNotFound, c.field)
				if n, err := w.BoundWebhooks(t.Context(), o.ws, o.box.ID); c.field == "inbox_id" && (n != 0 || err != nil) {
					t.Errorf("%d active webhooks are bound to a deleted inbox, %v", n, err)
				}
				if n, err := w.AgentInboxes(t.Context(), o.ws, o.agent.ID); c.field == "agent_id" && (n != 0 || err != nil) {
					t.Errorf("%d inboxes have a deleted agent, %v", n, err)
				}
			})
		}
	}
}

// Not even the first turns of a workspace are alike.
func TestTheFirstTurnIsOnesOwn(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	one, other := must[Change](t)(w.turn(t.Context(), ws)), must[Change](t)(w.turn(t.Context(), ws))
	w.apply(t, ws, Insert(anAgent(ws)), one)
	if err := w.Apply(t.Context(), ws, Insert(anAgent(ws)), other); !errors.Is(err, errAnew) {
		t.Errorf("the second first turn: %v", err)
	}
}

// When others never leave a turn, the change gives up and says so.
func TestNoTurn(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	tries := 0
	err := w.inTurn(t.Context(), o.ws, func(turn Change) error {
		tries++
		other := must[Change](t)(w.turn(t.Context(), o.ws))
		w.apply(t, o.ws, other)
		return w.Apply(t.Context(), o.ws, turn, Insert(anAgent(o.ws)))
	})
	wantError(t, err, inbox.CodeUnavailable, "")
	if agents := must[inbox.Page[inbox.Agent]](t)(w.Agents(t.Context(), o.ws, inbox.PageRequest{})).Data; tries != maxTries || len(agents) != 1 {
		t.Errorf("%d tries and %d agents, want %d and 1", tries, len(agents), maxTries)
	}
}
