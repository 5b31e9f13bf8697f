package access

import (
	"net/netip"
	"net/url"
	"testing"
)

func TestOrigins_1_02(t *testing.T) {
	parse := func(list string) Origins {
		o, err := ParseOrigins(list)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	none, loopback := Origins{}, parse("loopback")
	listed := parse("https://app.example.com, HTTPS://Other.Example.com:8443\nvscode-file://vscode-app")
	for _, c := range []struct {
		name    string
		origins Origins
		origin  string
		want    bool
	}{
		{"none", none, "https://app.example.com", false},
		{"none, loopback", none, "http://localhost", false},
		{"none, empty", none, "", false},
		{"listed", listed, "https://app.example.com", true},
		{"listed, port", listed, "https://other.example.com:8443", true},
		{"listed, own scheme", listed, "vscode-file://vscode-app", true},
		{"another port", listed, "https://app.example.com:444", false},
		{"another scheme", listed, "http://app.example.com", false},
		{"suffix", listed, "https://app.example.com.evil.example", false},
		{"prefix", listed, "https://evil-app.example.com", false},
		{"listed does not open loopback", listed, "http://localhost", false},
		{"null", listed, "null", false},
		{"localhost", loopback, "http://localhost", true},
		{"localhost, port", loopback, "http://localhost:6274", true},
		{"localhost, https", loopback, "https://localhost:6274", true},
		{"127.0.0.1", loopback, "http://127.0.0.1:1", true},
		{"127.0.0.0/8", loopback, "http://127.8.9.10", true},
		{"[::1]", loopback, "http://[::1]:8080", true},
		{"null in loopback", loopback, "null", false},
		{"empty in loopback", loopback, "", false},
		{"localhost.evil", loopback, "http://localhost.evil.example", false},
		{"evil.localhost", loopback, "http://evil-localhost", false},
		{"user info", loopback, "http://localhost@evil.example", false},
		{"user info at localhost", loopback, "http://evil.example@localhost", false},
		{"path", loopback, "http://localhost/", false},
		{"empty port", loopback, "http://localhost:", false},
		{"port of letters", loopback, "http://localhost:evil.example", false},
		{"two origins", loopback, "http://localhost http://evil.example", false},
		{"final dot", loopback, "http://localhost.", false},
		{"upper case", loopback, "HTTP://LOCALHOST", false},
		{"short address", loopback, "http://127.1", false},
		{"octal address", loopback, "http://0177.0.0.1", false},
		{"any address", loopback, "http://0.0.0.0", false},
		{"private address", loopback, "http://192.168.0.1", false},
		{"zone", loopback, "http://[::1%25lo]", false},
		{"other scheme", loopback, "ftp://localhost", false},
		{"no scheme", loopback, "localhost", false},
		{"remote in loopback", loopback, "https://app.example.com", false},
	} {
		if got := c.origins.Allow(c.origin); got != c.want {
			t.Errorf("%s: %q: got %v", c.name, c.origin, got)
		}
	}
}

func TestParseOriginsRefuses(t *testing.T) {
	for _, list := range []string{"*", "null", "app.example.com", "https://app.example.com/", "https://*", "https://*.example.com", "https://a.example https://b.example/x", "https://a@b.example"} {
		if o, err := ParseOrigins(list); err == nil {
			t.Errorf("%q: %v", list, o)
		}
	}
}

func FuzzLoopbackOrigin(f *testing.F) {
	for _, s := range []string{"http://localhost:1", "http://127.0.0.1", "http://[::1]:2", "http://localhost.evil.example", "null", "http://[::ffff:127.0.0.1]"} {
		f.Add(s)
	}
	loopback := Origins{loopback: true}
	f.Fuzz(func(t *testing.T, origin string) {
		if !loopback.Allow(origin) {
			return
		}
		u, err := url.Parse(origin)
		if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
			t.Fatalf("%q allowed: %v", origin, err)
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback()) {
			t.Fatalf("%q allowed", origin)
		}
	})
}
