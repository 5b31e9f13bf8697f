package mail

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// decodeText decodes the encoded words (RFC 2047) of a header value and its
// raw 8-bit bytes (RFC 6532 or a guess, see [guess]) into one line.
//
// Adjacent words of one charset are decoded together: senders cut characters,
// and the shift states of ISO-2022, in two.
func decodeText(v, charset string) string {
	var out strings.Builder
	var words encodedWord // those that are not written yet
	flush := func() {
		out.WriteString(toUTF8(words.content, words.charset, charset))
		words = encodedWord{}
	}
	for v != "" {
		i := strings.Index(v, "=?")
		if i < 0 {
			break
		}
		w, n := cutEncodedWord(v[i:])
		gap := v[:i]
		if n == 0 {
			n, gap = 2, v[:i+2]
		}
		if words.charset == "" || strings.TrimSpace(gap) != "" {
			flush()
			out.WriteString(guess([]byte(gap), charset))
		}
		if !strings.EqualFold(words.charset, w.charset) {
			flush()
		}
		words.charset = w.charset
		words.content = append(words.content, w.content...)
		v = v[i+n:]
	}
	flush()
	out.WriteString(guess([]byte(v), charset))
	return oneLine(out.String())
}

// encodedWord is an encoded word of RFC 2047, freed from its Q or B encoding.
type encodedWord struct {
	charset string
	content []byte
}

// cutEncodedWord decodes the encoded word that v begins with, and returns its
// length in v: 0 when there is none.
func cutEncodedWord(v string) (w encodedWord, n int) {
	const bound = 8 << 10 // more than 75, because senders do not count
	if !strings.HasPrefix(v, "=?") {
		return w, 0
	}
	parts := strings.SplitN(v[2:min(len(v), bound)], "?", 3)
	if len(parts) < 3 || parts[0] == "" || len(parts[0]) > 64 || strings.ContainsAny(parts[0], " \t") {
		return w, 0
	}
	end := strings.Index(parts[2], "?=")
	if end < 0 {
		return w, 0
	}
	w.charset, _, _ = strings.Cut(parts[0], "*") // RFC 2231: charset*language
	text := parts[2][:end]
	switch parts[1] {
	case "B", "b":
		w.content = decodeBase64([]byte(text))
	case "Q", "q":
		w.content = unescape(nil, strings.ReplaceAll(text, "_", " "), '=')
	default:
		return encodedWord{}, 0
	}
	return w, 2 + len(parts[0]) + 1 + len(parts[1]) + 1 + end + 2
}

// unescape appends s to b, with the byte that mark and two hex digits stand for
// in their place; what is malformed stays.
func unescape[T string | []byte](b []byte, s T, mark byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == mark && i+2 < len(s) {
			if high, low := unhex(s[i+1]), unhex(s[i+2]); high >= 0 && low >= 0 {
				b = append(b, byte(high<<4|low))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return b
}

// unhex returns the value of a hex digit, or -1.
func unhex(c byte) int {
	i := strings.IndexByte("0123456789abcdefABCDEF", c)
	if i >= 16 {
		i -= 6
	}
	return i
}

// toUTF8 decodes b from a charset. Where the charset is unknown, or one of
// those that senders name without looking (ASCII, Latin-1, UTF-8 itself), it
// guesses; hint is the charset of other text in the message.
func toUTF8(b []byte, charset, hint string) string {
	enc := lookup(charset)
	if enc == nil {
		return guess(b, hint)
	}
	if enc == unicode.UTF8 || enc == charmap.Windows1252 {
		return guess(b, "")
	}
	s, err := enc.NewDecoder().Bytes(b)
	if err != nil || strings.ContainsRune(string(s), utf8.RuneError) && utf8.Valid(b) {
		return guess(b, hint)
	}
	return valid(string(s))
}

// guess decodes text of an unknown charset: UTF-8 if most of its 8-bit bytes
// are that, else hint, else Windows-1252.
func guess(b []byte, hint string) string {
	if utf8.Valid(b) {
		return valid(string(b))
	}
	good, bad := 0, 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		i += n
	}
	if good >= bad {
		return valid(string(b))
	}
	enc := lookup(hint)
	if enc == nil || enc == unicode.UTF8 {
		enc = charmap.Windows1252
	}
	s, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return valid(string(b))
	}
	return valid(string(s))
}

// lookup finds a charset by name: first as browsers read it, then by the IANA
// registry. It returns nil when golang.org/x/text does not know it.
func lookup(charset string) encoding.Encoding {
	name := strings.ToLower(strings.Trim(charset, " \t\"'"))
	switch name {
	case "utf-16": // browsers ignore its byte order mark
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "cp932": // names that senders use and no registry has
		name = "shift_jis"
	case "cp949", "ms949":
		name = "euc-kr"
	case "latin-1":
		name = "latin1"
	case "utf8mb4":
		name = "utf-8"
	}
	if enc, err := htmlindex.Get(name); err == nil && enc != encoding.Replacement {
		return enc
	}
	if enc, err := ianaindex.MIME.Encoding(name); err == nil {
		return enc // nil when it is registered but not implemented
	}
	return nil
}

// valid makes s valid UTF-8 without NUL.
func valid(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "")
}

// oneLine trims s and replaces its line breaks and tabs by spaces.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '\r', '\n', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029':
			return ' '
		}
		return r
	}, s))
}

// firstWord returns v up to the first space, comment or semicolon.
func firstWord(v string) string {
	v = strings.TrimSpace(v)
	if i := strings.IndexAny(v, " \t;("); i >= 0 {
		v = v[:i]
	}
	return v
}
