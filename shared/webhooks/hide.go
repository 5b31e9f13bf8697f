package webhooks

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// hider removes from an answer what the receiver echoes of the request's
// credentials and signatures. As they were sent, they are cut out; an answer
// that repeats one in another spelling (see [hider.repeats]) is dropped whole.
type hider struct {
	replacer *strings.Replacer
	terms    []string // what no spelling of an answer may hold, as [fold] has it
	squashed []string // likewise, as [squash] has it
	longest  int      // a spelling of a text it removes, in bytes
}

// repeated stands for what a receiver answered.
const repeated = "[removed: the answer repeats credentials]"

// Values shorter than shortest would be found everywhere when they are
// encoded, and squashed terms shorter than shortestSquashed likewise.
const (
	shortest         = 6
	shortestSquashed = 8
)

func newHider(values []string) hider {
	var h hider
	var pairs []string
	for _, v := range values {
		// Some JSON encoders escape "=", some "/".
		v = strings.TrimRight(v, "=")
		if v == "" {
			continue
		}
		pairs = append(pairs, v, "[removed]", strings.ReplaceAll(v, "/", `\/`), "[removed]")
		h.longest = max(h.longest, len(`\u0000`)*len(v))
		for _, term := range append(encodings(v), v) {
			if folded := fold(term); folded != "" {
				h.terms = append(h.terms, folded)
			}
			if s := squash(term); len(s) >= shortestSquashed {
				h.squashed = append(h.squashed, s)
			}
		}
	}
	h.replacer = strings.NewReplacer(pairs...)
	return h
}

// encodings are what v looks like in hex and, wherever it begins in what was
// encoded, in base64.
func encodings(v string) []string {
	if len(v) < shortest {
		return nil
	}
	list := []string{hex.EncodeToString([]byte(v))}
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:before] + v))
		first := (8*before + 5) / 6               // the characters before it have bits of others
		whole := 8 * (before + len(v)) / 6        // likewise those from here
		list = append(list, encoded[first:whole]) // URL-safe base64 is the same when squashed
	}
	return list
}

// hide returns what may be kept of text.
func (h hider) hide(text string) string {
	if text = h.replacer.Replace(text); h.repeats(text) {
		return repeated
	}
	return text
}

// maxLayers bounds how often an encoding within another is taken off.
const maxLayers = 3

// repeats reports whether text holds what is to be hidden: in any letter case,
// with characters in between that show nothing, as JSON, HTML, XML, URLs and
// forms write it, or in base64 or hex.
func (h hider) repeats(text string) bool {
	layer := []string{text}
	for range maxLayers + 1 {
		var next []string
		for _, t := range layer {
			if h.holds(t) {
				return true
			}
			for _, decode := range []func(string) string{decodeJSON, decodePercent, decodeForm, html.UnescapeString} {
				if d := decode(t); d != t && !slices.Contains(next, d) {
					next = append(next, d)
				}
			}
		}
		layer = next
	}
	return false
}

func (h hider) holds(text string) bool {
	folded, squashed := fold(text), squash(text)
	return slices.ContainsFunc(h.terms, func(t string) bool { return strings.Contains(folded, t) }) ||
		slices.ContainsFunc(h.squashed, func(t string) bool { return strings.Contains(squashed, t) })
}

// fold returns text as it will be shown, in lower case.
func fold(text string) string { return strings.ToLower(untrusted.Line(text, len(text))) }

// squash returns nothing but the letters and digits of text, in lower case.
func squash(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, fold(text))
}

var (
	jsonEscape    = regexp.MustCompile(`(\\u[0-9a-fA-F]{4})+|\\x[0-9a-fA-F]{2}|\\.`)
	percentEscape = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
)

// decodeJSON takes the escapes of JSON and JavaScript off.
func decodeJSON(s string) string {
	return jsonEscape.ReplaceAllStringFunc(s, func(escape string) string {
		switch kind := escape[1]; {
		case kind == 'x' && len(escape) == 4:
			return string(rune(number(escape[2:])))
		case kind == 'u' && len(escape) >= 6:
			var units []uint16
			for digits := range strings.SplitSeq(escape[2:], `\u`) {
				units = append(units, number(digits))
			}
			return string(utf16.Decode(units))
		case strings.IndexByte("nrtbf", kind) >= 0:
			return " "
		}
		return escape[1:]
	})
}

// decodePercent takes the escapes of URLs off, and decodeForm those of forms.
func decodePercent(s string) string {
	return percentEscape.ReplaceAllStringFunc(s, func(escape string) string { return string([]byte{byte(number(escape[1:]))}) })
}

func decodeForm(s string) string { return decodePercent(strings.ReplaceAll(s, "+", " ")) }

// number is the value of up to four hex digits.
func number(digits string) uint16 {
	n, _ := strconv.ParseUint(digits, 16, 16)
	return uint16(n)
}
