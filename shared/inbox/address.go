package inbox

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// IsAddress reports whether s is a plain e-mail address, without name, comments,
// quotes and characters that cannot be seen.
func IsAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && len(s) <= MaxAddress && isText(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Z) })
}

// SameAddress reports whether two addresses are one mailbox's, which is the one
// way in which addresses are compared.
func SameAddress(a, b string) bool { return NormalAddress(a) == NormalAddress(b) }

// NormalAddress is the form that all spellings of an address share, for keys: in
// lower case, also before the @, where hardly anybody tells mailboxes apart by it,
// and with its domain in ASCII (RFC 5891 §4.4). Letters that merely look alike stay apart,
// also where their lower case is ASCII (U+212A for k), and nothing is trimmed.
func NormalAddress(s string) string {
	s = strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); notASCII(l) == notASCII(r) {
			return l
		}
		return r
	}, s)
	if len(s) > MaxAddress { // it is no address, and the rest would take long
		return s
	}
	at := strings.LastIndexByte(s, '@') + 1
	labels := strings.Split(s[at:], ".")
	for i, l := range labels {
		if ascii, err := idna.Punycode.ToASCII(l); err == nil && strings.ContainsFunc(l, notASCII) {
			labels[i] = ascii
		}
	}
	return s[:at] + strings.Join(labels, ".")
}

func notASCII(r rune) bool { return r >= utf8.RuneSelf }

// Recipients returns the addresses that may send to an inbox, each once, or an
// [*Error].
func Recipients(list []string) ([]string, error) {
	unique := make([]string, 0, len(list))
	seen := make(map[string]bool, len(list))
	for n, a := range list {
		if !IsAddress(a) {
			return nil, invalid("allowed_recipients", "Recipient %d is not an e-mail address.", n+1)
		}
		if normal := NormalAddress(a); !seen[normal] {
			seen[normal] = true
			unique = append(unique, a)
		}
	}
	return unique, check("allowed_recipients", len(unique) <= MaxRecipients, "An inbox has at most %d allowed recipients.", MaxRecipients)
}
