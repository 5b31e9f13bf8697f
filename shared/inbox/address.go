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
// and with its domain as [NormalDomain] has it. Letters before the @ that merely
// look alike stay apart, also where their lower case is ASCII (U+212A for k), and
// nothing is trimmed.
func NormalAddress(s string) string {
	at := strings.LastIndexByte(s, '@') + 1
	local := strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); notASCII(l) == notASCII(r) {
			return l
		}
		return r
	}, s[:at])
	domain, _ := NormalDomain(s[at:])
	return local + domain
}

// NormalDomain is the one form by which domains and names of hosts are compared,
// and in which they are written to: what DNS is asked for (UTS #46, RFC 5891
// §4.4), so that who passes for a domain is who has it. What is no such name, as
// one with an underscore or a dot at its end, is not ok: its form is as it stands,
// with ASCII in lower case, and no name's.
func NormalDomain(s string) (ascii string, ok bool) {
	if len(s) <= MaxAddress { // the rest would take long
		ascii, err := idna.Lookup.ToASCII(s)
		again, err2 := idna.Lookup.ToASCII(ascii)
		if err == nil && err2 == nil && again == ascii && !strings.Contains("."+ascii+".", "..") {
			return ascii, true
		}
	}
	lower := []byte(s)
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower), false
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
