package webhooks

import (
	"errors"
	"net/netip"
	"syscall"
)

// errAddress refuses to dial an address.
var errAddress = errors.New("webhooks: not an address that deliveries go to")

// guard returns the dialer's last word, on the very address that a connection
// is about to be made to: whatever the name led to before, or leads to later,
// is no matter. Loopback aside, it is port 443 of a public address.
func guard(allowLoopback bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return errAddress
		}
		if addr := ap.Addr(); addr.IsLoopback() && allowLoopback || ap.Port() == 443 && public(addr) {
			return nil
		}
		return errAddress
	}
}

// public reports whether an address is a host's on the public internet: in
// none of the ranges below and, for IPv6, within those that are allocated as
// global unicast. What embeds an IPv4 address (mapped, NAT64, 6to4, Teredo) is
// not: it would lead back to the ranges of IPv4.
func public(addr netip.Addr) bool {
	if addr.Is6() && !globalUnicast6.Contains(addr) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(addr) {
			return false
		}
	}
	return addr.IsValid()
}

// globalUnicast6 leaves out ::/96, ::ffff:0:0/96 (mapped), 64:ff9b::/96 and
// 64:ff9b:1::/48 (NAT64), 100::/64 (discard), 5f00::/16 (segment routing),
// fc00::/7 (unique local), fe80::/10 (link local), fec0::/10 (site local) and
// ff00::/8 (multicast).
var globalUnicast6 = netip.MustParsePrefix("2000::/3")

// reserved are the IANA special-purpose ranges (RFC 6890 and its registries),
// and others that are no receiver's.
var reserved = prefixes(
	"0.0.0.0/8",         // this network
	"10.0.0.0/8",        // private
	"100.64.0.0/10",     // shared by carriers; a cloud's metadata
	"127.0.0.0/8",       // loopback
	"168.63.129.16/32",  // a cloud's virtual host
	"169.254.0.0/16",    // link local; metadata
	"172.16.0.0/12",     // private
	"192.0.0.0/24",      // protocol assignments; a cloud's metadata
	"192.0.2.0/24",      // documentation
	"192.31.196.0/24",   // AS112
	"192.52.193.0/24",   // AMT
	"192.88.99.0/24",    // 6to4 relay
	"192.168.0.0/16",    // private
	"192.175.48.0/24",   // AS112
	"198.18.0.0/15",     // benchmarks
	"198.51.100.0/24",   // documentation
	"203.0.113.0/24",    // documentation
	"224.0.0.0/4",       // multicast
	"240.0.0.0/4",       // reserved; broadcast
	"2001::/23",         // protocol assignments: Teredo, ORCHID, benchmarks
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4
	"2620:4f:8000::/48", // AS112
	"3ffe::/16",         // 6bone, given back
	"3fff::/20",         // documentation
)

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		ps[i] = netip.MustParsePrefix(t)
	}
	return ps
}
