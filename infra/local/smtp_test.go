package local

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/smtp"
	"net/textproto"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
)

const (
	invoices = "aurora-invoices@inbox.kobana.com.br"
	pedidos  = "bosque-pedidos@inbox.kobana.com.br" // of another workspace
)

func withSMTP(c *Config) { c.SMTPPort = new(0) }

// crlf is a message as it goes over the wire.
func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// dial opens a connection that has said hello.
func (s *Server) dial(t *testing.T) *smtp.Client {
	t.Helper()
	return dial(t, s.mail)
}

func dial(t *testing.T, l net.Listener) *smtp.Client {
	t.Helper()
	c, err := smtp.Dial(l.Addr().String())
	if err == nil {
		err = c.Hello("localhost")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// code is that of an answer, 0 being success.
func code(err error) int {
	if e, ok := errors.AsType[*textproto.Error](err); ok {
		return e.Code
	}
	if err != nil {
		return -1
	}
	return 0
}

func (s *Server) sendMail(from, raw string, to ...string) error {
	return smtp.SendMail(s.mail.Addr().String(), nil, from, to, []byte(raw))
}

// subjects are those of a workspace's e-mails, each with how often it is there.
func subjects(t *testing.T, s *Server, token string) map[any]int {
	t.Helper()
	found := map[any]int{}
	for _, e := range as(token).at(s).list(t, "emails_list", object{"limit": 200}) {
		found[e["subject"]]++
	}
	return found
}

func TestSMTP(t *testing.T) {
	s := serve(t, withSMTP)
	raw := crlf(message("By SMTP") + ".\n..\nThe end.\n")
	to := []string{support, pedidos, strings.ToUpper(support), invoices}
	if err := s.sendMail("eva@example.com", raw, to...); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ token, inbox, to string }{
		{"demo-owner", support, fmt.Sprint([]any{support, invoices})},
		{"demo-owner", invoices, fmt.Sprint([]any{support, invoices})},
		{"demo-other", pedidos, fmt.Sprint([]any{pedidos})}, // nothing of the other workspace's inboxes
	} {
		c := as(want.token).at(s)
		in := c.where(t, "inboxes_list", "email", want.inbox)["id"]
		found := 0
		for _, e := range c.list(t, "emails_list", object{"inbox_id": in, "limit": 200}) {
			if e["subject"] != "By SMTP" {
				continue
			}
			found++
			if e["from"] != "eva@example.com" || fmt.Sprint(e["to"]) != want.to || e["metadata"].(object)["sender"] != "unverified" {
				t.Errorf("%s: %v", want.inbox, e)
			}
			link := get[struct{ URL string }](t, c, "emails_get_eml", object{"id": e["id"]}).URL
			if _, got := exchange(t, http.MethodGet, link, ""); string(got) != "Return-Path: <eva@example.com>\r\n"+raw {
				t.Errorf("%s: the raw message is %q", want.inbox, got)
			}
		}
		if found != 1 {
			t.Errorf("%s has it %d times", want.inbox, found)
		}
	}
}

// TestSMTP_Sender: a bounce has none, and one in any script is taken.
func TestSMTP_Sender(t *testing.T) {
	s := serve(t, withSMTP)
	for from, line := range map[string]string{"": "<>", "josé@example.com": "<josé@example.com>", "a+b@[192.0.2.1]": "<a+b@[192.0.2.1]>"} {
		c := s.dial(t)
		err := command(c, "MAIL FROM:<%s> SMTPUTF8 BODY=8BITMIME SIZE=100", from)
		if err := errors.Join(err, c.Rcpt(support), finish(c, crlf("Subject: from "+line+"\n\nHello.\n"))); err != nil {
			t.Fatalf("%q: %v", from, err)
		}
		e := as("demo-owner").at(s).where(t, "emails_list", "subject", "from "+line)
		if e["from"] != from { // as the message itself names nobody
			t.Errorf("%q: %v", from, e["from"])
		}
		headers := get[struct{ Headers []inbox.Header }](t, as("demo-owner").at(s), "emails_get", object{"id": e["id"]}).Headers
		if len(headers) != 2 || headers[0] != (inbox.Header{Name: "Return-Path", Value: line}) {
			t.Errorf("%q: %v", from, headers)
		}
	}
}

// command sends a command that must succeed.
func command(c *smtp.Client, format string, args ...any) error {
	if err := c.Text.PrintfLine(format, args...); err != nil {
		return err
	}
	_, _, err := c.Text.ReadResponse(250)
	return err
}

// finish sends the message of a transaction.
func finish(c *smtp.Client, raw string) error {
	w, err := c.Data()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, raw)
	return errors.Join(err, w.Close())
}

// noMail returns what checks, after a test, that no mail came in.
func noMail(t *testing.T, s *Server) (check func()) {
	t.Helper()
	before := subjects(t, s, "demo-owner")
	return func() {
		t.Helper()
		if diff := cmp.Diff(before, subjects(t, s, "demo-owner")); diff != "" {
			t.Errorf("mail came in (-before +after):\n%s", diff)
		}
	}
}

func TestSMTP_Refusals(t *testing.T) {
	t.Parallel()
	s := serve(t, withSMTP)
	defer noMail(t, s)()
	c := s.dial(t)
	for name, want := range map[string]string{"SIZE": fmt.Sprint(intake.MaxRaw - maxTrace), "SMTPUTF8": "", "8BITMIME": "", "LIMITS": "RCPTMAX=100"} {
		if ok, got := c.Extension(name); !ok || got != want {
			t.Errorf("%s: %v %q", name, ok, got)
		}
	}
	for _, name := range []string{"AUTH", "STARTTLS"} {
		if ok, _ := c.Extension(name); ok {
			t.Errorf("it offers %s", name)
		}
	}
	if err := c.Mail("eva@example.com"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"nobody@inbox.kobana.com.br", "aurora-support@elsewhere.example", "postmaster@localhost", "support@inbox.kobana.com.br"} {
		if err := c.Rcpt(to); code(err) != 550 || !strings.Contains(err.Error(), "5.1.1") {
			t.Errorf("%s: %v", to, err)
		}
	}
	if _, err := c.Data(); code(err) != 502 {
		t.Errorf("to nobody: %v", err)
	}
	c.Reset()
	for _, from := range []string{"a\x01b@example.com", "\xff@example.com", strings.Repeat("x", 400) + "@example.com"} {
		if err := c.Mail(from); code(err) != 553 {
			t.Errorf("from %q: %v", from, err)
		}
	}
	if err := c.Mail("eva@example.com"); err != nil {
		t.Fatal(err)
	}
	if err := c.Mail("eve@example.com"); code(err) != 503 {
		t.Errorf("a second sender: %v", err)
	}
	for i := range maxRecipients {
		if err := c.Rcpt(support); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := c.Rcpt(support); code(err) != 452 {
		t.Errorf("one too many: %v", err)
	}
}

// TestSMTP_Size: what says that it is too large is refused at once, and what is,
// after it came. (The bound is a smaller one here.)
func TestSMTP_Size(t *testing.T) {
	t.Parallel()
	s := serve(t, withSMTP)
	_, l := listenToo(t, s, func(mail *smtpServer) { mail.MaxMessageBytes = 600_000 })
	c := dial(t, l)
	if err := command(c, "MAIL FROM:<eva@example.com> SIZE=600001"); code(err) != 552 {
		t.Errorf("said: %v", err)
	}
	if err := errors.Join(c.Mail("eva@example.com"), c.Rcpt(support)); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat(strings.Repeat("x", 998)+"\r\n", 700)
	if err := finish(c, crlf(message("too large"))+long); code(err) != 552 || !strings.Contains(err.Error(), "5.3.4") {
		t.Errorf("is: %v", err)
	}
	// The connection is still good, for a line that is longer than RFC 5321 has.
	if err := errors.Join(c.Mail("eva@example.com"), c.Rcpt(support), finish(c, crlf(message("in one line"))+strings.Repeat("x", 500_000)+"\r\n")); err != nil {
		t.Error(err)
	}
	if got := subjects(t, s, "demo-owner"); got["too large"] != 0 || got["in one line"] != 1 {
		t.Errorf("%v", got)
	}
}

// TestSMTP_WebPage: a page that has a browser post to the port cannot send mail
// by what is in its form.
func TestSMTP_WebPage(t *testing.T) {
	t.Parallel()
	s := serve(t, withSMTP)
	defer noMail(t, s)()
	body := crlf("EHLO x\nMAIL FROM:<eva@example.com>\nRCPT TO:<" + support + ">\nDATA\nSubject: by a page\n\nHello.\n.\nQUIT\n")
	conn, err := net.Dial("tcp", s.mail.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nUser-Agent: Mozilla/5.0\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s",
		s.mail.Addr(), len(body), body)
	answer, _ := io.ReadAll(conn)
	if bytes.Contains(answer, []byte("queued")) {
		t.Errorf("%s", answer)
	}
}

// TestSMTP_WhileServing: mail comes in by many at once, and each message once.
func TestSMTP_WhileServing(t *testing.T) {
	t.Parallel()
	const senders, each = 4, 6
	s := serve(t, withSMTP)
	var all sync.WaitGroup
	for n := range senders {
		all.Go(func() {
			for range each {
				if err := s.sendMail("eva@example.com", crlf(message(fmt.Sprint("sender ", n))), support, pedidos); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, token := range []string{"demo-owner", "demo-other"} {
		found := subjects(t, s, token)
		for n := range senders {
			if got := found[fmt.Sprint("sender ", n)]; got != each {
				t.Errorf("%s has %d of %d of sender %d", token, got, each, n)
			}
		}
	}
}

// TestSMTP_Port: one that is taken is told, with what to do, and mail may stay
// out.
func TestSMTP_Port(t *testing.T) {
	s := serve(t, withSMTP)
	c := testConfig(dataDir(t))
	c.SMTPPort = new(s.mail.Addr().(*net.TCPAddr).Port)
	if _, err := Open(t.Context(), c, quiet()); err == nil || !has(err.Error(), fmt.Sprintf("cannot listen on port %d", *c.SMTPPort), "set SMTP_PORT to another one or off") {
		t.Errorf("%v", err)
	}
	if host, _, err := net.SplitHostPort(s.mail.Addr().String()); host != "127.0.0.1" {
		t.Errorf("it listens on %s, %v", host, err)
	}
	var with, without bytes.Buffer
	s.Banner(&with)
	shared.Banner(&without)
	line := fmt.Sprintf("  curl smtp://%s --mail-from you@example.com --mail-rcpt %s --upload-file message.eml\n", s.mail.Addr(), support)
	if !strings.Contains(with.String(), line) || strings.Contains(without.String(), "smtp://") || !strings.Contains(without.String(), "SMTP is off") {
		t.Errorf("%s\n%s", &with, &without)
	}
}
