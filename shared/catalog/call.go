package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// call answers tools/call. Whether the tool may be run is decided here:
// permission first, then scope (design §6); the rest happens in the run.
func (c *Catalog) call(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, ok := access.CallerFrom(ctx)
	if !ok {
		return nil, errNoCaller
	}
	var params struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if err := mcp.Decode(r, &params); err != nil {
		return nil, err
	}
	if params.Name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "name is missing: it must be the name of a tool")
	}
	switch params.Arguments.Kind() {
	case '{':
	case jsontext.KindInvalid: // absent
		params.Arguments = jsontext.Value("{}")
	default:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "arguments must be an object")
	}
	t, ok := c.byName[params.Name]
	if !ok || !t.permitted(caller) {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "unknown tool %s", quote(params.Name))
	}
	if err := c.opts.RequireScope(caller, t.Scope()); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*mcp.Result, error) {
		out, err := c.answer(ctx, t, caller, params.Arguments)
		if err != nil {
			return c.failure(ctx, t, err), nil
		}
		return success(t, out, r.Version), nil
	}, nil
}

// answer counts the call, then runs the tool.
func (c *Catalog) answer(ctx context.Context, t *Tool, caller *access.Caller, args jsontext.Value) (Output, error) {
	if c.opts.Limit != nil {
		if wait, ok := c.opts.Limit(caller); !ok {
			return Output{}, inbox.Errorf(CodeRateLimited, "", "Too many calls; nothing was done. Try again in %s.", seconds(wait))
		}
	}
	return c.run(ctx, t, caller, args)
}

// run runs the tool with what arguments are given, in bounded time.
func (c *Catalog) run(ctx context.Context, t *Tool, caller *access.Caller, raw jsontext.Value) (Output, error) {
	args, err := t.Input.Parse(raw)
	if err != nil {
		return Output{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	return t.Run(ctx, &Call{Service: c.opts.Service, Caller: caller, Args: args, Now: c.opts.Now().UTC(), nonce: c.opts.Nonce()})
}

// failure is the result of a tool that failed with err. What broke is logged,
// never shown.
func (c *Catalog) failure(ctx context.Context, t *Tool, err error) *mcp.Result {
	e, ok := errors.AsType[*inbox.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded): // whatever it was taken for on its way
		e = &inbox.Error{Code: CodeTimeout, Message: "This took too long and was given up; " + t.undone() + " Try again, or ask for less.", Err: err}
	case !ok:
		e = &inbox.Error{Code: CodeInternal, Message: "Something broke here; " + t.undone() + " Try again later.", Err: err}
	}
	if e.Err != nil {
		c.opts.Log.ErrorContext(ctx, "tool failed", "tool", t.Name, "code", string(e.Code), "cause", e.Err)
	}
	return toolError(e)
}

// undone says what a failed call left.
func (t *Tool) undone() string {
	if t.Hints.ReadOnly {
		return "nothing was returned."
	}
	return "it is not certain what was done, so look before you repeat it."
}

// seconds writes a wait, rounded up.
func seconds(d time.Duration) string {
	d = max(d, time.Second) + time.Second - 1
	return d.Truncate(time.Second).String()
}
