package inboxstore

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// usageMonths is how long daily counters are kept, in months.
const usageMonths = 13

// usageParts is how many items a counter is spread over.
const usageParts = 8

// Cost is counted in whole billionths of a dollar: sums stay exact.
const (
	costCounter = "cost_nanousd"
	nano        = 1e9
)

// counters are the names of the counted numbers of a usage sum.
var counters = map[string]func(*inbox.UsageSum) *int64{
	"emails":        func(u *inbox.UsageSum) *int64 { return &u.Emails },
	"runs":          func(u *inbox.UsageSum) *int64 { return &u.Runs },
	"failed_runs":   func(u *inbox.UsageSum) *int64 { return &u.FailedRuns },
	"input_tokens":  func(u *inbox.UsageSum) *int64 { return &u.InputTokens },
	"output_tokens": func(u *inbox.UsageSum) *int64 { return &u.OutputTokens },
	"cache_read":    func(u *inbox.UsageSum) *int64 { return &u.CacheRead },
	"cache_write":   func(u *inbox.UsageSum) *int64 { return &u.CacheWrite },
}

// Count adds to the counters of the workspace for the day of at, in UTC. The
// model is that of an agent's run; e-mails are counted under no model, "".
func Count(at time.Time, model string, u inbox.UsageSum) Change {
	return func(t *transaction) error {
		counts := map[string]int64{costCounter: int64(math.Round(u.Cost * nano))}
		for name, of := range counters {
			counts[name] = *of(&u)
		}
		maps.DeleteFunc(counts, func(_ string, n int64) bool { return n == 0 })
		day := at.UTC().Truncate(24 * time.Hour)
		t.add(store.Add(t.space.usageOf(day, model, rand.N(usageParts)), counts, day.AddDate(0, usageMonths, 0)), nil)
		return nil
	}
}

// CountRun counts a finished agent run for the day it was made.
func CountRun(r inbox.AgentRun) Change {
	u := inbox.UsageSum{
		Runs: 1, InputTokens: r.InputTokens, OutputTokens: r.OutputTokens,
		CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Cost: r.TotalCost,
	}
	if r.Status == inbox.RunFailed {
		u.FailedRuns = 1
	}
	return Count(r.CreatedAt, r.LLMModel, u)
}

// tally is a usage sum with its cost still exact.
type tally struct {
	sum  inbox.UsageSum
	cost int64 // nano-USD
}

func (t *tally) add(counts map[string]int64) {
	for name, of := range counters {
		*of(&t.sum) += counts[name]
	}
	t.cost += counts[costCounter]
}

func (t *tally) usage() inbox.UsageSum {
	t.sum.Cost = float64(t.cost) / nano
	return t.sum
}

// usage reads the counters of the days from from to to, both included: one
// query, and one more for each further page of the table.
func (db *DB) usage(ctx context.Context, ws access.WorkspaceID, from, to time.Time, each func(day, model string, counts map[string]int64)) error {
	s := space(ws)
	q := store.Query{
		Partition: s.usage(),
		From:      from.UTC().Format(time.DateOnly),
		To:        to.UTC().AddDate(0, 0, 1).Format(time.DateOnly),
	}
	for item, err := range db.items(ctx, q) {
		if err != nil {
			return failure(err, "usage", "")
		}
		if !item.Expired(db.opts.Now()) {
			day, model := usageModel(item.Sort)
			each(day, model, item.Counts)
		}
	}
	return nil
}

// Usage implements inbox.Reader.
func (db *DB) Usage(ctx context.Context, ws access.WorkspaceID, from, to time.Time) (inbox.Usage, error) {
	u := inbox.Usage{
		From: from.UTC().Format(time.DateOnly), To: to.UTC().Format(time.DateOnly),
		ByModel: []inbox.ModelUsage{}, ByDay: []inbox.DayUsage{},
	}
	if u.From > u.To {
		return u, inbox.Errorf(inbox.CodeInvalid, "from", "The first day is after the last one.")
	}
	var total tally
	days, models := map[string]*tally{}, map[string]*tally{}
	err := db.usage(ctx, ws, from, to, func(day, model string, counts map[string]int64) {
		total.add(counts)
		entry(days, day).add(counts)
		if model != "" {
			entry(models, model).add(counts)
		}
	})
	u.Total = total.usage()
	for day, t := range days {
		u.ByDay = append(u.ByDay, inbox.DayUsage{Date: day, UsageSum: t.usage()})
	}
	for model, t := range models {
		sum := t.usage()
		sum.Emails = sum.Runs - sum.FailedRuns // what arrives has no model yet
		u.ByModel = append(u.ByModel, inbox.ModelUsage{Model: model, UsageSum: sum})
	}
	slices.SortFunc(u.ByDay, func(a, b inbox.DayUsage) int { return strings.Compare(a.Date, b.Date) })
	slices.SortFunc(u.ByModel, func(a, b inbox.ModelUsage) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), strings.Compare(a.Model, b.Model))
	})
	return u, err
}

// entry returns the tally of a key, made when it is asked for first.
func entry(m map[string]*tally, key string) *tally {
	if m[key] == nil {
		m[key] = &tally{}
	}
	return m[key]
}

// monthlyUse fills in what a workspace used this month.
func (db *DB) monthlyUse(ctx context.Context, w *inbox.Workspace) error {
	now := db.opts.Now().UTC()
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	var month tally
	err := db.usage(ctx, w.ID, first, first.AddDate(0, 1, -1), func(_, _ string, counts map[string]int64) {
		month.add(counts)
	})
	sum := month.usage()
	w.MonthlyCostUsed, w.MonthlyEmailsUsed = sum.Cost, sum.Emails
	return err
}
