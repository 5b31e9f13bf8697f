package inbox

import (
	"strings"
	"testing"
)

func TestSameAddress(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"itself":                            {"ana@acme.example", "ana@acme.example", true},
		"case of the domain":                {"ana@ACME.Example", "ana@acme.example", true},
		"case before the @":                 {"Ana.Souza@acme.example", "ana.souza@acme.example", true},
		"case of other letters":             {"JOSÉ@acme.example", "josé@acme.example", true},
		"punycode":                          {"ana@münchen.example", "ana@xn--mnchen-3ya.example", true},
		"punycode in upper case":            {"ana@MÜNCHEN.example", "ana@XN--MNCHEN-3YA.example", true},
		"another name":                      {"ana@acme.example", "bia@acme.example", false},
		"another domain":                    {"ana@acme.example", "ana@acme.example.org", false},
		"no domain":                         {"ana", "ana@", false},
		"accents":                           {"jose@acme.example", "josé@acme.example", false},
		"accents of the domain":             {"ana@munchen.example", "ana@münchen.example", false},
		"look-alike before the @":           {"\u212aate@acme.example", "kate@acme.example", false},
		"look-alike in the domain":          {"ana@\u212aate.example", "ana@kate.example", false},
		"look-alikes of one length":         {"\u017f\u017fk@acme.example", "ss\u212a@acme.example", false},
		"dotted capital I":                  {"\u0130@acme.example", "i@acme.example", false},
		"full width":                        {"ana@\uff41cme.example", "ana@acme.example", false},
		"tag":                               {"ana+x@acme.example", "ana@acme.example", false},
		"dots":                              {"a.na@acme.example", "ana@acme.example", false},
		"space around":                      {" ana@acme.example ", "ana@acme.example", false},
		"angle brackets":                    {"<ana@acme.example>", "ana@acme.example", false},
		"name":                              {"Ana <ana@acme.example>", "ana@acme.example", false},
		"domain before the @ of the domain": {"ana@münchen.example@acme.example", "ana@xn--mnchen-3ya.example@acme.example", false},
	} {
		if got := SameAddress(c.a, c.b); got != c.same || got != SameAddress(c.b, c.a) {
			t.Errorf("%s: %q and %q: %v", name, c.a, c.b, got)
		}
	}
}

// The normal form is its own, and that of ASCII its lower case.
func FuzzNormalAddress(f *testing.F) {
	for _, seed := range []string{"Ana@Acme.example", "ana@MÜNCHEN.example", "ana@xn--mnchen-3ya.example", "\u212a@\u0130.example", "@", "a@\xff", " <A@b>", "a@xn--a", "Xn--", "a@xn--.é"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		normal := NormalAddress(s)
		if again := NormalAddress(normal); again != normal {
			t.Errorf("%q: %q, and then %q", s, normal, again)
		}
		if !strings.ContainsFunc(s, notASCII) && normal != strings.ToLower(s) {
			t.Errorf("%q is of ASCII, and becomes %q", s, normal)
		}
	})
}
