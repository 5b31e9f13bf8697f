package cloud

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// Run runs the named function, with the handler that serve makes, for as long
// as its instance lives. When serve fails, it logs why and ends: Lambda then
// answers no call, and a deployment of it is rolled back.
func Run(name string, serve func(*Function) (http.Handler, error)) {
	run(name, func(f *Function) (telemetry.Handler, error) {
		h, err := serve(f)
		return lambdahttp.New(h, f.Log), err
	})
}

// EventFunc answers an event that is no request. Its error is kept with the
// event where that could not be dealt with: it has nothing that a stranger
// wrote.
type EventFunc func(ctx context.Context, event []byte) (answer []byte, err error)

// Invoke implements [telemetry.Handler].
func (f EventFunc) Invoke(ctx context.Context, event []byte) ([]byte, error) { return f(ctx, event) }

// recording is what is left of an invocation's time when its work is told to end,
// for it to write down how it went before Lambda cuts it off.
const recording = 20 * time.Second

// InTime returns a context that ends that long before the invocation does, or
// half of what is left where that is less, if it is to end at all.
func InTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, end.Add(-min(recording, time.Until(end)/2)))
	}
	return ctx, func() {}
}

// RunEvents is [Run] for a function that answers no requests.
func RunEvents(name string, open func(*Function) (EventFunc, error)) {
	run(name, func(f *Function) (telemetry.Handler, error) { return open(f) })
}

func run(name string, open func(*Function) (telemetry.Handler, error)) {
	t := telemetry.New(telemetry.Options{Function: name, Version: server.Version, Namespace: os.Getenv("METRICS_NAMESPACE")})
	h, err := open(New(os.Getenv, t.Log()))
	if err != nil {
		t.Log().Error("the function cannot start", "cause", err)
		os.Exit(1)
	}
	lambda.Start(t.Wrap(h))
}
