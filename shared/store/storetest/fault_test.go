package storetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

var (
	k      = store.Key{Partition: "p", Sort: "a"}
	create = store.Put(store.Item{Key: k, Value: []byte("v")}, store.Absent())
)

func stored(t *testing.T, table store.Table) bool {
	t.Helper()
	_, err := table.Get(t.Context(), k)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func TestFault(t *testing.T) {
	boom := errors.New("boom")
	cases := []struct {
		name      string
		injection storetest.Injection
		want      error
		stored    bool
	}{
		{"Fail does nothing", storetest.Injection{Err: boom}, boom, false},
		{"the error is ErrUnavailable unless given", storetest.Injection{}, store.ErrUnavailable, false},
		{"case 29: LoseReply writes and returns the error", storetest.Injection{Effect: storetest.LoseReply}, store.ErrUnavailable, true},
		{"case 29: Resend meets its own write", storetest.Injection{Effect: storetest.Resend}, store.ErrCondition, true},
		{"another method goes through", storetest.Injection{Method: storetest.Get}, nil, true},
		{"a call that does not match goes through", storetest.Injection{Match: func(c storetest.Call) bool { return len(c.Ops) > 1 }}, nil, true},
		{"a call that matches fails", storetest.Injection{Match: func(c storetest.Call) bool { return len(c.Ops) == 1 && c.Ops[0].Item.Key == k }}, store.ErrUnavailable, false},
		{"the nth call is another", storetest.Injection{Nth: 2}, nil, true},
		{"the nth call is this", storetest.Injection{Method: storetest.Write, Nth: 1}, store.ErrUnavailable, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			table := storetest.Temp(t).Table("t")
			fault := storetest.NewFault(table)
			fault.Inject(c.injection)
			if err := fault.Write(t.Context(), create); !errors.Is(err, c.want) {
				t.Errorf("Write = %v, want %v", err, c.want)
			}
			if stored(t, table) != c.stored {
				t.Errorf("stored = %t", !c.stored)
			}
		})
	}
}

func TestFaultCountsTheCallsThatMatch(t *testing.T) {
	fault := storetest.NewFault(storetest.Temp(t).Table("t"))
	fault.Inject(storetest.Injection{Method: storetest.Get, Nth: 2})
	var got []bool
	for range 3 {
		_, err := fault.Query(t.Context(), store.Query{Partition: "p"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = fault.Get(t.Context(), k)
		got = append(got, errors.Is(err, store.ErrUnavailable))
	}
	if got[0] || !got[1] || got[2] {
		t.Errorf("failed: %v, want the second alone", got)
	}
}

func TestFaultLosesWhatAReadGave(t *testing.T) {
	fault := storetest.NewFault(storetest.Temp(t).Table("t"))
	if err := fault.Write(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	fault.Inject(storetest.Injection{Effect: storetest.LoseReply})
	if item, err := fault.Get(t.Context(), k); err == nil || item.Sort != "" {
		t.Errorf("Get = %v, %v", item, err)
	}
	if page, err := fault.Query(t.Context(), store.Query{Partition: "p"}); err == nil || page.Items != nil {
		t.Errorf("Query = %v, %v", page, err)
	}
}

func TestFaultHangsUntilTheDeadline(t *testing.T) {
	table := storetest.Temp(t).Table("t")
	synctest.Test(t, func(t *testing.T) {
		fault := storetest.NewFault(table)
		fault.Inject(storetest.Injection{Effect: storetest.Hang})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := fault.Write(ctx, create); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Write = %v", err)
		}
	})
	if stored(t, table) {
		t.Error("written")
	}
}

func TestFaultRecordsCalls(t *testing.T) {
	fault := storetest.NewFault(storetest.Temp(t).Table("t"))
	fault.Inject(storetest.Injection{Method: storetest.Write})
	fault.Get(t.Context(), k)
	fault.Query(t.Context(), store.Query{Partition: "p"})
	fault.Write(t.Context(), create)
	calls := fault.Calls()
	if len(calls) != 3 || calls[0].Key != k || calls[1].Query.Partition != "p" || len(calls[2].Ops) != 1 {
		t.Errorf("calls: %+v", calls)
	}
	fault.Reset()
	if err := fault.Write(t.Context(), create); err != nil {
		t.Errorf("after Reset: %v", err)
	}
	if n := len(fault.Calls()); n != 1 {
		t.Errorf("%d calls after Reset", n)
	}
}
