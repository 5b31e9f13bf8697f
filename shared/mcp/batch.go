package mcp

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// batchMethod is the Observation.Method of a batch.
const batchMethod = "batch"

// item is a message of a batch that gets an answer.
type item struct {
	m      *message
	method string
	judged judged
	err    error // why it does not run
}

// batch answers an array of messages, which 2025-03-26 has, in a router
// (checklist 1.06). It judges all of them before it runs any: a [Refusal] of
// one refuses the batch, an [Error] answers its item. Then they run one after
// the other, in order.
func (x *exchange) batch() (answer, error) {
	if err := x.checkBatch(); err != nil {
		return answer{}, err
	}
	x.observation.Method, x.observation.Version = batchMethod, V20250326
	defer x.detach()()
	var items []item
	for i := range x.body.messages {
		m := &x.body.messages[i]
		if m.invalid() == "" && m.notification() {
			continue
		}
		it := x.judgeItem(m)
		if r, ok := errors.AsType[*Refusal](it.err); ok {
			return answer{}, r
		}
		items = append(items, it)
	}
	if len(items) == 0 {
		return accepted, nil
	}
	return x.runBatch(items), nil
}

// checkBatch refuses arrays where none are allowed.
func (x *exchange) checkBatch() error {
	h, given := headerValue(x.r.Header, headerVersion)
	switch {
	case len(x.opts.Forward) == 0, given && Version(h) != V20250326:
		return Errorf(CodeInvalidRequest, "send one message, not an array")
	case x.body.count == 0:
		return Errorf(CodeInvalidRequest, "the batch is empty")
	case x.body.count > MaxBatch:
		return Errorf(CodeInvalidRequest, "a batch has at most %d messages", MaxBatch)
	}
	return nil
}

func (x *exchange) judgeItem(m *message) item {
	it := item{m: m}
	if why := m.invalid(); why != "" {
		it.err = Errorf(CodeInvalidRequest, "%s", why)
		return it
	}
	it.method, _ = text(m.method)
	switch {
	case it.method == methodInitialize:
		it.err = Errorf(CodeInvalidRequest, "initialize cannot be in a batch")
	case m.version != nil:
		it.err = Errorf(CodeInvalidRequest, "a message that names its protocol version in _meta cannot be in a batch")
	default:
		ctx := x.ctx
		it.judged, it.err = within(ctx, func() (judged, error) { return x.judge(ctx, m, it.method, V20250326) })
		if it.err == nil {
			x.ctx = it.judged.ctx
		}
	}
	return it
}

// runBatch runs the items and joins their answers. Once an answer does not
// fit, or time is up, the later items are not run.
func (x *exchange) runBatch(items []item) answer {
	room := MaxAnswer - len("[]")
	for _, it := range items {
		room -= it.reserve()
	}
	out := []byte{'['}
	var causes []error
	full := false
	for i, it := range items {
		room += it.reserve()
		switch {
		case it.err != nil:
		case full:
			it.err = tooLarge("the batch's answer is full; this message was not run")
		case x.ctx.Err() != nil:
			it.err = Errorf(CodeInternal, "timeout: the batch took too long; this message was not run")
		}
		body, err := x.runItem(it)
		if err == nil && len(body) > room {
			full, err = true, tooLarge("this message was run, but its answer does not fit into the batch's")
		}
		if err != nil {
			f := fail(err, V20250326)
			causes = append(causes, f.cause)
			if body = f.body(it.id()); len(body) > room {
				body = failure{err: tooLarge("the error does not fit into the batch's answer")}.body(it.id())
			}
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, body...)
		room -= len(body) + len(",")
	}
	return answer{status: http.StatusOK, body: append(out, ']'), cause: errors.Join(causes...)}
}

// runItem runs an item that may run: here, or in its family.
func (x *exchange) runItem(it item) (jsontext.Value, error) {
	if it.err != nil {
		return nil, it.err
	}
	if family := x.opts.Forward[FamilyOf(it.method)]; family != nil {
		ctx, cancel := x.untouched()
		defer cancel()
		return within(x.ctx, func() (jsontext.Value, error) { return forwardItem(ctx, x.r, family, it.m) })
	}
	j := it.judged
	result, err := within(j.ctx, func() (*Result, error) { return j.run(j.ctx) })
	if err != nil {
		return nil, err
	}
	return x.answered(it.m.id, it.method, V20250326, result)
}

// untouched is the context for a family: with the deadline of this exchange,
// without what the router learned of the caller.
func (x *exchange) untouched() (context.Context, context.CancelFunc) {
	at, _ := x.r.Context().Deadline()
	return context.WithDeadline(context.WithoutCancel(x.r.Context()), at)
}

// reserve is the room kept free for the item's error, whose id is in raw.
func (it item) reserve() int { return len(it.m.raw) + 256 }

// id is the item's id, or the null that 2025-03-26 has for an unreadable one.
func (it item) id() jsontext.Value {
	if id := it.m.readableID(); id != nil {
		return id
	}
	return jsontext.Value("null")
}
