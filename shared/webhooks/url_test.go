package webhooks

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Which sentence refuses a URL.
const (
	malformed = "malformed"
	absolute  = "absolute"
	scheme    = "must begin with https://"
	userinfo  = "user name"
	fragment  = "fragment"
	port      = "port 443"
	inside    = "not public"
	machine   = "own machine"
	domain    = "domain name of letters"
	full      = "full domain name"
	spelling  = "unusual spelling"
	tooLong   = "too long"
	longURL   = "2,048"
	list      = "may send to"
	fine      = ""
)

func TestCheckURL(t *testing.T) {
	cloud, local := New(Options{}), New(Options{AllowLoopback: true})
	listed := New(Options{AllowHosts: []string{"Hooks.example.com", "*.partner.example", "B\u00fccher.example", "*", "*stuck.example"}})
	for _, c := range []struct {
		url, inCloud, locally string
	}{
		{"https://hooks.example.com/a/b?c=d", fine, fine},
		{"https://hooks.example.com:443", fine, fine},
		{"HTTPS://HOOKS.EXAMPLE.COM/", fine, fine},
		{"https://xn--bcher-kva.example/", fine, fine},
		{"https://my_hooks.example/", fine, fine},
		{"https://1.1.1.1/", fine, fine},
		{"https://[2606:4700:4700::1111]/", fine, fine},
		{"https://1password.example", fine, fine},

		{"", absolute, absolute},
		{"hooks.example.com", absolute, absolute},
		{"//hooks.example.com/", absolute, absolute},
		{"https:hooks.example.com", absolute, absolute},
		{"https:///path", absolute, absolute},
		{"ftp://hooks.example.com/", absolute, absolute},
		{"file:///etc/passwd", absolute, absolute},
		{"gopher://127.0.0.1:6379/_x", absolute, absolute},
		{"javascript:alert(1)", absolute, absolute},
		{`https:\\hooks.example.com\`, absolute, absolute},
		{"http://hooks.example.com/", scheme, scheme},
		{"https://hooks.example.com/\n", malformed, malformed},
		{"https://hooks.example.com\\@evil.example/", malformed, malformed},
		{"https://ho oks.example.com/", malformed, malformed},
		{"https://[::1", malformed, malformed},
		{"https://127.0.0.%31/", malformed, malformed},
		{"https://hooks.example.com/%zz", malformed, malformed},
		{"https://u:p@hooks.example.com/", userinfo, userinfo},
		{"https://@hooks.example.com/", userinfo, userinfo},
		{"https://hooks.example.com/#x", fragment, fragment},
		{"https://hooks.example.com/#", fragment, fragment},
		{"https://hooks.example.com:8443/", port, port},
		{"https://hooks.example.com:0443/", port, port},
		{"https://hooks.example.com:80/", port, port},
		{"https://hooks.example.com:/", port, port},
		{"https://hooks.example.com/" + strings.Repeat("x", 2048), longURL, longURL},

		{"https://localhost/", machine, fine},
		{"http://localhost:8080/hook", machine, fine},
		{"http://LOCALHOST:8080/hook", machine, fine},
		{"http://hooks.localhost:8080/", machine, fine},
		{"http://127.0.0.1:8080/", machine, fine},
		{"http://127.9.9.9/", machine, fine},
		{"http://[::1]:8080/", machine, fine},
		{"https://[0:0:0:0:0:0:0:1]/", machine, fine},

		{"https://10.0.0.1/", inside, inside},
		{"https://192.168.1.1/", inside, inside},
		{"https://169.254.169.254/latest/meta-data/", inside, inside},
		{"https://0.0.0.0/", inside, inside},
		{"https://[::]/", inside, inside},
		{"https://[fd00:ec2::254]/", inside, inside},
		{"https://[fe80::1%25eth0]/", inside, inside},
		{"https://[64:ff9b::a9fe:a9fe]/", inside, inside},
		{"https://[2002:7f00:1::]/", inside, inside},
		{"http://[::ffff:127.0.0.1]", inside, inside}, // case 33
		{"https://[::ffff:127.0.0.1]", inside, inside},
		{"https://[::ffff:7f00:1]", inside, inside},
		{"https://[::ffff:1.1.1.1]", inside, inside},
		{"https://[::127.0.0.1]", inside, inside},

		{"http://0x7f.1", spelling, spelling}, // case 33
		{"https://0x7f.1", spelling, spelling},
		{"https://0x7f000001", spelling, spelling},
		{"https://2130706433", spelling, spelling},
		{"https://0177.0.0.1", spelling, spelling},
		{"https://127.1", spelling, spelling},
		{"https://127.0.0.01", spelling, spelling},
		{"https://1.1.1.1.1", spelling, spelling},
		{"https://hooks.example.0x1", spelling, spelling},

		{"https://127.0.0.1./", domain, domain},
		{"https://localhost./", domain, domain},
		{"https://hooks.example.com./", domain, domain},
		{"https://hooks..example.com/", domain, domain},
		{"https://.example.com/", domain, domain},
		{"https://bücher.example/", domain, domain},
		{"https://hooks.part\u0130er.example/", domain, domain}, // not in ASCII, but in lower case
		{"https://hoo\u212as.example.com/", domain, domain},
		{"https://b%C3%BCcher.example/", domain, domain},
		{"https://①②⑦.⓪.⓪.①/", domain, domain},
		{"https://127。0。0。1/", domain, domain},
		{"https://hooks.example.com,evil.example/", domain, domain},
		{"https://" + strings.Repeat("x", 64) + ".example/", domain, domain},
		{"https://" + strings.Repeat("x.", 126) + "xyz/", tooLong, tooLong},
		{"https://intranet/", full, full},
		{"https://metadata/", full, full},
	} {
		for name, check := range map[string]struct {
			s    *Sender
			want string
		}{"cloud": {cloud, c.inCloud}, "local": {local, c.locally}} {
			if err := check.s.CheckURL(c.url); !refuses(err, check.want) {
				t.Errorf("%s: %q: %v, want %q", name, c.url, err, check.want)
			}
		}
	}
	for url, want := range map[string]string{
		"https://hooks.example.com/":       fine,
		"https://HOOKS.example.com/":       fine,
		"https://a.b.partner.example/":     fine,
		"https://xn--bcher-kva.example/":   fine,
		"https://partner.example/":         list,
		"https://evilpartner.example/":     list,
		"https://unstuck.example/":         list,
		"https://x.hooks.example.com/":     list,
		"https://hooks.example.com.evil.x": list,
		"https://1.1.1.1/":                 list,
	} {
		if err := listed.CheckURL(url); !refuses(err, want) {
			t.Errorf("allow-list: %q: %v, want %q", url, err, want)
		}
	}
}

// refuses reports whether err is the refusal whose sentence contains want, or
// nil for "".
func refuses(err error, want string) bool {
	bad, ok := errors.AsType[*inbox.Error](err)
	if want == "" {
		return err == nil
	}
	return ok && bad.Code == inbox.CodeInvalid && bad.Field == "url" && strings.Contains(bad.Message, want)
}

// A URL that is refused now, though it was not when it was saved, is not called.
func TestCase33StoredURLIsCheckedAgain(t *testing.T) {
	for _, url := range []string{"http://[::ffff:127.0.0.1]", "http://0x7f.1", "https://169.254.169.254", "https://u:p4ss@x.example"} {
		d := send(t, New(Options{}), request(url))
		if d.Status != inbox.DeliveryFailed || d.ResponseStatus != nil || !strings.HasSuffix(*d.Error, " Nothing was sent.") {
			t.Errorf("%s: %s", url, show(d))
		}
		if strings.Contains(show(d), "p4ss") || strings.Contains(*d.Error, "169.254") {
			t.Errorf("the record tells the URL: %s", show(d))
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://hooks.example.com/a?b=c", "http://[::ffff:127.0.0.1]", "http://0x7f.1", "https://1.1.1.1:443/",
		"https://[2606:4700::1]/", "https://a.example\\@b.example/", "https://b%C3%BCcher.example/", "https://x.example:0443", "https://127.0.0.1./"} {
		f.Add(seed)
	}
	s := New(Options{})
	f.Fuzz(func(t *testing.T, raw string) {
		if err := s.CheckURL(raw); err != nil {
			if _, ok := errors.AsType[*inbox.Error](err); !ok {
				t.Fatalf("%q: not a refusal: %v", raw, err)
			}
			return
		}
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Fragment != "" || u.Opaque != "" || u.Port() != "" && u.Port() != "443" {
			t.Fatalf("%q passes as %#v, %v", raw, u, err)
		}
		host := u.Hostname()
		if a, err := netip.ParseAddr(host); err == nil {
			if !public(a) || a.Zone() != "" || a.Is4In6() {
				t.Fatalf("%q passes with the address %v", raw, a)
			}
			return
		}
		// A name, which no parser takes for a number or for anything but itself.
		last := host[strings.LastIndexByte(host, '.')+1:]
		if last == host || strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" ||
			strings.Trim(last[:1], "0123456789") == "" || strings.Contains(host, "..") || strings.EqualFold(last, "localhost") {
			t.Fatalf("%q passes with the name %q", raw, host)
		}
		// The URL that is called says the same to whoever parses it again.
		again, err := s.parseURL(u.String())
		if err != nil || again.Host != u.Host {
			t.Fatalf("%q is called as %q: %v", raw, u, err)
		}
	})
}

// TestCheckURL_LoopbackHint: where the operator can let deliveries go to the
// server's own machine, the refusal says how; elsewhere there is no such setting.
func TestCheckURL_LoopbackHint(t *testing.T) {
	const refusal = "The webhook's URL leads to the server's own machine, where deliveries do not go."
	for hint, want := range map[string]string{"": refusal, "Set X=1.": refusal + " Set X=1."} {
		s := New(Options{LoopbackHint: hint})
		for _, url := range []string{"http://127.0.0.1:8080/", "https://localhost/", "https://[::1]/"} {
			if e, _ := errors.AsType[*inbox.Error](s.CheckURL(url)); e == nil || e.Message != want {
				t.Errorf("%s: %v, want %q", url, e, want)
			}
		}
		if e, _ := errors.AsType[*inbox.Error](s.CheckURL("https://10.0.0.1/")); e == nil || strings.Contains(e.Message, "X=1") {
			t.Errorf("a private address: %v", e) // which no setting allows
		}
	}
}
