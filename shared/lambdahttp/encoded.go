package lambdahttp

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// version2 is the payload format of the events made here.
const version2 = "2.0"

// encodeEvent makes the event that a gateway would send for r, in the context
// of the one it came with.
func encodeEvent(r *http.Request, body []byte) []byte {
	ip, _, _ := net.SplitHostPort(r.RemoteAddr)
	o := mcp.NewObject().Text("version", version2).
		Text("rawPath", r.URL.EscapedPath()).Text("rawQueryString", r.URL.RawQuery).
		Begin("headers").Text("host", r.Host)
	for name, values := range r.Header {
		o.Text(strings.ToLower(name), strings.Join(values, ","))
	}
	out := o.End().
		Begin("requestContext").Text("requestId", originFrom(r.Context()).requestID).
		Begin("http").Text("method", r.Method).Text("sourceIp", ip).End().End().Close()
	out = appendBody(out[:len(out)-1], body) // within the closing brace
	return append(out, '}')
}

var errNotEncoded = errors.New("the function returned something else than an answer")

// writeEncoded writes an answer that a [Handler] encoded, in place of what w
// had, and returns its status. Another Handler's writer takes it unparsed.
func writeEncoded(w http.ResponseWriter, encoded []byte) (status int, err error) {
	rest, ok := bytes.CutPrefix(encoded, []byte(answerPrefix))
	if !ok {
		return 0, errNotEncoded
	}
	if w, ok := w.(*answer); ok {
		w.raw = encoded
		status, _ = strconv.Atoi(string(rest[:min(3, len(rest))]))
		return status, nil
	}
	var e encodedAnswer
	if err := json.Unmarshal(encoded, &e); err != nil {
		return 0, err
	}
	if err := e.finish(); err != nil {
		return 0, err
	}
	if e.status < http.StatusOK {
		return 0, errNotEncoded
	}
	clear(w.Header())
	for name, values := range e.header {
		w.Header()[name] = values
	}
	for _, cookie := range e.cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.WriteHeader(e.status)
	w.Write(e.body) // a client that is gone is no failure of ours
	return e.status, nil
}

// encodedAnswer is an answer that was encoded, in either format.
type encodedAnswer struct {
	content
	status int
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (e *encodedAnswer) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	r := reader{d}
	return r.object(func(name []byte) error {
		if string(name) != "statusCode" {
			return e.content.read(r, name)
		}
		v, err := r.ReadValue()
		if err == nil {
			e.status, err = strconv.Atoi(string(v))
		}
		return err
	})
}
