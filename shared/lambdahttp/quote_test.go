package lambdahttp

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzQuote: what is written without a branch is what the library writes, also
// behind what is there already, and with its error.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{
		"", `"`, `\`, `{"a":"b\"c\\"}`, "é世🙂\u2028", "\x7f", "a\nb", "\x00", "\x1f\"", "bad \xff utf8", "\xed\xa0\x80", strings.Repeat(`"`, 300),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := []byte("before")
		want, wantErr := jsontext.AppendQuote(bytes.Clone(before), text)
		got, err := appendQuote(bytes.Clone(before), text)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%q, %v; want %q, %v", got, err, want, wantErr)
		}
	})
}
