package webhooks

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

const notPublic = "The webhook's host leads to an address that is not public. Nothing was sent."

// insides are addresses, each of a range that no delivery may reach.
var insides = strings.Fields(`
	0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
	168.63.129.16 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1
	198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
	:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
	64:ff9b:1::a00:1 100::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe::1
	3ffe::1 3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 ffff::1`)

// outsides are public addresses, next to the ranges where that can be.
var outsides = strings.Fields(`
	1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
	172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
	2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2a00::1 3ffd::1`)

func TestCase33AddressesThatMayBeDialled(t *testing.T) {
	dial := func(allowLoopback bool, address, port string) error {
		return guard(allowLoopback)("tcp", net.JoinHostPort(address, port), nil)
	}
	for _, a := range insides {
		if dial(false, a, "443") == nil {
			t.Errorf("%s may be dialled", a)
		}
		loopback := netip.MustParseAddr(a).Unmap().IsLoopback()
		for _, port := range []string{"443", "8080"} {
			if (dial(true, a, port) == nil) != loopback {
				t.Errorf("%s port %s with loopback open: %v", a, port, dial(true, a, port))
			}
		}
	}
	for _, a := range outsides {
		for _, allowLoopback := range []bool{false, true} {
			if err := dial(allowLoopback, a, "443"); err != nil {
				t.Errorf("%s: %v", a, err)
			}
			for _, port := range []string{"80", "22", "8443", "0"} {
				if dial(allowLoopback, a, port) == nil {
					t.Errorf("%s port %s may be dialled", a, port)
				}
			}
		}
	}
	for _, address := range []string{"", "example.com:443", "[fe80::1%eth0]:443", "[2a00::1%eth0]:443", "/run/socket"} {
		if guard(true)("tcp", address, nil) == nil {
			t.Errorf("%q may be dialled", address)
		}
	}
}

// Whatever a name leads to, the address is judged: all of them over a real
// look-up and dialer, in the cloud's configuration.
func TestCase33NameThatLeadsInside(t *testing.T) {
	for _, a := range insides {
		t.Run("case 33 a name that resolves to "+a, func(t *testing.T) {
			if netip.MustParseAddr(a).Is6() && !hasIPv6() {
				t.Skip("this machine has no IPv6")
			}
			s := New(Options{Resolver: resolver(t, names{"inside.example": {{a}}})})
			if err := s.CheckURL("https://inside.example/hook"); err != nil {
				t.Fatal(err)
			}
			d := send(t, s, request("https://inside.example/hook"))
			wantFailed(t, d, notPublic)
			if strings.Contains(show(d), a) && len(a) > 4 {
				t.Errorf("the record tells the address: %s", show(d))
			}
		})
	}
	t.Run("several, none public", func(t *testing.T) {
		s := New(Options{Resolver: resolver(t, names{"inside.example": {{"10.0.0.1", "127.0.0.1", "fd00::1"}}})})
		wantFailed(t, send(t, s, request("https://inside.example")), notPublic)
	})
	t.Run("with loopback open", func(t *testing.T) {
		s := New(Options{AllowLoopback: true, Resolver: resolver(t, names{"inside.example": {{"169.254.169.254", "10.0.0.1"}}})})
		wantFailed(t, send(t, s, request("https://inside.example")), notPublic)
	})
}

func hasIPv6() bool {
	c, err := net.ListenPacket("udp6", "[::]:0")
	if err == nil {
		c.Close()
	}
	return err == nil
}

// The first look-up leads where deliveries may go, the second inside: it is
// what is dialled that counts.
func TestCase33Rebinding(t *testing.T) {
	r := startReceiver(t, nil, (*httptest.Server).Start)
	_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
	url := "http://rebind.localhost:" + port
	s := r.sender(Options{Resolver: resolver(t, names{"rebind.localhost": {{"127.0.0.1"}, {"169.254.169.254"}}})})
	if err := s.CheckURL(url); err != nil {
		t.Fatal(err)
	}
	if d := send(t, s, request(url)); d.Status != inbox.DeliverySuccess {
		t.Fatalf("first delivery: %s", show(d))
	}
	wantFailed(t, send(t, s, request(url)), notPublic)
	r.only(t)
}

func TestCase33Redirects(t *testing.T) {
	inside := newReceiver(t, nil)
	for _, target := range []string{"http://169.254.169.254/latest/meta-data/", inside.URL, "/again"} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, target, code) })
			d := send(t, r.sender(Options{}), request(r.URL))
			wantFailed(t, d, fmt.Sprintf("The receiver answered %d: redirects are not followed.", code))
			if d.ResponseStatus == nil || *d.ResponseStatus != int64(code) {
				t.Errorf("recorded status %s, want %d", show(d.ResponseStatus), code)
			}
			r.only(t)
		}
	}
	if len(inside.seen) != 0 {
		t.Error("a redirect was followed")
	}
}
