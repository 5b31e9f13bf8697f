package access

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Origins are the origins whose pages may call the server. The zero value
// allows none. Its Allow fits mcp.Options.AllowOrigin.
type Origins struct {
	loopback bool
	listed   map[string]bool
}

// ParseOrigins reads a list of origins, such as https://app.example.com,
// separated by commas or spaces. The word "loopback" stands for every
// loopback origin, on any port: for a server on one's own machine.
func ParseOrigins(list string) (Origins, error) {
	o := Origins{listed: map[string]bool{}}
	for entry := range strings.FieldsSeq(strings.ReplaceAll(list, ",", " ")) {
		if entry == "loopback" {
			o.loopback = true
			continue
		}
		entry = strings.ToLower(entry)
		if _, ok := parseOrigin(entry); !ok || strings.Contains(entry, "*") {
			return Origins{}, fmt.Errorf("origin %q: write scheme and host, such as https://app.example.com, without path or wildcard", entry)
		}
		o.listed[entry] = true
	}
	return o, nil
}

// Allow reports whether a request whose Origin header is origin may proceed
// (checklist 1.02). It compares whole origins, never parts, and never allows
// "null".
func (o Origins) Allow(origin string) bool {
	if o.listed[origin] {
		return true
	}
	u, ok := parseOrigin(origin)
	return o.loopback && ok && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Hostname())
}

// parseOrigin reads a serialized origin (RFC 6454 §6.2): scheme, host and
// optionally port, all ASCII, and nothing else.
func parseOrigin(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" || u.Hostname() == "" ||
		s != u.Scheme+"://"+u.Host || strings.HasSuffix(u.Host, ":") ||
		strings.ContainsFunc(s, func(c rune) bool { return c >= 0x7f }) {
		return nil, false
	}
	return u, true
}

// isLoopback reports whether host is localhost or a loopback address, spelled
// the usual way.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
