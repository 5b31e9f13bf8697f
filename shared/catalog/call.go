package catalog

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// callParams are the params of tools/call.
type callParams struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	// The answer to a question, as it came; nil when absent.
	RequestState   jsontext.Value `json:"requestState"`
	InputResponses jsontext.Value `json:"inputResponses"`
}

// call answers tools/call. Whether the tool may be run is decided here:
// permission first, then scope; the rest happens in the run.
func (c *Catalog) call(ctx context.Context, r *mcp.Request) (mcp.Run, error) {
	caller, err := access.CallerFrom(ctx)
	if err != nil {
		return nil, err
	}
	var p callParams
	if err := mcp.Decode(r, &p); err != nil {
		return nil, err
	}
	if p.Name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "name is missing: it must be the name of a tool")
	}
	switch p.Arguments.Kind() {
	case '{':
	case jsontext.KindInvalid: // absent
		p.Arguments = jsontext.Value("{}")
	default:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "arguments must be an object")
	}
	t, ok := c.byName[p.Name]
	if !ok || !t.permitted(caller) {
		return nil, unknownTool(p.Name)
	}
	if err := c.opts.RequireScope(caller, t.Scope()); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*mcp.Result, error) {
		if c.opts.Limit != nil {
			if wait, ok := c.opts.Limit(caller); !ok {
				return toolError(inbox.Errorf(CodeRateLimited, "", "Too many calls; nothing was done. Try again in %s.", seconds(wait))), nil
			}
		}
		if t.Hints.ReadOnly {
			out, err := c.read(ctx, t, caller, p.Arguments)
			return c.result(ctx, t, r.Version, out, err)
		}
		return c.change(ctx, t, caller, r, p)
	}, nil
}

// unknownTool is also what a tool is that the caller is not permitted to run.
func unknownTool(name string) *mcp.Error {
	return mcp.Errorf(mcp.CodeInvalidParams, "unknown tool %s", quote(name))
}

// newCall is a call with these arguments, if they are valid.
func (c *Catalog) newCall(t *Tool, caller *access.Caller, raw jsontext.Value) (*Call, error) {
	args, err := t.Input.Parse(raw)
	if err != nil {
		return nil, err
	}
	return &Call{
		Service: c.opts.Service, Caller: caller, Args: args, Now: c.opts.Now().UTC(),
		nonce: c.opts.Nonce(), checkURL: c.opts.CheckURL,
	}, nil
}

// read runs a tool that only reads, in bounded time.
func (c *Catalog) read(ctx context.Context, t *Tool, caller *access.Caller, raw jsontext.Value) (Output, error) {
	call, err := c.newCall(t, caller, raw)
	if err != nil {
		return Output{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	return t.Run(ctx, call)
}

// change runs a tool that writes: after the person's yes, if it is destructive.
func (c *Catalog) change(ctx context.Context, t *Tool, caller *access.Caller, r *mcp.Request, p callParams) (*mcp.Result, error) {
	call, err := c.newCall(t, caller, p.Arguments)
	if err != nil {
		return c.failure(ctx, t, err, "")
	}
	by := inbox.Actor{
		Workspace: call.workspace(), Person: caller.Person, Client: caller.Client, Tool: t.Name,
	}
	ctx, cancel := c.writing(ctx)
	defer cancel()
	by.Arguments, err = c.digest(ctx, t, p.Arguments)
	if t.Hints.Destructive {
		return c.confirm(ctx, &action{catalog: c, tool: t, call: call, by: by, unaudited: err}, r, p)
	}
	if err != nil {
		return c.failure(ctx, t, err, "")
	}
	out, err := write(ctx, t, call, by)
	return c.result(ctx, t, r.Version, out, err)
}

// result is what a tool answered, or the failure that it ended in.
func (c *Catalog) result(ctx context.Context, t *Tool, v mcp.Version, out Output, err error) (*mcp.Result, error) {
	if err != nil {
		return c.failure(ctx, t, err, "")
	}
	return success(t, out, v), nil
}

// failure is the result of a tool that failed with err, and what there is to
// say after it. What broke is logged, never shown. Errors and refusals of the
// protocol stay what they are.
func (c *Catalog) failure(ctx context.Context, t *Tool, err error, after string) (*mcp.Result, error) {
	if _, ok := errors.AsType[*mcp.Error](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[*mcp.Refusal](err); ok {
		return nil, err
	}
	_, begun := errors.AsType[begunError](err)
	err = t.timeout(err)
	e, ok := errors.AsType[*inbox.Error](err)
	switch {
	case !ok:
		e = &inbox.Error{Code: CodeInternal, Message: "Something broke here; " + t.undone(begun, "Try again later."), Err: err}
	case !t.Hints.ReadOnly && !begun && !strings.Contains(strings.ToLower(e.Message), "nothing was"):
		e = &inbox.Error{Code: e.Code, Field: e.Field, Message: e.Message + " Nothing was changed.", Err: e.Err}
	}
	if e.Err != nil {
		c.opts.Log.ErrorContext(ctx, "tool failed", "tool", t.Name, "code", string(e.Code), "cause", e.Err)
	}
	if after != "" {
		e = &inbox.Error{Code: e.Code, Field: e.Field, Message: e.Message + " " + after}
	}
	return toolError(e), nil
}

// timeout is err, told as [CodeTimeout] when time was over, whatever that was
// taken for on its way.
func (t *Tool) timeout(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	_, begun := errors.AsType[begunError](err)
	return &inbox.Error{Code: CodeTimeout, Message: "This took too long and was given up; " + t.undone(begun, "Try again, or ask for less."), Err: err}
}

// undone says what a failed call left, and what to do about it.
func (t *Tool) undone(begun bool, advice string) string {
	switch {
	case begun:
		return "it is not certain what was done, so look before you repeat it."
	case t.Hints.ReadOnly:
		return "nothing was returned. " + advice
	}
	return "nothing was changed. " + advice
}

// seconds writes a wait, rounded up.
func seconds(d time.Duration) string {
	d = max(d, time.Second) + time.Second - 1
	return d.Truncate(time.Second).String()
}
