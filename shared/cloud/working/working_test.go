package working

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

// fake are jobs that fail by what they are called.
type fake struct {
	mu     sync.Mutex
	done   []string
	swept  int
	begun  func(ctx context.Context, id string)
	faulty error // of rounds
}

func (f *fake) Do(ctx context.Context, id inboxstore.JobID) error {
	f.mu.Lock()
	f.done = append(f.done, string(id))
	f.mu.Unlock()
	if f.begun != nil {
		f.begun(ctx, string(id))
	}
	if strings.HasPrefix(string(id), "bad") {
		return errors.New("broken")
	}
	return ctx.Err()
}

func (f *fake) Sweep(context.Context) error {
	f.swept++
	return f.faulty
}

// messages is the event that SQS's poller calls with: message n has the nth
// body.
func messages(bodies ...string) []byte {
	var records []string
	for n, body := range bodies {
		records = append(records, fmt.Sprintf(`{"messageId":"message-%d","receiptHandle":"handle","body":%q,
		 "attributes":{"ApproximateReceiveCount":"2","SentTimestamp":"1796212800000","SenderId":"AROA:inbox-ingest","ApproximateFirstReceiveTimestamp":"1796212800005"},
		 "messageAttributes":{},"md5OfBody":"x","eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:us-east-1:123456789012:jobs","awsRegion":"us-east-1"}`, n, body))
	}
	return []byte(`{"Records":[` + strings.Join(records, ",") + `]}`)
}

func newHandler(f *fake) (*handler, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return &handler{f, slog.New(slog.NewTextHandler(log, nil))}, log
}

// Only what failed comes again.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		bodies []string
		want   string
	}{
		{[]string{"a"}, `{"batchItemFailures":[]}`},
		{[]string{"a", "b", "c"}, `{"batchItemFailures":[]}`},
		{[]string{"a", "bad-1", "c", "bad-2"}, `{"batchItemFailures":[{"itemIdentifier":"message-1"},{"itemIdentifier":"message-3"}]}`},
		{[]string{"bad"}, `{"batchItemFailures":[{"itemIdentifier":"message-0"}]}`},
		{[]string{"a", "a"}, `{"batchItemFailures":[]}`},
	} {
		f := &fake{}
		h, log := newHandler(f)
		got, err := h.handle(t.Context(), messages(c.bodies...))
		if err != nil || string(got) != c.want {
			t.Errorf("%q: %s, %v; want %s", c.bodies, got, err, c.want)
		}
		slices.Sort(f.done)
		if !slices.Equal(f.done, slices.Sorted(slices.Values(c.bodies))) || f.swept != 0 {
			t.Errorf("did %q of %q", f.done, c.bodies)
		}
		if strings.Contains(c.want, "itemIdentifier") != strings.Contains(log.String(), "broken") {
			t.Error(log)
		}
	}
}

// The jobs of a batch are done at once, and told to end in time to write down
// how they did.
func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{begun: func(ctx context.Context, id string) {
			if id == "long" {
				<-ctx.Done()
			} else {
				time.Sleep(4 * time.Minute)
			}
		}}
		h, _ := newHandler(f)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		begun := time.Now()
		got, err := h.handle(ctx, messages("a", "long", "b"))
		if err != nil || string(got) != `{"batchItemFailures":[{"itemIdentifier":"message-1"}]}` || time.Since(begun) != 5*time.Minute-20*time.Second {
			t.Errorf("%s, %v after %v", got, err, time.Since(begun))
		}
	})
}

func TestRounds(t *testing.T) {
	f := &fake{}
	h, log := newHandler(f)
	const scheduled = `{"version":"0","id":"53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa","detail-type":"Scheduled Event","source":"aws.events",
	 "account":"123456789012","time":"2026-12-02T12:00:00Z","region":"us-east-1","resources":["arn:aws:events:us-east-1:123456789012:rule/inbox-rounds"],"detail":{}}`
	if _, err := h.handle(t.Context(), []byte(scheduled)); err != nil || f.swept != 1 || len(f.done) != 0 {
		t.Error(err, f.swept)
	}
	f.faulty = errors.New("the table is away")
	if _, err := h.handle(t.Context(), []byte(scheduled)); err == nil || strings.Contains(err.Error(), "table") || !strings.Contains(log.String(), "level=ERROR") {
		t.Error(err, log)
	}
	for _, other := range []string{`{}`, `{"Records":[]}`, `{"source":"aws.s3"}`, `[]`, `{`} {
		if _, err := h.handle(t.Context(), []byte(other)); err == nil || f.swept != 2 {
			t.Errorf("%s is taken for an event", other)
		}
	}
}
