package dynamo_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
)

func TestInLambdaTheEnvironmentSaysAll(t *testing.T) {
	t.Setenv("AWS_REGION", "sa-east-1")
	t.Setenv("AWS_ACCESS_KEY_ID", "role")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "session")
	f := newFake(t, ok)
	table := dynamo.New(dynamo.NewClient(dynamo.Options{Endpoint: f.url}), "items")
	get := func() request {
		t.Helper()
		if _, err := table.Get(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		return f.got()[len(f.got())-1]
	}
	r := get()
	if auth := r.header.Get("Authorization"); !strings.Contains(auth, "Credential=role/") || !strings.Contains(auth, "/sa-east-1/dynamodb/") {
		t.Errorf("Authorization: %s", auth)
	}
	if got := r.header.Get("X-Amz-Security-Token"); got != "session" {
		t.Errorf("session token %q", got)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "renewed")
	if auth := get().header.Get("Authorization"); !strings.Contains(auth, "Credential=renewed/") {
		t.Errorf("Authorization: %s", auth)
	}
}

func TestWithoutCredentialsNothingIsSent(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	f := newFake(t, ok)
	table := dynamo.New(dynamo.NewClient(dynamo.Options{Region: "sa-east-1", Endpoint: f.url}), "items")
	_, err := table.Get(t.Context(), key)
	if err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") || len(f.got()) != 0 {
		t.Errorf("%v after %d calls", err, len(f.got()))
	}
}

func TestRetriesAreBounded(t *testing.T) {
	retryer := dynamo.NewClient(dynamo.Options{Region: "sa-east-1"}).Options().Retryer
	if n := retryer.MaxAttempts(); n != 3 {
		t.Errorf("%d attempts", n)
	}
	for _, cause := range []error{errors.New("any"), &types.ProvisionedThroughputExceededException{}} {
		for attempt := 1; attempt < 3; attempt++ {
			if d, err := retryer.RetryDelay(attempt, cause); err != nil || d > 500*time.Millisecond {
				t.Errorf("attempt %d after %v waits %v, %v", attempt, cause, d, err)
			}
		}
	}
}

// The consumed capacity is asked for and told only if somebody observes.
func TestObserve(t *testing.T) {
	single, several := `{"ConsumedCapacity":{"CapacityUnits":2.5}}`, `{"ConsumedCapacity":[{"CapacityUnits":4},{"CapacityUnits":2}]}`
	for _, call := range calls {
		body, want := single, 2.5
		if call.name == "Check" || call.name == "transaction" {
			body, want = several, 6
		}
		f := newFake(t, say(200, body))
		table := f.table(patient)
		if err := call.do(t.Context(), table); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("%s: %v", call.name, err)
		}
		told := 0
		table.Observe = func(ctx context.Context, operation string, units float64) {
			if told++; ctx != t.Context() || operation != f.got()[0].operation || units != want {
				t.Errorf("%s: Observe(%s, %v), want %v", call.name, operation, units, want)
			}
		}
		if err := call.do(t.Context(), table); err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("%s: %v", call.name, err)
		}
		if got := f.got(); told != 1 || got[0].ReturnConsumedCapacity != "NONE" || got[1].ReturnConsumedCapacity != "TOTAL" {
			t.Errorf("%s: told %d times; asked %q, then %q", call.name, told, got[0].ReturnConsumedCapacity, got[1].ReturnConsumedCapacity)
		}
	}
}

// A body of more than net/http's buffer does not cost the connection, and with
// it perhaps the answer (package awshttp says how it could).
func TestLargeItemsKeepTheConnection(t *testing.T) {
	from := map[string]bool{}
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		from[r.RemoteAddr] = true // one call after the other
		say(200, "{}")(w, r)
	})
	table := f.table(patient)
	large := store.Put(store.Item{Key: key, Value: make([]byte, 9000)})
	for range 300 {
		if err := table.Write(t.Context(), large); err != nil {
			t.Fatal(err)
		}
	}
	if len(from) != 1 {
		t.Errorf("%d connections", len(from))
	}
}
