package mail

import (
	"strings"
	"unicode"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
)

// address is one mailbox: a bare addr-spec and its decoded display name.
type address struct{ addr, name string }

// maxToken bounds a quoted string or comment of an address list, so that
// unclosed ones cannot make its reading quadratic.
const maxToken = 1 << 10

// parseAddresses reads an address list that is not decoded yet: what an
// encoded word says can become part of a name, never an address or two. It
// takes what RFC 5322 and senders allow: names, comments, groups, routes,
// several separators, missing commas and brackets. What is no addr-spec with a
// domain is left out.
func parseAddresses(v, charset string) []address {
	p := addressParser{charset: charset}
	for v != "" {
		v = v[p.next(v):]
	}
	p.endMailbox()
	return p.list
}

// addressParser collects the parts of one mailbox at a time.
type addressParser struct {
	charset string
	list    []address

	words   []addressWord // outside angle brackets
	inWord  bool          // what comes next belongs to the last of words
	angle   string        // what stands in angle brackets
	hasAddr bool          // there were angle brackets
	comment string
}

// addressWord is a run of atoms, quoted strings and encoded words without
// space between them.
type addressWord struct {
	text []byte
	at   bool // an @ stands outside its quotes and encoded words
}

// next reads the token that v begins with and returns its length.
func (p *addressParser) next(v string) int {
	bounded := v[:min(len(v), maxToken)]
	switch v[0] {
	case ' ', '\t':
		p.inWord = false
	case ',', ';':
		p.endMailbox()
	case ':':
		p.words, p.inWord = nil, false // what came before named a group
	case '"':
		if _, rest, ok := cutQuoted(bounded); ok {
			return p.add(v[:len(bounded)-len(rest)], false)
		}
	case '[': // a domain literal may hold colons
		return p.add(v[:1+max(0, strings.IndexByte(bounded, ']'))], false)
	case '(':
		if n := commentLen(bounded); n > 0 {
			p.comment, p.inWord = v[1:n-1], false
			return n
		}
	case '<':
		if p.hasAddr { // a comma is missing
			p.endMailbox()
		}
		inside, _, ok := strings.Cut(v[1:], ">")
		if !ok {
			inside, _, _ = strings.Cut(v[1:], ",")
		}
		p.angle, p.hasAddr, p.inWord = inside, true, false
		return 1 + len(inside) // a > that follows is skipped
	case '>':
	case '=':
		_, n := cutEncodedWord(v)
		return p.add(v[:max(1, n)], false)
	default:
		return p.add(v[:1], v[0] == '@')
	}
	return 1
}

// add appends text to the current word and returns its length.
func (p *addressParser) add(text string, at bool) int {
	if !p.inWord {
		p.words = append(p.words, addressWord{})
		p.inWord = true
	}
	w := &p.words[len(p.words)-1]
	w.text = append(w.text, text...)
	w.at = w.at || at
	return len(text)
}

// endMailbox adds what was collected to the list.
func (p *addressParser) endMailbox() {
	var name []string
	for _, w := range p.words {
		if w.at && !p.hasAddr { // a bare address, or several without commas
			p.addMailbox(string(w.text), name)
			name = nil
			continue
		}
		name = append(name, string(w.text))
	}
	if p.hasAddr {
		p.addMailbox(p.angle, name)
	}
	*p = addressParser{charset: p.charset, list: p.list}
}

// addMailbox adds an address, if it is one; the comment names it when nothing
// else does.
func (p *addressParser) addMailbox(addr string, name []string) {
	addr, ok := addrSpec(addr, p.charset)
	if !ok {
		return
	}
	for i, w := range name {
		if val, rest, ok := cutQuoted(w); strings.HasPrefix(w, `"`) && ok && rest == "" {
			name[i] = val
		}
	}
	if len(name) == 0 {
		name = []string{p.comment}
	}
	p.list = append(p.list, address{addr, clip.Bytes(decodeText(strings.Join(name, " "), p.charset), maxNameSize)})
}

// addrSpec returns the address in v without route, and whether it is one:
// exactly one @ between a local part and a domain. Its case and its script
// stay (RFC 6532).
func addrSpec(v, charset string) (string, bool) {
	v = strings.TrimSpace(v)
	if strings.HasPrefix(v, "@") { // an obsolete route, @one,@two:user@domain
		_, v, _ = strings.Cut(v, ":")
	}
	v = guess([]byte(v), charset)
	i := strings.LastIndexByte(v, '@')
	if i < 0 || len(v) > 320 || strings.ContainsFunc(v, unicode.IsControl) {
		return "", false
	}
	local, domain := v[:i], strings.TrimSuffix(v[i+1:], ".")
	return local + "@" + domain, isLocalPart(local) && isDomain(domain)
}

// isLocalPart reports whether s may stand before the @.
func isLocalPart(s string) bool {
	if strings.HasPrefix(s, `"`) {
		_, rest, ok := cutQuoted(s)
		return ok && rest == ""
	}
	return isAtoms(s)
}

// isDomain reports whether s may stand behind the @, a literal such as
// [192.0.2.1] included.
func isDomain(s string) bool {
	if literal, ok := strings.CutPrefix(s, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		return ok && literal != "" && !strings.ContainsAny(literal, "[]\\ ")
	}
	return isAtoms(s)
}

// isAtoms reports whether s may be atoms and dots: not empty and without
// specials (RFC 5322 3.2.3) and spaces.
func isAtoms(s string) bool {
	return s != "" && !strings.ContainsAny(s, `()<>[]:;@\," `)
}

// commentLen returns the length of the comment that v begins with, nested ones
// included, or 0 when it does not end.
func commentLen(v string) int {
	depth := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
