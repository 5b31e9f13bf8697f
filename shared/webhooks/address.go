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
		addr := ap.Addr().Unmap() // ::ffff:127.0.0.1 connects to 127.0.0.1
		if addr.IsLoopback() && allowLoopback || ap.Port() == 443 && public(addr) {
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
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),         // this network
	netip.MustParsePrefix("10.0.0.0/8"),        // private
	netip.MustParsePrefix("100.64.0.0/10"),     // shared by carriers; a cloud's metadata
	netip.MustParsePrefix("127.0.0.0/8"),       // loopback
	netip.MustParsePrefix("168.63.129.16/32"),  // a cloud's virtual host
	netip.MustParsePrefix("169.254.0.0/16"),    // link local; metadata
	netip.MustParsePrefix("172.16.0.0/12"),     // private
	netip.MustParsePrefix("192.0.0.0/24"),      // protocol assignments; a cloud's metadata
	netip.MustParsePrefix("192.0.2.0/24"),      // documentation
	netip.MustParsePrefix("192.31.196.0/24"),   // AS112
	netip.MustParsePrefix("192.52.193.0/24"),   // AMT
	netip.MustParsePrefix("192.88.99.0/24"),    // 6to4 relay
	netip.MustParsePrefix("192.168.0.0/16"),    // private
	netip.MustParsePrefix("192.175.48.0/24"),   // AS112
	netip.MustParsePrefix("198.18.0.0/15"),     // benchmarks
	netip.MustParsePrefix("198.51.100.0/24"),   // documentation
	netip.MustParsePrefix("203.0.113.0/24"),    // documentation
	netip.MustParsePrefix("224.0.0.0/4"),       // multicast
	netip.MustParsePrefix("240.0.0.0/4"),       // reserved; broadcast
	netip.MustParsePrefix("2001::/23"),         // protocol assignments: Teredo, ORCHID, benchmarks
	netip.MustParsePrefix("2001:db8::/32"),     // documentation
	netip.MustParsePrefix("2002::/16"),         // 6to4
	netip.MustParsePrefix("2620:4f:8000::/48"), // AS112
	netip.MustParsePrefix("3ffe::/16"),         // 6bone, given back
	netip.MustParsePrefix("3fff::/20"),         // documentation
}
