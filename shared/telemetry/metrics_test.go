package telemetry_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// document is a line in the embedded metric format.
type document struct {
	AWS struct {
		Timestamp         int64
		CloudWatchMetrics []struct {
			Namespace  string
			Dimensions [][]string
			Metrics    []struct{ Name, Unit string }
		}
	} `json:"_aws"`
}

// metrics are the metrics that CloudWatch would find in the last line, by
// name and dimension values, such as "Requests tools tools/call ok". The
// line must obey the format's specification.
func metrics(t *testing.T, lines []line) map[string]float64 {
	t.Helper()
	last := lines[len(lines)-1]
	text, _ := json.Marshal(last)
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.AWS.Timestamp != 1_796_000_000_003 {
		t.Error("milliseconds since 1970:", d.AWS.Timestamp)
	}
	found := map[string]float64{}
	for _, directive := range d.AWS.CloudWatchMetrics {
		if directive.Namespace != "KobanaInbox" {
			t.Error(directive.Namespace)
		}
		for _, m := range directive.Metrics {
			if !slices.Contains([]string{"Count", "Milliseconds"}, m.Unit) {
				t.Error(m)
			}
			for _, dimensions := range directive.Dimensions {
				name := m.Name
				for _, d := range dimensions {
					name += " " + last[d].(string)
				}
				found[name] = last[m.Name].(float64)
			}
		}
	}
	return found
}

func TestMetrics_of_a_request(t *testing.T) {
	f := newFixture()
	got := metrics(t, f.invoke(t, "r", func(ctx context.Context) error {
		telemetry.Count(ctx, telemetry.ForwardFailures, 0.5)
		telemetry.Count(ctx, telemetry.ForwardFailures, 1)
		telemetry.Count(ctx, telemetry.ConfirmationUnavailable, 1)
		telemetry.Observe(f.Log())(ctx, mcp.Observation{Method: "tools/call", Status: 200})
		return nil
	}))
	want := map[string]float64{
		"Requests tools tools/call ok": 1, "Errors tools tools/call": 0, "Latency tools tools/call": 1.5,
		"ForwardFailures tools": 1.5, "ConfirmationUnavailable tools": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	telemetry.Count(t.Context(), telemetry.ForwardFailures, 1) // nobody counts
}

func TestMetrics_outcome(t *testing.T) {
	for name, c := range map[string]struct {
		o    mcp.Observation
		want string
		bad  float64
	}{
		"result":              {mcp.Observation{Status: 200}, "ok", 0},
		"accepted":            {mcp.Observation{Status: 202}, "ok", 0},
		"bad params":          {mcp.Observation{Status: 200, Code: -32602}, "invalid", 0},
		"bad request":         {mcp.Observation{Status: 400, Code: -32700}, "invalid", 0},
		"no token":            {mcp.Observation{Status: 401, Code: -32600, Cause: errors.New("expired")}, "denied", 0},
		"no scope":            {mcp.Observation{Status: 403, Code: -32600}, "denied", 0},
		"too many":            {mcp.Observation{Status: 429, Code: -32600}, "limited", 0},
		"broken":              {mcp.Observation{Status: 200, Code: -32603, Cause: errors.New("x")}, "fault", 1},
		"a tool's refusal":    {mcp.Observation{Status: 200, Outcome: "user_declined"}, "ok", 0},
		"a broken tool":       {mcp.Observation{Status: 200, Outcome: "internal"}, "fault", 1},
		"broken before an id": {mcp.Observation{Status: 500, Code: -32603}, "fault", 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			c.o.Method = "ping"
			lines := f.invoke(t, "r", func(ctx context.Context) error {
				telemetry.Observe(f.Log())(ctx, c.o)
				return nil
			})
			got := metrics(t, lines)
			if got["Requests tools ping "+c.want] != 1 || got["Errors tools ping"] != c.bad {
				t.Error(got)
			}
			if (lines[0]["level"] == "ERROR") != (c.bad == 1) {
				t.Error(lines[0])
			}
		})
	}
}

// TestMetrics_R17: operators can be woken when confirmations cannot be recorded.
func TestMetrics_R17(t *testing.T) {
	for outcome, want := range map[string]float64{"confirmation_unavailable": 1, "user_declined": 0, "": 0} {
		f := newFixture()
		lines := f.invoke(t, "r", func(ctx context.Context) error {
			telemetry.Observe(f.Log())(ctx, mcp.Observation{Method: "tools/call", Status: 200, Outcome: outcome})
			return nil
		})
		if got := metrics(t, lines)["ConfirmationUnavailable tools"]; got != want {
			t.Errorf("%q: counted %v", outcome, got)
		}
		if got, _ := lines[0]["result"].(string); got != outcome {
			t.Errorf("%q: the line says %q", outcome, got)
		}
	}
}

// What clients make up is no dimension: each value would be a metric.
func TestMetrics_methods_are_few(t *testing.T) {
	for method, want := range map[string]string{
		"tools/call": "tools/call", "completion/complete": "completion/complete", "server/discover": "server/discover", "batch": "batch",
		"": "none", "tools/x": "other", "Ping": "other", "notifications/initialized": "notifications", "notifications/made-up": "notifications",
	} {
		f := newFixture()
		got := metrics(t, f.invoke(t, "r", func(ctx context.Context) error {
			telemetry.Observe(nil)(ctx, mcp.Observation{Method: method, Status: 200})
			return nil
		}))
		if got["Requests tools "+want+" ok"] != 1 {
			t.Error(method, got)
		}
	}
}

// An invocation that was not observed counts too, and one that failed is a
// fault whatever was observed.
func TestMetrics_without_a_request(t *testing.T) {
	f := newFixture()
	if got := metrics(t, f.invoke(t, "r", func(context.Context) error { return nil })); got["Requests tools none ok"] != 1 {
		t.Error(got)
	}
	f = newFixture()
	if got := metrics(t, f.invoke(t, "r", func(context.Context) error { return errors.New("x") })); got["Requests tools none fault"] != 1 || got["Errors tools none"] != 1 {
		t.Error(got)
	}
	f = newFixture()
	defer func() {
		if recover() == nil {
			t.Error("the panic was kept")
		}
		if got := metrics(t, f.lines(t)); got["Requests tools ping fault"] != 1 {
			t.Error(got)
		}
	}()
	f.invoke(t, "r", func(ctx context.Context) error {
		telemetry.Observe(nil)(ctx, mcp.Observation{Method: "ping", Status: 200})
		panic("x")
	})
}

// What a request used of the tables is told in its line, where it used any, and
// is no metric.
func TestUnits(t *testing.T) {
	f := newFixture()
	request := func(reads, writes float64) line {
		lines := f.invoke(t, "r", func(ctx context.Context) error {
			for range 2 {
				telemetry.CountUnits(ctx, reads/2, 0)
				telemetry.CountUnits(context.WithoutCancel(ctx), 0, writes/2)
			}
			telemetry.Observe(f.Log())(ctx, mcp.Observation{Method: "tools/call", Status: 200})
			return nil
		})
		if last := lines[len(lines)-1]; last["_aws"] == nil || last["read_units"] != nil {
			t.Error(last)
		}
		return lines[0]
	}
	if l := request(1.5, 4); l["read_units"] != 1.5 || l["write_units"] != 4.0 {
		t.Error(l)
	}
	l := request(0, 0)
	if _, ok := l["read_units"]; ok || l["write_units"] != nil {
		t.Error("units of another request, or none at all:", l)
	}
	telemetry.CountUnits(t.Context(), 1, 1) // nobody counts
}
