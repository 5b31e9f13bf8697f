package inboxstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// JobID names a job. That of work which a person said yes to is the id of the
// confirmation.
type JobID string

// NewJobID returns an id for a job that nobody was asked about.
func NewJobID(now time.Time) JobID { return JobID(inbox.NewID(now)) }

// JobKind is what a job does.
type JobKind string

// The kinds of jobs.
const (
	JobRead    JobKind = "read"    // an agent reads an e-mail
	JobTell    JobKind = "tell"    // find out which webhooks are told of events
	JobDeliver JobKind = "deliver" // tell one webhook of one event
	JobReply   JobKind = "reply"   // send what an agent answered
)

// Job is work that outlives the call that it comes from. It is written in the
// transaction of the records that need it, and goes in the one of its results:
// so it is neither lost nor done twice, whoever crashes when. A message that
// says that it is there only saves the wait for the next round.
type Job struct {
	ID        JobID              `json:"id"`
	Workspace access.WorkspaceID `json:"workspace_id"`
	Kind      JobKind            `json:"kind"`
	// Due is when it may be begun; while somebody is at it, when another one may.
	Due time.Time `json:"due"`
	// Begun is how often it was taken: more than once where a worker did not get
	// to its end.
	Begun int64 `json:"begun"`

	Email    inbox.ID   `json:"email_id,omitzero"`        // read, reply
	Workflow inbox.ID   `json:"workflow_run_id,omitzero"` // read
	Run      inbox.ID   `json:"agent_run_id,omitzero"`    // read: of the run that it makes; reply: of the run that wrote
	Events   []inbox.ID `json:"events,omitempty"`         // tell: of which; deliver: of which one
	After    inbox.ID   `json:"after,omitzero"`           // tell: webhooks up to this one are being told
	Webhook  inbox.ID   `json:"webhook_id,omitzero"`      // deliver
	Attempt  int64      `json:"attempt,omitzero"`         // deliver: which one is next, from 1; reply: how many were not sent
	Sending  bool       `json:"sending,omitzero"`         // reply: it may be out
}

// Enqueue leaves a job. One of an id that is there already is [ErrClaimed].
func Enqueue(j Job) Change {
	return func(t *transaction) error {
		j.Workspace = access.WorkspaceID(t.space)
		return t.putJob(j, 1, store.Absent(), ErrClaimed)
	}
}

// Happened keeps system events, and leaves the job that tells webhooks of them.
func Happened(now time.Time, events ...inbox.SystemEvent) Change {
	return func(t *transaction) error {
		tell := Job{ID: NewJobID(now), Kind: JobTell, Due: now}
		for _, e := range events {
			if err := Insert(e)(t); err != nil {
				return err
			}
			tell.Events = append(tell.Events, e.ID)
		}
		return Enqueue(tell)(t)
	}
}

// putJob writes a state of a job, and where it is found when it is due.
func (t *transaction) putJob(j Job, version int64, c store.Condition, refusal error) error {
	j.Due = j.Due.UTC().Truncate(time.Millisecond) // as the clock is read, and keys have it
	value, err := encode(j)
	t.add(store.Put(store.Item{Key: j.ID.key(), Value: value, Version: version}, c), refusal)
	t.add(store.Put(store.Item{Key: j.due(), Value: []byte(j.ID)}), nil)
	t.jobs = append(t.jobs, j)
	return err
}

// TakenJob is a job that this worker is at.
type TakenJob struct {
	Job
	version int64
}

// ErrNotDue is what [DB.TakeJob] returns for a job that there is nothing to do
// for now: somebody is at it, or its time has not come.
var ErrNotDue = errors.New("inboxstore: the job is not due")

// TakeJob takes a job that is due, by a conditional write, so that no other
// worker is at it until the lease is over. One that is done is not_found.
func (db *DB) TakeJob(ctx context.Context, id JobID, lease func(Job) time.Duration) (TakenJob, error) {
	item, err := db.get(ctx, id.key())
	if err != nil {
		return TakenJob{}, failure(err, "job", "")
	}
	taken := TakenJob{version: item.Version}
	if err := json.Unmarshal(item.Value, &taken.Job); err != nil {
		return taken, fmt.Errorf("inboxstore: job %s: %w", id, err)
	}
	now := db.now()
	if taken.Due.After(now) {
		return taken, ErrNotDue
	}
	next := taken.Job
	next.Begun++
	next.Due = now.Add(lease(next))
	err = db.Apply(ctx, taken.Workspace, taken.become(next, ErrNotDue, false))
	return TakenJob{Job: next, version: taken.version + 1}, err
}

// MarkSending notes of a taken job that what it sends may be out from now on,
// with the changes.
func (db *DB) MarkSending(ctx context.Context, t TakenJob, changes ...Change) (TakenJob, error) {
	next := t.Job
	next.Sending = true
	err := db.Apply(ctx, t.Workspace, append(changes, t.become(next, ErrJobLost, false))...)
	return TakenJob{Job: next, version: t.version + 1}, err
}

// ErrJobLost is what [DB.Apply] returns for a job that another worker took, as
// this one's lease was over. Nothing was written.
var ErrJobLost = errors.New("inboxstore: another worker took the job")

// Done takes a job away, with its results in one transaction: or it is
// [ErrJobLost].
func Done(taken TakenJob) Change {
	return func(t *transaction) error {
		t.add(store.Delete(taken.ID.key(), store.VersionIs(taken.version)), ErrJobLost)
		t.add(store.Delete(taken.due()), nil)
		return nil
	}
}

// Again leaves a taken job for later, in the state that next is.
func Again(taken TakenJob, next Job) Change {
	next.ID, next.Workspace, next.Kind = taken.ID, taken.Workspace, taken.Kind
	return taken.become(next, ErrJobLost, true)
}

// become replaces the state of a job. Whoever waits for jobs is told of it if
// wake is set.
func (taken TakenJob) become(next Job, refusal error, wake bool) Change {
	return func(t *transaction) error {
		if taken.due() != next.due() {
			t.add(store.Delete(taken.due()), nil)
		}
		err := t.putJob(next, taken.version+1, store.VersionIs(taken.version), refusal)
		if !wake {
			t.jobs = t.jobs[:len(t.jobs)-1]
		}
		return err
	}
}

// DueJob is a job whose time has come.
type DueJob struct {
	ID        JobID
	Workspace access.WorkspaceID
	key       store.Key
	due       string
	turn      int
}

// looks is how many pages a round reads at most, of each shard and of what is
// recent as of what is older.
const looks = 16

// longDue is for how long nothing waits for a worker, but for where there is very
// much to do.
const longDue = 2 * time.Hour

// strayChecks is how many of 256 jobs that have been due for long a round looks at,
// whichever, for being strays.
const strayChecks = 16

// DueJobs returns n jobs at most whose time has come, for workers' rounds.
// Workspaces take turns, each with its oldest job first: a job does not wait for
// those that another workspace has more of.
//
// Of each shard it reads pages of n/shards entries. After a full page it goes on
// behind the workspace, of that hour, that the page ends in. So the size of a
// flood does not matter: it costs a page for each hour and shard. Of this hour and
// the one before it reads as many pages as of all the others, of which the
// oldest come first: what has just become due is seen whatever waits for long.
//
// Where there is little to do, a round reads two pages of each shard; where there
// is no end of it, 256 in all: of 32 entries each, they cost 512 read units of
// DynamoDB, and a few more for jobs that have been due for hours.
//
// Where it cannot see all, it returns what it saw, with the error.
func (db *DB) DueJobs(ctx context.Context, n int) ([]DueJob, error) {
	now := db.now()
	due, err := db.listed(ctx, now, max(1, n/shards))
	due = slices.DeleteFunc(due, func(j DueJob) bool { return j.due > now.Format(dueTime) })
	due = inTurns(due, n)
	return slices.DeleteFunc(due, func(j DueJob) bool {
		return j.due < now.Add(-longDue).Format(dueTime) && rand.N(n) < strayChecks && db.removeStray(ctx, j)
	}), err
}

// listed reads pages of what is due by the end of this hour.
func (db *DB) listed(ctx context.Context, now time.Time, page int) (due []DueJob, err error) {
	recent := now.Add(-time.Hour).Format(dueHour)
	for shard := range shards {
		for _, q := range []store.Query{{From: recent, To: dueAfter(now)}, {To: recent}} {
			q.Partition, q.Limit = dueShard(shard), page
			some, err := db.look(ctx, q)
			due = append(due, some...)
			if err != nil {
				return due, unavailable(err)
			}
		}
	}
	return due, nil
}

// look reads entries of what is due, and passes over workspaces that have more
// in an hour than a page has.
func (db *DB) look(ctx context.Context, q store.Query) (due []DueJob, err error) {
	for range looks {
		page, err := db.opts.Table.Query(ctx, q)
		if err != nil {
			return due, err
		}
		for _, item := range page.Items {
			due = append(due, dueOf(item))
		}
		if page.Next == "" {
			break
		}
		q.From = duePast(page.Next)
	}
	return due, nil
}

// removeStray takes away an entry whose job is gone, or due at another time, and
// reports whether it did. A worker of another version leaves such, while a
// deployment shifts: rounds would find them for ever, in place of jobs. An
// entry that cannot be looked at now will be in the next round.
func (db *DB) removeStray(ctx context.Context, d DueJob) bool {
	ops := []store.Op{store.Delete(d.key)}
	item, err := db.get(ctx, d.ID.key())
	switch {
	case errors.Is(err, store.ErrNotFound):
		ops = append(ops, store.Check(d.ID.key(), store.Absent()))
	case err != nil:
		return false
	default:
		var j Job
		if err := json.Unmarshal(item.Value, &j); err != nil || j.due() == d.key {
			return false
		}
		ops = append(ops, store.Check(d.ID.key(), store.VersionIs(item.Version)), store.Put(store.Item{Key: j.due(), Value: []byte(j.ID)}))
	}
	return db.opts.Table.Write(ctx, ops...) == nil
}

// inTurns returns the first n of jobs when workspaces take turns.
func inTurns(jobs []DueJob, n int) []DueJob {
	slices.SortFunc(jobs, func(a, b DueJob) int { return cmp.Compare(a.due, b.due) })
	turns := map[access.WorkspaceID]int{}
	for i, j := range jobs {
		jobs[i].turn = turns[j.Workspace]
		turns[j.Workspace]++
	}
	slices.SortStableFunc(jobs, func(a, b DueJob) int { return cmp.Compare(a.turn, b.turn) })
	return jobs[:min(n, len(jobs))]
}
