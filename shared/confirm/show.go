package confirm

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

const (
	// maxShown is the most characters of a shown value.
	maxShown = 120
	// maxRead is the most bytes of a value that are looked at to show it.
	maxRead = 4096
)

// quote shows a value that may be anybody's: one line in quotation marks, with
// those inside escaped, so that it cannot end early and go on as if it were
// the question.
func quote(l Language, s string) string {
	whole := escapeQuotes.Replace(plain(s[:min(len(s), maxRead)]))
	text := untrusted.Line(whole, maxShown)
	if text == whole && len(s) <= maxRead {
		return `"` + text + `"`
	}
	return `"` + text + `" ` + textCut.format(l, utf8.RuneCountInString(s))
}

// showName shows the name of an argument, quoted unless it is a plain one.
func showName(path string) string {
	if plainName().MatchString(path) {
		return path
	}
	return quote(English, path)
}

var (
	escapeQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	plainName    = lazy.Regexp(`^[A-Za-z0-9_.-]{1,64}$`)
	anyURL       = lazy.Regexp(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"<>]*`)
	anyDomain    = lazy.Regexp(`@[\pL\pM\pN.-]+`)
)

// plain makes one clean line of s, in which nothing can be clicked and no
// domain looks like another one: URLs become their host, domains of addresses
// are in punycode (checklist 6.10).
func plain(s string) string {
	s = untrusted.Line(s, maxRead)
	s = anyURL().ReplaceAllStringFunc(s, func(url string) string {
		return cmp.Or(untrusted.Host(url), "(?)") // never a URL that leads nobody knows where
	})
	s = anyDomain().ReplaceAllStringFunc(s, func(at string) string {
		if host := untrusted.Host("https://" + at[1:]); host != "" {
			return "@" + host
		}
		return at
	})
	return untrusted.Line(strings.ReplaceAll(s, "://", " "), maxRead)
}
