package catalog

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// show writes a record, or a page of them, as the JSON of an [Output]: times in
// UTC, empty objects as {}, bad UTF-8 replaced. It takes the two results of a
// service's method.
func show[T any](v T, err error) (Output, error) {
	if err != nil {
		return Output{}, err
	}
	b, err := json.Marshal(v, shown)
	return Output{JSON: b}, err
}

// shown is how records are written. It is never changed.
var shown = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
			return e.WriteToken(jsontext.String(t.UTC().Format(time.RFC3339Nano)))
		}),
		json.MarshalToFunc(func(e *jsontext.Encoder, o inbox.Object) error {
			if o == nil {
				o = inbox.Object("{}")
			}
			return e.WriteValue(o)
		}),
	)),
)

// view makes a page of the views of its records.
func view[T, V any](p inbox.Page[T], of func(T) V) inbox.Page[V] {
	vs := make([]V, 0, len(p.Data))
	for _, r := range p.Data {
		vs = append(vs, of(r))
	}
	return inbox.Page[V]{Data: vs, NextCursor: p.NextCursor}
}
