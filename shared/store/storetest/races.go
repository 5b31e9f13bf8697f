package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// racers is how many goroutines race.
const racers = 64

// race runs fn in that many goroutines at once and returns what each got.
func race(fn func(n int) error) []error {
	errs := make([]error, racers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for n := range racers {
		wg.Go(func() {
			<-start
			errs[n] = fn(n)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

// insist repeats a transaction that DynamoDB cancelled for one that ran at
// the same time, which a driver tells as [store.ErrUnavailable].
func insist(ctx context.Context, table store.Table, ops ...store.Op) error {
	for {
		if err := table.Write(ctx, ops...); !errors.Is(err, store.ErrUnavailable) {
			return err
		}
	}
}

// wantOneWinner checks what racers for item k got, each with its number as the
// value.
func wantOneWinner(t *testing.T, table store.Table, k store.Key, errs []error) {
	t.Helper()
	winner := -1
	for n, err := range errs {
		if err == nil && winner >= 0 {
			t.Fatalf("racers %d and %d both won", winner, n)
		}
		if err == nil {
			winner = n
		}
	}
	if winner < 0 {
		t.Fatalf("nobody won: %v", errs[0])
	}
	won := store.Item{Key: k, Value: fmt.Append(nil, winner)}
	wantItem(t, table, won)
	for n, err := range errs {
		if n == winner {
			continue
		}
		failed, ok := errors.AsType[*store.ConditionError](err)
		if !ok {
			t.Fatalf("racer %d: %v, want a ConditionError", n, err)
		}
		if diff := diff(&won, failed.Old); diff != "" {
			t.Fatalf("racer %d lost to another item (-want +got):\n%s", n, diff)
		}
	}
}

func raceRules() []rule {
	const rounds = 10
	return []rule{
		{"of 64 that write where nothing is, one wins", func(t *testing.T, table store.Table) {
			for round := range rounds {
				k := key(fmt.Sprint(round))
				wantOneWinner(t, table, k, race(func(n int) error {
					return table.Write(t.Context(), store.Put(store.Item{Key: k, Value: fmt.Append(nil, n)}, store.Absent()))
				}))
			}
		}},
		{"of 64 transactions that write where nothing is, one wins", func(t *testing.T, table store.Table) {
			for round := range rounds {
				k := key(fmt.Sprint(round))
				wantOneWinner(t, table, k, race(func(n int) error {
					return insist(t.Context(), table,
						store.Put(store.Item{Key: k, Value: fmt.Append(nil, n)}, store.Absent()),
						store.Put(item(fmt.Sprintf("%d by %d", round, n), "")))
				}))
				if won := queryAll(t, table, store.Query{Partition: "p", Prefix: k.Sort + " by "}); len(won) != 1 {
					t.Fatalf("%d transactions left a mark", len(won))
				}
			}
		}},
		{"64 that add lose nothing", func(t *testing.T, table store.Table) {
			const each = 5
			for _, err := range race(func(n int) error {
				for range each {
					if err := table.Write(t.Context(), store.Add(key("a"), map[string]int64{"sum": int64(n), "calls": 1}, time.Time{})); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			wantItem(t, table, store.Item{Key: key("a"), Counts: map[string]int64{"sum": each * racers * (racers - 1) / 2, "calls": each * racers}})
		}},
		{"64 transactions that add lose nothing, and do not deadlock", func(t *testing.T, table store.Table) {
			for _, err := range race(func(n int) error {
				a, b := store.Add(key("a"), counts(2), time.Time{}), store.Add(key("b"), counts(3), time.Time{})
				if n%2 == 0 {
					a, b = b, a
				}
				return insist(t.Context(), table, a, b)
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			wantItem(t, table, store.Item{Key: key("a"), Counts: map[string]int64{"n0": 0, "n1": racers}})
			wantItem(t, table, store.Item{Key: key("b"), Counts: map[string]int64{"n0": 0, "n1": racers, "n2": 2 * racers}})
		}},
		{"of 64 that replace the version they read, each new version has one winner", func(t *testing.T, table store.Table) {
			write(t, table, store.Put(item("a", "")))
			wins := make([]int64, racers)
			for _, err := range race(func(n int) error {
				for range 3 {
					i, err := table.Get(t.Context(), key("a"))
					if err != nil {
						return err
					}
					read := i.Version
					i.Version++
					switch err := table.Write(t.Context(), store.Put(i, store.VersionIs(read))); {
					case err == nil:
						wins[n]++
					case !errors.Is(err, store.ErrCondition):
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			want := item("a", "")
			for _, n := range wins {
				want.Version += n
			}
			wantItem(t, table, want)
		}},
	}
}
