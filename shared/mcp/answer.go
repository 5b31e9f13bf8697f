package mcp

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// answer is one HTTP answer, whole before any of it is written.
type answer struct {
	status int
	header http.Header    // beside those that every answer has
	body   jsontext.Value // nil: none
	code   int            // of a JSON-RPC error
	cause  error          // what broke
}

var accepted = answer{status: http.StatusAccepted}

func (a answer) write(w http.ResponseWriter, origin string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	SetCORS(h, origin)
	if a.body != nil {
		h.Set("Content-Type", "application/json")
	}
	for name, values := range a.header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(a.status)
	if a.body != nil {
		w.Write(a.body) // a client that is gone is no failure of ours
	}
}

// success renders a result for the era of v. What a method must not answer
// there is an error (checklist 6.01, 6.24).
func (s *Server) success(id jsontext.Value, name string, v Version, r *Result) (jsontext.Value, error) {
	m := methods[name]
	switch {
	case r == nil:
		return nil, fmt.Errorf("%s returned no result", name)
	case r.InputRequired && !(m.asks && v.Modern()):
		return nil, fmt.Errorf("%s asked for input in %s", name, v)
	case r.Fields != nil && !isObject(r.Fields), r.Meta != nil && !isObject(r.Meta):
		return nil, fmt.Errorf("%s returned fields that are not an object", name)
	}
	size := len(id) + len(r.Fields) + len(r.Meta) + len(s.serverInfo) + 256
	if size > MaxAnswer {
		return nil, tooLarge("the answer would be over 2.5 MB; ask for less")
	}
	o := newObject(size).Text("jsonrpc", "2.0").Value("id", id).Begin("result")
	if v.Modern() {
		s.modernResult(o, m, r)
	} else if o.Members(r.Fields); len(members(r.Meta)) > 0 {
		o.Value("_meta", r.Meta)
	}
	return o.End().Close(), nil
}

// modernResult writes the members of a result with those that 2026-07-28 adds
// (checklist 3.04, 3.05, 11.01, 11.02). A cacheable result without a hint is
// private and stale at once.
func (s *Server) modernResult(o *Object, m method, r *Result) {
	if r.InputRequired {
		o.Text("resultType", "input_required").Members(r.Fields)
	} else {
		o.Text("resultType", "complete").Members(r.Fields)
		if m.cacheable {
			cache := Cache{}
			if r.Cache != nil {
				cache = *r.Cache
			}
			o.Int("ttlMs", max(0, cache.TTL.Milliseconds())).Text("cacheScope", cache.scope())
		}
	}
	o.Begin("_meta").Value(metaServer, s.serverInfo).Members(r.Meta).End()
}

func (c Cache) scope() string {
	if c.Public {
		return "public"
	}
	return "private"
}

// failure is an error made ready for the client of one era.
type failure struct {
	status int
	header http.Header
	err    *Error
	cause  error // what broke, nil when nothing did
}

// fail decides how err is shown. An undecided era, "", has no method to blame:
// what breaks there is HTTP 500.
func fail(err error, v Version) failure {
	if r, ok := errors.AsType[*Refusal](err); ok {
		f := rpcFailure(r.Err, v)
		f.status, f.header = r.Status, r.Header
		return f.because(err, r)
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return rpcFailure(e, v).because(err, e)
	}
	f := rpcFailure(internal(err), v)
	f.cause = err
	return f
}

// because keeps err for the log if it says more than what is shown.
func (f failure) because(err, shown error) failure {
	if err != shown {
		f.cause = err
	}
	return f
}

// rpcFailure keeps the codes of one era out of the other, in this one place
// (checklist §4, 4.03), and gives the code its HTTP status.
func rpcFailure(e *Error, v Version) failure {
	f := failure{err: e}
	switch {
	case e == nil:
		f.err = Errorf(CodeInvalidRequest, "the request was refused")
	case v.Modern() && e.Code == CodeResourceNotFound:
		f.err = &Error{CodeInvalidParams, e.Message, e.Data}
	case v != "" && misplaced(e.Code, v):
		f.err, f.cause = internal(e), fmt.Errorf("a code that %s does not have: %w", v, e)
	}
	f.status = httpStatus(f.err.Code, v)
	return f
}

// misplaced reports whether code must not leave the server in the era of v:
// those reserved to the protocol and not defined by it, and in the 2025 era
// those it never had. -32022 is for a bad version header in either.
func misplaced(code int, v Version) bool {
	switch code {
	case CodeUnsupportedProtocol:
		return false
	case CodeHeaderMismatch, CodeMissingCapability:
		return !v.Modern()
	}
	return code <= CodeHeaderMismatch && code > -32100
}

// httpStatus is the HTTP status of a JSON-RPC error: what the protocol
// demands, and otherwise 200 (checklist §0, 14.4).
func httpStatus(code int, v Version) int {
	switch code {
	case CodeParse, CodeInvalidRequest, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedProtocol:
		return http.StatusBadRequest
	case CodeMethodNotFound:
		if v.Modern() {
			return http.StatusNotFound
		}
	case CodeInternal:
		if v == "" {
			return http.StatusInternalServerError
		}
	}
	return http.StatusOK
}

// body renders the error. A nil id is left out.
func (f failure) body(id jsontext.Value) jsontext.Value {
	e := f.err
	size := len(id) + 6*len(e.Message) + len(e.Data) + 128
	o := newObject(size).Text("jsonrpc", "2.0")
	if id != nil {
		o.Value("id", id)
	}
	o.Begin("error").Int("code", int64(e.Code)).Text("message", e.Message)
	if e.Data != nil && size <= MaxAnswer {
		o.Value("data", e.Data)
	}
	return o.End().Close()
}

func (f failure) answer(id jsontext.Value) answer {
	return answer{status: f.status, header: f.header, body: f.body(id), code: f.err.Code, cause: f.cause}
}
