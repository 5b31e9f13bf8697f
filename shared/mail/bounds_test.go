package mail

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestParseBounds feeds what is meant to exhaust time or memory. Every case is
// a few hundred kilobytes; anything worse than linear shows as a test timeout.
func TestParseBounds(t *testing.T) {
	const many = 50_000
	nested := func(depth int) string {
		var b strings.Builder
		for i := range depth {
			fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
		}
		return b.String() + "\ninnermost"
	}
	for _, test := range []struct{ name, raw, warning string }{
		{"multiparts in multiparts", nested(20_000), "too deeply"},
		{"multiparts of one boundary", strings.Repeat("Content-Type: multipart/mixed; boundary=b\n\n--b\n", many), "too many parts"},
		{"parts", "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", many), "too many parts"},
		{"attachments", "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\nContent-Type: a/b\n\nx\n", 400), "too many attachments"},
		{"fields", strings.Repeat("A: b\n", many), "header is too long"},
		{"a long field", "Subject: " + strings.Repeat("x", 300<<10) + "\n\n", "header is too long"},
		{"a long folded field", "Subject: x\n" + strings.Repeat(" x\n", 100_000) + "\n", "header is too long"},
		{"long values", strings.Repeat("A: "+strings.Repeat("x", 20<<10)+"\n", 3) + "\n", "header value is too long"},
		{"recipients", "To: " + strings.Repeat("a@b.example,", many) + "\n\n", ""},
		{"different recipients", "To: " + recipients(3000) + "\n\n", "too many recipients"},
		{"comments", "To: " + strings.Repeat("(", many) + "\n\n", ""},
		{"brackets", "To: " + strings.Repeat("<,", many) + "\n\n", ""},
		{"quotes", "To: " + strings.Repeat(`"\`, many) + "\n\n", ""},
		{"a long word", "To: " + strings.Repeat(`a"b"`, many) + "\n\n", ""},
		{"encoded words", "To: " + strings.Repeat("=?a?q?", many) + "\n\n", ""},
		{"message ids", "References: " + strings.Repeat("<a@b>", many) + "\n\n", "header is too long"},
		{"parameters", "Content-Type: multipart/mixed; " + strings.Repeat(`a="\";`, many) + "\n\nx", ""},
		{"continued parameters", "Content-Type: a/b; " + strings.Repeat("name*0*=%C3;", many) + "\n\nx", ""},
		{"no empty line", "Subject: x\n" + strings.Repeat("x\n", many), ""},
		{"no line end", "Subject: x\n\n" + strings.Repeat("=", 1<<20), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := parse(t, test.raw)
			checkBounds(t, m)
			if got := strings.Join(m.Warnings, "\n"); !strings.Contains(got, test.warning) {
				t.Errorf("warnings %q do not say %q", got, test.warning)
			}
			unread := slices.Contains([]string{"too deeply", "too many parts", "too many attachments"}, test.warning)
			if m.Incomplete != unread {
				t.Errorf("Incomplete %v", m.Incomplete)
			}
		})
	}
}

func TestParseLongBodyIsCut(t *testing.T) {
	text := strings.Repeat("é", maxBodySize/2-1)
	m := parse(t, "Content-Type: multipart/alternative; boundary=b\n\n--b\n\n"+text+"\n--b\nContent-Type: text/html\n\n<p>xyz</p>\n--b--")
	if !m.Truncated || show(m.Text) != text || show(m.HTML) != "<p" {
		t.Errorf("Truncated %v, %d bytes of text, HTML %q", m.Truncated, len(show(m.Text)), show(m.HTML))
	}
	if parse(t, "Subject: x\n\nshort").Truncated {
		t.Error("a short message is Truncated")
	}
}

// recipients returns n different addresses.
func recipients(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d@b.example,", i)
	}
	return b.String()
}

// checkBounds checks what holds for every message that was parsed.
func checkBounds(t *testing.T, m *Message) {
	t.Helper()
	texts := append([]string{m.MessageID, m.InReplyTo, m.From, m.FromName, show(m.Subject)}, m.References...)
	size := 0
	for _, h := range m.Headers {
		texts = append(texts, h.Name, h.Value)
		size += len(h.Name) + len(h.Value)
	}
	for _, list := range [][]string{m.ReplyTo, m.HeaderTo, m.Cc, m.Bcc, m.Forwarding} {
		texts = append(texts, list...)
		if list == nil || len(list) > maxAddresses {
			t.Errorf("a list of %d addresses, nil: %v", len(list), list == nil)
		}
	}
	for _, a := range m.Attachments {
		texts = append(texts, a.Filename, a.ContentType, a.ContentID)
		if len(a.Filename) > maxNameSize || len(a.ContentID) > maxNameSize || len(a.ContentType) > 127 || len(a.SHA256) != 64 {
			t.Errorf("attachment exceeds its bounds: %+v", a)
		}
	}
	for _, s := range texts {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r\n") {
			t.Errorf("not one line of valid UTF-8 without NUL: %.200q", s)
		}
	}
	for _, s := range []string{show(m.Text), show(m.HTML)} {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\r") {
			t.Errorf("not valid UTF-8 without NUL: %.200q", s)
		}
	}
	if size > maxHeaderKept || len(show(m.Subject)) > maxValueSize || len(m.References) > maxIDs ||
		len(m.Attachments) > maxAttachments || len(m.Warnings) > maxWarnings {
		t.Errorf("bounds: headers %d, subject %d, references %d, attachments %d, warnings %d",
			size, len(show(m.Subject)), len(m.References), len(m.Attachments), len(m.Warnings))
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "\r\n", "Subject: x", "Subject: =?utf-8?q?=C3=A1?= =?iso-2022-jp?B?GyRCJF4=?=\n\nx",
		"From x\nSubject : x\nno field\n folded\nTo: \"a, b\" (c) <a@b>, g: c@d;, =?utf-8?q?a=40b?=\n\nx",
		"Date: Wed, 2 Dec 2026 10:00:05 EST (x)\n\n",
		"Content-Type: text/html; charset=shift_jis\nContent-Transfer-Encoding: quoted-printable\n\n=82=a0=\n=zz",
		"Content-Type: text/plain; charset=utf-16\nContent-Transfer-Encoding: base64\n\n/v8A4Q==",
		"Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\nContent-Type: multipart/alternative; boundary=b-\n\n--b-\n\nx\n--b-\nContent-Type: text/html\n\n<p>\n--b---\n--b\n" +
			"Content-Disposition: attachment; filename*0*=utf-8''%C3; filename*1*=%A1\nContent-ID: <x>\n\nx\n--b--\n",
		"Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: x\n\n--b\n",
		"\ufeffA: \x00\xe1\xff\n\n\x00\xfe", "Message-ID: <a\rb>\nTo: =\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := Parse(raw); err == nil {
			checkBounds(t, m)
		} else if err != ErrEmpty && err != ErrNoHeader {
			t.Errorf("unexpected error %v", err)
		}
	})
}
