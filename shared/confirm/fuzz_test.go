package confirm

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// fuzzed returns a confirmer whose clock stands still, and a state sealed by
// it for exampleCall.
func fuzzed(f *testing.F) (c *Confirmer, sealed string) {
	c, err := New(Options{
		Audience: audience, Ledger: storetest.Temp(f).Table("confirmations"),
		Keys: StaticKeys(testKey("k1"), testKey("k2")),
	})
	if err != nil {
		f.Fatal(err)
	}
	d, err := c.Confirm(context.Background(), exampleCall(), newDeletion())
	if err != nil {
		f.Fatal(err)
	}
	return c, stateOf(d)
}

// Whatever comes as requestState, with a yes: asked again, never executed.
func FuzzRequestState(f *testing.F) {
	c, sealed := fuzzed(f)
	for _, seed := range []string{
		"", `null`, `1`, `{}`, `[]`, `""`, `"AQ"`, `"AQJrMQ"`, `"AQL_"`, `"AQJrMQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"`,
		`"` + sealed + ``, `"` + sealed + `="`, `"` + sealed + `\n"`, `"` + sealed + `-TAMPERED"`, `"` + sealed[:100] + `"`, `"\u0041` + sealed[1:] + `x"`,
		`"eyJhbGciOiJub25lIn0.e30."`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, state []byte) {
		if text, err := jsontext.AppendUnquote(nil, state); err == nil && string(text) == sealed {
			return // the very state, however it is escaped
		}
		a := newDeletion()
		call := exampleCall()
		call.RequestState, call.InputResponses = jsontext.Value(state), jsontext.Value(sayYes)
		if state == nil {
			call.RequestState = jsontext.Value{}
		}
		d, err := c.Confirm(t.Context(), call, a)
		if err != nil || d.Outcome != Asked || d.Reason != ReasonUnreadable {
			t.Errorf("%s (%s), %v", d.Outcome, d.Reason, err)
		}
		if len(a.executed) > 0 {
			t.Error("executed")
		}
	})
}

// Whatever comes as inputResponses, with a good requestState: only an accept
// with a literal true is a yes.
func FuzzInputResponses(f *testing.F) {
	for _, c := range answerCases() {
		f.Add([]byte(c.responses))
	}
	f.Fuzz(func(t *testing.T, responses []byte) {
		said, err := parseAnswer(jsontext.Value(responses))
		if err != nil && said != unanswered {
			t.Fatalf("%q and %v at once", said, err)
		}
		if said != yes {
			return
		}
		// Read it once more, the slow way.
		v := jsontext.Value(responses)
		if err := v.Canonicalize(); err != nil {
			t.Fatalf("a yes in %q: %v", responses, err)
		}
		top, _ := object(v)
		entry, _ := object(top["confirm"])
		content, _ := object(entry["content"])
		if string(entry["action"]) != `"accept"` || string(content["confirm"]) != "true" {
			t.Errorf("a yes in %s", v)
		}
	})
}

// Whatever is shown stays one quoted line of at most 120 characters.
func FuzzQuote(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s[:min(len(s), 5000)])
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkQuoted(t, quote(English, s))
	})
}
