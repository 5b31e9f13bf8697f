package dynamo_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

const (
	oldItem    = `"Item":{"pk":{"S":"p"},"sk":{"S":"s"},"v":{"B":"dg=="},"ver":{"N":"3"}}`
	onCond     = `{"Code":"ConditionalCheckFailed",` + oldItem + `}`
	onConflict = `{"Code":"TransactionConflict","Message":"Transaction is ongoing for the item"}`
	onThrottle = `{"Code":"ThrottlingError","Message":"Throughput exceeds the current capacity of your table"}`
	onNothing  = `{"Code":"None"}`
)

var (
	ok        = say(200, `{`+oldItem+`}`)
	throttled = refuse(400, "ProvisionedThroughputExceededException", "Slow down")
	broken    = refuse(500, "InternalServerError", "Internal server error")
	failed    = refuse(400, "ConditionalCheckFailedException", "The conditional request failed", oldItem)
	old       = store.Item{Key: key, Value: []byte("v"), Version: 3}
)

// errOther stands for an error that is none of package store.
var errOther = errors.New("another error")

// wantKind requires an error of one kind, and of no other.
func wantKind(t *testing.T, err, want error) {
	t.Helper()
	if (err == nil) != (want == nil) {
		t.Fatalf("error %v, want %v", err, want)
	}
	for _, kind := range []error{
		store.ErrNotFound, store.ErrUnavailable, store.ErrLimit, store.ErrInvalid, store.ErrCondition, context.DeadlineExceeded, context.Canceled,
	} {
		if errors.Is(err, kind) != (kind == want) {
			t.Errorf("errors.Is(%v, %v) = %t", err, kind, kind != want)
		}
	}
}

func TestWhatGoesWrongIsTold(t *testing.T) {
	cases := []struct {
		name    string
		reply   reply
		want    error
		unknown bool // whether the attempt went through
		tries   int  // 0: any
	}{
		{"throttle of the table", throttled, store.ErrUnavailable, false, 3},
		{"throttle of the account", refuse(400, "ThrottlingException", "Rate exceeded"), store.ErrUnavailable, false, 3},
		{"a transaction at the same item", refuse(400, "TransactionConflictException", "Transaction is ongoing"), store.ErrUnavailable, false, 3},
		{"500", broken, store.ErrUnavailable, true, 3},
		{"503 of something in between", say(503, "<html>"), store.ErrUnavailable, true, 3},
		{"no answer in time", nil, store.ErrUnavailable, true, 0},
		{"a connection that breaks", drop, store.ErrUnavailable, true, 3},
		{"half an answer", cutOff, store.ErrUnavailable, true, 0},
		{"what DynamoDB does not take", refuse(400, "ValidationException", "Invalid KeyConditionExpression"), store.ErrInvalid, false, 1},
		{"an item that grew too large", refuse(400, "ValidationException", "Item size to update has exceeded the maximum allowed size"), store.ErrLimit, false, 1},
		{"no permission", refuse(400, "AccessDeniedException", "User is not authorized"), errOther, false, 1},
		{"no such table", refuse(400, "ResourceNotFoundException", "Requested resource not found"), errOther, false, 1},
		{"another address", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, errOther, true, 1},
	}
	for _, c := range cases {
		for _, call := range calls {
			t.Run(c.name+"/"+call.name, func(t *testing.T) {
				t.Parallel()
				attempt, reply := patient, c.reply
				if reply == nil {
					attempt, reply = brief, hang
				}
				f := newFake(t, reply)
				wantKind(t, call.do(t.Context(), f.table(attempt)), c.want)
				got := len(f.got())
				if c.unknown && call.once && got > 1 {
					t.Errorf("sent %d times", got)
				} else if !(c.unknown && call.once) && c.tries > 0 && got != c.tries {
					t.Errorf("%d attempts, want %d", got, c.tries)
				}
			})
		}
	}
}

func TestNobodyListens(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, ok)
			f.close()
			wantKind(t, call.do(t.Context(), f.table(patient)), store.ErrUnavailable)
			if n := f.retries.Load(); n != 2 {
				t.Errorf("%d attempts more, want 2", n)
			}
		})
	}
}

func TestASecondAttemptCanSucceed(t *testing.T) {
	for name, first := range map[string]reply{"throttle": throttled, "500": broken, "a connection that breaks": drop} {
		for _, call := range calls {
			if call.once && name != "throttle" {
				continue
			}
			t.Run(name+"/"+call.name, func(t *testing.T) {
				t.Parallel()
				wantKind(t, call.do(t.Context(), newFake(t, first, ok).table(patient)), nil)
			})
		}
	}
}

// The caller's deadline is told from that of an attempt.
func TestTheContextEndsACall(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, hang)
			ctx, cancel := context.WithTimeout(t.Context(), brief)
			defer cancel()
			wantKind(t, call.do(ctx, f.table(patient)), context.DeadlineExceeded)
			if n := len(f.got()); n > 1 {
				t.Errorf("%d attempts", n)
			}

			ctx, cancel = context.WithCancel(t.Context())
			f = newFake(t, func(w http.ResponseWriter, r *http.Request) { cancel(); hang(w, r) })
			wantKind(t, call.do(ctx, f.table(patient)), context.Canceled)
		})
	}
}

func TestAConditionThatDoesNotHoldIsTold(t *testing.T) {
	put := store.Put(store.Item{Key: key}, store.Absent())
	other := store.Put(store.Item{Key: store.Key{Partition: "p", Sort: "t"}}, store.Present())
	cases := []struct {
		name  string
		reply reply
		ops   []store.Op
		want  store.ConditionError
	}{
		{"single, with what is stored", failed, []store.Op{put}, store.ConditionError{Old: &old}},
		{"single, where nothing is", refuse(400, "ConditionalCheckFailedException", ""), []store.Op{other}, store.ConditionError{}},
		{"the second of two", cancelled(onNothing, onCond), []store.Op{other, put}, store.ConditionError{Op: 1, Old: &old}},
		{"the first of two", cancelled(onCond, onCond), []store.Op{put, other}, store.ConditionError{Op: 0, Old: &old}},
		{"beside a conflict", cancelled(onConflict, onCond), []store.Op{other, put}, store.ConditionError{Op: 1, Old: &old}},
		{"where nothing is", cancelled(onNothing, `{"Code":"ConditionalCheckFailed"}`), []store.Op{put, other}, store.ConditionError{Op: 1}},
	}
	for _, c := range cases {
		f := newFake(t, c.reply)
		err := f.table(patient).Write(t.Context(), c.ops...)
		got, _ := errors.AsType[*store.ConditionError](err)
		if diff := gocmp.Diff(&c.want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", c.name, err, diff)
		}
		if n := len(f.got()); n != 1 {
			t.Errorf("%s: %d attempts", c.name, n)
		}
	}
}

func TestATransactionThatIsCancelledIsTold(t *testing.T) {
	tooLarge := `{"Code":"ValidationError","Message":"Item size to update has exceeded the maximum allowed size"}`
	cases := []struct {
		name  string
		reply reply
		want  error
		tries int
	}{
		{"a conflict", cancelled(onNothing, onConflict), store.ErrUnavailable, 3},
		{"a conflict and a throttle", cancelled(onConflict, onThrottle), store.ErrUnavailable, 3},
		{"still in progress", refuse(400, "TransactionInProgressException", "in progress"), store.ErrUnavailable, 3},
		{"an item that grew too large", cancelled(onNothing, tooLarge), store.ErrLimit, 1},
		{"an item that is not taken", cancelled(`{"Code":"ValidationError","Message":"An operand has an incorrect data type"}`, onNothing), store.ErrInvalid, 1},
		{"what this driver does not know", cancelled(`{"Code":"Novelty"}`, onNothing), errOther, 1},
		{"a token of another request", refuse(400, "IdempotentParameterMismatchException", "token"), errOther, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, c.reply)
			err := f.table(patient).Write(t.Context(), store.Put(store.Item{Key: key}), store.Delete(store.Key{Partition: "p", Sort: "t"}))
			wantKind(t, err, c.want)
			if n := len(f.got()); n != c.tries {
				t.Errorf("%d attempts, want %d", n, c.tries)
			}
		})
	}
}

// Field case 29: the reply to a write is lost, and the SDK sends it again. A
// condition that then fails may have met the write itself.
func TestCase29AConditionSaysNothingAfterALostReply(t *testing.T) {
	put := store.Put(store.Item{Key: key, Value: []byte("v"), Version: 3}, store.Absent())
	for name, c := range map[string]struct {
		first reply
		want  error
	}{
		"500":                      {broken, store.ErrUnavailable},
		"a connection that breaks": {drop, store.ErrUnavailable},
		"a throttle loses nothing": {throttled, store.ErrCondition},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantKind(t, newFake(t, c.first, failed).table(patient).Write(t.Context(), put), c.want)
		})
	}
}

// A transaction that is sent again carries the token of the first attempt, and
// each transaction its own.
func TestCase29ATransactionIsKnownByItsToken(t *testing.T) {
	f := newFake(t, drop, ok)
	table := f.table(patient)
	for range 2 {
		if err := table.Write(t.Context(), store.Put(store.Item{Key: key}), store.Add(store.Key{Partition: "p", Sort: "t"}, nil, time.Time{})); err != nil {
			t.Fatal(err)
		}
	}
	got := f.got()
	if len(got) != 3 {
		t.Fatalf("%d attempts", len(got))
	}
	if first := cmp.Or(got[0].ClientRequestToken, "none"); got[1].ClientRequestToken != first || got[2].ClientRequestToken == first {
		t.Errorf("tokens %q, %q, %q", got[0].ClientRequestToken, got[1].ClientRequestToken, got[2].ClientRequestToken)
	}
}
