package lambdahttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// throttleWaits are the pauses before a throttled call is repeated; each is
// cut short by up to a half, so that callers spread.
var throttleWaits = [...]time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 900 * time.Millisecond}

// ErrThrottled is what an [Invoker] returns for a call that never began, for
// want of an instance.
var ErrThrottled = errors.New("lambdahttp: throttled")

// Invoker calls Lambda functions. Package invoker has one.
type Invoker interface {
	// Invoke calls the function, once, and returns what it answered. That the
	// function failed is an error.
	Invoke(ctx context.Context, function string, event []byte) ([]byte, error)
}

// Forwarder hands requests on to another function that a [Handler] runs: it
// passes the original event unchanged and the function's answer back unparsed.
// Where a request is not the event's own, as the items of a batch, it makes an
// event for it.
//
// A call is made once: a lost answer must not run it twice. Only a throttled
// one, which never began, is repeated. Whatever fails is answered with an HTTP
// error that holds a JSON-RPC error with the caller's id.
//
// It stands in the Forward of an [mcp.Server], which has judged the Origin.
type Forwarder struct {
	Invoker  Invoker
	Function string       // the name or ARN of the function
	Log      *slog.Logger // gets a line for each request, and why a call failed; nil: nobody does
}

// ServeHTTP implements [http.Handler].
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start, ctx := time.Now(), r.Context()
	mcp.SetCORS(w.Header(), r.Header.Get("Origin")) // for a fault; the family's answer has its own
	body, err := io.ReadAll(r.Body)
	if err != nil {
		unreadable.write(w, nil)
		return
	}
	o := mcp.Forwarded(ctx)
	o.Outcome = telemetry.Forwarded
	payload, err := f.invoke(ctx, eventFor(r, body))
	if err == nil {
		o.Status, err = writeEncoded(w, payload)
	}
	if err != nil {
		fault := faultOf(ctx, err)
		fault.write(w, callerID(body))
		telemetry.Count(ctx, telemetry.ForwardFailures, 1)
		o.Outcome, o.Status, o.Code, o.Cause = "", fault.status, fault.code, err
	}
	o.Duration = time.Since(start)
	telemetry.Observe(f.Log)(ctx, o)
}

// eventFor is the event that r came with, if r is the request in it, or else
// one made for r. The original belongs to aws-lambda-go, which uses it anew
// after this invocation; a cancelled call may still be reading then.
func eventFor(r *http.Request, body []byte) []byte {
	if o := originFrom(r.Context()); o.payload != nil && bytes.Equal(o.body, body) {
		return bytes.Clone(o.payload)
	}
	return encodeEvent(r, body)
}

// invoke calls the function and returns what it answered.
func (f *Forwarder) invoke(ctx context.Context, event []byte) ([]byte, error) {
	out, err := f.Invoker.Invoke(ctx, f.Function, event)
	for _, wait := range throttleWaits {
		if !errors.Is(err, ErrThrottled) {
			break
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait - rand.N(wait/2)):
		}
		out, err = f.Invoker.Invoke(ctx, f.Function, event)
	}
	return out, err
}

func faultOf(ctx context.Context, err error) fault {
	switch {
	case errors.Is(err, ErrThrottled):
		return throttled
	case ctx.Err() != nil:
		return timedOut
	}
	return lost
}
