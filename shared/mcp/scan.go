package mcp

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep a body may nest. No message of the protocol comes near.
const maxDepth = 100

var errTooDeep = errors.New("nested too deep")

// scan reads a JSON text from front to back, once, by calling read at its
// start. It is strict: duplicate names, invalid UTF-8 and data after the text
// are errors; names are case-sensitive.
func scan(text []byte, read func(scanner) error) error {
	return json.Unmarshal(text, &scanning{text, read}) // for its pooled decoder
}

type scanning struct {
	text []byte
	read func(scanner) error
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom].
func (s *scanning) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return s.read(scanner{dec, s.text})
}

// scanner is a place in a JSON text.
type scanner struct {
	dec  *jsontext.Decoder
	text []byte
}

// value reads the next value, whatever it is. It stays valid as long as the text.
func (s scanner) value() (jsontext.Value, error) {
	v, err := s.dec.ReadValue()
	end := int(s.dec.InputOffset())
	return s.text[end-len(v) : end], err
}

// object reads the next value. When it is an object, member is called with
// each name and reads the value after it.
func (s scanner) object(member func(name []byte) error) (jsontext.Value, error) {
	if s.dec.PeekKind() != '{' {
		return s.value()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return nil, err
	}
	start := int(s.dec.InputOffset()) - 1
	for s.dec.PeekKind() == '"' {
		name, err := s.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if err := member(unquote(name)); err != nil {
			return nil, err
		}
	}
	_, err := s.dec.ReadToken() // the closing brace, or what is wrong there
	return s.text[start:s.dec.InputOffset()], err
}

// eachMember calls f with each name of a JSON object; f reads the value after
// it. Another JSON value has none.
func eachMember(object []byte, f func(s scanner, name []byte) error) error {
	return scan(object, func(s scanner) error {
		_, err := s.object(func(name []byte) error { return f(s, name) })
		return err
	})
}

// member returns the value of a member of an object, nil when it has none.
func member(object jsontext.Value, name string) (value jsontext.Value) {
	eachMember(object, func(s scanner, n []byte) error {
		v, err := s.value()
		if string(n) == name {
			value = v
		}
		return err
	})
	return value
}

// text returns the string that v is, if it is one.
func text(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return string(unquote(v)), true
}

// unquote returns what v, a valid JSON string, stands for.
func unquote(v jsontext.Value) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	s, _ := jsontext.AppendUnquote(nil, []byte(v))
	return s
}

// checkDepth looks at the brackets of a text before anything recurses into it.
func checkDepth(text []byte) error {
	if bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) <= maxDepth {
		return nil // however they are nested
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return errTooDeep
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
