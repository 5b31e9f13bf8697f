package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errNotObject  = errors.New("an object is expected")
	errNotArray   = errors.New("an array is expected")
	errNotText    = errors.New("a string is expected")
	errNotBoolean = errors.New("a boolean is expected")
	errNotBase64  = errors.New("the body is not canonical base64")
)

// reader reads JSON without reflection. Null is an empty value of any kind,
// as gateways send it.
type reader struct{ *jsontext.Decoder }

// object calls member with each name of the next object; member reads the
// value after it. The name is valid until then.
func (r reader) object(member func(name []byte) error) error {
	if r.PeekKind() != '{' {
		return r.null(errNotObject)
	}
	r.ReadToken() // the brace that was peeked
	for r.PeekKind() == '"' {
		name, err := r.ReadValue()
		if err != nil {
			return err
		}
		if err := member(unquote(name)); err != nil {
			return err
		}
	}
	_, err := r.ReadToken() // the closing brace, or what is wrong there
	return err
}

// array calls element for each element of the next array, to read it.
func (r reader) array(element func() error) error {
	if r.PeekKind() != '[' {
		return r.null(errNotArray)
	}
	r.ReadToken() // the bracket that was peeked
	for {
		switch r.PeekKind() {
		case ']', jsontext.KindInvalid: // what is wrong, ReadToken says
			_, err := r.ReadToken()
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// bytes reads a string; the caller may keep it.
func (r reader) bytes() ([]byte, error) {
	if r.PeekKind() != '"' {
		return nil, r.null(errNotText)
	}
	v, err := r.ReadValue()
	if err != nil {
		return nil, err
	}
	return jsontext.AppendUnquote(make([]byte, 0, len(v)), []byte(v))
}

func (r reader) text() (string, error) {
	if r.PeekKind() != '"' {
		return "", r.null(errNotText)
	}
	v, err := r.ReadValue()
	if err != nil {
		return "", err
	}
	return string(unquote(v)), nil
}

func (r reader) boolean() (bool, error) {
	switch r.PeekKind() {
	case 't', 'f':
		v, err := r.ReadToken()
		return err == nil && v.Bool(), err
	}
	return false, r.null(errNotBoolean)
}

// null reads the next value, which must be null.
func (r reader) null(otherwise error) error {
	v, err := r.ReadValue()
	if err == nil && v.Kind() != 'n' {
		err = otherwise
	}
	return err
}

// unquote returns what v, a valid JSON string, stands for. It may be a part of v.
func unquote(v jsontext.Value) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	s, _ := jsontext.AppendUnquote(make([]byte, 0, len(v)), []byte(v))
	return s
}

// content is what events and answers have in common.
type content struct {
	header  http.Header // from headers
	multi   http.Header // from multiValueHeaders, which repeats headers
	cookies []string
	body    []byte
	base64  bool
}

// read reads the value of a member; others are skipped.
func (c *content) read(r reader, name []byte) (err error) {
	switch string(name) {
	case "headers":
		c.header = make(http.Header)
		err = r.object(func(name []byte) error { return r.field(c.header, name) })
	case "multiValueHeaders":
		c.multi = make(http.Header)
		err = r.object(func(name []byte) error {
			key := string(name)
			return r.array(func() error { return r.field(c.multi, []byte(key)) })
		})
	case "cookies":
		err = r.array(func() error {
			cookie, err := r.text()
			c.cookies = append(c.cookies, cookie)
			return err
		})
	case "body":
		c.body, err = r.bytes()
	case "isBase64Encoded":
		c.base64, err = r.boolean()
	default:
		err = r.SkipValue()
	}
	return err
}

// field reads a header's value. Names are spelled in any case.
func (r reader) field(h http.Header, name []byte) error {
	key := http.CanonicalHeaderKey(string(name))
	value, err := r.text()
	h[key] = append(h[key], value)
	return err
}

// finish is called after the last member.
func (c *content) finish() error {
	if len(c.multi) > 0 {
		c.header = c.multi
	}
	if c.header == nil {
		c.header = make(http.Header)
	}
	if !c.base64 {
		return nil
	}
	// A decoder in strict mode still skips line breaks, hence the length.
	n := len(c.body)
	decoded, err := base64.StdEncoding.Strict().AppendDecode(nil, c.body)
	if err != nil || base64.StdEncoding.EncodedLen(len(decoded)) != n {
		return errNotBase64
	}
	c.body = decoded
	return nil
}
