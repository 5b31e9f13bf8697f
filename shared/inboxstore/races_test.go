package inboxstore

import (
	"fmt"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
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
		insert func(o office) Change
		create func(w *world, o office, by inbox.Actor, i int) error
	}{
		{"inboxes", inbox.MaxInboxes, func(o office) Change { return Insert(anInbox(o.ws)) }, func(w *world, o office, by inbox.Actor, _ int) error {
			_, err := w.CreateInbox(t.Context(), by, inbox.Inbox{Label: "x"})
			return err
		}},
		{"agents", inbox.MaxAgents, func(o office) Change { return Insert(anAgent(o.ws)) }, func(w *world, o office, by inbox.Actor, _ int) error {
			_, err := w.CreateAgent(t.Context(), by, inbox.Agent{Label: "x", LLMModel: "rules/demo", SystemMessage: "x"})
			return err
		}},
		{"webhooks", inbox.MaxWebhooks, func(o office) Change { return Insert(aWebhook(o.ws)) }, func(w *world, o office, by inbox.Actor, _ int) error {
			_, _, err := w.CreateWebhook(t.Context(), by, inbox.Webhook{Label: "x", URL: "https://a.example"}, inbox.Credentials{})
			return err
		}},
		{"secrets", inbox.MaxSecrets, func(o office) Change {
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
			for range c.most - 3 { // the office has one
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

// Whatever comes first, nothing active refers to what was deleted.
func TestReferencesHoldWhileTheirTargetIsDeleted(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx := t.Context()
	by := actor(o.ws, "tool")
	for range 15 {
		box := must[inbox.Inbox](t)(w.CreateInbox(ctx, by, inbox.Inbox{Label: "Short"}))
		agent := must[inbox.Agent](t)(w.CreateAgent(ctx, by, inbox.Agent{Label: "Short", LLMModel: "rules/demo", SystemMessage: "Go."}))
		free := must[inbox.Inbox](t)(w.CreateInbox(ctx, by, inbox.Inbox{Label: "Free"}))
		hook, _, err := w.CreateWebhook(ctx, by, inbox.Webhook{Label: "Free", URL: "https://a.example"}, inbox.Credentials{})
		if err != nil {
			t.Fatal(err)
		}
		changes := []func() error{
			func() error { return w.DeleteInbox(ctx, by, box) },
			func() error { return w.DeleteAgent(ctx, by, agent) },
			func() error {
				_, _, err := w.CreateWebhook(ctx, by, inbox.Webhook{Label: "New", URL: "https://a.example", InboxID: &box.ID}, inbox.Credentials{})
				return err
			},
			func() error {
				now := hook
				now.InboxID = &box.ID
				_, err := w.UpdateWebhook(ctx, by, hook, now)
				return err
			},
			func() error {
				now := free
				now.AgentID = &agent.ID
				_, err := w.UpdateInbox(ctx, by, free, now)
				return err
			},
		}
		for i, err := range atOnce(len(changes), func(i int) error { return changes[i]() }) {
			switch {
			case err == nil:
			case i < 2:
				t.Errorf("a deletion failed: %v", err)
			case i == 4:
				wantError(t, err, inbox.CodeNotFound, "agent_id")
			default:
				wantError(t, err, inbox.CodeNotFound, "inbox_id")
			}
		}
		if n, err := w.BoundWebhooks(ctx, o.ws, box.ID); n != 0 || err != nil {
			t.Errorf("%d active webhooks are bound to a deleted inbox, %v", n, err)
		}
		if n, err := w.AgentInboxes(ctx, o.ws, agent.ID); n != 0 || err != nil {
			t.Errorf("%d inboxes have a deleted agent, %v", n, err)
		}
		for _, hook := range must[inbox.Page[inbox.Webhook]](t)(w.Webhooks(ctx, o.ws, inbox.PageRequest{Limit: 200})).Data {
			if hook.ID == o.hook.ID {
				continue
			}
			if err := w.DeleteWebhook(ctx, by, hook); err != nil { // make room
				t.Fatal(err)
			}
		}
		if err := w.DeleteInbox(ctx, by, must[inbox.Inbox](t)(w.Inbox(ctx, o.ws, string(free.ID)))); err != nil {
			t.Fatal(err)
		}
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
