package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Metric is the name of something that is counted beside the requests
// themselves. Its only dimension is the function.
type Metric string

// What is counted.
const (
	ConfirmationUnavailable Metric = "ConfirmationUnavailable" // a confirmation could not be asked for or recorded (R17)
	ForwardFailures         Metric = "ForwardFailures"         // a family did not answer the router
)

// Count adds n to a metric of the invocation that ctx belongs to. Where there
// is none, as on one machine, nobody counts.
func Count(ctx context.Context, m Metric, n float64) {
	if inv := invocationFrom(ctx); inv != nil {
		inv.count(m, n)
	}
}

// CountUnits adds to the capacity units that the invocation of ctx used of its
// tables. They are in the line of its request, so that it tells what it cost;
// as metrics, DynamoDB has them.
func CountUnits(ctx context.Context, read, written float64) {
	if inv := invocationFrom(ctx); inv != nil {
		inv.mu.Lock()
		defer inv.mu.Unlock()
		inv.read += read
		inv.written += written
	}
}

// invocation is what is known of one invocation beside its log lines.
type invocation struct {
	mu              sync.Mutex
	method, outcome string // "" until a request was observed
	counts          map[Metric]float64
	read, written   float64 // capacity units
}

type invocationKey struct{}

func invocationFrom(ctx context.Context) *invocation {
	inv, _ := ctx.Value(invocationKey{}).(*invocation)
	return inv
}

func (i *invocation) observe(method, outcome string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.method, i.outcome = method, outcome
}

// units are those used so far, as members of a line.
func (i *invocation) units() (attrs []slog.Attr) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.read > 0 {
		attrs = append(attrs, slog.Float64("read_units", i.read))
	}
	if i.written > 0 {
		attrs = append(attrs, slog.Float64("write_units", i.written))
	}
	return attrs
}

func (i *invocation) count(m Metric, n float64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.counts == nil {
		i.counts = make(map[Metric]float64)
	}
	i.counts[m] += n
}

// write writes the invocation's metrics as one line in the embedded metric
// format. Every combination of dimensions is a metric of its own, so there
// are few.
func (t *Telemetry) write(i *invocation, start time.Time, failed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	outcome, errors := cmp.Or(i.outcome, outcomeOK), int64(0)
	if failed {
		outcome = outcomeFault
	}
	if outcome == outcomeFault {
		errors = 1
	}
	now := t.opts.Now()
	o := mcp.NewObject().
		Begin("_aws").Int("Timestamp", now.UnixMilli()).Value("CloudWatchMetrics", t.directives(i.counts)).End().
		Text("Function", t.opts.Function).Text("Method", cmp.Or(i.method, methodNone)).Text("Outcome", outcome).
		Int("Requests", 1).Int("Errors", errors).Value("Latency", number(milliseconds(now.Sub(start))))
	for _, m := range slices.Sorted(maps.Keys(i.counts)) {
		o.Value(string(m), number(i.counts[m]))
	}
	t.opts.Out.Write(append(o.Close(), '\n')) // who cannot log cannot say so
}

// directives says which members of the line are metrics, and by which
// dimensions.
func (t *Telemetry) directives(counts map[Metric]float64) jsontext.Value {
	b := []byte{'['}
	b = t.directive(b, `"Function","Method","Outcome"`, `{"Name":"Requests","Unit":"Count"}`)
	b = append(b, ',')
	b = t.directive(b, `"Function","Method"`, `{"Name":"Errors","Unit":"Count"},{"Name":"Latency","Unit":"Milliseconds"}`)
	for m := range counts {
		b = append(b, ',')
		b = t.directive(b, `"Function"`, `{"Name":"`+string(m)+`","Unit":"Count"}`)
	}
	return append(b, ']')
}

func (t *Telemetry) directive(b []byte, dimensions, metrics string) []byte {
	o := mcp.NewObject().Text("Namespace", t.opts.Namespace).
		Value("Dimensions", jsontext.Value("[["+dimensions+"]]")).Value("Metrics", jsontext.Value("["+metrics+"]"))
	return append(b, o.Close()...)
}

func number(f float64) jsontext.Value { return strconv.AppendFloat(nil, f, 'f', -1, 64) }
