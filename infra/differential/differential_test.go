// Package differential_test asks the official Go SDK and the protocol core the
// same things, by the same fixtures, and compares what they answer.
package differential_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/infra/conformance/fixtures"
)

// requests is how many are asked, seed which.
const (
	requests = 5000
	seed     = 20260728
)

// TestDifferences asks both servers the same requests. Where they answer
// otherwise, a row of the table of differences says why.
func TestDifferences(t *testing.T) {
	set := fixtures.New()
	ours, theirs := fixtures.Handler(set, pageSize, nil), oracle(t, set)
	g := generator{rand: rand.New(rand.NewPCG(seed, 0)), set: set}
	same, known, unknown := 0, map[string]int{}, map[string]int{}
	for range requests {
		q := g.request()
		a, b := ask(t, ours, q), ask(t, theirs, q)
		if cmp.Equal(a, b) {
			same++
			continue
		}
		b, ids := explain(q, a, b, func(q request) outcome { return ask(t, theirs, q) })
		if cmp.Equal(a, b) {
			for _, id := range ids {
				known[id]++
			}
			continue
		}
		kind := fmt.Sprintf("%q %s of %q: %d/%v here, %d/%v there", q.what, q.method, q.version, a.Status, a.Code, b.Status, b.Code)
		if unknown[kind]++; unknown[kind] == 1 {
			t.Errorf("%s\n%v\n%s\nthe SDK (-) and we (+) differ:\n%s", kind, q.header, q.body(), cmp.Diff(b, a))
		}
	}
	t.Logf("%d of %d answers are the same; known differences: %v", same, requests, known)
	for _, d := range differences {
		if known[d.id] == 0 {
			t.Errorf("no request showed the difference %s: %s", d.id, d.why)
		}
	}
}

// outcome is an answer without what is free to differ: messages, cursors, what
// a server tells of itself.
type outcome struct {
	Status int
	ID     string
	Code   int
	Data   any
	Result object
	Batch  []outcome
	Text   bool // a body that is no JSON
}

func ask(t *testing.T, h http.Handler, q request) outcome {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(q.body()))
	for name, values := range q.header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return read(w.Body.Bytes(), w.Code)
}

func read(body jsontext.Value, status int) outcome {
	o := outcome{Status: status}
	if !body.IsValid() {
		o.Text = len(body) > 0
		return o
	}
	if body.Kind() == '[' {
		var items []jsontext.Value
		if err := json.Unmarshal(body, &items); err != nil {
			panic(err) // it is valid, and an array
		}
		for _, item := range items {
			o.Batch = append(o.Batch, read(item, status))
		}
		slices.SortFunc(o.Batch, func(a, b outcome) int { return strings.Compare(a.ID, b.ID) })
		return o
	}
	var m struct {
		ID     jsontext.Value `json:"id"`
		Result object         `json:"result"`
		Error  struct {
			Code int `json:"code"`
			Data any `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		o.Text = true
		return o
	}
	o.ID, o.Code, o.Data, o.Result = string(m.ID), m.Error.Code, m.Error.Data, normal(m.Result)
	return o
}

// normal takes away what is free to differ.
func normal(result object) object {
	if meta, ok := result["_meta"].(object); ok {
		delete(meta, "io.modelcontextprotocol/serverInfo")
		if len(meta) == 0 {
			delete(result, "_meta")
		}
	}
	if _, ok := result["nextCursor"]; ok {
		result["nextCursor"] = "one"
	}
	return result
}
