package inboxstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// workshop is a world whose clock can be set, and that tells of its jobs.
func workshop(t *testing.T) (w *world, ws access.WorkspaceID, now *time.Time, woken *[]Job) {
	now, woken = new(noon), &[]Job{}
	w = newWorld(t, func(o *Options) {
		o.Now = func() time.Time { return *now }
		o.Wake = func(_ context.Context, jobs ...Job) { *woken = append(*woken, jobs...) }
	})
	return w, access.WorkspaceID(inbox.NewID(noon)), now, woken
}

func idsOf(jobs []DueJob) (ids []JobID) {
	for _, j := range jobs {
		ids = append(ids, j.ID)
	}
	return ids
}

func minute(Job) time.Duration { return time.Minute }

// A job is there once, is taken once for a lease, and is gone when it is done.
func TestJob(t *testing.T) {
	w, ws, now, woken := workshop(t)
	ctx := t.Context()
	j := Job{ID: "yes-1", Kind: JobRead, Due: noon, Email: inbox.NewID(noon)}
	w.apply(t, ws, Enqueue(j))
	if err := w.Apply(ctx, ws, Enqueue(Job{ID: j.ID, Kind: JobTell, Due: noon})); !errors.Is(err, ErrClaimed) {
		t.Errorf("another job of that id: %v", err)
	}
	if len(*woken) != 1 || (*woken)[0].ID != j.ID || (*woken)[0].Workspace != ws {
		t.Errorf("woken for %+v", *woken)
	}
	due := func(want ...JobID) {
		t.Helper()
		if ids := idsOf(must[[]DueJob](t)(w.DueJobs(ctx, 100))); !slices.Equal(ids, want) {
			t.Errorf("due: %q, want %q", ids, want)
		}
	}
	due(j.ID)
	first := must[TakenJob](t)(w.TakeJob(ctx, j.ID, minute))
	if first.Email != j.Email || first.Workspace != ws || first.Begun != 1 {
		t.Errorf("took %+v", first)
	}
	due()
	if _, err := w.TakeJob(ctx, j.ID, minute); !errors.Is(err, ErrNotDue) {
		t.Errorf("taken by two: %v", err)
	}
	*now = noon.Add(time.Minute)
	due(j.ID)
	second := must[TakenJob](t)(w.TakeJob(ctx, j.ID, minute))
	if second.Begun != 2 {
		t.Errorf("took %+v", second)
	}
	for _, late := range []Change{Done(first), Again(first, first.Job)} {
		if err := w.Apply(ctx, ws, late); !errors.Is(err, ErrJobLost) {
			t.Errorf("who lost it ends it: %v", err)
		}
	}
	if _, err := w.MarkSending(ctx, first); !errors.Is(err, ErrJobLost) {
		t.Errorf("who lost it sends: %v", err)
	}
	later := second.Job
	later.Due, later.Begun = noon.Add(time.Hour), 0
	w.apply(t, ws, Again(second, later))
	if n := len(*woken); n != 2 || !(*woken)[1].Due.Equal(later.Due) {
		t.Errorf("woken %d times, the last for %+v", n, (*woken)[n-1])
	}
	due()
	*now = later.Due
	third := must[TakenJob](t)(w.TakeJob(ctx, j.ID, minute))
	if third.Begun != 1 {
		t.Errorf("left for later, it was begun %d times", third.Begun)
	}
	w.apply(t, ws, Done(third))
	*now = noon.AddDate(1, 0, 0)
	due()
	if _, err := w.TakeJob(ctx, j.ID, minute); inbox.CodeOf(err) != inbox.CodeNotFound {
		t.Errorf("a job that is done: %v", err)
	}
	for k, item := range w.everything(t) {
		t.Errorf("left over: %v %s", k, item.Value)
	}
}

// Of many that go for a job at once, one takes it.
func TestJobIsTakenByOne(t *testing.T) {
	w, ws, _, _ := workshop(t)
	w.apply(t, ws, Enqueue(Job{ID: "job", Kind: JobTell, Due: noon}))
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if _, err := w.TakeJob(t.Context(), "job", minute); err == nil {
				taken.Add(1)
			} else if !errors.Is(err, ErrNotDue) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("%d took it", taken.Load())
	}
}

// What is not written wakes nobody up, and what is due comes before what is not.
func TestDueJobs(t *testing.T) {
	w, ws, now, woken := workshop(t)
	if err := w.Apply(t.Context(), ws, Enqueue(Job{ID: "none", Due: noon}), func(*transaction) error { return errors.New("no") }); err == nil || len(*woken) != 0 {
		t.Errorf("%v, woken for %+v", err, *woken)
	}
	want := []JobID{}
	for n := range 40 {
		id := JobID(fmt.Sprintf("job-%02d", n))
		w.apply(t, ws, Enqueue(Job{ID: id, Kind: JobTell, Due: noon.Add(time.Duration(n) * time.Second)}))
		if n < 20 {
			want = append(want, id)
		}
	}
	*now = noon.Add(19 * time.Second)
	jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 1000))
	if ids := idsOf(jobs); !slices.Equal(ids, want) || jobs[0].Workspace != ws {
		t.Errorf("due: %v", jobs)
	}
	if some := must[[]DueJob](t)(w.DueJobs(t.Context(), 5)); len(some) != 5 {
		t.Errorf("%d of them, want 5", len(some))
	}
}
