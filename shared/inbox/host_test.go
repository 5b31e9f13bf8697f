package inbox

import "testing"

func TestSameHost(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"https://erp.example/a", "https://ERP.example:443/b?c", true},
		{"http://erp.example", "http://erp.example:80", true},
		{"https://[::1]/", "https://[::1]:443/", true},
		{"https://bücher.example", "https://xn--bcher-kva.example", true},
		{"https://\u0130erp.example", "https://ierp.example", false},
		{"https://erp.example", "http://erp.example", false},
		{"https://erp.example", "https://erp.example:8443", false},
		{"https://erp.example", "https://evil.example", false},
		{"https://erp.example", "https://evil.example/@erp.example", false},
		{"https://erp.example", "https://erp.example@evil.example", false},
		{"https://a b/", "https://a b/", true},
		{"https://a b/", "https://a b/c", false},
		{"/a", "/b", false},
	} {
		if SameHost(test.a, test.b) != test.want || SameHost(test.b, test.a) != test.want {
			t.Errorf("%q, %q: not %v", test.a, test.b, test.want)
		}
	}
}
