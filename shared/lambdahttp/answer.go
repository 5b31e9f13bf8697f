package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// answerPrefix is how every encoded answer begins, so that one can be told
// from whatever else a function may have returned.
const answerPrefix = `{"statusCode":`

// answer is the [http.ResponseWriter] of an invocation: it keeps the answer.
type answer struct {
	header http.Header
	status int // 0 until written
	body   bytes.Buffer
	raw    []byte // an answer that is encoded already, or nil
}

func newAnswer() *answer { return &answer{header: make(http.Header)} }

func (w *answer) Header() http.Header { return w.header }

// WriteHeader takes the first final status.
func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
}

func (w *answer) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// encode renders the answer in the format of the event that it answers.
func (w *answer) encode(e *event) []byte {
	w.WriteHeader(http.StatusOK)
	body := w.body.Bytes()
	if e.method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		body = nil
	}
	if len(body) > 0 && w.header["Content-Type"] == nil {
		w.header.Set("Content-Type", http.DetectContentType(body)) // as net/http does
	}
	out := make([]byte, 0, len(body)+len(body)/4+1024)
	out = append(out, answerPrefix...)
	out = strconv.AppendInt(out, int64(w.status), 10)
	if e.version == version2 {
		out = appendHeaders(out, w.header)
	} else {
		out = appendMultiValueHeaders(out, w.header)
	}
	if len(body) > 0 {
		out = appendBody(out, body)
	}
	return append(out, '}')
}

// appendHeaders is for the format that has one value for each header, but for
// cookies.
func appendHeaders(out []byte, h http.Header) []byte {
	out = append(out, `,"headers":{`...)
	for name, values := range h {
		if name != "Set-Cookie" {
			out = append(appendText(out, name), ':')
			out = append(appendText(out, strings.Join(values, ", ")), ',')
		}
	}
	out = append(trimComma(out), '}')
	if cookies := h["Set-Cookie"]; len(cookies) > 0 {
		out = append(out, `,"cookies":`...)
		out = appendArray(out, cookies)
	}
	return out
}

func appendMultiValueHeaders(out []byte, h http.Header) []byte {
	out = append(out, `,"multiValueHeaders":{`...)
	for name, values := range h {
		out = append(appendText(out, name), ':')
		out = append(appendArray(out, values), ',')
	}
	return append(trimComma(out), '}')
}

// appendBody writes text as it is, and anything else in base64.
func appendBody(out, body []byte) []byte {
	start := len(out)
	out = append(out, `,"body":`...)
	out, err := appendQuote(out, body)
	if err == nil {
		return append(out, `,"isBase64Encoded":false`...)
	}
	out = append(out[:start], `,"body":"`...)
	out = base64.StdEncoding.AppendEncode(out, body)
	return append(out, `","isBase64Encoded":true`...)
}

func appendArray(out []byte, texts []string) []byte {
	out = append(out, '[')
	for _, s := range texts {
		out = append(appendText(out, s), ',')
	}
	return append(trimComma(out), ']')
}

func appendText(out []byte, s string) []byte {
	out, _ = jsontext.AppendQuote(out, s) // its only error is the replaced UTF-8
	return out
}

func trimComma(out []byte) []byte { return bytes.TrimSuffix(out, []byte{','}) }
