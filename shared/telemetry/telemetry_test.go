package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// line is a line of output.
type line = map[string]any

// handlerFunc is a function's handler.
type handlerFunc func(ctx context.Context) error

func (f handlerFunc) Invoke(ctx context.Context, _ []byte) ([]byte, error) {
	return []byte("{}"), f(ctx)
}

// fixture is a function's telemetry with what it wrote. Its clock goes on by
// 1.5 ms at each look.
type fixture struct {
	*telemetry.Telemetry
	out bytes.Buffer
	now time.Time
}

func newFixture(change ...func(*telemetry.Options)) *fixture {
	f := &fixture{now: time.UnixMilli(1_796_000_000_000)}
	o := telemetry.Options{Function: "tools", Version: "0.1.0", Out: &f.out, Now: func() time.Time {
		f.now = f.now.Add(1500 * time.Microsecond)
		return f.now
	}}
	for _, c := range change {
		c(&o)
	}
	f.Telemetry = telemetry.New(o)
	return f
}

// invoke runs one invocation and returns the lines it wrote.
func (f *fixture) invoke(t *testing.T, requestID string, h handlerFunc) []line {
	t.Helper()
	f.out.Reset()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: requestID})
	f.Wrap(h).Invoke(ctx, nil)
	return f.lines(t)
}

func (f *fixture) lines(t *testing.T) (lines []line) {
	t.Helper()
	for text := range strings.Lines(f.out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestLog_lines_of_an_invocation(t *testing.T) {
	f := newFixture()
	for i, id := range []string{"r-1", "r-2"} {
		lines := f.invoke(t, id, func(ctx context.Context) error {
			ctx = telemetry.With(ctx, slog.String("gateway_request_id", "g"))
			f.Log().InfoContext(ctx, "hello", "n", 1)
			return nil
		})
		delete(lines[0], "timestamp")
		want := line{"level": "INFO", "message": "hello", "function": "tools", "version": "0.1.0", "n": 1.0,
			"request_id": id, "gateway_request_id": "g", "cold_start": i == 0}
		if diff := cmp.Diff(want, lines[0]); diff != "" || len(lines) != 2 {
			t.Error(diff)
		}
	}
	f.out.Reset()
	f.Log().Info("outside of an invocation")
	if l := f.lines(t)[0]; l["function"] != "tools" || l["request_id"] != nil {
		t.Error(l)
	}
}

func TestLog_level_and_long_texts(t *testing.T) {
	f := newFixture(func(o *telemetry.Options) { o.Level = slog.LevelWarn })
	f.Log().Info("unheard")
	f.Log().Warn("long", "text", strings.Repeat("x", 1<<20), "cause", errors.New(strings.Repeat("y", 1<<20)), "e", fmt.Errorf("short"))
	lines := f.lines(t)
	if len(lines) != 1 || f.out.Len() > 20_000 || lines[0]["e"] != "short" {
		t.Error(len(lines), f.out.Len(), lines[0]["e"])
	}
}

func TestObserve_line(t *testing.T) {
	f := newFixture()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	telemetry.Observe(f.Log())(t.Context(), mcp.Observation{
		Method: "tools/call", Subject: "emails_get", Version: "2026-07-28", Client: "vscode/1", Trace: trace,
		Status: 200, Code: -32602, Duration: 2500 * time.Microsecond, Cause: errors.New("why"),
	})
	got := f.lines(t)[0]
	delete(got, "timestamp")
	want := line{"level": "WARN", "message": "request", "function": "tools", "version": "0.1.0", "method": "tools/call", "subject": "emails_get",
		"outcome": "invalid", "protocol": "2026-07-28", "client": "vscode/1", "status": 200.0, "code": -32602.0, "duration_ms": 2.5,
		"cause": "why", "trace_id": "0af7651916cd43dd8448eb211c80319c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	telemetry.Observe(nil)(t.Context(), mcp.Observation{}) // on one machine, without a log
}

// 13.08: whatever is logged while a method is judged and run carries its trace
// id, and only its own.
func Test_13_08_trace_id(t *testing.T) {
	f := newFixture()
	methods := telemetry.Traced(map[string]mcp.Method{
		"tools/list": func(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
			f.Log().InfoContext(ctx, "judged")
			if r.Client == "stranger" {
				return nil, errors.New("refused")
			}
			return func(ctx context.Context) (*mcp.Result, error) {
				f.Log().InfoContext(ctx, "ran")
				return nil, nil
			}, nil
		},
	})
	call := func(r *mcp.Request) {
		run, err := methods["tools/list"](t.Context(), r)
		if err == nil {
			run(t.Context())
		} else if run != nil {
			t.Error("it may not run")
		}
	}
	call(&mcp.Request{Trace: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
	call(&mcp.Request{})
	call(&mcp.Request{Trace: "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Client: "stranger"})
	var got []any
	for _, l := range f.lines(t) {
		got = append(got, l["trace_id"])
	}
	want := []any{"0af7651916cd43dd8448eb211c80319c", "0af7651916cd43dd8448eb211c80319c", nil, nil, "1af7651916cd43dd8448eb211c80319c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrency(t *testing.T) {
	f := newFixture(func(o *telemetry.Options) { o.Now = nil })
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			ctx := lambdacontext.NewContext(context.Background(), &lambdacontext.LambdaContext{AwsRequestID: fmt.Sprint(i)})
			f.Wrap(handlerFunc(func(ctx context.Context) error {
				var counts sync.WaitGroup
				for range 10 {
					counts.Go(func() { telemetry.Count(ctx, telemetry.ForwardFailures, 0.5) })
				}
				counts.Wait()
				f.Log().InfoContext(ctx, "x")
				return nil
			})).Invoke(ctx, nil)
		})
	}
	wg.Wait()
	cold := 0
	for _, l := range f.lines(t) {
		if l["cold_start"] == true {
			cold++
		}
		if l["_aws"] != nil && l["ForwardFailures"] != 5.0 {
			t.Error(l)
		}
	}
	if cold != 1 || len(f.lines(t)) != 32 {
		t.Error(cold, len(f.lines(t)))
	}
}
