package confirm

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
)

func newBench(b *testing.B) *Confirmer {
	db, err := bolt.Open(filepath.Join(b.TempDir(), "confirm.db")) // waits for the disk
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	c, err := New(Options{Audience: audience, Ledger: db.Table("confirmations"), Keys: StaticKeys(testKey("k1"))})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func BenchmarkSealAndUnseal(b *testing.B) {
	c := newBench(b)
	bound, err := c.bind(exampleCall())
	if err != nil {
		b.Fatal(err)
	}
	st := newState(bound, &newDeletion().question, time.Now(), MaxTTL)
	for b.Loop() {
		sealed, err := c.sealState(b.Context(), st)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.unseal(b.Context(), quoteJSON(sealed)); err != nil {
			b.Fatal(err)
		}
	}
}

// What confirming costs in all: the question, and the answer with its spend.
func BenchmarkAskAndConfirm(b *testing.B) {
	for _, say := range []string{"", sayYes} {
		name := "ask"
		if say != "" {
			name = "ask+confirm"
		}
		b.Run(name, func(b *testing.B) {
			c, a, call := newBench(b), newDeletion(), exampleCall()
			a.execute = func(Grant) error { return nil }
			confirm := func(call Call, want Outcome) Decision {
				d, err := c.Confirm(context.Background(), call, a)
				if err != nil || d.Outcome != want {
					b.Fatalf("%+v, %v", d, err)
				}
				return d
			}
			for b.Loop() {
				d := confirm(call, Asked)
				if say != "" {
					again := call
					again.RequestState, again.InputResponses = quoteJSON(stateOf(d)), jsontext.Value(say)
					confirm(again, Confirmed)
				}
			}
		})
	}
}
