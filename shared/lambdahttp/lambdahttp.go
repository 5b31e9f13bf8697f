// Package lambdahttp runs an [http.Handler] as a Lambda function behind API
// Gateway: it turns the gateway's event into a request, and the answer into
// what the gateway expects (payload formats 2.0 and 1.0). Beside it, a
// [Forwarder] hands an event on to another function.
//
// The limits of time stand one inside the other, so that each tells its caller
// in time: gateway 30 s > router 29 s > family 25 s > handler 20 s.
//
// It may import mcp, for the shape of errors, and telemetry.
package lambdahttp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

const (
	// maxAnswer is the largest answer that Lambda takes, in bytes as encoded.
	maxAnswer = 6 << 20
	// margin is how long before Lambda ends an invocation its context ends.
	margin = 500 * time.Millisecond
)

// Handler runs an [http.Handler] for each event. It is a lambda.Handler of
// aws-lambda-go: a raw one, which saves that library's reflection. It keeps
// nothing between invocations and is safe for concurrent ones.
type Handler struct {
	next http.Handler
	log  *slog.Logger
}

// New makes a Handler. The log is told what broke; nil: nobody is.
func New(h http.Handler, log *slog.Logger) *Handler { return &Handler{h, orDiscard(log)} }

func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// Invoke answers one event. Its error is always nil: what breaks is an HTTP
// answer, which callers can read, where a function's error is not.
func (h *Handler) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	e, err := parseEvent(payload)
	if err != nil {
		h.log.ErrorContext(ctx, "the event is malformed", "cause", err)
		return h.encode(ctx, unreadable.answer(nil, nil), e), nil
	}
	if at, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, at.Add(-margin))
		defer cancel()
	}
	ctx = telemetry.With(ctx, slog.String("gateway_request_id", e.requestID))
	w := newAnswer()
	if err := h.serve(w, e.request(withOrigin(ctx, payload, e))); err != nil {
		h.log.ErrorContext(ctx, "the handler panicked", "cause", err)
		w = broken.answer(callerID(e.body), w)
	}
	if w.raw != nil {
		return w.raw, nil
	}
	return h.encode(ctx, w, e), nil
}

// serve calls the handler. A panic is an error, with the stack: it must not
// end a process in which other invocations run.
func (h *Handler) serve(w *answer, r *http.Request) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	h.next.ServeHTTP(w, r)
	return nil
}

// encode renders the answer to e. One that Lambda would refuse, and turn into
// an error that says nothing, becomes one that says what to do (field case 5).
func (h *Handler) encode(ctx context.Context, w *answer, e *event) []byte {
	out := w.encode(e)
	if len(out) > maxAnswer {
		h.log.ErrorContext(ctx, "the answer is too large", "bytes", len(out))
		out = tooLarge.answer(callerID(e.body), w).encode(e)
	}
	return out
}

// origin is what a request's context knows of the event it came with.
type origin struct {
	payload   []byte // valid until the invocation ends
	body      []byte
	requestID string
}

type originKey struct{}

func withOrigin(ctx context.Context, payload []byte, e *event) context.Context {
	return context.WithValue(ctx, originKey{}, &origin{payload, e.body, e.requestID})
}

// originFrom returns the origin of a request, an empty one if it has none.
func originFrom(ctx context.Context) *origin {
	if o, ok := ctx.Value(originKey{}).(*origin); ok {
		return o
	}
	return &origin{}
}
