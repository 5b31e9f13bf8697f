package mail

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// parse parses a message that must be readable.
func parse(t *testing.T, raw string) *Message {
	t.Helper()
	m, err := Parse([]byte(raw))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return m
}

// show returns what a pointer points to, "<nil>" for nothing.
func show(s *string) string {
	if s == nil {
		return "<nil>"
	}
	return *s
}

// files describes attachments as "name type size", with their content id.
func files(m *Message) []string {
	list := []string{}
	for _, a := range m.Attachments {
		s := fmt.Sprintf("%s %s %d", a.Filename, a.ContentType, a.Size)
		if a.Inline {
			s += " inline"
		}
		if a.ContentID != "" {
			s += " <" + a.ContentID + ">"
		}
		list = append(list, s)
	}
	return list
}

func TestParseWholeMessage(t *testing.T) {
	const raw = `From envelope@example.com Wed Dec  2 10:00:00 2026
Received: by mx.example.net;
	Wed, 2 Dec 2026 10:00:01 -0300
Message-ID: <new@example.com>
In-Reply-To: <old@example.com>
References: <oldest@example.com>
 <old@example.com>
From: =?utf-8?Q?Jo=C3=A3o?= <joao@example.com>
Reply-To: help@example.com
To: Ann <ann@example.net>, "Bob, the builder" <bob@example.net>
Cc: carol@example.net
Bcc: dave@example.net
Delivered-To: ann+box@example.net
X-Original-To: ann@example.net
Delivered-To: ann+box@example.net
Subject: =?iso-8859-1?Q?Ol=E1?=
Date: Wed, 2 Dec 2026 10:00:00 -0300
Auto-Submitted: auto-replied; x=1

Hi.
`
	for name, raw := range map[string]string{"LF": raw, "CRLF": strings.ReplaceAll(raw, "\n", "\r\n"), "CR": strings.ReplaceAll(raw, "\n", "\r")} {
		t.Run(name, func(t *testing.T) {
			want := &Message{
				MessageID:     "new@example.com",
				InReplyTo:     "old@example.com",
				References:    []string{"oldest@example.com", "old@example.com"},
				From:          "joao@example.com",
				FromName:      "João",
				Subject:       new("Olá"),
				ReplyTo:       []string{"help@example.com"},
				HeaderTo:      []string{"ann@example.net", "bob@example.net"},
				Cc:            []string{"carol@example.net"},
				Bcc:           []string{"dave@example.net"},
				Date:          new(time.Date(2026, 12, 2, 13, 0, 0, 0, time.UTC)),
				Text:          new("Hi.\n"),
				Forwarding:    []string{"ann+box@example.net", "ann@example.net"},
				AutoSubmitted: true,
			}
			got := parse(t, raw)
			if got.Headers[0].Name != "Received" || got.Headers[0].Value != "by mx.example.net; Wed, 2 Dec 2026 10:00:01 -0300" {
				t.Errorf("first header: %+v", got.Headers[0])
			}
			if n := len(got.Headers); n != 15 {
				t.Errorf("%d headers, want 15", n)
			}
			got.Headers = nil
			want.Attachments, want.Warnings = got.Attachments[:0], got.Warnings[:0]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseMinimal(t *testing.T) {
	m := parse(t, "X: 1")
	want := &Message{
		References: []string{}, ReplyTo: []string{}, HeaderTo: []string{}, Cc: []string{}, Bcc: []string{},
		Forwarding: []string{}, Warnings: []string{}, Attachments: m.Attachments[:0], Headers: m.Headers[:1], Text: new(""),
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want error
	}{
		{"", ErrEmpty},
		{"\r\n \r\n", ErrEmpty},
		{"hello\nworld\n", ErrNoHeader},
		{"\n\nJust a text.\n\nSubject: no\n", ErrNoHeader},
		{"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", ErrNoHeader},
		{"From a@example.com\n\nbody", ErrNoHeader},
	} {
		if _, err := Parse([]byte(test.raw)); err != test.want {
			t.Errorf("Parse(%q) = %v, want %v", test.raw, err, test.want)
		}
	}
}

func TestParseBrokenHeader(t *testing.T) {
	for _, test := range []struct{ name, raw, subject, from, text string }{
		{"a line that is no field", "Subject: one\nnot a Field: x\n of any kind\nFrom: a@b.example\n\ntext", "one", "a@b.example", "text"},
		{"no empty line before the body", "From: a@b.example\nSubject: one\nHello there.\n\nBye.", "one", "a@b.example", "Hello there.\n\nBye."},
		{"a space before the colon", "Subject : one\nFrom\t: a@b.example\n\ntext", "one", "a@b.example", "text"},
		{"a folded line of spaces only", "Subject: one\n \nFrom: a@b.example\n\ntext", "one", "a@b.example", "text"},
		{"empty lines first", "\r\n\nSubject: one\nFrom: a@b.example\n\ntext", "one", "a@b.example", "text"},
		{"a byte order mark first", "\ufeffSubject: one\nFrom: a@b.example\n\ntext", "one", "a@b.example", "text"},
		{"the first of several counts", "Subject: one\nSubject: two\nFrom: a@b.example\nFrom: c@d.example\n\ntext", "one", "a@b.example", "text"},
		{"a From without address before one with", "Subject: one\nFrom: nobody\nFrom: c@d.example\n\ntext", "one", "c@d.example", "text"},
		{"a carriage return alone", "Subject: one\rFrom: x@y.example\nFrom: a@b.example\n\ntext", "one From: x@y.example", "a@b.example", "text"},
		{"NUL", "Subject: o\x00ne\nFrom: a\x00@b.example\n\nte\x00xt", "one", "a@b.example", "text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := parse(t, test.raw)
			if show(m.Subject) != test.subject || m.From != test.from || show(m.Text) != test.text {
				t.Errorf("subject %q, from %q, text %q", show(m.Subject), m.From, show(m.Text))
			}
		})
	}
}

func TestParseMessageIDs(t *testing.T) {
	for _, test := range []struct {
		value string
		want  []string
	}{
		{"<a@b>", []string{"a@b"}},
		{"<a@b><c@d> (comment)\t<no-at>", []string{"a@b", "c@d", "no-at"}},
		{"a@b, c@d", []string{"a@b", "c@d"}},
		{"Your message of Monday", []string{}},
		{"<a@b> <two words> <unclosed", []string{"a@b"}},
		{"<> < x@y >", []string{"x@y"}},
		{"<" + strings.Repeat("x", maxIDSize+1) + ">", []string{}},
	} {
		if diff := cmp.Diff(test.want, messageIDs(test.value)); diff != "" {
			t.Errorf("messageIDs(%q) (-want +got):\n%s", test.value, diff)
		}
	}
}

func TestParseAutoSubmitted(t *testing.T) {
	for value, want := range map[string]bool{"no": false, "NO ; x": false, "": false, "auto-generated": true, "auto-replied (vacation)": true} {
		if got := parse(t, "Auto-Submitted: "+value+"\n\n").AutoSubmitted; got != want {
			t.Errorf("AutoSubmitted of %q = %v", value, got)
		}
	}
}
