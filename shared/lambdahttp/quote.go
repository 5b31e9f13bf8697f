package lambdahttp

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// escaped has 1 for what a backslash comes before in a JSON string.
var escaped = [256]uint8{'"': 1, '\\': 1}

// appendQuote appends text as a JSON string, as [jsontext.AppendQuote] does. In
// an answer, which is JSON itself, every few bytes are a quote: so there is no
// branch for them, which no processor could foretell, but one byte is written
// before each of text, and mostly written over. Text with control characters or
// that is no UTF-8 is left to the library.
func appendQuote(out, text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return jsontext.AppendQuote(out, text)
	}
	size := len(text) + bytes.Count(text, []byte(`"`)) + bytes.Count(text, []byte(`\`)) + len(`""`)
	out = slices.Grow(out, size)
	quoted := out[len(out) : len(out)+size]
	quoted[0] = '"'
	n, low := 1, byte(' ')
	for _, c := range text {
		quoted[n] = '\\'
		n += int(escaped[c])
		quoted[n] = c
		n++
		low = min(low, c)
	}
	if low < ' ' {
		return jsontext.AppendQuote(out, text)
	}
	quoted[n] = '"'
	return out[:len(out)+size], nil
}
