package webhooks

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// maxURL bounds a webhook's URL, in bytes.
const maxURL = 2048

// CheckURL reports, by an [*inbox.Error] whose message a person understands, a
// URL that deliveries cannot go to. It looks up no name: what a name leads to
// is judged at each delivery, on the address that is dialled.
func (s *Sender) CheckURL(raw string) error {
	_, err := s.parseURL(raw)
	return err
}

// parseURL is [Sender.CheckURL]; the URL it returns is the one to call, so
// that nothing parses it a second time in another way.
func (s *Sender) parseURL(raw string) (*url.URL, error) {
	bad := func(message string) (*url.URL, error) {
		return nil, &inbox.Error{Code: inbox.CodeInvalid, Field: "url", Message: message}
	}
	u, err := url.Parse(raw)
	switch {
	case len(raw) > maxURL:
		return bad("The webhook's URL is longer than 2,048 bytes.")
	case err != nil: // not told: it quotes the URL
		return bad("The webhook's URL is malformed.")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return bad("The webhook's URL must be absolute: https:// and a host.")
	case u.User != nil:
		return bad("The webhook's URL must not hold a user name or password: use the webhook's auth.")
	case strings.Contains(raw, "#"):
		return bad("The webhook's URL must not have a fragment (#).")
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r >= utf8.RuneSelf }): // which others may read differently
		return bad(badName)
	}
	host, _ := inbox.NormalDomain(u.Hostname())
	addr, err := netip.ParseAddr(host)
	isAddr := err == nil
	if !isAddr {
		if message := checkName(host); message != "" {
			return bad(message)
		}
	}
	loopback := isAddr && addr.IsLoopback() && !addr.Is4In6() || isLocalhost(host)
	switch {
	case loopback && !s.options.AllowLoopback:
		return bad(strings.TrimSpace("The webhook's URL leads to the server's own machine, where deliveries do not go. " + s.options.LoopbackHint))
	case isAddr && !loopback && !public(addr):
		return bad("The webhook's URL has an address that is not public.")
	case u.Scheme == "http" && !loopback:
		return bad("The webhook's URL must begin with https://.")
	case strings.HasSuffix(u.Host, ":"), u.Port() != "" && u.Port() != "443" && !loopback:
		return bad("The webhook's URL must use port 443.")
	case !s.hostAllowed(host):
		return bad("The webhook's host is not among those that this server may send to.")
	}
	return u, nil
}

const badName = "The webhook's host must be a domain name of letters, digits and hyphens (an international one in its xn-- form), without a dot at its end."

// checkName says what is wrong with a host name: "" when nothing is. Names
// whose last label begins with a digit are numbers to some resolvers (0x7f.1,
// 2130706433, 0177.0.0.1), and no top-level domain.
func checkName(host string) (problem string) {
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return badName
		}
	}
	switch last := labels[len(labels)-1]; {
	case len(host) > 253:
		return "The webhook's host name is too long."
	case last[0] < 'a' || last[0] > 'z':
		return "The webhook's host is an address in an unusual spelling: write a domain name, or the address in its usual form."
	case len(labels) == 1 && !isLocalhost(host):
		return "The webhook's host must be a full domain name."
	}
	return ""
}

// isLocalhost reports whether a name is this machine's by RFC 6761 §6.3.
func isLocalhost(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// hostAllowed reports whether the operator's list, if there is one, has the host.
func (s *Sender) hostAllowed(host string) bool {
	return len(s.options.AllowHosts) == 0 || slices.ContainsFunc(s.options.AllowHosts, func(allowed string) bool {
		domain, wild := strings.CutPrefix(allowed, "*.")
		domain, _ = inbox.NormalDomain(domain)
		return !wild && domain == host || wild && strings.HasSuffix(host, "."+domain)
	})
}
