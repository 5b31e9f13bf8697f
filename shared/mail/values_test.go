package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeText(t *testing.T) {
	for _, test := range []struct{ name, in, hint, want string }{
		{"plain", "Re: hello", "", "Re: hello"},
		{"Q", "=?iso-8859-1?q?a_=E1=3F?=", "", "a á?"},
		{"B", "=?UTF-8?B?w6E=?=", "", "á"},
		{"B without padding", "=?UTF-8?B?w6E?=", "", "á"},
		{"language", "=?utf-8*pt-BR?Q?ol=C3=A1?=", "", "olá"},
		{"space between words goes", "=?utf-8?q?a?= \t =?utf-8?q?b?=", "", "ab"},
		{"space around words stays", "x =?utf-8?q?a?= y", "", "x a y"},
		{"no space around words", "x=?utf-8?q?a?=y", "", "xay"},
		{"a character cut in two", "=?utf-8?B?w6?= =?utf-8?q?=A1?=", "", "á"},
		{"shift state over two words", "=?iso-2022-jp?B?GyRCJF4=?= =?ISO-2022-JP?B?JF8bKEI=?=", "", "まみ"},
		{"two charsets", "=?iso-8859-1?q?=E1?= =?utf-8?q?=C3=A1?=", "", "áá"},
		{"a space inside", "=?utf-8?Q?a b?=", "", "a b"},
		{"empty", "a =?utf-8?q??= b", "", "a  b"},
		{"unknown charset", "=?NONE?B?VEVTVA=?=", "", "TEST"},
		{"unknown encoding", "=?utf-8?X?abc?=", "", "=?utf-8?X?abc?="},
		{"unfinished", "=?utf-8?q?abc", "", "=?utf-8?q?abc"},
		{"malformed escape", "=?utf-8?q?100=_=zz=3\x11=4g?=", "", "100= =zz=3\x11=4g"},
		{"windows-1252 called Latin-1", "=?iso-8859-1?q?=93x=94?=", "", "“x”"},
		{"UTF-8 called Latin-1", "=?iso-8859-1?q?=C3=A1?=", "", "á"},
		{"Latin-1 called UTF-8", "=?utf-8?q?=E1rea?=", "", "área"},
		{"gb2312", "=?gb2312?B?xOO6ww==?=", "", "你好"},
		{"gb18030", "=?gb18030?B?xOO6ww==?=", "", "你好"},
		{"hz-gb-2312", "=?hz-gb-2312?Q?=7E{VPND=7E}?=", "", "中文"},
		{"big5", "=?big5?B?p0Gmbg==?=", "", "你好"},
		{"koi8-r", "=?koi8-r?B?8NLJ18XU?=", "", "Привет"},
		{"windows-1251", "=?windows-1251?B?z/Do4uXy?=", "", "Привет"},
		{"cp866", "=?cp866?Q?=8F=E0=A8=A2=A5=E2?=", "", "Привет"},
		{"iso-8859-7", "=?iso-8859-7?Q?=E1=E2=E3?=", "", "αβγ"},
		{"ibm437", "=?IBM437?Q?=82?=", "", "é"},
		{"cp932", "=?cp932?B?gqA=?=", "", "あ"},
		{"utf-16", "=?utf-16?B?/v8A4Q==?=", "", "á"},
		{"raw UTF-8 (RFC 6532)", "Olá 🎉", "", "Olá 🎉"},
		{"raw Latin-1", "Forma\xe7\xe3o", "", "Formação"},
		{"raw bytes in the charset of the body", "\xcf\xf0\xe8\xe2\xe5\xf2", "windows-1251", "Привет"},
		{"raw UTF-8 with one bad byte", "á\xe1é", "", "á\ufffdé"},
		{"line breaks inside a word", "=?utf-8?q?a=0D=0ABcc:_b?=", "", "a  Bcc: b"},
		{"NUL inside a word", "=?utf-8?q?a=00b?=", "", "ab"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := decodeText(test.in, test.hint); got != test.want {
				t.Errorf("decodeText(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

func TestParseAddresses(t *testing.T) {
	for _, test := range []struct {
		name, in string
		want     []address
	}{
		{"bare", "a@b.example", []address{{"a@b.example", ""}}},
		{"name", "Ann Lee <a@b.example>", []address{{"a@b.example", "Ann Lee"}}},
		{"quoted name", `"Lee, Ann \"A\"" <a@b.example>`, []address{{"a@b.example", `Lee, Ann "A"`}}},
		{"name in a comment", "a@b.example (Ann (A) Lee)", []address{{"a@b.example", "Ann (A) Lee"}}},
		{"two", "a@b.example, <c@d.example>", []address{{"a@b.example", ""}, {"c@d.example", ""}}},
		{"empty entries", ", a@b.example,, ;", []address{{"a@b.example", ""}}},
		{"group", "friends: Ann <a@b.example>, c@d.example;, e@f.example", []address{{"a@b.example", "Ann"}, {"c@d.example", ""}, {"e@f.example", ""}}},
		{"empty group", "undisclosed recipients: ;", nil},
		{"group in brackets", "<Undisclosed-Recipient:@mailman.example;>", nil},
		{"route", "<@x.example,@y.example:a@b.example>", []address{{"a@b.example", ""}}},
		{"semicolons", "a@b.example; c@d.example", []address{{"a@b.example", ""}, {"c@d.example", ""}}},
		{"no commas", "a@b.example c@d.example", []address{{"a@b.example", ""}, {"c@d.example", ""}}},
		{"no comma after brackets", "Ann <a@b.example> <c@d.example>", []address{{"a@b.example", "Ann"}, {"c@d.example", ""}}},
		{"no brackets", "Ann Lee a@b.example", []address{{"a@b.example", "Ann Lee"}}},
		{"unclosed bracket", "Ann <a@b.example, c@d.example", []address{{"a@b.example", "Ann"}, {"c@d.example", ""}}},
		{"unclosed quote and comment", `"Ann (A <a@b.example>`, []address{{"a@b.example", "Ann A"}}},
		{"an @ in the name", "Ann@Home <a@b.example>", []address{{"a@b.example", "Ann@Home"}}},
		{"quoted local part", `"a b,c"@b.example`, []address{{`"a b,c"@b.example`, ""}}},
		{"domain literal", "a@[192.0.2.1], b@[IPv6:2001:db8::1]", []address{{"a@[192.0.2.1]", ""}, {"b@[IPv6:2001:db8::1]", ""}}},
		{"trailing dot", "a@b.example.", []address{{"a@b.example", ""}}},
		{"raw UTF-8", "Jöhn <jdöe@mächine.example>", []address{{"jdöe@mächine.example", "Jöhn"}}},
		{"raw Latin-1", "J\xf6hn <a@b.example>", []address{{"a@b.example", "Jöhn"}}},
		{"encoded name", "=?utf-8?q?J=C3=B6hn?= Doe <a@b.example>", []address{{"a@b.example", "Jöhn Doe"}}},
		{"encoded name in quotes", `"=?utf-8?B?SsO2aG4=?=" <a@b.example>`, []address{{"a@b.example", "Jöhn"}}},

		{"an encoded comma and address", "=?utf-8?q?x=40evil.example=2C_Ann?= <a@b.example>", []address{{"a@b.example", "x@evil.example, Ann"}}},
		{"an encoded bracket", "=?utf-8?q?Ann_=3Cx=40evil.example=3E?= <a@b.example>", []address{{"a@b.example", "Ann <x@evil.example>"}}},
		{"raw comma and brackets in an encoded word", "=?utf-8?q?Ann,<x@evil.example>?= <a@b.example>", []address{{"a@b.example", "Ann,<x@evil.example>"}}},
		{"nothing but an encoded address", "=?utf-8?q?ceo=40corp.example?=", nil},
		{"an encoded word as local part is not decoded", "<=?x?q?ceo=40corp.example=3E?=@evil.example>", []address{{"=?x?q?ceo=40corp.example=3E?=@evil.example", ""}}},

		{"equals signs", "=, =a@b.example, =", []address{{"=a@b.example", ""}}},
		{"two @", "<a@b.example@c.example>", nil},
		{"no domain", "<root>, root@, @b.example", nil},
		{"spaces", "<a b@c.example>", nil},
		{"null", `"Klaus" <>`, nil},
		{"controls", "<a\x01@b.example>", nil},
		{"too long", strings.Repeat("a", 400) + "@b.example", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseAddresses(test.in, ""), cmp.AllowUnexported(address{})); diff != "" {
				t.Errorf("parseAddresses(%q) (-want +got):\n%s", test.in, diff)
			}
		})
	}
}

func TestParseDate(t *testing.T) {
	at := func(y, mo, d, h, mi, s int) *time.Time {
		return new(time.Date(y, time.Month(mo), d, h, mi, s, 0, time.UTC))
	}
	for _, test := range []struct {
		in   string
		want *time.Time
	}{
		{"Wed, 2 Dec 2026 10:00:05 -0300", at(2026, 12, 2, 13, 0, 5)},
		{"2 Dec 2026 10:00 +0530 (IST)", at(2026, 12, 2, 4, 30, 0)},
		{"Wed, 9 Jan 2002 19:47:50 MST", at(2002, 1, 10, 2, 47, 50)},
		{"Tue, 22 Jan 2002 14:35:28 UT", at(2002, 1, 22, 14, 35, 28)},
		{"Tue, 22 Jan 02 14:35:28 GMT", at(2002, 1, 22, 14, 35, 28)},
		{"Tue, 22 Jan 97 14:35:28 Z", at(1997, 1, 22, 14, 35, 28)},
		{"Tue, 22 Jan 102 14:35:28 Z", at(2002, 1, 22, 14, 35, 28)},
		{"Tuesday, 22-January-2002 14:35:28", at(2002, 1, 22, 14, 35, 28)},
		{"Tue, 04 Dec 2001 17:11:25 -0459", at(2001, 12, 4, 22, 10, 25)},
		{"Tue, 12 Oct 2010 16:21:05 H0500", at(2010, 10, 12, 16, 21, 5)}, // an unknown zone is UTC
		{"Sat, 31 Dec 2016 23:59:60 +0000", at(2017, 1, 1, 0, 0, 0)},
		{"Tue Jan 22 14:35:28 2002", at(2002, 1, 22, 14, 35, 28)},
		{"2026-12-02T10:00:05-03:00", at(2026, 12, 2, 13, 0, 5)},
		{"2026-12-02 10:00:05 -0300", at(2026, 12, 2, 13, 0, 5)},
		{"", nil},
		{"yesterday", nil},
		{"Wed, 15 Dec 2010    59:10 -0500", nil},
		{"31 Jun 2026 10:00:00 +0000", nil},
		{"Pn, 29 paX 2007 21:13:00 +0100", nil},
		{"1 Jan 1899 10:00:00 +0000", nil},
		{"31 Dec 9999 23:00:00 -0300", nil},
	} {
		if diff := cmp.Diff(test.want, parseDate(test.in)); diff != "" {
			t.Errorf("parseDate(%q) (-want +got):\n%s", test.in, diff)
		}
	}
}

func TestParseParams(t *testing.T) {
	for _, test := range []struct{ name, in, value, param, want string }{
		{"quoted", `attachment; filename="a \"b\".txt"; size=1`, "attachment", "filename", `a "b".txt`},
		{"token", "Attachment ; FileName = a.txt ;", "attachment", "filename", "a.txt"},
		{"spaces without quotes", "attachment; filename=This is a test.txt", "attachment", "filename", "This is a test.txt"},
		{"a comment behind the type", "text/plain (Plain); charset=x", "text/plain", "charset", "x"},
		{"equals sign without quotes", "multipart/mixed; boundary=--=_x=y", "multipart/mixed", "boundary", "--=_x=y"},
		{"a semicolon in quotes", `x/y; name="a;b"`, "x/y", "name", "a;b"},
		{"no closing quote", `x/y; name="a; b=c`, "x/y", "name", "a"},
		{"the first counts", "x/y; name=a; name=b", "x/y", "name", "a"},
		{"no value", "x/y; name; b=c", "x/y", "b", "c"},
		{"encoded word", `x/y; name="=?utf-8?B?w6EudHh0?="`, "x/y", "name", "á.txt"},
		{"encoded words without quotes", "x/y; name==?utf-8?B?w6E=?= =?utf-8?Q?.txt?=", "x/y", "name", "á.txt"},
		{"raw UTF-8", "x/y; name=ciële.txt", "x/y", "name", "ciële.txt"},
		{"raw Latin-1", "x/y; name=\"ci\xeble.txt\"", "x/y", "name", "ciële.txt"},
		{"RFC 2231", "x/y; name*=iso-8859-1'et'p%E4ring.jpg", "x/y", "name", "päring.jpg"},
		{"RFC 2231 is better", "x/y; name=a.txt; name*=utf-8''%C3%A1.txt", "x/y", "name", "á.txt"},
		{"RFC 2231 without charset", "x/y; name*=%C3%A1.txt", "x/y", "name", "á.txt"},
		{"RFC 2231 continued, a character cut in two", "x/y; name*1*=%A1; name*0*=utf-8''%C3; name*2=.txt", "x/y", "name", "á.txt"},
		{"RFC 2231 continued without charset", `x/y; name*0="a b"; name*1=.txt`, "x/y", "name", "a b.txt"},
		{"RFC 2231, malformed", "x/y; name*=utf-8''a%zz%4", "x/y", "name", "a%zz%4"},
		{"line breaks", "x/y; name*=utf-8''a%0D%0Ab", "x/y", "name", "a  b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			value, p := parseParams(test.in)
			if got := p.text(test.param, ""); value != test.value || got != test.want {
				t.Errorf("parseParams(%q) = %q, %s %q, want %q, %q", test.in, value, test.param, got, test.value, test.want)
			}
		})
	}
}
