package mcp

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// judged is a request that may run, in a context that carries its caller.
type judged struct {
	ctx context.Context
	run Run // nil: only its family can run it
}

// judge decides whether a request of a known era may run: the method exists
// here, its params have the right shape, the caller is admitted, the method
// agrees, and so does the rate limit. It changes nothing of x: it runs within a time,
// and may outlive the answer.
func (x *exchange) judge(ctx context.Context, m *message, name string, v Version) (judged, error) {
	fn, err := x.find(name, v)
	if err != nil {
		return judged{}, err
	}
	if err := checkParams(m, name, v); err != nil {
		return judged{}, err
	}
	r := &Request{
		Method:     name,
		Params:     m.params,
		Version:    v,
		ElicitForm: m.elicitForm && v.Modern(),
		Client:     m.client,
		Trace:      m.trace,
	}
	if r.Params == nil {
		r.Params = jsontext.Value("{}")
	}
	ctx, run, err := x.ask(ctx, fn, r)
	return judged{ctx, run}, err
}

// find returns the method, and nil where only its family has it. What does
// not exist in the era of v is not found, like what never existed.
func (x *exchange) find(name string, v Version) (Method, error) {
	m := methods[name]
	fn := x.methods[name]
	if !m.in(v) || fn == nil && x.opts.Forward[m.family] == nil {
		return nil, Errorf(CodeMethodNotFound, "method not found: %s", clip(name))
	}
	return fn, nil
}

// checkParams judges the shape that every method's params have.
func checkParams(m *message, name string, v Version) error {
	if m.params != nil && m.params.Kind() != '{' {
		return Errorf(CodeInvalidParams, "params must be an object")
	}
	if m.meta != nil && m.meta.Kind() != '{' {
		return Errorf(CodeInvalidParams, "params._meta must be an object")
	}
	if source := methods[name].name; source != "" {
		if _, ok := text(m.nameSource(source)); !ok {
			return Errorf(CodeInvalidParams, "params.%s must be a string", source)
		}
	}
	if v.Modern() {
		return checkLogLevel(m)
	}
	return nil
}

// ask puts the request before those who may refuse it. A ping is only
// authenticated (field case 12).
func (x *exchange) ask(ctx context.Context, fn Method, r *Request) (_ context.Context, run Run, err error) {
	ping := r.Method == methodPing
	if x.opts.Admit != nil && !ping {
		if ctx, err = x.opts.Admit(ctx, r.Method); err != nil {
			return nil, nil, err
		}
	}
	if fn != nil {
		if run, err = fn(ctx, r); err != nil {
			return nil, nil, err
		}
	}
	if x.opts.Limit != nil && !ping {
		err = x.opts.Limit(ctx, r.Method)
	}
	return ctx, run, err
}

// answered renders the answer to a request that ran.
func (x *exchange) answered(id jsontext.Value, method string, v Version, r *Result) (jsontext.Value, error) {
	if r != nil {
		x.observation.Outcome = r.Outcome
	}
	return x.success(id, method, v, r)
}
