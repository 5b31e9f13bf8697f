package catalog

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// What strangers wrote is cleaned before a model reads it: senders' mail, what
// an agent made of it, and the answers of webhooks' receivers. Bodies, output
// and answers are marked too ([Call.mark]); in the short fields, which are not,
// forged marks are spoilt. What members wrote is theirs and stays as it is.

// maxLine bounds a subject, a name or an address, in characters.
const maxLine = 500

func line(s string) string { return shortLine(s, maxLine) }

// shortLine cleans a field of one line, with at most so many characters.
func shortLine(s string, most int) string { return untrusted.SpoilMarks(untrusted.Line(s, most)) }

// text cleans a field of several lines that is not marked.
func text(s string) string { return untrusted.SpoilMarks(untrusted.Text(s)) }

func lines(ss []string) []string {
	clean := make([]string, 0, len(ss))
	for _, s := range ss {
		clean = append(clean, line(s))
	}
	return clean
}

// maybe applies f to a value that may be null.
func maybe[T any](v *T, f func(T) T) *T {
	if v == nil {
		return nil
	}
	return new(f(*v))
}

// cleanJSON cleans every string in v, the names of members too. A member whose
// name is then taken is left out, and so is all of a v that is broken.
func cleanJSON(v jsontext.Value) jsontext.Value {
	if plain(v) && untrusted.SpoilMarks(string(v)) == string(v) {
		return v
	}
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	if err := copyClean(e, jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowInvalidUTF8(true))); err != nil {
		return nil
	}
	return bytes.TrimSpace(b.Bytes())
}

// plain reports whether v has only printable ASCII, written plainly: nothing
// to clean.
func plain(v jsontext.Value) bool {
	return !bytes.ContainsFunc(v, func(r rune) bool { return r == '\\' || r < ' ' || r > '~' })
}

// copyClean copies the next value from d to e.
func copyClean(e *jsontext.Encoder, d *jsontext.Decoder) error {
	switch d.PeekKind() {
	case '"':
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		return e.WriteToken(jsontext.String(text(t.String())))
	case '[':
		return copyMembers(e, d, func() error { return copyClean(e, d) })
	case '{':
		taken := map[string]bool{}
		return copyMembers(e, d, func() error {
			t, err := d.ReadToken()
			if err != nil {
				return err
			}
			name := line(t.String())
			if taken[name] {
				return d.SkipValue()
			}
			taken[name] = true
			if err := e.WriteToken(jsontext.String(name)); err != nil {
				return err
			}
			return copyClean(e, d)
		})
	}
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	return e.WriteValue(v)
}

// copyMembers copies an array or an object, each member by one call of member.
func copyMembers(e *jsontext.Encoder, d *jsontext.Decoder, member func() error) error {
	begin, err := d.ReadToken()
	if err != nil {
		return err
	}
	if err := e.WriteToken(begin); err != nil {
		return err
	}
	for d.PeekKind() != ']' && d.PeekKind() != '}' {
		if err := member(); err != nil {
			return err
		}
	}
	end, err := d.ReadToken()
	if err != nil {
		return err
	}
	return e.WriteToken(end)
}
