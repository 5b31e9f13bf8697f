package mcp

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Object writes a JSON object member by member, without reflection. Its
// methods return the object itself, so that calls chain:
//
//	mcp.NewObject().Text("type", "text").Text("text", s).Close()
//
// It trusts its caller not to write a name twice.
type Object struct{ buf []byte }

// NewObject opens an object.
func NewObject() *Object { return newObject(128) }

// newObject opens an object that will take about size bytes.
func newObject(size int) *Object { return &Object{append(make([]byte, 0, size), '{')} }

// Grow makes room for that many more bytes, where the size is known.
func (o *Object) Grow(size int) *Object {
	o.buf = slices.Grow(o.buf, size)
	return o
}

// Text writes a string member; invalid UTF-8 becomes U+FFFD.
func (o *Object) Text(name, s string) *Object {
	o.name(name)
	o.buf = appendText(o.buf, s)
	return o
}

// Texts writes an array of strings.
func (o *Object) Texts(name string, values []string) *Object {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, s := range values {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = appendText(o.buf, s)
	}
	o.buf = append(o.buf, ']')
	return o
}

// Int writes an integer member.
func (o *Object) Int(name string, n int64) *Object {
	o.name(name)
	o.buf = strconv.AppendInt(o.buf, n, 10)
	return o
}

// Bool writes a boolean member.
func (o *Object) Bool(name string, b bool) *Object {
	o.name(name)
	o.buf = strconv.AppendBool(o.buf, b)
	return o
}

// Value writes a member whose value is JSON already; nil is null.
func (o *Object) Value(name string, v jsontext.Value) *Object {
	o.name(name)
	if v == nil {
		v = jsontext.Value("null")
	}
	o.buf = append(o.buf, v...)
	return o
}

// Values writes an array of values that are JSON already.
func (o *Object) Values(name string, vs []jsontext.Value) *Object {
	size := len(name) + len(`,"":[]}`)
	for _, v := range vs {
		size += len(v) + len(",")
	}
	o.buf = slices.Grow(o.buf, size)
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, v := range vs {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = append(o.buf, v...)
	}
	o.buf = append(o.buf, ']')
	return o
}

// Members writes the members of v, an object. Nil has none.
func (o *Object) Members(v jsontext.Value) *Object {
	if m := members(v); len(m) > 0 {
		o.comma()
		o.buf = append(o.buf, m...)
	}
	return o
}

// Begin opens an object as a member; the calls up to [Object.End] write into it.
func (o *Object) Begin(name string) *Object {
	o.name(name)
	o.buf = append(o.buf, '{')
	return o
}

// End closes what [Object.Begin] opened.
func (o *Object) End() *Object {
	o.buf = append(o.buf, '}')
	return o
}

// Close ends the object and returns it.
func (o *Object) Close() jsontext.Value { return append(o.buf, '}') }

func (o *Object) name(name string) {
	o.comma()
	o.buf = append(appendText(o.buf, name), ':')
}

func (o *Object) comma() {
	if o.buf[len(o.buf)-1] != '{' {
		o.buf = append(o.buf, ',')
	}
}

// members is the text between the braces of an object, "" when there is none.
func members(object jsontext.Value) []byte {
	if !isObject(object) {
		return nil
	}
	b := bytes.TrimSpace(object)
	return bytes.TrimSpace(b[1 : len(b)-1])
}

// isObject reports whether valid JSON is an object.
func isObject(v jsontext.Value) bool {
	b := bytes.TrimSpace(v)
	return len(b) >= 2 && b[0] == '{' && b[len(b)-1] == '}'
}

// appendText appends s as a JSON string; most strings need no escape, and are
// copied.
func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			dst, _ = jsontext.AppendQuote(dst, s) // its only error is the replaced UTF-8
			return dst
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
