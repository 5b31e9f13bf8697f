package inboxstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// naive is the simplest model of what people change in one workspace.
type naive struct {
	ws     access.WorkspaceID
	boxes  map[inbox.ID]inbox.Inbox
	agents map[inbox.ID]inbox.Agent
	hooks  map[inbox.ID]inbox.Webhook
	events int
}

// TestEditsEqualTheModel makes random edits in two workspaces, some of them on
// what is gone or changed, and compares all lists after each.
func TestEditsEqualTheModel(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 11))
			w := newWorld(t)
			models := []*naive{newNaive(w.newWorkspace(t)), newNaive(w.newWorkspace(t))}
			for n := range 120 {
				w.now = w.now.Add(time.Millisecond)
				pick(r, models).step(t, w, r)
				if n%10 == 9 {
					for _, m := range models {
						m.check(t, w)
					}
				}
			}
		})
	}
}

func newNaive(ws access.WorkspaceID) *naive {
	return &naive{ws: ws, boxes: map[inbox.ID]inbox.Inbox{}, agents: map[inbox.ID]inbox.Agent{}, hooks: map[inbox.ID]inbox.Webhook{}}
}

// one returns the id of some record, or one that no record has.
func one[T any](r *rand.Rand, of map[inbox.ID]T) inbox.ID {
	if len(of) == 0 || r.IntN(8) == 0 {
		return inbox.NewID(noon)
	}
	return pick(r, slices.Sorted(maps.Keys(of)))
}

// reference is the id of some record, or none.
func reference[T any](r *rand.Rand, of map[inbox.ID]T) *inbox.ID {
	if r.IntN(3) == 0 {
		return nil
	}
	return new(one(r, of))
}

// exists reports whether a reference leads somewhere.
func exists[T any](id *inbox.ID, of map[inbox.ID]T) bool {
	if id == nil {
		return true
	}
	_, ok := of[*id]
	return ok
}

// step makes one random edit of the workspace and of the model.
func (m *naive) step(t *testing.T, w *world, r *rand.Rand) {
	ctx, by := t.Context(), actor(m.ws, "tool")
	label := fmt.Sprint("label ", r.Uint64())
	// want says whether the edit must succeed, and what it does then.
	want := func(ok bool, err error, effect func()) {
		t.Helper()
		if ok != (err == nil) || !ok && inbox.CodeOf(err) != inbox.CodeNotFound {
			t.Fatalf("%v, want success: %v", err, ok)
		}
		if ok {
			m.events++
			effect()
		}
	}
	switch r.IntN(9) {
	case 0:
		a, err := w.CreateAgent(ctx, by, inbox.Agent{Label: label, LLMModel: "rules/demo", SystemMessage: "x"})
		want(true, err, func() { m.agents[a.ID] = a })
	case 1:
		agent := reference(r, m.agents)
		b, err := w.CreateInbox(ctx, by, inbox.Inbox{Label: label, AgentID: agent})
		want(exists(agent, m.agents), err, func() { m.boxes[b.ID] = b })
	case 2:
		in := reference(r, m.boxes)
		h, _, err := w.CreateWebhook(ctx, by, inbox.Webhook{Label: label, URL: "https://a.example", InboxID: in}, inbox.Credentials{})
		want(exists(in, m.boxes), err, func() { m.hooks[h.ID] = h })
	case 3:
		was, ok := m.agents[one(r, m.agents)]
		now := was
		now.Label = label
		a, err := w.UpdateAgent(ctx, by, was, valid(now))
		want(ok, err, func() { m.agents[a.ID] = a })
	case 4:
		was, ok := m.boxes[one(r, m.boxes)]
		now := was
		now.Label, now.AgentID = label, reference(r, m.agents)
		b, err := w.UpdateInbox(ctx, by, was, now)
		want(ok && exists(now.AgentID, m.agents), err, func() { m.boxes[b.ID] = b })
	case 5:
		was, ok := m.hooks[one(r, m.hooks)]
		now := was
		now.Label, now.Status, now.InboxID = label, pick(r, []inbox.Status{inbox.Active, inbox.Inactive}), reference(r, m.boxes)
		h, err := w.UpdateWebhook(ctx, by, was, now)
		want(ok && exists(now.InboxID, m.boxes), err, func() { m.hooks[h.ID] = h })
	case 6:
		was, ok := m.agents[one(r, m.agents)]
		n := 0
		for _, b := range m.boxes {
			if text(b.AgentID) == string(was.ID) {
				n++
			}
		}
		want(ok, w.DeleteAgent(ctx, by, was, n), func() {
			delete(m.agents, was.ID)
			for id, b := range m.boxes {
				if text(b.AgentID) == string(was.ID) {
					b.AgentID, b.UpdatedAt = nil, w.now
					m.boxes[id] = b
				}
			}
		})
	case 7:
		was, ok := m.boxes[one(r, m.boxes)]
		n := 0
		for _, h := range m.hooks {
			if text(h.InboxID) == string(was.ID) && h.Status == inbox.Active {
				n++
			}
		}
		want(ok, w.DeleteInbox(ctx, by, was, n), func() {
			delete(m.boxes, was.ID)
			for id, h := range m.hooks {
				if text(h.InboxID) == string(was.ID) && h.Status == inbox.Active {
					h.Status, h.UpdatedAt = inbox.Inactive, w.now
					m.hooks[id] = h
				}
			}
		})
	case 8:
		was, ok := m.hooks[one(r, m.hooks)]
		want(ok, w.DeleteWebhook(ctx, by, was), func() { delete(m.hooks, was.ID) })
	}
}

// valid makes an agent of the zero value one that only does not exist.
func valid(a inbox.Agent) inbox.Agent {
	a.LLMModel = cmp.Or(a.LLMModel, "rules/demo")
	return a
}

// check compares all that can be read with the model.
func (m *naive) check(t *testing.T, w *world) {
	t.Helper()
	ctx := t.Context()
	same(t, m.boxes, func(p inbox.PageRequest) (inbox.Page[inbox.Inbox], error) { return w.Inboxes(ctx, m.ws, p) })
	same(t, m.agents, func(p inbox.PageRequest) (inbox.Page[inbox.Agent], error) { return w.Agents(ctx, m.ws, p) })
	same(t, m.hooks, func(p inbox.PageRequest) (inbox.Page[inbox.Webhook], error) { return w.Webhooks(ctx, m.ws, p) })
	if events := must[inbox.Page[inbox.SystemEvent]](t)(w.SystemEvents(ctx, m.ws, inbox.SystemEventFilter{}, inbox.PageRequest{Limit: inbox.MaxLimit})); len(events.Data) != m.events {
		t.Fatalf("%d events, want %d", len(events.Data), m.events)
	}
	counts(t, ctx, m.ws, m.agents, w.AgentInboxes, func(agent inbox.ID) (n int) {
		for _, b := range m.boxes {
			if text(b.AgentID) == string(agent) {
				n++
			}
		}
		return n
	})
	counts(t, ctx, m.ws, m.boxes, w.BoundWebhooks, func(in inbox.ID) (n int) {
		for _, h := range m.hooks {
			if text(h.InboxID) == string(in) && h.Status == inbox.Active {
				n++
			}
		}
		return n
	})
}

func same[T any](t *testing.T, model map[inbox.ID]T, list func(inbox.PageRequest) (inbox.Page[T], error)) {
	t.Helper()
	want := []T{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(model))) {
		want = append(want, model[id])
	}
	if d := diff(want, must[inbox.Page[T]](t)(list(inbox.PageRequest{Limit: inbox.MaxLimit})).Data); d != "" {
		t.Fatalf("(-want +got):\n%s", d)
	}
}

func counts[T any](t *testing.T, ctx context.Context, ws access.WorkspaceID, of map[inbox.ID]T, count func(context.Context, access.WorkspaceID, inbox.ID) (int, error), want func(inbox.ID) int) {
	t.Helper()
	for id := range of {
		if n, err := count(ctx, ws, id); n != want(id) || err != nil {
			t.Fatalf("%d of %s, %v; want %d", n, id, err, want(id))
		}
	}
}
