package telemetry

import (
	"context"
	"log/slog"
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
)

type attrsKey struct{}

// With returns a context in which every line of a [Telemetry.Log] carries
// attrs, beside those of ctx.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, attrsKey{}, slices.Concat(attrsFrom(ctx), attrs))
}

func attrsFrom(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return attrs
}

// withTrace adds the trace id of a well-formed W3C traceparent; "" adds
// nothing.
func withTrace(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return With(ctx, slog.String("trace_id", traceparent[len("00-"):len("00-")+32]))
}

// contextHandler adds to each line what its context carries.
type contextHandler struct{ slog.Handler }

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	if attrs := attrsFrom(ctx); attrs != nil {
		r = r.Clone()
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

func (h contextHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attrs)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}

// replaceAttr gives the members of a line the names that Lambda's own JSON
// lines have, and bounds the texts.
func replaceAttr(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 {
		switch a.Key {
		case slog.TimeKey:
			a.Key = "timestamp"
		case slog.MessageKey:
			a.Key = "message"
		}
	}
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(short(a.Value.String()))
	case slog.KindAny:
		if err, ok := a.Value.Any().(error); ok {
			a.Value = slog.StringValue(short(err.Error()))
		}
	}
	return a
}

func short(s string) string {
	if len(s) <= maxText {
		return s
	}
	return clip.Bytes(s, maxText) + "…"
}
