package mail

import (
	"bytes"
	"strings"
)

// decodeTransfer undoes a Content-Transfer-Encoding. It salvages what is
// malformed, and takes b as it is when the encoding has an unknown name or b
// is obviously not in it; then ok is false.
func decodeTransfer(b []byte, encoding string) (content []byte, ok bool) {
	name := strings.Map(func(r rune) rune { // "quoted printable", "7-bit", "base64;"
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(encoding))
	switch name {
	case "base64":
		if isBase64(b) {
			return decodeBase64(b), true
		}
		return b, false
	case "quotedprintable":
		return decodeQuotedPrintable(b), true
	case "", "7bit", "8bit", "8bits", "binary":
		return b, true
	}
	return b, false
}

// isBase64 reports whether b may be base64: nearly all of its characters are
// of that alphabet.
func isBase64(b []byte) bool {
	bad := 0
	for _, c := range b {
		switch c {
		case '=', '\r', '\n', '\t':
		default:
			if base64Value(c) < 0 {
				bad++
			}
		}
	}
	return bad <= len(b)/10
}

// decodeBase64 decodes base64 in either alphabet, with or without padding, in
// one piece or several, and skips all other characters.
func decodeBase64(b []byte) []byte {
	out := make([]byte, 0, len(b)/4*3+3)
	bits, n := 0, 0 // n 6-bit groups are waiting in bits
	flush := func() {
		switch n {
		case 2:
			out = append(out, byte(bits>>4))
		case 3:
			out = append(out, byte(bits>>10), byte(bits>>2))
		}
		bits, n = 0, 0
	}
	for _, c := range b {
		v := base64Value(c)
		switch {
		case c == '=':
			flush()
		case v >= 0:
			bits, n = bits<<6|v, n+1
			if n == 4 {
				out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
				bits, n = 0, 0
			}
		}
	}
	flush()
	return out
}

// base64Value returns the value of a character in base64, or -1.
func base64Value(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+', c == '-':
		return 62
	case c == '/', c == '_':
		return 63
	}
	return -1
}

// decodeQuotedPrintable decodes quoted-printable; what is malformed stays.
func decodeQuotedPrintable(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		n := lineLen(b)
		line, _ := cutLine(b[:n])
		end := b[len(line):n]
		line = bytes.TrimRight(line, " \t") // RFC 2045 6.7 (3): added on the way
		if soft := bytes.TrimSuffix(line, []byte("=")); len(soft) < len(line) {
			line, end = soft, nil
		}
		out = append(unescape(out, line, '='), end...)
		b = b[n:]
	}
	return out
}
