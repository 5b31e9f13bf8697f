package mail

import (
	"strconv"
	"strings"
)

// params are the parameters of a Content-Type or Content-Disposition, as they
// came; names are in lower case.
type params map[string]string

// parseParams splits a structured value into what stands before the first
// semicolon, in lower case, and its parameters. It reads what senders write
// where RFC 2045 wants quotes, such as spaces, = and 8-bit bytes in a file
// name. The first of several equal parameters counts.
func parseParams(v string) (value string, p params) {
	p = params{}
	value, rest, _ := strings.Cut(v, ";")
	for rest != "" && len(p) < 100 {
		var name, val string
		i := strings.IndexAny(rest, "=;")
		if i < 0 {
			break
		}
		name = strings.ToLower(strings.TrimSpace(rest[:i]))
		if rest[i] == ';' {
			rest = rest[i+1:]
			continue
		}
		val, rest = cutParam(strings.TrimLeft(rest[i+1:], " \t"))
		if _, ok := p[name]; !ok {
			p[name] = val
		}
	}
	return strings.ToLower(firstWord(value)), p
}

// cutParam splits v after its first parameter value, quoted or not, and the
// semicolon behind it.
func cutParam(v string) (val, rest string) {
	if !strings.HasPrefix(v, `"`) {
		val, rest, _ = strings.Cut(v, ";")
		return strings.TrimSpace(val), rest
	}
	val, rest, ok := cutQuoted(v)
	if !ok { // no closing quote
		val, rest, _ = strings.Cut(v[1:], ";")
		return strings.TrimSpace(val), rest
	}
	_, rest, _ = strings.Cut(rest, ";")
	return val, rest
}

// cutQuoted splits v, which begins with a quote, after its quoted string, and
// removes the quotes and backslashes.
func cutQuoted(v string) (val, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '"':
			return b.String(), v[i+1:], true
		case '\\':
			if i++; i == len(v) {
				return "", "", false
			}
		}
		b.WriteByte(v[i])
	}
	return "", "", false
}

// text returns a parameter decoded: by RFC 2231, with its charset, language
// and continuations, or with the encoded words that senders use instead.
func (p params) text(name, hint string) string {
	if v, ok := p[name+"*"]; ok {
		charset, v := cutCharset(v)
		return oneLine(toUTF8(unescape(nil, v, '%'), charset, hint))
	}
	var content []byte
	charset, extended := "", false
	for i := range 100 {
		section := name + "*" + strconv.Itoa(i)
		if v, ok := p[section+"*"]; ok {
			if i == 0 {
				charset, v = cutCharset(v)
			}
			content, extended = unescape(content, v, '%'), true
		} else if v, ok := p[section]; ok {
			content = append(content, v...)
		} else {
			break
		}
	}
	if extended {
		return oneLine(toUTF8(content, charset, hint))
	}
	if content != nil {
		return decodeText(string(content), hint)
	}
	return decodeText(p[name], hint)
}

// cutCharset splits an extended value, charset'language'text.
func cutCharset(v string) (charset, text string) {
	parts := strings.SplitN(v, "'", 3)
	if len(parts) < 3 {
		return "", v
	}
	return parts[0], parts[2]
}
