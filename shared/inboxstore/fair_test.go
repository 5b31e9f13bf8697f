package inboxstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// flood leaves n jobs of a workspace, a second apart.
func (w *world) flood(t *testing.T, ws access.WorkspaceID, n int, from time.Time) {
	t.Helper()
	var changes []Change
	for i := range n {
		due := from.Add(time.Duration(i) * time.Second)
		changes = append(changes, Enqueue(Job{ID: NewJobID(due), Kind: JobTell, Due: due}))
	}
	for some := range slices.Chunk(changes, 40) {
		w.apply(t, ws, some...)
	}
}

// looked is how many pages were read since the last time, and of how many items
// at most.
func (w *world) looked() (pages, items int) {
	for _, c := range w.table.Calls() {
		if c.Method == storetest.Query {
			pages, items = pages+1, items+c.Query.Limit
		}
	}
	w.table.Reset()
	return pages, items
}

// Workspaces take turns: one with a job that is younger than a thousand of
// another is not behind them, whether its id comes before or after.
func TestFloodOfOneWorkspaceHidesNoOther(t *testing.T) {
	w, _, now, _ := workshop(t)
	ids := []access.WorkspaceID{access.WorkspaceID(inbox.NewID(noon)), access.WorkspaceID(inbox.NewID(noon)), access.WorkspaceID(inbox.NewID(noon))}
	slices.Sort(ids)
	first, flooded, last := ids[0], ids[1], ids[2]
	w.flood(t, flooded, 1000, noon)
	*now = noon.Add(1000 * time.Second)
	w.apply(t, first, Enqueue(Job{ID: "first", Kind: JobTell, Due: *now}))
	w.apply(t, last, Enqueue(Job{ID: "last-1", Kind: JobTell, Due: *now}), Enqueue(Job{ID: "last-2", Kind: JobTell, Due: *now}))
	w.apply(t, last, Enqueue(Job{ID: "later", Kind: JobTell, Due: now.Add(time.Millisecond)}))
	w.table.Reset()
	jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 256))
	if len(jobs) < 200 || len(jobs) > 256 {
		t.Fatalf("%d jobs, want about 256", len(jobs))
	}
	for n, want := range []access.WorkspaceID{flooded, first, last, flooded, last, flooded, flooded} {
		if n == 1 || n == 2 {
			want = jobs[n].Workspace // they are as old as each other
		}
		if jobs[n].Workspace != want {
			t.Errorf("place %d is %v", n, jobs[n])
		}
	}
	if got := idsOf(jobs[:5]); !slices.Contains(got, "first") || !slices.Contains(got, "last-1") || !slices.Contains(got, "last-2") || slices.Contains(idsOf(jobs), "later") {
		t.Errorf("the first are %q", got)
	}
	if pages, _ := w.looked(); pages > 3*shards {
		t.Errorf("%d pages to pass over one flood", pages)
	}
	// And over a longer one, as what it costs is by the hour.
	w.flood(t, flooded, 2000, noon.Add(-time.Hour))
	w.table.Reset()
	if jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 256)); !slices.Contains(idsOf(jobs[:5]), "first") {
		t.Errorf("the first are %q", idsOf(jobs[:5]))
	}
	if pages, _ := w.looked(); pages > 5*shards {
		t.Errorf("%d pages to pass over it", pages)
	}
}

// A round reads a page of each shard when nothing is due, and 256 pages of 32
// entries when there is no end of it; the oldest hours come first then.
func TestRoundsAreBounded(t *testing.T) {
	w, ws, now, _ := workshop(t)
	w.flood(t, ws, 1, noon.Add(time.Hour))
	w.table.Reset()
	if jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 256)); len(jobs) != 0 {
		t.Errorf("due: %v", jobs)
	}
	if pages, items := w.looked(); pages != 8 || items != 256 {
		t.Errorf("%d pages of %d items when nothing is due", pages, items)
	}
	const hours = looks + 8
	for h := range hours {
		var changes []Change
		for n := range 40 { // with a limit of a job for each page, every shard is full
			due := noon.Add(time.Duration(h) * time.Hour)
			changes = append(changes, Enqueue(Job{ID: JobID(fmt.Sprint(h, "-", n)), Kind: JobTell, Due: due}))
		}
		w.apply(t, ws, changes...)
	}
	*now = noon.Add(hours * time.Hour)
	w.table.Reset()
	jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), shards))
	if pages, items := w.looked(); pages != 256 || items != pages {
		t.Errorf("%d pages of %d items", pages, items)
	}
	for _, j := range jobs {
		if j.due != noon.Format(dueTime) {
			t.Errorf("%s is before older ones", j.due)
		}
	}
	if len(jobs) != shards {
		t.Errorf("%d jobs, want %d", len(jobs), shards)
	}
}
