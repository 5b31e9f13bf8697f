package inbox

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/idna"
)

func TestSameAddress(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"itself":                             {"ana@acme.example", "ana@acme.example", true},
		"case of the domain":                 {"ana@ACME.Example", "ana@acme.example", true},
		"case before the @":                  {"Ana.Souza@acme.example", "ana.souza@acme.example", true},
		"case of other letters":              {"JOSÉ@acme.example", "josé@acme.example", true},
		"punycode":                           {"ana@münchen.example", "ana@xn--mnchen-3ya.example", true},
		"punycode in upper case":             {"ana@MÜNCHEN.example", "ana@XN--MNCHEN-3YA.example", true},
		"another name":                       {"ana@acme.example", "bia@acme.example", false},
		"another domain":                     {"ana@acme.example", "ana@acme.example.org", false},
		"no domain":                          {"ana", "ana@", false},
		"accents":                            {"jose@acme.example", "josé@acme.example", false},
		"accents of the domain":              {"ana@munchen.example", "ana@münchen.example", false},
		"look-alike before the @":            {"\u212aate@acme.example", "kate@acme.example", false},
		"a letter that DNS takes as another": {"ana@\u212aate.example", "ana@kate.example", true},
		"sharp s is not ss":                  {"chef@straße.de", "chef@strasse.de", false},
		"capital sharp s is ss":              {"chef@stra\u1e9ee.de", "chef@strasse.de", true},
		"capital sharp s is not sharp s":     {"chef@stra\u1e9ee.de", "chef@straße.de", false},
		"dotted capital I in the domain":     {"ana@\u0130.example", "ana@i.example", false},
		"no name of a domain":                {"ana@A_b.example", "ana@a_b.example", true},
		"dot at the end":                     {"ana@acme.example.", "ana@acme.example", false},
		"bytes that are no text":             {"ana@a\xff_", "ana@a\xfe_", false},
		"look-alikes of one length":          {"\u017f\u017fk@acme.example", "ss\u212a@acme.example", false},
		"dotted capital I":                   {"\u0130@acme.example", "i@acme.example", false},
		"full width":                         {"ana@\uff41cme.example", "ana@acme.example", true},
		"tag":                                {"ana+x@acme.example", "ana@acme.example", false},
		"dots":                               {"a.na@acme.example", "ana@acme.example", false},
		"space around":                       {" ana@acme.example ", "ana@acme.example", false},
		"angle brackets":                     {"<ana@acme.example>", "ana@acme.example", false},
		"name":                               {"Ana <ana@acme.example>", "ana@acme.example", false},
		"domain before the @ of the domain":  {"ana@münchen.example@acme.example", "ana@xn--mnchen-3ya.example@acme.example", false},
	} {
		if got := SameAddress(c.a, c.b); got != c.same || got != SameAddress(c.b, c.a) {
			t.Errorf("%s: %q and %q: %v", name, c.a, c.b, got)
		}
	}
}

// Two domains have one normal form only where DNS is asked for one name, which is
// what is aligned and written to; what is no name has a form of its own. It is so
// for every character.
func TestNormalDomainIsWhatDNSIsAskedFor(t *testing.T) {
	named := map[string]string{} // what DNS is asked for, by normal form
	for r := range unicode.MaxRune + 1 {
		if !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) {
			continue
		}
		domain := string(r) + ".de"
		if unicode.IsMark(r) { // which no label begins with
			domain = "e" + domain
		}
		normal, ok := NormalDomain(domain)
		name, err := idna.Lookup.ToASCII(domain)
		if !ok {
			name = "no name " + normal
		}
		if ok && (err != nil || name != normal) {
			t.Errorf("%q has the form %q, and DNS is asked for %q, %v", domain, normal, name, err)
		}
		if other, seen := named[normal]; seen && other != name {
			t.Errorf("%q and another domain have the form %q, and are %q and %q", domain, normal, name, other)
		}
		named[normal] = name
	}
}

// The normal form is its own, and that of ASCII its lower case.
func FuzzNormalAddress(f *testing.F) {
	for _, seed := range []string{"Ana@Acme.example", "ana@MÜNCHEN.example", "ana@xn--mnchen-3ya.example", "\u212a@\u0130.example", "@", "a@\xff", " <A@b>", "a@xn--a", "Xn--", "a@xn--.é", "a@xn--b-.example", "a@a\u2135b"} {
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
		domain := s[strings.LastIndexByte(s, '@')+1:]
		ascii, ok := NormalDomain(domain)
		if again, fine := NormalDomain(ascii); again != ascii || fine != ok {
			t.Errorf("%q: %q %v, and then %q %v", domain, ascii, ok, again, fine)
		}
	})
}
