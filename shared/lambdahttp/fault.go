package lambdahttp

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// fault is an answer where there is no other: an HTTP error whose body is a
// JSON-RPC error, with the caller's id if there is one.
type fault struct {
	status     int
	code       int
	message    string // says what did not happen
	retryAfter string // seconds, for what was not begun
}

var (
	unreadable = fault{status: http.StatusBadRequest, code: mcp.CodeParse, message: "the request could not be read"}
	broken     = fault{status: http.StatusInternalServerError, code: mcp.CodeInternal,
		message: "internal: the server could not answer this request"}
	tooLarge = fault{status: http.StatusInternalServerError, code: mcp.CodeInternal,
		message: "response_too_large: the answer would be over 6 MB; ask for less"}

	throttled = fault{status: http.StatusServiceUnavailable, code: mcp.CodeInternal, retryAfter: "1",
		message: "unavailable: the server is busy; nothing was done, try again"}
	lost = fault{status: http.StatusBadGateway, code: mcp.CodeInternal,
		message: "internal: the server failed to answer; whether the call took effect is not known"}
	timedOut = fault{status: http.StatusGatewayTimeout, code: mcp.CodeInternal,
		message: "timeout: the server gave up waiting; whether the call took effect is not known"}
)

// write answers with the fault. A nil id is left out (checklist 4.02).
func (f fault) write(w http.ResponseWriter, id jsontext.Value) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if f.retryAfter != "" {
		h.Set("Retry-After", f.retryAfter)
	}
	o := mcp.NewObject().Text("jsonrpc", "2.0")
	if id != nil {
		o.Value("id", id)
	}
	o.Begin("error").Int("code", int64(f.code)).Text("message", f.message).End()
	w.WriteHeader(f.status)
	w.Write(o.Close())
}

// answer is the fault as the answer of an invocation, instead of another one
// that could not be given, if any: the browser that could read that can read
// this.
func (f fault) answer(id jsontext.Value, instead *answer) *answer {
	w := newAnswer()
	if instead != nil {
		for name, values := range instead.header {
			if name == "Vary" || strings.HasPrefix(name, "Access-Control-") {
				w.header[name] = values
			}
		}
	}
	f.write(w, id)
	return w
}

// callerID returns the id of the message in a body, and nil when it has none
// that may be echoed.
func callerID(body []byte) jsontext.Value {
	var m idOnly
	if json.Unmarshal(body, &m) != nil {
		return nil
	}
	return m.id
}

// idOnly is a JSON-RPC message of which only the id matters.
type idOnly struct{ id jsontext.Value }

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (m *idOnly) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	r := reader{d}
	return r.object(func(name []byte) error {
		if string(name) != "id" {
			return r.SkipValue()
		}
		v, err := r.ReadValue()
		if k := v.Kind(); k == '"' || k == '0' {
			m.id = v.Clone()
		}
		return err
	})
}
