package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBody(t *testing.T) {
	for _, test := range []struct {
		name, raw  string
		text, html string // "" stands for none
		files      []string
	}{
		{
			name: "no content type",
			raw:  "Subject: x\n\nHello\n",
			text: "Hello\n",
		}, {
			name: "html",
			raw:  "Content-Type: TEXT/HTML; charset=utf-8\n\n<p>á</p>",
			html: "<p>á</p>",
		}, {
			name: "html that names its charset itself",
			raw:  "Content-Type: text/html\n\n<meta charset=windows-1251><p>\xcf\xf0\xe8</p>",
			html: "<meta charset=windows-1251><p>При</p>",
		}, {
			name: "quoted-printable, malformed",
			raw:  "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted printable\n\nol=c3=A1 =\nx =zz =3D 100=  \n y \t\nend=",
			text: "olá x =zz = 100 y\nend",
		}, {
			name: "base64 in pieces, with rubbish",
			raw:  "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: BASE64;\n\nSGVs\nbG8=\n*\nIMOhIHdvcmxk\n",
			text: "Hello á world",
		}, {
			name: "text that is called base64",
			raw:  "Content-Transfer-Encoding: base64\n\nHello, this is plain text.\n",
			text: "Hello, this is plain text.\n",
		}, {
			name: "unknown transfer encoding",
			raw:  "Content-Transfer-Encoding: rot13\n\nHello\n",
			text: "Hello\n",
		}, {
			name: "unknown charset, raw Latin-1",
			raw:  "Content-Type: text/plain; charset=X-UNKNOWN\n\nol\xe1",
			text: "olá",
		}, {
			name: "UTF-8 that is called ASCII",
			raw:  "Content-Type: text/plain; charset=us-ascii (Plain)\n\nolá",
			text: "olá",
		}, {
			name: "UTF-8 with a byte order mark",
			raw:  "Content-Type: text/plain; charset=utf-8\n\n\ufeffolá",
			text: "olá",
		}, {
			name: "alternative in mixed, with files",
			raw: "Content-Type: multipart/mixed; boundary=out\n\npreamble\n--out\n" +
				"Content-Type: multipart/alternative; boundary=\"out-in\"\n\n--out-in\n\nHello\n--out-in\nContent-Type: text/html\n\n<b>Hello</b>\n--out-in--\nepilogue\n--out  \n" +
				"Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\nSGVsbG8=\n--out\n" +
				"Content-Type: image/png\nContent-Id: <img@x>\nContent-Location: http://x.example/y/z.png\n\nPNG\n--out--\nepilogue",
			text:  "Hello",
			html:  "<b>Hello</b>",
			files: []string{"a.pdf application/pdf 5", "z.png image/png 3 inline <img@x>"},
		}, {
			name: "several texts",
			raw:  "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\none\n--b\nContent-Type: application/x\nContent-Disposition: inline\n\n\n--b\n\ntwo\n--b--",
			text: "one\ntwo", files: []string{" application/x 0 inline"},
		}, {
			name: "text files",
			raw: "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nbody\n--b\nContent-Disposition: attachment; filename=\"C:\\\\tmp\\\\../a.txt\"\n\nfile\n" +
				"--b\nContent-Type: text/html; name=b.html\nContent-Disposition: inline\n\nfile\n--b\nContent-Type: text/calendar\n\nfile\n--b--",
			text: "body", files: []string{"a.txt text/plain 4", "b.html text/html 4 inline", " text/calendar 4"},
		}, {
			name: "a root with a name is the body",
			raw:  "Content-Type: text/plain; name=a.txt\n\nbody",
			text: "body",
		}, {
			name:  "nothing but an attachment",
			raw:   "Content-Type: text/plain\nContent-Disposition: attachment; filename=a.txt\n\nfile",
			files: []string{"a.txt text/plain 4"},
		}, {
			name: "a message in the message",
			raw: "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nbody\n--b\nContent-Type: message/rfc822; name=m.eml\n\n" +
				"From: x@y.example\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\ninner text\n--c--\n--b--",
			text: "body", files: []string{"m.eml message/rfc822 82"},
		}, {
			name:  "a digest",
			raw:   "Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: one\n\n1\n--b\nContent-Type: text/plain\n\nnote\n--b--",
			text:  "note",
			files: []string{" message/rfc822 15"},
		}, {
			name: "a report",
			raw: "Content-Type: multipart/report; boundary=b\n\n--b\n\nfailed\n--b\nContent-Type: message/delivery-status\n\nAction: failed\n" +
				"--b\nContent-Type: text/rfc822-headers\n\nSubject: x\n--b--",
			text: "failed", files: []string{" message/delivery-status 14", " text/rfc822-headers 10"},
		}, {
			name: "another form of the same body",
			raw:  "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/enriched\n\n<bold>rich</bold>\n--b--",
			text: "plain",
		}, {
			name: "no form that is known",
			raw:  "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/enriched\n\n<bold>rich</bold>\n--b--",
			text: "<bold>rich</bold>",
		}, {
			name: "a footer does not pass for the text",
			raw:  "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>body</p>\n--b\n\n<list footer>\n--b--",
			html: "<p>body</p>\n<pre>&lt;list footer&gt;</pre>",
		}, {
			name: "blank text beside HTML",
			raw:  "Content-Type: multipart/alternative; boundary=b\n\n--b\n\n \n\n--b\nContent-Type: text/html\n\n<p>x</p>\n--b--",
			html: "<p>x</p>",
		}, {
			name: "no closing boundary, a line that only looks like one, an empty part",
			raw:  "Content-Type: multipart/mixed; boundary=b\n\n--b\n--b\n\none\n--bb\n--b-\n --b\n",
			text: "one\n--bb\n--b-\n --b\n",
		}, {
			name: "no boundary parameter",
			raw:  "Content-Type: multipart/mixed\n\n--b\n\none\n",
			text: "--b\n\none\n",
		}, {
			name: "a boundary that never comes",
			raw:  "Content-Type: multipart/mixed; boundary=c\n\none\n",
			text: "one\n",
		}, {
			name: "a multipart without body",
			raw:  "Content-Type: multipart/mixed; boundary=c\n\n\n",
		}, {
			name: "no such type",
			raw:  "Content-Type: text\n\none\n",
			text: "one\n",
		}, {
			name: "two content types",
			raw:  "Content-Type: multipart/mixed; boundary=b\nContent-Type: text/plain\n\n--b\n\none\n--b--",
			text: "one",
		}, {
			name:  "unknown disposition",
			raw:   "Content-Type: image/png\nContent-Disposition: =?utf-8?q?x?=; filename==?utf-8?q?=C3=A1.png?=\n\nPNG",
			files: []string{"á.png image/png 3"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for end, raw := range map[string]string{"LF": test.raw, "CRLF": strings.ReplaceAll(test.raw, "\n", "\r\n")} {
				m := parse(t, raw)
				text, html := strings.TrimPrefix(show(m.Text), "<nil>"), strings.TrimPrefix(show(m.HTML), "<nil>")
				if text != test.text || html != test.html {
					t.Errorf("%s: text %q, html %q, want %q, %q", end, text, html, test.text, test.html)
				}
				if end == "CRLF" { // the sizes differ
					continue
				}
				if diff := cmp.Diff(append([]string{}, test.files...), files(m)); diff != "" {
					t.Errorf("%s: files (-want +got):\n%s", end, diff)
				}
			}
		})
	}
}

func TestParseAttachmentDigest(t *testing.T) {
	m := parse(t, "Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0x\n")
	sum := sha256.Sum256([]byte("%PDF-1"))
	if got, want := m.Attachments[0].SHA256, hex.EncodeToString(sum[:]); got != want {
		t.Errorf("SHA256 = %s, want %s, of the decoded content", got, want)
	}
}

func TestParseWarnings(t *testing.T) {
	for _, test := range []struct{ name, raw, want string }{
		{"header", "Subject: x\nno field\nTo: a@b.example\n\n", "header lines are malformed"},
		{"date", "Date: yesterday\n\n", "date of the message cannot be read"},
		{"senders", "From: a@b.example, c@d.example\n\n", "several senders"},
		{"transfer encoding", "Content-Transfer-Encoding: rot13\n\nx", "transfer encoding"},
		{"multipart", "Content-Type: multipart/mixed\n\nx", "has no parts"},
		{"nothing", "Subject: x\n\nx", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(parse(t, test.raw).Warnings, "\n")
			if !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("warnings: %q", got)
			}
		})
	}
}
