package mcp

import (
	"bytes"
	"encoding/base64"
	"hash/crc32"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// List answers a list method, page by page, from items marshalled once. Its
// cursors encode the place in the list, so any instance continues where
// another stopped (checklist 10.01 to 10.04).
type List struct {
	first *Result
	later map[string]*Result // by cursor
}

// NewList makes a list whose result has items under member, at most size to a
// page (0: all in one).
func NewList(member string, items []jsontext.Value, cache *Cache, size int) *List {
	if size <= 0 {
		size = max(1, len(items))
	}
	l := &List{later: make(map[string]*Result)}
	for at := 0; at == 0 || at < len(items); at += size {
		end := min(at+size, len(items))
		o := NewObject().Values(member, items[at:end])
		if end < len(items) {
			o.Text("nextCursor", cursor(member, end))
		}
		page := &Result{Fields: o.Close(), Cache: cache}
		if at == 0 {
			l.first = page
		} else {
			l.later[cursor(member, at)] = page
		}
	}
	return l
}

// Page answers r: the page that its cursor asks for. Every other cursor than
// those this list gave out, "" included, is -32602.
func (l *List) Page(r *Request) (*Result, error) {
	// Params were read once; where the word is not even in them, that will do.
	if !bytes.Contains(r.Params, []byte("cursor")) && !bytes.Contains(r.Params, []byte(`\`)) {
		return l.first, nil
	}
	value := member(r.Params, "cursor")
	if value == nil {
		return l.first, nil
	}
	if at, ok := text(value); ok {
		if page := l.later[at]; page != nil {
			return page, nil
		}
	}
	return nil, Errorf(CodeInvalidParams, "params.cursor is not one that this list gave out; start again without it")
}

// cursor names a place in a list. The checksum makes a garbled one unknown.
func cursor(member string, at int) string {
	place := member + " " + strconv.Itoa(at)
	sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(place))), 36)
	return base64.RawURLEncoding.EncodeToString([]byte(place + " " + sum))
}
