// Package telemetry is what a function tells its operator: log lines, and
// metrics in CloudWatch's embedded metric format, both JSON on standard
// output. Each line is one write, done before the function answers: nothing is
// buffered, so nothing is lost when the sandbox freezes (field case 7).
//
// Neither holds bodies, tokens or requestState. It may import mcp and clip.
package telemetry

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// maxText is how many bytes of a text get into a line. CloudWatch takes
// events of up to 256 KB; a stack is what may be long.
const maxText = 8 << 10

// Options configure [New].
type Options struct {
	Function  string           // the function's short name, such as "tools"
	Version   string           // the product's version
	Namespace string           // of the metrics; default "KobanaInbox"
	Level     slog.Level       // below it nothing is logged; metrics are written always
	Out       io.Writer        // default os.Stdout
	Now       func() time.Time // default time.Now
}

// Telemetry is the log and the metrics of one function. It is safe for
// concurrent use.
type Telemetry struct {
	opts Options
	log  *slog.Logger
	warm atomic.Bool // this process has begun its first invocation
}

// New makes the telemetry of a function.
func New(o Options) *Telemetry {
	o.Namespace = cmp.Or(o.Namespace, "KobanaInbox")
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Out = &lineWriter{w: o.Out} // log and metrics share it
	h := slog.NewJSONHandler(o.Out, &slog.HandlerOptions{Level: o.Level, ReplaceAttr: replaceAttr})
	log := slog.New(contextHandler{h}).With("function", o.Function, "version", o.Version)
	return &Telemetry{opts: o, log: log}
}

// Log is the function's logger. Within an invocation its lines carry the
// request id and whether it is a cold start, beside what [With] added.
func (t *Telemetry) Log() *slog.Logger { return t.log }

// Handler is what aws-lambda-go runs, its lambda.Handler.
type Handler interface {
	Invoke(ctx context.Context, payload []byte) ([]byte, error)
}

// Wrap makes each invocation of h known to its log lines, and writes its
// metrics before it returns.
func (t *Telemetry) Wrap(h Handler) Handler { return wrapped{t, h} }

type wrapped struct {
	*Telemetry
	next Handler
}

// Invoke implements [Handler].
func (w wrapped) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	start := w.opts.Now()
	attrs := []slog.Attr{slog.Bool("cold_start", w.warm.CompareAndSwap(false, true))}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		attrs = append(attrs, slog.String("request_id", lc.AwsRequestID))
	}
	inv, failed := &invocation{}, true // unless it ends well: next may panic
	defer func() { w.write(inv, start, failed) }()
	answer, err := w.next.Invoke(context.WithValue(With(ctx, attrs...), invocationKey{}, inv), payload)
	failed = err != nil
	return answer, err
}

// lineWriter keeps lines of several writers apart.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}
