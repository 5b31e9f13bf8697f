package inbox

import (
	"cmp"
	"net"
	"net/url"
)

// SameHost reports whether two URLs lead to the same host and port, so that the
// credentials for one may go to the other. One that cannot be read
// is only like itself.
func SameHost(a, b string) bool {
	host := hostOf(a)
	return a == b || host != "" && host == hostOf(b)
}

// hostOf is the host and port of a URL, "" when it has none.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	host, _ := NormalDomain(u.Hostname())
	return net.JoinHostPort(host, port)
}
