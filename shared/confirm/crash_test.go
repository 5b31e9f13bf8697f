package confirm

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
)

// The test binary, started again with these, is the process that dies: it
// confirms the call of that requestState with a yes, on that ledger.
const (
	dyingLedger = "CONFIRM_TEST_LEDGER"
	dyingState  = "CONFIRM_TEST_STATE"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(dyingLedger); path != "" {
		os.Exit(die(path))
	}
	os.Exit(m.Run())
}

// die is killed as kill -9 does it: after the yes was spent, before the action
// has any effect. It returns only if that does not happen.
func die(path string) int {
	db, err := bolt.Open(path)
	if err != nil {
		return 3
	}
	c, err := durable(db)
	if err != nil {
		return 4
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return 5
	}
	a := newDeletion()
	a.execute = func(Grant) error {
		self.Kill()
		select {}
	}
	call := exampleCall()
	call.RequestState, call.InputResponses = quoteJSON(os.Getenv(dyingState)), []byte(sayYes)
	c.Confirm(context.Background(), call, a)
	return 6
}

func durable(db *bolt.DB) (*Confirmer, error) {
	return New(Options{Audience: audience, Ledger: db.Table("confirmations"), Keys: StaticKeys(testKey("k1"))})
}

// TestKilledBetweenSpendAndEffect: the yes of a process that died before it
// acted is used up. Nothing runs on it any more, the person is told to check,
// and is asked anew (R14, R15).
func TestKilledBetweenSpendAndEffect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "confirm.db")
	a, call := newDeletion(), exampleCall()
	confirm := func(call Call) Decision {
		t.Helper()
		db, err := bolt.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c, err := durable(db)
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Confirm(t.Context(), call, a)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := confirm(call)

	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), dyingLedger+"="+path, dyingState+"="+stateOf(first))
	if exit, ok := errors.AsType[*exec.ExitError](child.Run()); !ok || exit.Exited() {
		t.Fatalf("the process was to be killed: %v", exit)
	}

	if d := confirm(answered(call, first, sayYes)); d.Outcome != Replayed || len(a.executed) != 0 {
		t.Errorf("the same yes again: %s, executed %d times", d.Outcome, len(a.executed))
	}
	again := confirm(call)
	if d := confirm(answered(call, again, sayYes)); d.Outcome != Confirmed || len(a.executed) != 1 {
		t.Errorf("a new yes: %s, executed %d times", d.Outcome, len(a.executed))
	}
}
