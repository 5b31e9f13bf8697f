package untrusted

import (
	"net/url"
	"strings"

	"golang.org/x/net/idna"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// special matches the beginning of a URL that browsers forgive many a slash.
var special = lazy.Regexp(`^(?i)(https?):[/\\]*`)

// Host returns the host and port of a URL as they may be shown: lower case,
// names in punycode, without scheme and user. It is "" when the URL has no host
// or none that could be told with certainty. Where browsers read a URL
// differently from RFC 3986 (backslashes, missing slashes, line breaks), it
// reads it as they do.
func Host(rawURL string) string {
	u := parseURL(rawURL)
	if u == nil {
		return ""
	}
	return u.Host
}

// parseURL parses a URL as browsers do. Its host is in punycode, its user is
// removed. It returns nil when it cannot be told where the URL leads.
func parseURL(rawURL string) *url.URL {
	raw := strings.TrimFunc(rawURL, func(r rune) bool { return r <= ' ' })
	raw = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(raw)
	if special().MatchString(raw) {
		raw = special().ReplaceAllString(raw, "$1://")
		end := len(raw)
		if i := strings.IndexAny(raw, "?#"); i >= 0 {
			end = i
		}
		raw = strings.ReplaceAll(raw[:end], `\`, "/") + raw[end:]
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	u.User = nil
	name, port := u.Hostname(), u.Port()
	if name == "" || strings.Contains(name, ":") { // IPv6
		u.Host = strings.ToLower(u.Host)
		return u
	}
	// The profile has it in lower case as browsers do, to whom U+0130 is no i.
	profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))
	if name, err = profile.ToASCII(name); err != nil {
		return nil
	}
	if u.Host = name; port != "" {
		u.Host += ":" + port
	}
	return u
}

// safeURL returns an absolute URL that a person may follow, its host in
// punycode and without user, and "" for all others: other schemes than http,
// https and mailto, and those of which it cannot be told where they lead.
func safeURL(href string) string {
	u := parseURL(href)
	if u == nil || u.Scheme != "mailto" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return ""
	}
	return u.String()
}
