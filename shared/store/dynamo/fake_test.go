package dynamo_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
)

// fake is an endpoint that answers as it was told, one reply for each request,
// the last one for all that follow.
type fake struct {
	url     string
	close   func()
	replies []reply
	retries atomic.Int32

	mu       sync.Mutex
	requests []request
}

type reply func(w http.ResponseWriter, r *http.Request)

// request is what matters of a request's body.
type request struct {
	operation                 string
	header                    http.Header
	KeyConditionExpression    string
	ExpressionAttributeValues map[string]map[string]any
	ExclusiveStartKey         map[string]map[string]any
	ScanIndexForward          *bool
	ConsistentRead            bool
	Limit                     *int
	ClientRequestToken        string
	ReturnConsumedCapacity    string
}

func newFake(t *testing.T, replies ...reply) *fake {
	f := &fake{replies: replies}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		got := request{operation: operation, header: r.Header}
		if err != nil {
			return // the client gave up
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Errorf("request %s: %v", body, err)
		}
		f.mu.Lock()
		f.requests = append(f.requests, got)
		n := min(len(f.requests), len(f.replies)) - 1
		f.mu.Unlock()
		f.replies[n](w, r)
	}))
	t.Cleanup(s.Close)
	f.url, f.close = s.URL, s.Close
	return f
}

// got returns the requests so far.
func (f *fake) got() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// table returns a table at the endpoint, that waits for an answer at most this
// long, and not at all between attempts.
func (f *fake) table(attempt time.Duration) *dynamo.Table {
	client := dynamo.NewClient(dynamo.Options{
		Region: "sa-east-1", Endpoint: f.url, Credentials: aws.CredentialsProviderFunc(testCredentials), AttemptTimeout: attempt,
	})
	return dynamo.New(dynamodb.New(client.Options(), func(o *dynamodb.Options) { o.Retryer = eager{o.Retryer, f} }), "items")
}

// eager is a retryer that counts instead of waiting.
type eager struct {
	aws.Retryer
	*fake
}

func (e eager) RetryDelay(int, error) (time.Duration, error) {
	e.retries.Add(1)
	return 0, nil
}

// patient is longer than any answer takes, brief is not.
const (
	patient = time.Minute
	brief   = 50 * time.Millisecond
)

func testCredentials(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
}

// say answers with a status and a body.
func say(status int, body string) reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// refuse answers with an error of DynamoDB; more are its other members.
func refuse(status int, code, message string, more ...string) reply {
	body := fmt.Sprintf(`"__type":"com.amazonaws.dynamodb.v20120810#%s","message":%q`, code, message)
	return say(status, "{"+strings.Join(append([]string{body}, more...), ",")+"}")
}

// cancelled answers that a transaction was cancelled for these reasons.
func cancelled(reasons ...string) reply {
	return refuse(400, "TransactionCanceledException", "Transaction cancelled", `"CancellationReasons":[`+strings.Join(reasons, ",")+"]")
}

// hang answers nothing.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// drop closes the connection.
func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// cutOff closes the connection in the middle of an answer.
func cutOff(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "100")
	io.WriteString(w, `{"Item":{"pk":`)
	http.NewResponseController(w).Flush()
	drop(w, r)
}

var key = store.Key{Partition: "p", Sort: "s"}

// calls are the ways to call a table that differ on the wire.
var calls = []struct {
	name string
	once bool // must not be sent again when an attempt may have gone through
	do   func(context.Context, store.Table) error
}{
	{"Get", false, func(ctx context.Context, table store.Table) error {
		_, err := table.Get(ctx, key)
		return err
	}},
	{"Query", false, func(ctx context.Context, table store.Table) error {
		_, err := table.Query(ctx, store.Query{Partition: "p"})
		return err
	}},
	{"Put", false, writing(store.Put(store.Item{Key: key}))},
	{"Put where nothing is", false, writing(store.Put(store.Item{Key: key}, store.Absent()))},
	{"Delete", false, writing(store.Delete(key, store.VersionIs(3)))},
	{"Add", true, writing(store.Add(key, map[string]int64{"n": 1}, time.Time{}))},
	{"Check", false, writing(store.Check(key, store.Present()))},
	{"transaction", false, writing(store.Put(store.Item{Key: key}), store.Add(store.Key{Partition: "p", Sort: "t"}, nil, time.Time{}))},
}

func writing(ops ...store.Op) func(context.Context, store.Table) error {
	return func(ctx context.Context, table store.Table) error { return table.Write(ctx, ops...) }
}
