package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// forward hands a single message of a forwarded family to that family, as it
// came, and reports whether it did. Nothing was decided about it: the family
// trusts the router with nothing.
func (x *exchange) forward(w http.ResponseWriter, r *http.Request) bool {
	if len(x.opts.Forward) == 0 || r.Method != http.MethodPost || x.readBody() != nil || x.body.batch {
		return false
	}
	name, _ := text(x.body.messages[0].method)
	family := x.opts.Forward[FamilyOf(name)]
	if family == nil {
		return false
	}
	v, _ := era(x.r.Header, &x.body.messages[0])
	r = r.WithContext(withForwarded(r.Context(), &x.body.messages[0], name, v))
	r.Body = io.NopCloser(bytes.NewReader(x.body.text))
	family.ServeHTTP(w, r)
	return true
}

type forwardedKey struct{}

func withForwarded(ctx context.Context, m *message, method string, v Version) context.Context {
	return context.WithValue(ctx, forwardedKey{}, m.observation(method, v))
}

// Forwarded is what a router knew of the message that it handed on with a
// request in this context. Who has the answer can complete and report it.
func Forwarded(ctx context.Context) Observation {
	o, _ := ctx.Value(forwardedKey{}).(Observation)
	return o
}

// forwardItem sends one message of a batch to its family, as a request like r
// of its own, and returns the family's answer.
func forwardItem(ctx context.Context, r *http.Request, family http.Handler, m *message) (jsontext.Value, error) {
	name, _ := text(m.method)
	r = r.Clone(withForwarded(ctx, m, name, V20250326))
	r.Body = io.NopCloser(bytes.NewReader(m.raw))
	r.ContentLength = int64(len(m.raw))
	r.Header.Del("Content-Length")
	w := &recorder{header: make(http.Header), status: http.StatusOK}
	family.ServeHTTP(w, r)
	if answer := w.response(m.id); answer != nil {
		return answer, nil
	}
	return nil, fmt.Errorf("a family answered HTTP %d without a JSON-RPC response", w.status)
}

// recorder is an [http.ResponseWriter] that keeps the answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }

// response returns what was recorded when it is a JSON-RPC response to id, and
// nil otherwise. An error from before the family read the id gets it here.
func (w *recorder) response(id jsontext.Value) jsontext.Value {
	text := bytes.TrimSpace(w.body.Bytes())
	var rpc, got, result, failed jsontext.Value
	err := eachMember(text, func(s scanner, name []byte) (err error) {
		switch string(name) {
		case "jsonrpc":
			rpc, err = s.value()
		case "id":
			got, err = s.value()
		case "result":
			result, err = s.value()
		case "error":
			failed, err = s.value()
		default:
			err = s.dec.SkipValue()
		}
		return err
	})
	switch {
	case err != nil || string(rpc) != `"2.0"` || (result == nil) == (failed == nil):
		return nil
	case bytes.Equal(got, id):
		return text
	case failed != nil && (got == nil || got.Kind() == 'n'):
		return NewObject().Text("jsonrpc", "2.0").Value("id", id).Value("error", failed).Close()
	}
	return nil
}
