package inboxstore

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
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

// What has just become due is found whatever waits for long.
func TestBacklogHidesNoOther(t *testing.T) {
	w, _, now, _ := workshop(t)
	for range 4 {
		ws := access.WorkspaceID(inbox.NewID(noon))
		for h := range 9 {
			w.flood(t, ws, 40, noon.Add(time.Duration(h)*time.Hour))
		}
	}
	*now = noon.Add(9 * time.Hour)
	other := access.WorkspaceID(inbox.NewID(noon))
	w.apply(t, other, Enqueue(Job{ID: "other", Kind: JobTell, Due: *now}))
	jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 2*shards)) // pages of two, so that all are full
	if got := idsOf(jobs); !slices.Contains(got, "other") || !slices.ContainsFunc(jobs, func(j DueJob) bool { return j.due < noon.Add(time.Hour).Format(dueTime) }) {
		t.Errorf("of what is recent and of what is old, it found %q", got)
	}
}

// Entries that another version's worker left, of jobs that are gone or due at
// another time, are taken away, and keep no job from being found.
func TestStrayEntriesAreRemoved(t *testing.T) {
	w, ws, now, _ := workshop(t)
	w.apply(t, ws, Enqueue(Job{ID: "moved", Kind: JobTell, Due: noon.Add(3 * time.Hour)}))
	stray := func(sort, id string) {
		key := store.Key{Partition: Job{ID: JobID(id)}.due().Partition, Sort: sort}
		if err := w.table.Write(t.Context(), store.Put(store.Item{Key: key, Value: []byte(id)})); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		id := fmt.Sprint("gone-", i)
		stray(noon.Format(dueTime)+"#"+id, id)                             // as versions before had them
		stray(Job{ID: JobID(id), Workspace: ws, Due: noon}.due().Sort, id) // as this one has them
	}
	stray(noon.Format(dueTime)+"#moved", "moved")
	*now = noon.Add(4 * time.Hour)
	w.apply(t, ws, Enqueue(Job{ID: "mine", Kind: JobTell, Due: *now}))
	for range 10 {
		must[[]DueJob](t)(w.DueJobs(t.Context(), shards))
	}
	if got := idsOf(must[[]DueJob](t)(w.DueJobs(t.Context(), 256))); !slices.Equal(got, []JobID{"moved", "mine"}) {
		t.Errorf("found %q", got)
	}
	if taken := must[TakenJob](t)(w.TakeJob(t.Context(), "moved", minute)); !taken.Due.After(*now) {
		t.Errorf("taken %+v", taken)
	}
}

// Of jobs that have been due for long, a round looks at few for being strays.
func TestFewAreLookedAtForBeingStrays(t *testing.T) {
	w, ws, now, _ := workshop(t)
	w.flood(t, ws, 100, noon) // no shard has more than a page of them
	*now = noon.Add(5 * time.Hour)
	w.table.Reset()
	jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 256))
	gets := 0
	for _, c := range w.table.Calls() {
		if c.Method == storetest.Get {
			gets++
		}
	}
	if len(jobs) != 100 || gets > 50 { // 6, or by chance a few more
		t.Errorf("%d jobs, of which it looked at %d", len(jobs), gets)
	}
}

// A round that cannot see all has what it saw: what is due, and nothing else.
func TestWhatARoundSees(t *testing.T) {
	w, ws, now, _ := workshop(t)
	w.flood(t, ws, 40, noon.Add(30*time.Minute))
	w.apply(t, ws, Enqueue(Job{ID: "due", Kind: JobTell, Due: noon}))
	*now = noon
	for nth := range 2 * shards {
		w.table.Reset()
		w.table.Inject(storetest.Injection{Effect: storetest.Fail, Method: storetest.Query, Nth: nth + 1})
		jobs, err := w.DueJobs(t.Context(), 256)
		for _, id := range idsOf(jobs) {
			if id != "due" {
				t.Errorf("%s is not due", id)
			}
		}
		if inbox.CodeOf(err) != inbox.CodeUnavailable {
			t.Error(err)
		}
	}
}

// A round reads two pages of each shard when nothing is due, and 256 pages of 32
// entries when there is no end of it; the oldest hours come before the others
// then.
func TestRoundsAreBounded(t *testing.T) {
	w, ws, now, _ := workshop(t)
	w.flood(t, ws, 1, noon.Add(time.Hour))
	w.table.Reset()
	if jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), 256)); len(jobs) != 0 {
		t.Errorf("due: %v", jobs)
	}
	if pages, items := w.looked(); pages != 16 || items != 512 {
		t.Errorf("%d pages of %d items when nothing is due", pages, items)
	}
	const hours = looks + 8
	fill := func(ws access.WorkspaceID, due time.Time) {
		var changes []Change
		for n := range 40 { // with a limit of a job for each page, every shard is full
			changes = append(changes, Enqueue(Job{ID: JobID(fmt.Sprint(ws, due, n)), Kind: JobTell, Due: due}))
		}
		w.apply(t, ws, changes...)
	}
	for n := range hours {
		fill(ws, noon.Add(time.Duration(n)*time.Hour))
		fill(access.WorkspaceID(inbox.NewID(noon)), noon.Add(hours*time.Hour))
	}
	*now = noon.Add(hours * time.Hour)
	w.table.Reset()
	jobs := must[[]DueJob](t)(w.DueJobs(t.Context(), shards))
	if pages, items := w.looked(); pages != 256 || items != pages {
		t.Errorf("%d pages of %d items", pages, items)
	}
	if len(jobs) != shards || jobs[0].due != noon.Format(dueTime) {
		t.Errorf("%d jobs, from %s on", len(jobs), jobs[0].due)
	}
}
