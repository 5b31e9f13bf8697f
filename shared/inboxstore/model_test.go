package inboxstore

import (
	"bytes"
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

// subject is a family under random changes, beside the simplest model of it.
type subject[T Record] struct {
	ws    access.WorkspaceID
	make  func(r *rand.Rand, id inbox.ID) T // some state of the record with that id
	lists []question[T]
	model map[inbox.ID]Stored[T]
}

// question is a list, and which records belong in it.
type question[T Record] struct {
	name string
	ask  func(ctx context.Context, p inbox.PageRequest) (inbox.Page[T], error)
	has  func(r T) bool
}

// step returns one random change and what it does to the model; without update
// and remove it only adds records.
func (s *subject[T]) step(r *rand.Rand, update func(Stored[T], T) Change, remove func(Stored[T]) Change) (Change, func()) {
	ids := slices.Sorted(maps.Keys(s.model))
	if update == nil || len(ids) == 0 || r.IntN(2) == 0 {
		id := inbox.NewID(noon.Add(time.Duration(r.IntN(100)) * time.Millisecond))
		fresh := Stored[T]{Record: s.make(r, id), Version: 1}
		return Insert(fresh.Record), func() { s.model[id] = fresh }
	}
	id := pick(r, ids)
	old := s.model[id]
	if r.IntN(5) == 0 {
		return remove(old), func() { delete(s.model, id) }
	}
	changed := Stored[T]{Record: s.make(r, id), Version: old.Version + 1}
	return update(old, changed.Record), func() { s.model[id] = changed }
}

// check asks some of the questions, through all pages, and compares with the
// model.
func (s *subject[T]) check(t *testing.T, r *rand.Rand, some float64) {
	t.Helper()
	f := familyOf[T]()
	for _, q := range s.lists {
		if r.Float64() > some {
			continue
		}
		want := []T{}
		for _, id := range slices.Backward(slices.Sorted(maps.Keys(s.model))) {
			if q.has(s.model[id].Record) {
				want = append(want, s.model[id].Record)
			}
		}
		var got []T
		for p := (inbox.PageRequest{}); ; {
			p.Limit, p.MaxBytes = 1+r.IntN(20), 0
			if r.IntN(4) == 0 {
				p.MaxBytes = 1 + r.IntN(9000)
			}
			page, err := q.ask(t.Context(), p)
			if err != nil {
				t.Fatalf("%s %s: %v", f.name, q.name, err)
			}
			if len(page.Data) > p.Limit || len(page.Data) == 0 && page.NextCursor != nil {
				t.Fatalf("%s %s: a page of %d with limit %d, next %v", f.name, q.name, len(page.Data), p.Limit, page.NextCursor)
			}
			got = append(got, page.Data...)
			if page.NextCursor == nil {
				break
			}
			p.Cursor = *page.NextCursor
		}
		if !bytes.Equal(must[[]byte](t)(encode(want)), must[[]byte](t)(encode(got))) {
			t.Fatalf("%s %s (-want +got):\n%s", f.name, q.name, diff(want, got))
		}
	}
}

func TestListsEqualTheModel(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { randomChanges(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func randomChanges(t *testing.T, r *rand.Rand) {
	w := newWorld(t)
	var mine []subjects
	for _, ws := range []access.WorkspaceID{w.newWorkspace(t), w.newWorkspace(t)} {
		mine = append(mine, newSubjects(t, w, ws))
	}
	for _, some := range []float64{0.1, 0.1, 1} {
		for range 50 {
			s := mine[r.IntN(len(mine))]
			var changes []Change
			var effects []func()
			for _, i := range r.Perm(6)[:1+r.IntN(4)] { // of different families: a transaction names a record once
				c, effect := s.step(i, r)
				changes, effects = append(changes, c), append(effects, effect)
			}
			w.apply(t, s.ws, changes...)
			for _, effect := range effects {
				effect()
			}
		}
		for _, s := range mine {
			s.check(t, r, some)
		}
	}
}

func (s subjects) step(i int, r *rand.Rand) (Change, func()) {
	switch i {
	case 0:
		return s.emails.step(r, Update[inbox.Email], Delete[inbox.Email])
	case 1:
		return s.runs.step(r, Update[inbox.AgentRun], Delete[inbox.AgentRun])
	case 2:
		return s.workflows.step(r, Update[inbox.WorkflowRun], Delete[inbox.WorkflowRun])
	case 3:
		return s.deliveries.step(r, Update[inbox.Delivery], Delete[inbox.Delivery])
	case 4:
		return s.events.step(r, nil, nil)
	}
	return s.secrets.step(r, Update[inbox.Secret], Delete[inbox.Secret])
}

func (s subjects) check(t *testing.T, r *rand.Rand, some float64) {
	t.Helper()
	s.emails.check(t, r, some)
	s.runs.check(t, r, some)
	s.workflows.check(t, r, some)
	s.deliveries.check(t, r, some)
	s.events.check(t, r, some)
	s.secrets.check(t, r, some)
}
