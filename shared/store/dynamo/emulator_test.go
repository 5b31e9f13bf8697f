package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Table { return dynamotest.Table(t) })
}

// A record is read by one get, a confirmation spent by one write, a completion
// answered by one query.
func TestUnits(t *testing.T) {
	table := dynamotest.Table(t)
	var used []string
	table.Observe = func(_ context.Context, operation string, units float64) {
		used = append(used, fmt.Sprint(operation, " ", units))
	}
	sized := func(sort string, value int) store.Item {
		return store.Item{Key: store.Key{Partition: "p", Sort: sort}, Value: make([]byte, value)}
	}
	get := func(sort string) func() error {
		return func() error {
			_, err := table.Get(t.Context(), store.Key{Partition: "p", Sort: sort})
			return err
		}
	}
	query := func(q store.Query) func() error {
		return func() error {
			_, err := table.Query(t.Context(), q)
			return err
		}
	}
	write := func(ops ...store.Op) func() error {
		return func() error { return table.Write(t.Context(), ops...) }
	}
	spent := store.Item{Key: store.Key{Partition: "id", Sort: "spent"}, Value: make([]byte, 200), Expires: time.Now().Add(25 * time.Hour)}
	cases := []struct {
		name string
		do   func() error
		want []string
	}{
		{"spend a confirmation", write(store.Put(spent, store.Absent())), []string{"PutItem 1"}},
		{"put 300 bytes", write(store.Put(sized("a", 300))), []string{"PutItem 1"}},
		{"put 5 KB", write(store.Put(sized("b", 5<<10))), []string{"PutItem 6"}},
		{"get up to 4 KB", get("a"), []string{"GetItem 1"}},
		{"get 5 KB", get("b"), []string{"GetItem 2"}},
		{"query up to 4 KB", query(store.Query{Partition: "p", Prefix: "a", Limit: 20, Backward: true}), []string{"Query 1"}},
		{"query 5.3 KB", query(store.Query{Partition: "p"}), []string{"Query 2"}},
		{"query an empty range", query(store.Query{Partition: "p", From: "b", To: "a"}), nil},
		{"add", write(store.Add(store.Key{Partition: "p", Sort: "c"}, map[string]int64{"n": 1}, time.Time{})), []string{"UpdateItem 1"}},
		{"delete", write(store.Delete(store.Key{Partition: "p", Sort: "c"})), []string{"DeleteItem 1"}},
		{"three in a transaction", write(store.Put(sized("x", 0)), store.Put(sized("y", 0)), store.Delete(store.Key{Partition: "p", Sort: "z"})), []string{"TransactWriteItems 6"}},
	}
	for _, c := range cases {
		used = nil
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, used); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestOf64SpendsOverFourInstancesOneWins(t *testing.T) {
	client, name := dynamotest.Client(t), "confirmations"
	if err := dynamo.CreateTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	var instances [4]*dynamo.Table
	for n := range instances {
		instances[n] = dynamo.New(dynamotest.Client(t), name)
	}
	for round := range 10 {
		k := store.Key{Partition: fmt.Sprint("confirmation ", round), Sort: "spent"}
		var winners atomic.Int32
		var won store.Item
		lost := make([]error, 64)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for n := range lost {
			wg.Go(func() {
				i := store.Item{Key: k, Value: fmt.Append(nil, n)}
				<-start
				if lost[n] = instances[n%len(instances)].Write(t.Context(), store.Put(i, store.Absent())); lost[n] == nil {
					winners.Add(1)
					won = i
				}
			})
		}
		close(start)
		wg.Wait()
		if n := winners.Load(); n != 1 {
			t.Fatalf("round %d has %d winners", round, n)
		}
		for _, err := range lost {
			failed, ok := errors.AsType[*store.ConditionError](err)
			if err != nil && (!ok || cmp.Diff(&won, failed.Old) != "") {
				t.Fatalf("round %d: %v, %v won", round, err, won)
			}
		}
	}
}

// A transaction is atomic for single writes too.
func TestSingleWritesAndTransactionsLoseNothing(t *testing.T) {
	table := dynamotest.Table(t)
	const each, writers = 10, 8
	a, b := store.Key{Partition: "p", Sort: "a"}, store.Key{Partition: "q", Sort: "b"}
	one := map[string]int64{"n": 1}
	insist := func(ops ...store.Op) {
		for {
			err := table.Write(t.Context(), ops...)
			if err == nil {
				return
			}
			if !errors.Is(err, store.ErrUnavailable) {
				t.Error(err)
				return
			}
		}
	}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				insist(store.Add(a, one, time.Time{}))
				insist(store.Add(a, one, time.Time{}), store.Add(b, one, time.Time{}))
			}
		})
	}
	wg.Wait()
	for k, want := range map[store.Key]int64{a: 2 * each * writers, b: each * writers} {
		if got, err := table.Get(t.Context(), k); err != nil || got.Counts["n"] != want {
			t.Errorf("%v: %v, %v, want %d", k, got.Counts, err, want)
		}
	}
}

// losing puts a proxy before an emulator's table, that loses the reply to the
// first request.
func losing(t *testing.T, client *dynamodb.Client, name string) *dynamo.Table {
	target, err := url.Parse(*client.Options().BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if requests.Add(1) > 1 {
			return nil
		}
		io.Copy(io.Discard, r.Body)
		return errors.New("lost")
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return dynamo.New(dynamo.NewClient(dynamo.Options{
		Region: "us-east-1", Endpoint: s.URL, Credentials: client.Options().Credentials,
	}), name)
}

// Field case 29: the write happened, its reply was lost.
func TestCase29AWriteWhoseReplyIsLostHappensOnce(t *testing.T) {
	k := store.Key{Partition: "p", Sort: "s"}
	item := store.Item{Key: k, Value: []byte("v")}
	add := store.Add(store.Key{Partition: "p", Sort: "n"}, map[string]int64{"n": 1}, time.Time{})
	cases := []struct {
		name string
		ops  []store.Op
		want error
	}{
		{"an unconditional put succeeds", []store.Op{store.Put(item)}, nil},
		{"a transaction succeeds, and adds once", []store.Op{store.Put(item, store.Absent()), add}, nil},
		{"a conditional put is uncertain", []store.Op{store.Put(item, store.Absent())}, store.ErrUnavailable},
		{"an add is uncertain, and not repeated", []store.Op{add}, store.ErrUnavailable},
	}
	for n, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			client, name := dynamotest.Client(t), fmt.Sprint("lost-", n)
			if err := dynamo.CreateTable(t.Context(), client, name); err != nil {
				t.Fatal(err)
			}
			wantKind(t, losing(t, client, name).Write(t.Context(), c.ops...), c.want)
			table := dynamo.New(client, name)
			for _, op := range c.ops {
				got, err := table.Get(t.Context(), op.Item.Key)
				if diff := cmp.Diff(op.Item, got); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// DynamoDB judges the item that adding makes.
func TestAddingCannotMakeAnItemTooLarge(t *testing.T) {
	table := dynamotest.Table(t)
	item := store.Item{Key: store.Key{Partition: "p", Sort: "s"}}
	item.Value = make([]byte, store.MaxItemBytes-item.Size())
	if err := table.Write(t.Context(), store.Put(item)); err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int64)
	for n := range store.MaxCounts {
		counts[fmt.Sprintf("%0*d", store.MaxCountNameBytes, n)] = 1
	}
	add, other := store.Add(item.Key, counts, time.Time{}), store.Key{Partition: "p", Sort: "t"}
	wantKind(t, table.Write(t.Context(), add), store.ErrLimit)
	wantKind(t, table.Write(t.Context(), store.Put(store.Item{Key: other}), add), store.ErrLimit)
	_, err := table.Get(t.Context(), other)
	wantKind(t, err, store.ErrNotFound)
	if got, err := table.Get(t.Context(), item.Key); err != nil || got.Counts != nil {
		t.Errorf("%v, %v", got.Counts, err)
	}
}

func TestCreateTableSetsTheTTLAttribute(t *testing.T) {
	client := dynamotest.Client(t)
	if err := dynamo.CreateTable(t.Context(), client, "with-ttl"); err != nil {
		t.Fatal(err)
	}
	out, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: new("with-ttl")})
	if err != nil || *out.TimeToLiveDescription.AttributeName != "exp" || out.TimeToLiveDescription.TimeToLiveStatus != "ENABLED" {
		t.Errorf("%+v, %v", out, err)
	}
}
