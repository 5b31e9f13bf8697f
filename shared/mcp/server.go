package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of one HTTP exchange.
const (
	// MaxBody is the largest request body in bytes; more is HTTP 413.
	MaxBody = 1 << 20
	// MaxAnswer is the largest answer in bytes; a result over it becomes -32603.
	MaxAnswer = 2_500_000
	// MaxBatch is how many messages a batch may have.
	MaxBatch = 20
)

// defaultTimeout bounds a method when Options.Timeout does not.
const defaultTimeout = 20 * time.Second

// Server answers MCP over HTTP at whatever path it is mounted on. It keeps
// nothing between requests. It is safe for concurrent use.
type Server struct {
	opts         Options
	serverInfo   jsontext.Value
	methods      map[string]Method // those of Options and, with Core, its own
	allowHeaders string
}

// New makes a server. It panics when Options.Methods names a method that the
// protocol does not have.
func New(o Options) *Server {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	for name := range o.Methods {
		if FamilyOf(name) == "" {
			panic("mcp: no family has a method " + name)
		}
	}
	s := &Server{opts: o, serverInfo: o.Info.json(), methods: make(map[string]Method), allowHeaders: joinHeaders(o.AllowHeaders)}
	maps.Copy(s.methods, o.Methods)
	if o.Core {
		maps.Copy(s.methods, s.coreMethods())
	}
	return s
}

// ServeHTTP answers one POST. The order of its checks is that of checklist §0.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	ctx, cancel := context.WithDeadline(r.Context(), deadline(r.Context(), start, s.opts.Timeout))
	defer cancel()
	x := &exchange{Server: s, r: r.WithContext(ctx), ctx: ctx}
	origin, err := s.checkOrigin(r.Header)
	if err == nil && x.forward(w, r) {
		return
	}
	var a answer
	switch {
	case err != nil:
		a = fail(err, "").answer(nil)
	case r.Method == http.MethodOptions && origin != "":
		a = s.preflight()
	default:
		a = x.answer()
	}
	a.write(w, origin)
	if s.opts.Observe != nil {
		o := x.observation
		o.Status, o.Code, o.Cause, o.Duration = a.status, a.code, a.cause, time.Since(start)
		s.opts.Observe(context.WithoutCancel(x.ctx), o)
	}
}

// exchange is one HTTP request on its way to an answer.
type exchange struct {
	*Server
	r           *http.Request
	ctx         context.Context // carries the caller as soon as there is one
	observation Observation     // what is known so far

	read    bool // whether the body was read, into these two
	body    body
	bodyErr error
}

// answer runs the exchange and shows its failure, with the id if one was read.
func (x *exchange) answer() answer {
	var a answer
	err := protect(func() (err error) {
		a, err = x.serve()
		return err
	})
	if err != nil {
		return fail(err, x.observation.Version).answer(x.errorID())
	}
	return a
}

func (x *exchange) serve() (answer, error) {
	if x.opts.Authenticate != nil {
		ctx, err := x.opts.Authenticate(x.r)
		if err != nil {
			return answer{}, err
		}
		x.ctx = ctx
	}
	if x.r.Method != http.MethodPost {
		r := refuse(http.StatusMethodNotAllowed, CodeInvalidRequest, "send messages by POST")
		r.Header = http.Header{"Allow": {http.MethodPost}}
		return answer{}, r
	}
	if err := x.readBody(); err != nil {
		return answer{}, err
	}
	if x.body.batch {
		return x.batch()
	}
	m := &x.body.messages[0]
	if why := m.invalid(); why != "" {
		return answer{}, Errorf(CodeInvalidRequest, "%s", why)
	}
	method, _ := text(m.method)
	x.observation.Method = clip(method)
	if m.notification() {
		return accepted, nil
	}
	return x.single(m, method)
}

// single answers one request.
func (x *exchange) single(m *message, method string) (answer, error) {
	v, err := era(x.r.Header, m)
	if method == methodInitialize {
		m.client = m.introduction
	}
	x.observation = m.observation(method, v)
	if err != nil {
		return answer{}, err
	}
	if v.Modern() {
		if err := checkModern(x.r.Header, m); err != nil {
			return answer{}, err
		}
	} else {
		defer x.detach()()
	}
	ctx, admitted := x.ctx, make(chan context.Context, 1)
	result, err := within(ctx, func() (*Result, error) {
		j, err := x.judge(ctx, m, method, v)
		if err == nil {
			admitted <- j.ctx
			err = ctx.Err() // it is answered by now: nothing is begun any more
		}
		if err != nil {
			return nil, err
		}
		return j.run(j.ctx)
	})
	select {
	case x.ctx = <-admitted: // also where time was up
	default:
	}
	if err != nil {
		return answer{}, err
	}
	body, err := x.answered(m.id, method, v, result)
	return answer{status: http.StatusOK, body: body}, err
}

// observation is what is known of a message before its answer.
func (m *message) observation(method string, v Version) Observation {
	subject, _ := text(m.nameSource(methods[method].name))
	return Observation{Method: clip(method), Subject: clip(subject), Version: v, Client: m.client, Trace: m.trace}
}

// detach lets the work of a 2025 request go on when its client hangs up, which
// means nothing in that era (checklist 13.03). The deadline stays.
func (x *exchange) detach() context.CancelFunc {
	at, _ := x.r.Context().Deadline()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(x.ctx), at)
	x.ctx = ctx
	return cancel
}

// readBody reads and parses the body, the first time it is called.
func (x *exchange) readBody() error {
	if !x.read {
		x.read = true
		x.body, x.bodyErr = readBody(x.r)
	}
	return x.bodyErr
}

func readBody(r *http.Request) (body, error) {
	if r.ContentLength > MaxBody {
		return body{}, bodyTooLarge()
	}
	var buf bytes.Buffer
	buf.Grow(int(max(0, min(r.ContentLength, 64<<10))) + bytes.MinRead)
	if r.Body != nil {
		if _, err := buf.ReadFrom(io.LimitReader(r.Body, MaxBody+1)); err != nil {
			return body{}, Errorf(CodeParse, "the body could not be read")
		}
	}
	if buf.Len() > MaxBody {
		return body{}, bodyTooLarge()
	}
	b, err := parse(buf.Bytes())
	if err != nil {
		return body{}, Errorf(CodeParse, "the body is not valid JSON: %s", syntaxError(err))
	}
	return b, nil
}

func bodyTooLarge() error {
	return refuse(http.StatusRequestEntityTooLarge, CodeInvalidRequest, "the body is over 1 MiB")
}

// syntaxError describes what parse found, without quoting the body.
func syntaxError(err error) string {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// errorID is the id of an error answer. Where it cannot be read it is left
// out, but for two revisions whose schema wants one: there it is null
// (checklist 4.02).
func (x *exchange) errorID() jsontext.Value {
	if !x.read || x.bodyErr != nil {
		return nil
	}
	if !x.body.batch {
		if id := x.body.messages[0].readableID(); id != nil {
			return id
		}
	}
	v := x.observation.Version
	if v == "" {
		header, _ := headerValue(x.r.Header, headerVersion)
		v = Version(header)
	}
	if v == V20250326 || v == V20250618 {
		return jsontext.Value("null")
	}
	return nil
}

// clip bounds what a client can put into the logs.
func clip(s string) string {
	const most = 128
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && s[n]&0xC0 == 0x80 { // not within a character
		n--
	}
	return s[:n]
}
