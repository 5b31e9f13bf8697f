package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Fault is a [store.Table] that hands its calls to another, records them, and
// fails those that [Fault.Inject] tells it to.
type Fault struct {
	table store.Table

	mu     sync.Mutex
	calls  []Call
	faults []*fault
}

var _ store.Table = (*Fault)(nil)

// Call is one call of a [Fault]: the method, and the argument it takes.
type Call struct {
	Method Method
	Key    store.Key   // of a Get
	Query  store.Query // of a Query
	Ops    []store.Op  // of a Write
}

// Method names a method of [store.Table].
type Method string

// The methods of [store.Table].
const (
	Get   Method = "Get"
	Query Method = "Query"
	Write Method = "Write"
)

// Effect is how a call goes wrong.
type Effect int

// The ways in which a call goes wrong. An error is [Injection.Err].
const (
	// Fail does nothing and returns the error.
	Fail Effect = iota
	// LoseReply makes the call and returns the error in place of its answer:
	// a write has happened, and the caller does not know.
	LoseReply
	// Resend makes the call, and makes it again for its answer: what a client
	// library does by itself when the reply was lost. A conditional write then
	// meets itself.
	Resend
	// Hang does nothing until the context ends, and returns its error.
	Hang
)

// Injection says which calls go wrong, and how.
type Injection struct {
	Effect Effect
	// Err is what the call returns; nil is [store.ErrUnavailable].
	Err error
	// Method keeps the calls of one method, "" of all.
	Method Method
	// Match keeps the calls it is true for; nil is all.
	Match func(Call) bool
	// Nth is which of the calls that match goes wrong, the first being 1; 0 is
	// all of them.
	Nth int
}

type fault struct {
	Injection
	met int // calls that matched
}

// NewFault returns a Fault in front of table, with nothing injected.
func NewFault(table store.Table) *Fault { return &Fault{table: table} }

// Inject makes calls go wrong from now on. Of several injections that a call
// meets, the first decides.
func (f *Fault) Inject(i Injection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &fault{Injection: i})
}

// Reset forgets all injections and calls.
func (f *Fault) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults, f.calls = nil, nil
}

// Calls returns the calls so far, in the order in which they began, those that
// went wrong too.
func (f *Fault) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.calls)
}

// Get implements [store.Table].
func (f *Fault) Get(ctx context.Context, k store.Key) (item store.Item, err error) {
	err = f.call(ctx, Call{Method: Get, Key: k}, func() error {
		item, err = f.table.Get(ctx, k)
		return err
	})
	if err != nil {
		return store.Item{}, err
	}
	return item, nil
}

// Query implements [store.Table].
func (f *Fault) Query(ctx context.Context, q store.Query) (page store.Page, err error) {
	err = f.call(ctx, Call{Method: Query, Query: q}, func() error {
		page, err = f.table.Query(ctx, q)
		return err
	})
	if err != nil {
		return store.Page{}, err
	}
	return page, nil
}

// Write implements [store.Table].
func (f *Fault) Write(ctx context.Context, ops ...store.Op) error {
	return f.call(ctx, Call{Method: Write, Ops: slices.Clone(ops)}, func() error {
		return f.table.Write(ctx, ops...)
	})
}

// call records c and makes it, with what was injected.
func (f *Fault) call(ctx context.Context, c Call, do func() error) error {
	i, ok := f.record(c)
	if !ok {
		return do()
	}
	switch i.Effect {
	case LoseReply:
		do() // whatever it answers is lost
	case Resend:
		do()
		return do()
	case Hang:
		<-ctx.Done()
		return ctx.Err()
	}
	if i.Err != nil {
		return i.Err
	}
	return fmt.Errorf("%w: injected", store.ErrUnavailable)
}

// record notes c and returns the injection it meets, if any.
func (f *Fault) record(c Call) (met Injection, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, c)
	for _, i := range f.faults {
		if i.Method != "" && i.Method != c.Method || i.Match != nil && !i.Match(c) {
			continue
		}
		i.met++
		if !ok && (i.Nth == 0 || i.Nth == i.met) {
			met, ok = i.Injection, true
		}
	}
	return met, ok
}
