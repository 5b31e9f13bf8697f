package confirm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// keepSpent is how long after its expiry a spent confirmation stays in the
// ledger: far longer than any two clocks differ.
const keepSpent = 24 * time.Hour

// spendTries bounds how often one spend is attempted. The table's driver has
// retries of its own.
const spendTries = 3

// ledger is the answers that were spent, in a table shared by all instances.
type ledger struct {
	table store.Table
	now   func() time.Time
}

// entry is what the ledger holds of a confirmation.
type entry struct {
	Attempt string    `json:"attempt"` // who wrote it: one call of spend
	Answer  answer    `json:"answer"`
	At      time.Time `json:"at"`
}

// spend uses the confirmation up. It returns nil when this very call did, or
// the earlier entry when another one had. Any error means that nobody knows:
// the caller must do nothing.
//
// It is one conditional write. When its reply is lost, writing again finds our
// own entry, known by its attempt (field case 29).
func (l ledger) spend(ctx context.Context, st state, said answer) (earlier *entry, err error) {
	ours := entry{Attempt: rand.Text(), Answer: said, At: l.now().UTC()}
	value, err := json.Marshal(ours)
	if err != nil {
		return nil, fmt.Errorf("confirm: encode ledger entry: %w", err)
	}
	put := store.Put(store.Item{
		Key:     store.Key{Partition: st.ID, Sort: "spent"},
		Value:   value,
		Expires: st.Expires.Add(keepSpent),
	}, store.Absent()) // never mind Expires: a swept or unswept entry decides nothing

	for range spendTries {
		err = l.table.Write(ctx, put)
		if err == nil {
			return nil, nil
		}
		if taken, ok := errors.AsType[*store.ConditionError](err); ok {
			earlier, err := readEntry(taken.Old)
			if err != nil || earlier.Attempt == ours.Attempt {
				return nil, err
			}
			return earlier, nil
		}
	}
	return nil, fmt.Errorf("confirm: spend: %w", err)
}

func readEntry(i *store.Item) (*entry, error) {
	if i == nil {
		return nil, errors.New("confirm: the ledger refused a write for an entry that it does not show")
	}
	e := new(entry)
	if err := json.Unmarshal(i.Value, e); err != nil {
		return nil, fmt.Errorf("confirm: decode ledger entry: %w", err)
	}
	return e, nil
}
