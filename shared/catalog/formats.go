package catalog

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// span is the time that a value names, from From (included) to To (excluded),
// in UTC: a day, a month, or nothing between equal ends for an instant.
type span struct{ From, To time.Time }

func readDate(s string) (any, bool) {
	t, err := time.Parse(time.DateOnly, s)
	return span{t, t.AddDate(0, 0, 1)}, err == nil
}

func readMonth(s string) (any, bool) {
	t, err := time.Parse("2006-01", s)
	return span{t, t.AddDate(0, 1, 0)}, err == nil
}

func readMoment(s string) (any, bool) {
	if v, ok := readDate(s); ok {
		return v, true
	}
	return readInstant(s)
}

func readInstant(s string) (any, bool) {
	t, err := time.Parse(time.RFC3339, s)
	// Parse takes hours of one digit and a comma before fractions, RFC 3339 does not.
	strict := err == nil && s[len("2006-01-02T1")] != ':' && !strings.Contains(s, ",")
	return span{t.UTC(), t.UTC()}, strict
}

// slugForm is the form of a workspace's email_prefix.
const slugForm = `^[a-z0-9]+(?:-[a-z0-9]+)*$`

var slug = lazy.Regexp(slugForm)

func readSlug(s string) (any, bool) { return s, slug().MatchString(s) }

// readUUID takes either case and keeps the lower one, as ids are written
// (RFC 9562 §4).
func readUUID(s string) (any, bool) {
	if len(s) != 36 {
		return nil, false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return nil, false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return nil, false
			}
		}
	}
	return strings.ToLower(s), true
}

// readAddress takes a bare address, in any script, and judges no more than
// its outline: only the mail system knows which addresses exist.
func readAddress(s string) (any, bool) {
	local, domain, ok := strings.Cut(s, "@")
	foreign := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`<>()[],;:"\`, r)
	}
	ok = ok && local != "" && domain != "" && len(s) <= 320 &&
		!strings.Contains(domain, "@") && !strings.ContainsFunc(s, foreign)
	return s, ok
}

func readURI(s string) (any, bool) {
	u, err := url.Parse(s)
	return s, err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "") && !strings.ContainsFunc(s, unicode.IsSpace)
}
