package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Observe makes an Options.Observe of a [mcp.Server]: each request leaves one
// line in log, and its method and outcome in the metrics of the invocation
// that it came with, if any. A nil log gets no lines.
func Observe(log *slog.Logger) func(context.Context, mcp.Observation) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return func(ctx context.Context, o mcp.Observation) {
		outcome := outcomeOf(o)
		level := slog.LevelInfo
		attrs := []slog.Attr{
			slog.String("method", o.Method), slog.String("subject", o.Subject), slog.String("outcome", outcome),
			slog.String("protocol", string(o.Version)), slog.String("client", o.Client),
			slog.Int("status", o.Status), slog.Int("code", o.Code),
			slog.Float64("duration_ms", milliseconds(o.Duration)),
		}
		if inv := invocationFrom(ctx); inv != nil {
			inv.observe(methodOf(o.Method), outcome)
			if o.Outcome == confirmationUnavailable {
				inv.count(ConfirmationUnavailable, 1)
			}
			attrs = append(attrs, inv.units()...)
		}
		if o.Outcome != "" && o.Outcome != outcome {
			attrs = append(attrs, slog.String("result", o.Outcome))
		}
		if o.Cause != nil {
			level = slog.LevelWarn
			attrs = append(attrs, slog.Any("cause", o.Cause))
		}
		if outcome == outcomeFault {
			level = slog.LevelError
		}
		log.LogAttrs(withTrace(ctx, o.Trace), level, "request", attrs...)
	}
}

// Traced returns methods whose log lines carry the trace id of the request
// (checklist 13.08).
func Traced(methods map[string]mcp.Method) map[string]mcp.Method {
	traced := make(map[string]mcp.Method, len(methods))
	for name, method := range methods {
		traced[name] = func(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
			run, err := method(withTrace(ctx, r.Trace), r)
			if run == nil || r.Trace == "" {
				return run, err
			}
			return func(ctx context.Context) (*mcp.Result, error) { return run(withTrace(ctx, r.Trace)) }, err
		}
	}
	return traced
}

// confirmationUnavailable is the outcome of a result that operators are woken
// for (R17).
const confirmationUnavailable = "confirmation_unavailable"

// Forwarded is the outcome of what a router handed on to a family, whose answer
// it passed back unread. How that ended is told in the family's own line, which
// has the same gateway_request_id.
const Forwarded = "forwarded"

// The outcomes of a request, a metric dimension. What a tool answers with an
// error of its own is ok here, unless something broke; its code is in the log
// line.
const (
	outcomeOK      = "ok"
	outcomeInvalid = "invalid" // the caller's mistake
	outcomeDenied  = "denied"  // no token, no permission, no scope
	outcomeLimited = "limited" // too many requests
	outcomeFault   = "fault"   // ours
)

func outcomeOf(o mcp.Observation) string {
	switch {
	case o.Outcome == Forwarded:
		return Forwarded
	case o.Status >= http.StatusInternalServerError, o.Code == mcp.CodeInternal, o.Outcome == "internal":
		return outcomeFault
	case o.Status == http.StatusUnauthorized, o.Status == http.StatusForbidden:
		return outcomeDenied
	case o.Status == http.StatusTooManyRequests:
		return outcomeLimited
	case o.Status >= http.StatusBadRequest, o.Code != 0:
		return outcomeInvalid
	}
	return outcomeOK
}

// methodNone is the metric dimension of what is no request of the protocol,
// or was refused before its method was read.
const methodNone = "none"

// methodOf is the metric dimension of a method: what clients make up is one
// value, or each would be a metric that costs money.
func methodOf(name string) string {
	switch name {
	case "":
		return methodNone
	case "initialize", "ping", "server/discover", "batch":
		return name
	}
	switch {
	case mcp.FamilyOf(name) != "":
		return name
	case strings.HasPrefix(name, "notifications/"):
		return "notifications"
	}
	return "other"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
