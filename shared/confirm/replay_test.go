package confirm

import (
	"errors"
	"fmt"
	"github.com/google/go-cmp/cmp"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Case 23: the identical request succeeds once, then fails because it was
// spent, and for no other reason.
func TestR15_Case23_SameCallTwice(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.now = l.now.Add(time.Minute)
	l.confirm(call, a, Confirmed)
	l.now = l.now.Add(time.Minute)
	d := l.confirm(call, a, Replayed)
	l.wantExecuted(a, 1)
	if !strings.Contains(d.Message, "2026-12-02 09:31:00 UTC") ||
		!strings.Contains(d.Message, "Nothing was executed now") || !strings.Contains(d.Message, "Check whether the first call took effect") {
		t.Errorf("replay text %q", d.Message)
	}
	call.RequestState, call.InputResponses = nil, nil
	l.confirm(l.ask(call, a, sayYes), a, Confirmed)
	l.wantExecuted(a, 2)
}

// Cases 23 and 31: spend before acting.
func TestR15_Case31_ManyIdenticalCallsAtOnce(t *testing.T) {
	for _, n := range []int{3, 20, 64} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			call := l.ask(exampleCall(), a, sayYes)
			outcomes := make([]Outcome, n)
			var wg sync.WaitGroup
			for i := range n {
				c, err := New(Options{Audience: audience, Keys: StaticKeys(l.keys[0]), Ledger: l.table, Now: func() time.Time { return l.now }})
				if err != nil {
					t.Fatal(err)
				}
				wg.Go(func() {
					d, err := c.Confirm(t.Context(), call, a)
					if err != nil {
						t.Error(err)
					}
					outcomes[i] = d.Outcome
				})
			}
			wg.Wait()
			count := map[Outcome]int{}
			for _, o := range outcomes {
				count[o]++
			}
			if diff := cmp.Diff(map[Outcome]int{Confirmed: 1, Replayed: n - 1}, count); diff != "" {
				t.Error(diff)
			}
			l.wantExecuted(a, 1)
		})
	}
}

func TestR15_Case30_OtherInstances(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.restart()
	l.confirm(call, a, Confirmed)
	l.restart()
	l.confirm(call, a, Replayed)
	l.wantExecuted(a, 1)
}

func TestR15_ReplayNeedsNoTarget(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.confirm(call, a, Confirmed)
	a.gone = true
	l.confirm(call, a, Replayed)
}

// Case 28: only the seal's expiry decides, not whether the ledger was swept.
func TestR15_Case28_ExpiredButStillStored(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.confirm(call, a, Confirmed)
	l.now = l.now.Add(MaxTTL + time.Second)
	if d := l.confirm(call, a, Asked); d.Reason != ReasonExpired {
		t.Errorf("reason %q, want expired", d.Reason)
	}
	l.wantExecuted(a, 1)
}

func TestR15_ChangedTargetAsksAnew(t *testing.T) {
	for name, change := range map[string]func(*Question){
		"renamed":        func(q *Question) { q.Targets[0].Label = "Sales" },
		"another record": func(q *Question) { q.Targets[0].ID = "0197-other" },
		"another fact": func(q *Question) {
			q.Targets[0].Facts = []Fact{{Name: q.Targets[0].Facts[0].Name, Value: "x@acme.example"}}
		},
		"more in the cascade": func(q *Question) { q.Cascades[0].Count = 3 },
		"another consequence": func(q *Question) { q.Notes = []Text{{EN: "From now on anyone may write.", PT: "…"}} },
		"one target more":     func(q *Question) { q.Targets = append(q.Targets, Target{ID: "0197-second"}) },
	} {
		t.Run(name, func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			call := l.ask(exampleCall(), a, sayYes)
			change(&a.question)
			d := l.confirm(call, a, Asked)
			l.wantExecuted(a, 0)
			if d.Reason != ReasonChanged || !strings.Contains(messageOf(d), textChanged.EN) {
				t.Errorf("asked for %q: %s", d.Reason, messageOf(d))
			}
			l.confirm(answered(exampleCall(), d, sayYes), a, Confirmed)
			l.confirm(call, a, Replayed)
			l.wantExecuted(a, 1)
		})
	}
}

func TestR15_WhatMovesByItselfDoesNotVoidTheAnswer(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	a.question.Cascades[1].Count = 999
	a.question.Language = Portuguese
	l.confirm(call, a, Confirmed)
	l.wantExecuted(a, 1)
}

func TestR15_LostRaceAsksAnew(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	a.execute = func(Grant) error { return fmt.Errorf("inboxes: %w", ErrChanged) }
	d := l.confirm(call, a, Asked)
	if d.Reason != ReasonChanged {
		t.Errorf("reason %q, want changed", d.Reason)
	}
	a.execute = nil
	l.confirm(call, a, Replayed)
	l.confirm(answered(exampleCall(), d, sayYes), a, Confirmed)
	l.wantExecuted(a, 1)
}

// Spent stays spent even if the action then fails; the person is told.
func TestR15_FailedActionStaysSpent(t *testing.T) {
	for name, fail := range map[string]func(*deletion) error{
		"execute fails": func(a *deletion) error {
			err := errors.New("conflict")
			a.execute = func(Grant) error { return err }
			return err
		},
		"target is gone": func(a *deletion) error { a.gone = true; return errGone },
		"target is gone after a lost race": func(a *deletion) error {
			a.execute = func(Grant) error { a.gone = true; return ErrChanged }
			return errGone
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			call := l.ask(exampleCall(), a, sayYes)
			want := fail(a)
			d, err := l.Confirm(t.Context(), call, a)
			if !errors.Is(err, want) || d.Outcome != Confirmed || d.ID == "" || d.Message != textSpent.EN {
				t.Errorf("%+v, %v: want the action's error, the id, and that the yes is used up", d, err)
			}
			l.confirm(call, a, Replayed)
		})
	}
}

// Case 29: the store commits, then drops the connection.
func TestR15_Case29_LostReply(t *testing.T) {
	for _, lost := range []struct {
		how   storetest.Effect
		times int
	}{
		{storetest.LoseReply, 1},
		{storetest.LoseReply, spendTries - 1},
		{storetest.Fail, spendTries - 1},
		{storetest.Resend, 1}, // the store's client tries again by itself
	} {
		l, a := newLab(t), newDeletion()
		call := l.ask(exampleCall(), a, sayYes)
		l.breakWrites(lost.how, lost.times)
		l.confirm(call, a, Confirmed)
		l.confirm(call, a, Replayed)
		l.wantExecuted(a, 1)
	}
	// When no reply ever comes, nobody knows, and nothing runs.
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.breakWrites(storetest.LoseReply, spendTries)
	l.confirm(call, a, Unavailable)
	l.confirm(call, a, Replayed)
	l.wantExecuted(a, 0)
}
