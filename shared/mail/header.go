package mail

import (
	"bytes"
	"iter"
	"strings"
)

// header is a header block, unfolded and otherwise as it came: values may hold
// encoded words and bytes of any charset.
type header struct {
	fields []field
	broken bool // some lines were neither a field nor a continuation
	cut    bool // it exceeds the bounds
}

// field is one header field.
type field struct{ name, value string }

// lookup returns the first value of a field and whether there is one.
func (h header) lookup(name string) (string, bool) {
	for v := range h.all(name) {
		return v, true
	}
	return "", false
}

// get returns the first value of a field, or "".
func (h header) get(name string) string {
	v, _ := h.lookup(name)
	return v
}

// all yields the values of all fields of that name.
func (h header) all(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range h.fields {
			if strings.EqualFold(f.name, name) && !yield(f.value) {
				return
			}
		}
	}
}

// parseHeader splits an entity into its header block and its body.
//
// A line in the block that is no field is skipped, with its continuations, as
// long as fields follow; after the last field it is the beginning of a body
// whose empty line is missing. Without any field all of b is body.
func parseHeader(b []byte) (h header, body []byte) {
	head := b[:min(len(b), maxHeaderRead)]
	at, end := 0, 0 // end of the last field
	for at < len(head) {
		n := foldedLen(head[at:])
		if isBlankLine(head[at : at+n]) {
			break
		}
		at += n
		if name, _ := cutField(head[at-n : at]); name != "" {
			end = at
		}
	}
	h.cut = at == maxHeaderRead
	for block := b[:end]; len(block) > 0; {
		n := foldedLen(block)
		h.add(block[:n])
		block = block[n:]
	}
	body = b[end:]
	if line, rest := cutLine(body); len(line) == 0 {
		body = rest
	}
	return h, body
}

// add appends the field that folded holds, if any.
func (h *header) add(folded []byte) {
	name, value := cutField(folded)
	switch {
	case name == "":
		h.broken = true
	case len(h.fields) == maxFields:
		h.cut = true
	default:
		if len(value) > maxFieldSize {
			value, h.cut = value[:maxFieldSize], true
		}
		h.fields = append(h.fields, field{name, unfold(value)})
	}
}

// cutField splits a folded field into its name and its value. The name is ""
// when the line is no field.
func cutField(folded []byte) (name string, value []byte) {
	before, value, ok := bytes.Cut(folded, []byte(":"))
	before = bytes.TrimRight(before, " \t")
	if !ok || len(before) > 256 {
		return "", nil
	}
	for _, c := range before {
		if c <= ' ' || c > '~' {
			return "", nil
		}
	}
	return string(before), value
}

// unfold joins the lines of a field's value by single spaces. A carriage return
// alone becomes one too.
func unfold(value []byte) string {
	value = bytes.ReplaceAll(value, []byte("\r"), []byte(" "))
	var s strings.Builder
	for len(value) > 0 {
		var line []byte
		line, value = cutLine(value)
		if line = bytes.Trim(line, " \t"); len(line) > 0 {
			if s.Len() > 0 {
				s.WriteByte(' ')
			}
			s.Write(line)
		}
	}
	return s.String()
}

// foldedLen is the length of b's first line and its continuations.
func foldedLen(b []byte) int {
	n := lineLen(b)
	if isBlankLine(b[:n]) {
		return n
	}
	for n < len(b) && (b[n] == ' ' || b[n] == '\t') {
		n += lineLen(b[n:])
	}
	return n
}

// lineLen is the length of b's first line with its line end.
func lineLen(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

// cutLine splits b after its first line, which is returned without line end.
func cutLine(b []byte) (line, rest []byte) {
	n := lineLen(b)
	line = bytes.TrimSuffix(b[:n], []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), b[n:]
}

// isBlankLine reports whether a line with its end is empty.
func isBlankLine(line []byte) bool {
	line, _ = cutLine(line)
	return len(line) == 0
}
