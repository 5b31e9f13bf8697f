package confirm

import (
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func putLedger(t *testing.T, table store.Table, id, value string) {
	t.Helper()
	err := table.Write(t.Context(), store.Put(store.Item{Key: store.Key{Partition: id, Sort: "spent"}, Value: []byte(value)}))
	if err != nil {
		t.Fatal(err)
	}
}

func TestLedger_KeepsSpentADayLonger(t *testing.T) {
	l, a := newLab(t), newDeletion()
	asked := l.confirm(exampleCall(), a, Asked)
	l.confirm(answered(exampleCall(), asked, sayYes), a, Confirmed)
	item, err := l.table.Get(t.Context(), store.Key{Partition: asked.ID, Sort: "spent"})
	if err != nil {
		t.Fatal(err)
	}
	if want := l.now.Add(MaxTTL + 24*time.Hour); !item.Expires.Equal(want) {
		t.Errorf("the entry expires at %v, want %v", item.Expires, want)
	}
}

// Case 28: an expired entry that was not swept still means spent.
func TestLedger_Case28_ConditionNeverLooksAtExpiry(t *testing.T) {
	l := newLab(t)
	st := state{ID: "x", Expires: l.now.Add(-48 * time.Hour)}
	ledger := ledger{table: l.table, now: func() time.Time { return l.now }}
	if earlier, err := ledger.spend(t.Context(), st, yes); earlier != nil || err != nil {
		t.Fatalf("first spend: %v, %v", earlier, err)
	}
	if earlier, err := ledger.spend(t.Context(), st, yes); earlier == nil || err != nil {
		t.Fatalf("second spend: %v, %v, want the earlier entry", earlier, err)
	}
}
