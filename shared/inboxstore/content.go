package inboxstore

import (
	"strings"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The bounds of an e-mail's content. Those with Escaped count bytes as JSON
// writes them; together they leave room within store.MaxItemBytes.
const (
	maxBody           = 256 << 10
	maxBodyEscaped    = 310 << 10
	maxHeaderEscaped  = 8 << 10 // of one value
	maxHeadersEscaped = 64 << 10
)

// fit cuts content to its bounds, at whole characters. Text has the room
// first, because it is what is shown; HTML has the rest.
func fit(c inbox.EmailContent) inbox.EmailContent {
	cut := func(s string, plain, escaped int) (string, int, int) {
		kept, n := prefix(s, plain, escaped)
		c.Truncated = c.Truncated || len(kept) < len(s)
		return kept, len(kept), n
	}

	room := maxHeadersEscaped
	headers := make([]inbox.Header, 0, len(c.Headers))
	for _, h := range c.Headers {
		const syntax = len(`{"name":"","value":""},`)
		var n, v int
		h.Name, _, n = cut(h.Name, maxHeaderEscaped, maxHeaderEscaped)
		h.Value, _, v = cut(h.Value, maxHeaderEscaped, maxHeaderEscaped)
		if room -= n + v + syntax; room < 0 {
			c.Truncated = true
			break
		}
		headers = append(headers, h)
	}
	c.Headers = headers

	plain, escaped := maxBody, maxBodyEscaped
	for _, body := range []**string{&c.Text, &c.HTML} {
		if *body != nil {
			kept, p, e := cut(**body, plain, escaped)
			*body, plain, escaped = &kept, plain-p, escaped-e
		}
	}
	return c
}

// prefix returns the longest beginning of s, in whole characters, that is at
// most plain bytes long and at most escaped bytes as a JSON string, and its
// length as such. Bytes that are not UTF-8 become U+FFFD.
func prefix(s string, plain, escaped int) (string, int) {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	end, n := 0, 0
	for _, r := range s {
		size := utf8.RuneLen(r)
		cost := jsonSize(r, size)
		if end+size > plain || n+cost > escaped {
			break
		}
		end, n = end+size, n+cost
	}
	return s[:end], n
}

// jsonSize is how many bytes a character of that size takes in a JSON string.
func jsonSize(r rune, size int) int {
	switch {
	case strings.ContainsRune("\"\\\b\f\n\r\t", r):
		return 2
	case r < ' ':
		return 6
	}
	return size
}
