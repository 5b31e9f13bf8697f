package inboxstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func TestUsage(t *testing.T) {
	w := newWorld(t)
	ws, other := w.newWorkspace(t), w.newWorkspace(t)
	run := aRun(anEmail(ws, anInbox(ws).ID, noon), anAgent(ws).ID, noon)
	run.LLMModel, run.InputTokens, run.OutputTokens, run.CacheRead, run.CacheWrite, run.TotalCost = "a/big", 100, 10, 5, 1, 0.1
	failed := run
	failed.Status, failed.LLMModel, failed.TotalCost = inbox.RunFailed, "b/small", 0.2
	yesterday := run
	yesterday.CreatedAt = noon.AddDate(0, 0, -1)
	w.apply(t, ws, CountRun(run), CountRun(run), CountRun(failed), CountRun(yesterday), Count(noon, "", inbox.UsageSum{Emails: 2}))
	w.apply(t, ws, CountRun(run))
	w.apply(t, other, CountRun(run))
	w.calls()

	day := func(runs, failedRuns, emails int64, cost float64) inbox.UsageSum {
		return inbox.UsageSum{Emails: emails, Runs: runs, FailedRuns: failedRuns, InputTokens: 100 * runs, OutputTokens: 10 * runs, CacheRead: 5 * runs, CacheWrite: runs, Cost: cost}
	}
	model := func(read, failed int64, cost float64) inbox.UsageSum { // whose e-mails are those that were read
		return day(read+failed, failed, read, cost)
	}
	want := inbox.Usage{
		From: "2026-12-01", To: "2026-12-02", Total: day(5, 1, 2, 0.6),
		ByModel: []inbox.ModelUsage{{Model: "a/big", UsageSum: model(4, 0, 0.4)}, {Model: "b/small", UsageSum: model(0, 1, 0.2)}},
		ByDay:   []inbox.DayUsage{{Date: "2026-12-01", UsageSum: day(1, 0, 0, 0.1)}, {Date: "2026-12-02", UsageSum: day(4, 1, 2, 0.5)}},
	}
	got := must[inbox.Usage](t)(w.Usage(t.Context(), ws, noon.AddDate(0, 0, -1), noon))
	if d := diff(want, got); d != "" {
		t.Errorf("two days (-want +got):\n%s", d)
	}
	w.wantCalls(t, "usage", 0, 1)
	if got := must[inbox.Usage](t)(w.Usage(t.Context(), ws, noon.AddDate(0, 0, -9), noon.AddDate(0, 0, -2))); allJSON(t, got, nil) !=
		`{"from":"2026-11-23","to":"2026-11-30","total":{"emails":0,"runs":0,"failed_runs":0,"input_tokens":0,"output_tokens":0,"cache_read":0,"cache_write":0,"cost":0},"by_model":[],"by_day":[]}` {
		t.Errorf("days without use: %s", allJSON(t, got, nil))
	}
	_, err := w.Usage(t.Context(), ws, noon, noon.AddDate(0, 0, -1))
	wantError(t, err, inbox.CodeInvalid, "from")
}

// Three thousand times 0.1 cent is three dollars, to the last digit.
func TestCostsSumExactly(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	for range 30 {
		var changes []Change
		for range 100 {
			changes = append(changes, Count(noon, "m", inbox.UsageSum{Cost: 0.001}))
		}
		w.apply(t, ws, changes...)
	}
	if u := must[inbox.Usage](t)(w.Usage(t.Context(), ws, noon, noon)); u.Total.Cost != 3 {
		t.Errorf("cost %v, want 3", u.Total.Cost)
	}
}

func TestUsageDaysAreUTC(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	brt := time.FixedZone("BRT", -3*60*60)
	w.apply(t, ws, Count(time.Date(2026, 12, 1, 22, 0, 0, 0, brt), "", inbox.UsageSum{Emails: 1})) // 01:00 on the 2nd, UTC
	u := must[inbox.Usage](t)(w.Usage(t.Context(), ws, time.Date(2026, 12, 1, 23, 0, 0, 0, brt), noon))
	if u.From != "2026-12-02" || len(u.ByDay) != 1 || u.ByDay[0].Date != "2026-12-02" {
		t.Errorf("usage %+v, want one day, 2026-12-02", u)
	}
}

func TestCountersAreKeptThirteenMonths(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	w.apply(t, ws, Count(noon, "", inbox.UsageSum{Emails: 1}))
	for at, want := range map[time.Time]int64{
		time.Date(2028, 1, 1, 23, 59, 59, 0, time.UTC): 1,
		time.Date(2028, 1, 2, 0, 0, 0, 0, time.UTC):    0,
	} {
		w.now = at
		if u := must[inbox.Usage](t)(w.Usage(t.Context(), ws, noon, noon)); u.Total.Emails != want {
			t.Errorf("at %v: %d e-mails, want %d", at, u.Total.Emails, want)
		}
	}
}

func TestMonthlyUseOfAWorkspace(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	for _, day := range []string{"2026-11-30", "2026-12-01", "2026-12-31", "2027-01-01"} {
		at := must[time.Time](t)(time.Parse(time.DateOnly, day))
		w.apply(t, ws, Count(at, "", inbox.UsageSum{Emails: 1}), Count(at, "m", inbox.UsageSum{Runs: 1, Cost: 0.25}))
	}
	got := must[inbox.Workspace](t)(w.Workspace(t.Context(), []access.WorkspaceID{ws}, string(ws)))
	if got.MonthlyEmailsUsed != 2 || got.MonthlyCostUsed != 0.5 {
		t.Errorf("used %d e-mails and %v USD in December, want 2 and 0.5", got.MonthlyEmailsUsed, got.MonthlyCostUsed)
	}
	page := must[inbox.Page[inbox.Workspace]](t)(w.Workspaces(t.Context(), []access.WorkspaceID{ws}, inbox.PageRequest{}))
	if d := diff([]inbox.Workspace{got}, page.Data); d != "" {
		t.Errorf("in the list (-want +got):\n%s", d)
	}
}

// A year of every model every day is more than one page of the table.
func TestUsageOfAYear(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	const models = 15
	for d := range 365 {
		var changes []Change
		for m := range models {
			changes = append(changes, Count(noon.AddDate(0, 0, -d), fmt.Sprint("provider/model-", m, "-with-a-long-name-as-they-have"), inbox.UsageSum{Runs: 1, InputTokens: 2, Cost: 0.5}))
		}
		w.apply(t, ws, changes...)
	}
	u := must[inbox.Usage](t)(w.Usage(t.Context(), ws, noon.AddDate(-1, 0, 1), noon))
	if u.Total.Runs != models*365 || len(u.ByModel) != models || len(u.ByDay) != 365 {
		t.Errorf("%d runs by %d models on %d days, want %d, %d, 365", u.Total.Runs, len(u.ByModel), len(u.ByDay), models*365, models)
	}
}
