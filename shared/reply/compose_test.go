package reply

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

const answerID inbox.ID = "0193864c-1e00-7abc-8def-0123456789ab"

func draft(e inbox.Email, c inbox.EmailContent, text string) Draft {
	return Draft{ID: answerID, At: now, Inbox: support(), Locale: inbox.English, Email: e, Content: c, Text: text}
}

// fields are the fields of an answer, in order.
var fields = []string{
	"From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "Auto-Submitted", "X-Auto-Response-Suppress",
	"MIME-Version", "Content-Type", "Content-Transfer-Encoding",
}

// optional are those of them that an answer may lack.
var optional = []string{"In-Reply-To", "References"}

var fieldLine = regexp.MustCompile(`^([A-Za-z-]+): [ -~]+$`)

// check composes an answer, and checks what holds for each: it is to the sender
// alone, has the fields of an answer and no others, and two readers of mail see
// the same in it.
func check(t *testing.T, d Draft) (Message, *netmail.Message) {
	t.Helper()
	m, err := Compose(d)
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	head, _, _ := strings.Cut(string(m.Raw), "\r\n\r\n")
	left := slices.Clone(fields)
	for line := range strings.SplitSeq(head, "\r\n") {
		if strings.ContainsAny(line, "\r\n") || len(line) > 998 || strings.TrimSpace(line) == "" {
			t.Fatalf("a line of the header: %q", line)
		}
		if strings.HasPrefix(line, " ") {
			continue
		}
		name := fieldLine.FindStringSubmatch(line)
		if name == nil || !slices.Contains(left, name[1]) {
			t.Fatalf("%q is not expected here in\n%s", line, m.Raw)
		}
		left = left[slices.Index(left, name[1])+1:]
	}
	for line := range strings.SplitSeq(string(m.Raw), "\r\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }) {
			t.Fatalf("%q is not ASCII", line)
		}
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(string(m.Raw)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, m.Raw)
	}
	for _, name := range fields {
		if n := len(parsed.Header[textproto.CanonicalMIMEHeaderKey(name)]); n != 1 && !slices.Contains(optional, name) {
			t.Fatalf("%d of %s in\n%s", n, name, m.Raw)
		}
	}
	other, err := mail.Parse(m.Raw)
	if err != nil || len(other.Warnings) > 0 || other.Incomplete || len(other.Attachments) > 0 || other.HTML != nil {
		t.Fatalf("%v, %+v", err, other)
	}
	for name, want := range map[string]string{"From": m.From, "To": m.To} {
		list, err := parsed.Header.AddressList(name)
		if err != nil || len(list) != 1 || list[0].Address != want {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
	}
	if other.From != m.From || cmp.Diff([]string{m.To}, other.HeaderTo) != "" || len(other.Cc)+len(other.Bcc)+len(other.ReplyTo)+len(other.Forwarding) > 0 || !other.AutoSubmitted {
		t.Fatalf("%+v", other)
	}
	if want := string(d.ID) + "@inbox.example"; other.MessageID != want || !other.Date.Equal(now) {
		t.Fatalf("%s, %v", other.MessageID, other.Date)
	}
	for _, s := range []string{*other.Subject, other.FromName, *other.Text} {
		if strings.ContainsFunc(s, func(r rune) bool {
			hidden := unicode.In(r, unicode.Cf, unicode.Co) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) // which are seen
			return hidden || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
		}) {
			t.Fatalf("%q has what cannot be seen", s)
		}
	}
	if !strings.HasSuffix(*other.Text, "\n\n"+notice(d.Locale)+"\n") {
		t.Fatalf("%q does not say who wrote it", *other.Text)
	}
	return m, parsed
}

func TestCompose(t *testing.T) {
	e, c := arrived(t, "From: =?utf-8?q?Ana_L=C3=BAcia?= <Ana.Lucia@B.example>\nReply-To: other@c.example\nCc: eva@c.example\n"+
		"References: <0@b.example>\n\t<00@b.example>\nIn-Reply-To: <00@b.example>\n"+usual+"\nHello.\n", pipeline.SenderVerified)
	d := draft(e, c, "Olá, Ana!\r\n\r\n\r\nA fatura está paga.\u200b\n.\n")
	d.Locale = inbox.Portuguese
	d.Inbox.Label = "Suporte da Aurora: vendas, São Paulo"
	m, parsed := check(t, d)
	if m.ID != answerID || m.From != "aurora-support@inbox.example" || m.To != "Ana.Lucia@b.example" {
		t.Errorf("%+v", m)
	}
	words := new(mime.WordDecoder)
	from, _ := parsed.Header.AddressList("From")
	subject, _ := words.DecodeHeader(parsed.Header.Get("Subject"))
	for got, want := range map[string]string{
		from[0].Name: "Suporte da Aurora: vendas, São Paulo", subject: "Re: Invoice",
		parsed.Header.Get("Date"):                     "Wed, 02 Dec 2026 12:30:00 +0000",
		parsed.Header.Get("In-Reply-To"):              "<1@b.example>",
		parsed.Header.Get("References"):               "<0@b.example> <00@b.example> <1@b.example>",
		parsed.Header.Get("Auto-Submitted"):           "auto-replied",
		parsed.Header.Get("X-Auto-Response-Suppress"): "All",
		parsed.Header.Get("Content-Type"):             "text/plain; charset=utf-8",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	want := "Olá, Ana!\r\n\r\nA fatura está paga.\r\n.\r\n\r\nEsta resposta é automática: foi escrita por um agente de inteligência artificial.\r\n"
	if err != nil || string(body) != want {
		t.Errorf("%q, %v", body, err)
	}
}

// An answer is one that no inbox answers: two of them do not talk for ever.
func TestCompose_IsNotAnswered(t *testing.T) {
	e, c := arrived(t, "From: ana@b.example\n"+usual+"\nHello.\n", pipeline.SenderVerified)
	d := draft(e, c, "Hello.")
	d.Inbox.Email = "desk@other.example"
	m, err := Compose(d)
	if err != nil {
		t.Fatal(err)
	}
	e, c = arrived(t, string(m.Raw), pipeline.SenderVerified)
	if got := Refusal(support(), e, c, true); got != CodeAutomatic {
		t.Errorf("%q", got)
	}
}

func TestCompose_Subject(t *testing.T) {
	for subject, want := range map[string]string{
		"Invoice":                               "Re: Invoice",
		"Re: Invoice":                           "Re: Invoice",
		"RE: re:Invoice":                        "Re: Invoice",
		"RES: Re[2]: AW: Invoice":               "Re: Invoice",
		"Research":                              "Re: Research",
		"Fwd: Re: Invoice":                      "Re: Fwd: Re: Invoice",
		"":                                      "Re:",
		"re:":                                   "Re:",
		"Fatura não paga €":                     "Re: Fatura não paga €",
		"a\r\nBcc: eva@c.example":               "Re: a Bcc: eva@c.example",
		"a\u2028b\u202ec\u200bd\U000E0041":      "Re: a bcd",
		"=?utf-8?q?x=0D=0ABcc:_eva@c.example?=": "Re: = ?utf-8?q?x=0D=0ABcc:_eva@c.example?=",
		strings.Repeat("=?", 90) + "é":          "Re: " + strings.Repeat("= ?", 90) + "é",
		strings.Repeat("ção ", 100):             "Re: " + strings.Repeat("ção ", 49) + "ção…",
		strings.Repeat("x", 500):                "Re: " + strings.Repeat("x", 199) + "…",
	} {
		e, c := arrived(t, "From: ana@b.example\n\nHello.\n", pipeline.SenderVerified)
		e.Subject = &subject
		_, parsed := check(t, draft(e, c, "Hello."))
		got, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
		if err != nil || got != want {
			t.Errorf("%q: %q, want %q, %v", subject, got, want, err)
		}
	}
	e, c := arrived(t, "From: ana@b.example\n\nHello.\n", pipeline.SenderVerified)
	if _, parsed := check(t, draft(e, c, "Hello.")); parsed.Header.Get("Subject") != "Re:" {
		t.Errorf("without a subject: %q", parsed.Header.Get("Subject"))
	}
}

func TestCompose_Thread(t *testing.T) {
	many := ""
	for i := range 100 {
		many += fmt.Sprintf(" <%d@b.example>", i)
	}
	last := ""
	for i := 82; i < 100; i++ {
		last += fmt.Sprintf(" <%d@b.example>", i)
	}
	for name, c := range map[string]struct{ header, inReplyTo, references string }{
		"none":                      {"", "", ""},
		"an id":                     {"Message-ID: <1@b.example>\n", "<1@b.example>", "<1@b.example>"},
		"an id without brackets":    {"Message-ID: 1@b.example\n", "<1@b.example>", "<1@b.example>"},
		"a literal":                 {"Message-ID: <a/b=c+d$e:f@[192.0.2.1]>\n", "<a/b=c+d$e:f@[192.0.2.1]>", "<a/b=c+d$e:f@[192.0.2.1]>"},
		"no id":                     {"Message-ID: <hello>\nReferences: <0@b.example>\n", "", "<0@b.example>"},
		"an id with a comma":        {"Message-ID: <1,2@b.example>\n", "", ""},
		"an id in another script":   {"Message-ID: <é@b.example>\n", "", ""},
		"an id that is too long":    {"Message-ID: <" + strings.Repeat("x", 300) + "@b.example>\n", "", ""},
		"an answer":                 {"Message-ID: <1@b.example>\nIn-Reply-To: <0@b.example>\n", "<1@b.example>", "<0@b.example> <1@b.example>"},
		"an answer to several":      {"Message-ID: <1@b.example>\nIn-Reply-To: <0@b.example> <00@b.example>\n", "<1@b.example>", "<1@b.example>"},
		"one that refers to itself": {"Message-ID: <1@b.example>\nReferences: <1@b.example> <0@b.example> <0@b.example>\n", "<1@b.example>", "<0@b.example> <1@b.example>"},
		"broken references":         {"Message-ID: <1@b.example>\nReferences: x <a b@c> <> <0@b.example> <\"q\"@b.example> 2@b.example <\n", "<1@b.example>", "<0@b.example> <1@b.example>"},
		"two fields of references":  {"References: <0@b.example>\nReferences: <00@b.example>\n", "", "<0@b.example> <00@b.example>"},
		"many":                      {"Message-ID: <1x@b.example>\nReferences:" + many + "\n", "<1x@b.example>", "<0@b.example>" + last + " <1x@b.example>"},
	} {
		t.Run(name, func(t *testing.T) {
			e, content := arrived(t, "From: ana@b.example\n"+c.header+"\nHello.\n", pipeline.SenderVerified)
			_, parsed := check(t, draft(e, content, "Hello."))
			if got := parsed.Header.Get("In-Reply-To"); got != c.inReplyTo {
				t.Errorf("In-Reply-To: %q", got)
			}
			if got := parsed.Header.Get("References"); got != c.references {
				t.Errorf("References: %q", got)
			}
		})
	}
}

func TestCompose_Errors(t *testing.T) {
	e, c := arrived(t, "From: ana@b.example\n"+usual+"\nHello.\n", pipeline.SenderVerified)
	for _, text := range []string{"", " \n\t", "\u200b\u202e\x00"} {
		if _, err := Compose(draft(e, c, text)); !errors.Is(err, ErrNoText) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, from := range []string{"", "ana", "ana@b.example, eva@c.example", "ana@b.example\r\nBcc: eva@c.example", "<ana@b.example>", "á@b.example", "ana@b..example"} {
		e.From = from
		if _, err := Compose(draft(e, c, "Hello.")); !errors.Is(err, ErrNoAddress) {
			t.Errorf("%q: %v", from, err)
		}
	}
	e.From = "ana@bücher.example"
	if m, _ := check(t, draft(e, c, "Hello.")); m.To != "ana@xn--bcher-kva.example" {
		t.Errorf("%q", m.To)
	}
	d := draft(e, c, "Hello.")
	d.ID = "../x"
	if _, err := Compose(d); !errors.Is(err, ErrNoAddress) {
		t.Errorf("without an id: %v", err)
	}
}

func TestCompose_LongText(t *testing.T) {
	e, c := arrived(t, "From: ana@b.example\n"+usual+"\nHello.\n", pipeline.SenderVerified)
	m, parsed := check(t, draft(e, c, "x"+strings.Repeat("é", maxText)))
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	text, _, _ := strings.Cut(string(body), "\r\n")
	if want := "x" + strings.Repeat("é", maxText/2-1) + "…"; err != nil || text != want || len(m.Raw) > 4*maxText {
		t.Errorf("%d bytes of text, %d of all, %v", len(text), len(m.Raw), err)
	}
}

// Whatever a stranger and an agent write: an answer has one address, the fields
// of an answer and no others.
func FuzzCompose(f *testing.F) {
	f.Add("Ana <ana@b.example>", "Invoice", "1@b.example", "<0@b.example>", "Support", "Hello.")
	f.Add("ana@b.example\r\nBcc: eva@c.example", "a\r\nBcc: eva@c.example\r\n\r\nx", "1@b\r\nBcc: e@c.example", "<a@b>\r\nTo: <e@c.example>", "x\" <e@c.example>, \"y", "a\r\n.\r\nMAIL FROM:<e@c.example>")
	f.Add("=?utf-8?q?ana=40b.example=2C?= <eva@c.example>", "=?utf-8?b?DQpCY2M6IGU=?=", "a@b", "<a@[b]>", "=?utf-8?q?=0D=0ABcc:?=", "\u202e\u200b=\r\n")
	f.Add("ana@bücher.example", "\xff\xfe ção "+strings.Repeat("é", 300), "<>", strings.Repeat("<a@b.example>", 50), "São Paulo, (vendas)", "\x00\x1b[31m")
	f.Fuzz(func(t *testing.T, from, subject, id, refs, label, text string) {
		e, c := arrived(t, "From: "+from+"\nMessage-ID: "+id+"\nReferences: "+refs+"\nSubject: "+subject+"\n\nHello.\n", pipeline.SenderVerified)
		for _, from := range []string{e.From, from, "ana@b.example"} { // as it is read, and should that ever be wrong
			e.From, e.MessageID, e.Subject = from, id, &subject
			c.Headers = append(c.Headers, inbox.Header{Name: "References", Value: refs})
			d := draft(e, c, text)
			d.Inbox.Label = label
			if _, err := Compose(d); err == nil {
				check(t, d)
			} else if from == "ana@b.example" && !errors.Is(err, ErrNoText) {
				t.Fatal(err)
			}
			Refusal(d.Inbox, e, c, false)
		}
	})
}
