package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

const (
	batch    = 256             // jobs that a round looks for
	parallel = 16              // jobs that are done at once, on one machine
	share    = parallel / 2    // of them, those of one workspace
	every    = 2 * time.Second // between looks at what is due, on one machine
)

// Sweep does what is due, of all workspaces in turns, or wakes others up to do
// it, and finishes erasures that were interrupted.
func (w *Worker) Sweep(ctx context.Context) error {
	erased := w.opts.DB.ResumeErasures(ctx)
	jobs, err := w.opts.DB.DueJobs(ctx, batch)
	switch {
	case len(jobs) == 0:
	case w.opts.Wake != nil:
		err = errors.Join(err, w.opts.Wake(ctx, jobs...))
	default:
		c := w.newCrew()
		for jobs = c.begin(ctx, jobs); len(c.at) > 0; jobs = c.begin(ctx, jobs) {
			delete(c.at, <-c.ended)
		}
	}
	return errors.Join(erased, err)
}

// Run does jobs until the context ends, and waits for those that it is at. Wake
// saves a new job the wait for the next look.
func (w *Worker) Run(ctx context.Context, wake <-chan struct{}) {
	c, tick := w.newCrew(), time.NewTicker(every)
	defer tick.Stop()
	jobs := w.look(ctx)
	for ctx.Err() == nil {
		jobs = c.begin(ctx, jobs)
		select {
		case id := <-c.ended:
			delete(c.at, id)
		case <-wake:
			jobs = w.look(ctx)
		case <-tick.C:
			jobs = w.look(ctx)
		case <-ctx.Done():
		}
	}
	for len(c.at) > 0 {
		delete(c.at, <-c.ended)
	}
}

// look returns what is due, as far as that can be seen.
func (w *Worker) look(ctx context.Context) []inboxstore.DueJob {
	jobs, err := w.opts.DB.DueJobs(ctx, batch)
	if err != nil && ctx.Err() == nil {
		w.opts.Log.WarnContext(ctx, "what is due cannot be seen now", "error", err)
	}
	return jobs
}

// crew is what a worker is at on one machine. It belongs to one goroutine.
type crew struct {
	do    func(context.Context, inboxstore.JobID) error
	at    map[inboxstore.JobID]access.WorkspaceID
	ended chan inboxstore.JobID // which never keeps a job from ending
}

func (w *Worker) newCrew() *crew {
	return &crew{w.Do, map[inboxstore.JobID]access.WorkspaceID{}, make(chan inboxstore.JobID, parallel)}
}

// begin begins jobs as far as there are places, and returns the others. Each
// place goes to a workspace that has the fewest, and none has more than its
// share: so one whose jobs take their whole time leaves places for the others.
func (c *crew) begin(ctx context.Context, jobs []inboxstore.DueJob) []inboxstore.DueJob {
	jobs = slices.DeleteFunc(jobs, func(j inboxstore.DueJob) bool { return c.at[j.ID] != "" })
	has := map[access.WorkspaceID]int{}
	for _, ws := range c.at {
		has[ws]++
	}
	for len(jobs) > 0 && len(c.at) < parallel && ctx.Err() == nil {
		next := 0
		for n, j := range jobs {
			if has[j.Workspace] < has[jobs[next].Workspace] {
				next = n
			}
		}
		j := jobs[next]
		if has[j.Workspace] == share {
			break
		}
		jobs = slices.Delete(jobs, next, next+1)
		has[j.Workspace]++
		c.at[j.ID] = j.Workspace
		go func() {
			_ = c.do(ctx, j.ID) // which logs it
			c.ended <- j.ID
		}()
	}
	return jobs
}
