package reply

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

// now is when the tests take place.
var now = time.Date(2026, 12, 2, 9, 30, 0, 0, time.FixedZone("", -3*3600))

func support() inbox.Inbox {
	return inbox.Inbox{ID: inbox.NewID(now), Label: "Support", Email: "aurora-support@inbox.example", Status: inbox.Active, AttachmentsAllow: true}
}

// arrived is what the pipeline makes of a raw message.
func arrived(t *testing.T, raw string, sender pipeline.Sender) (inbox.Email, inbox.EmailContent) {
	t.Helper()
	in := support()
	e := inbox.Email{ID: inbox.NewID(now), InboxID: in.ID, To: []string{in.Email}, ReceivedAt: now, Metadata: sender.Metadata()}
	r, err := pipeline.New(pipeline.Options{}).Run(t.Context(), in, e, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if r.Content == nil {
		return r.Email, inbox.EmailContent{}
	}
	return r.Email, *r.Content
}

// The header that each message of the test has besides: that of a person's mail.
const usual = "To: aurora-support@inbox.example\nSubject: Invoice\nMessage-ID: <1@b.example>\nDate: Wed, 2 Dec 2026 09:00:00 -0300\n"

func TestRefusal_Headers(t *testing.T) {
	const ana = "From: Ana <ana@b.example>\n"
	for header, want := range map[string]Code{
		ana: "",
		ana + "Return-Path: <ana@b.example>\nSender: ana@b.example\nAuto-Submitted: no\nPrecedence: first-class\n": "",
		ana + "Auto-Submitted: No (by hand)\nX-Auto-Response-Suppress: RN, NRN\nContent-Type: text/plain\n":        "",
		ana + "X-List: of groceries\nListen: to this\nX-Mailer: Listmaker\nX-Auto: 1\nX-Priority: list\n":          "",
		ana + "Reply-To: list@lists.example\nCc: noreply@b.example\n":                                              "",

		ana + "Auto-Submitted: auto-replied\n":               CodeAutomatic,
		ana + "Auto-Submitted: auto-generated; type=x\n":     CodeAutomatic,
		ana + "AUTO-SUBMITTED: Auto-Notified\n":              CodeAutomatic,
		ana + "Auto-Submitted: no\nAuto-Submitted: yes\n":    CodeAutomatic,
		ana + "Auto-Submitted: nobody-knows\n":               CodeAutomatic,
		ana + "Auto-Submitted: \n":                           CodeAutomatic,
		ana + "X-Auto-Response-Suppress: All\n":              CodeAutomatic,
		ana + "X-Auto-Response-Suppress: DR\n":               CodeAutomatic,
		ana + "X-Auto-Response-Suppress: RN,NRN,AutoReply\n": CodeAutomatic,
		ana + "X-Auto-Response-Suppress: OOF, NRN\n":         CodeAutomatic,
		ana + "X-Autoreply: yes\n":                           CodeAutomatic,
		ana + "X-Autoreply-From: ana@b.example\n":            CodeAutomatic,
		ana + "X-Autorespond: Invoice\n":                     CodeAutomatic,
		ana + "X-AutoResponder: 1\n":                         CodeAutomatic,
		ana + "Precedence: auto_reply\n":                     CodeAutomatic,

		ana + "Precedence: bulk\n":                           CodeBulk,
		ana + "precedence: JUNK\n":                           CodeBulk,
		ana + "Precedence: list\n":                           CodeBulk,
		ana + "List-Id: <news.b.example>\n":                  CodeBulk,
		ana + "List-Unsubscribe: <https://b.example/u>\n":    CodeBulk,
		ana + "LIST-POST: NO\n":                              CodeBulk,
		ana + "Mailing-List: list news@b.example\n":          CodeBulk,
		ana + "X-BeenThere: news@b.example\nX-Loop: a@b.c\n": CodeBulk,

		"Return-Path: <>\n" + ana:                                                                  CodeBounce,
		"Return-Path:\n" + ana:                                                                     CodeBounce,
		ana + "Return-Path: <ana@b.example>\nReturn-Path: <>\n":                                    CodeBounce,
		ana + "X-Failed-Recipients: eva@c.example\n":                                               CodeBounce,
		ana + "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n":          CodeBounce,
		ana + "Content-Type: Multipart/Report; report-type=disposition-notification; boundary=b\n": CodeBounce,
		ana + "Content-Type: multipart/report; report-type=feedback-report; boundary=b\n":          CodeBounce,
		ana + "Content-Type: message/disposition-notification\n":                                   CodeBounce,
		ana + "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nx\n--b\nContent-Type: message/delivery-status\n\nAction: failed\n--b--\n": CodeBounce,

		"Return-Path: <owner-news@b.example>\n" + ana:            CodeUnattended,
		"Return-Path: <bounces+123-support=x@b.example>\n" + ana: CodeUnattended,
		ana + "Sender: News <news-request@b.example>\n":          CodeUnattended,
		"From: MAILER-DAEMON@b.example\n":                        CodeUnattended,
		"From: Mail <Mailer-Daemon@b.example>\n":                 CodeUnattended,
		"From: postmaster@b.example\n":                           CodeUnattended,
		"From: no-reply@b.example\n":                             CodeUnattended,
		"From: NoReply@b.example\n":                              CodeUnattended,
		"From: orders.no_reply@b.example\n":                      CodeUnattended,
		"From: noreply+42@b.example\n":                           CodeUnattended,
		"From: DoNotReply@b.example\n":                           CodeUnattended,
		"From: do-not-reply@b.example\n":                         CodeUnattended,
		"From: nao-responda@b.example\n":                         CodeUnattended,
		"From: naoresponder@b.example\n":                         CodeUnattended,
		"From: news-request@b.example\n":                         CodeUnattended,
		"From: owner-news@b.example\n":                           CodeUnattended,
		"From: news-bounces@b.example\n":                         CodeUnattended,
		"From: bounce+x@b.example\n":                             CodeUnattended,
		"From: majordomo@b.example\n":                            CodeUnattended,
		"From: owner@b.example\n":                                "", // a person's, who owns something
		"From: request@b.example\n":                              "",
		"From: daemontools@b.example\n":                          "",

		"From: aurora-support@inbox.example\n":    CodeLoop,
		"From: Bosque <bosque-x@INBOX.example>\n": CodeLoop,
		"From: ana@sub.inbox.example\n":           "",
		"From: ana@inbox.example.evil.example\n":  "",

		"":                                     CodeNoSender,
		"From: undisclosed\n":                  CodeNoSender,
		"From: <>\n":                           CodeNoSender,
		"From: ana@b.example, eva@c.example\n": CodeNoSender,
		ana + ana:                              CodeNoSender,
		"From: eva@c.example\nFrom: ana@b.example\n":             CodeNoSender,
		"From: \"eva@c.example\" <ana@b.example>\n":              CodeNoSender,
		"From: \"ana@b.example\" <ana@b.example>\n":              "",
		"From: =?utf-8?q?Lima=2C_Ana?= <ana@b.example>\n":        "",
		"From: =?utf-8?q?ana=40b.example=2C?= <eva@c.example>\n": CodeNoSender,
		"From: \"a b\"@b.example\n":                              CodeNoSender,
		"From: ana@[192.0.2.1]\n":                                CodeNoSender,
		"From: análise@b.example\n":                              CodeNoSender,
		"From: ana@bücher.example\n":                             "",
		"From: " + strings.Repeat("a", 300) + "@b.example\n":     CodeNoSender,
		ana + "X-Long: " + strings.Repeat("x", 7000) + "\nX-B: " + strings.Repeat("x", 8000) + "\nX-C: " + strings.Repeat("x", 8000) +
			"\nX-D: " + strings.Repeat("x", 8000) + "\nX-E: " + strings.Repeat("x", 8000) + "\n": CodeUnclear,
	} {
		e, c := arrived(t, strings.TrimRight(usual, "\n")+"\n"+header+"\nHello.\n", pipeline.SenderVerified)
		if got := Refusal(support(), e, c, true); got != want {
			t.Errorf("%.200q: %q, want %q", header, got, want)
		}
	}
}

// In the cloud, where senders are looked at, nobody is answered that is not
// known to be who they say; on one machine nobody looks.
func TestRefusal_Sender(t *testing.T) {
	const raw = "From: ana@b.example\n" + usual + "\nHello.\n"
	for _, c := range []struct {
		sender       pipeline.Sender
		verifiedOnly bool
		want         Code
	}{
		{pipeline.SenderVerified, true, ""},
		{pipeline.SenderVerified, false, ""},
		{pipeline.SenderUnverified, false, ""},
		{pipeline.SenderUnverified, true, CodeNotAuthenticated},
		{"", true, CodeNotAuthenticated},
		{"certain", true, CodeNotAuthenticated},
		{pipeline.SenderUnauthenticated, true, CodeNotAuthenticated},
		{pipeline.SenderUnauthenticated, false, CodeNotAuthenticated},
	} {
		e, content := arrived(t, raw, c.sender)
		if got := Refusal(support(), e, content, c.verifiedOnly); got != c.want {
			t.Errorf("%q, %v: %q, want %q", c.sender, c.verifiedOnly, got, c.want)
		}
	}
	e, content := arrived(t, raw, pipeline.SenderVerified)
	e.Metadata = inbox.Object(`{"sender":1}`)
	if got := Refusal(support(), e, content, true); got != CodeNotAuthenticated {
		t.Errorf("metadata that says nothing: %q", got)
	}
}

func TestRefusal_Verdicts(t *testing.T) {
	for verdict, want := range map[string]Code{"PASS": "", "FAIL": CodeSuspicious, "GRAY": CodeSuspicious, "PROCESSING_FAILED": CodeSuspicious, "": CodeSuspicious} {
		e, c := arrived(t, "From: ana@b.example\n"+usual+"\nHello.\n", pipeline.SenderVerified)
		e.SpamVerdict = &verdict
		if got := Refusal(support(), e, c, true); got != want {
			t.Errorf("spam %q: %q", verdict, got)
		}
		e.SpamVerdict, e.VirusVerdict = new("PASS"), &verdict
		if got := Refusal(support(), e, c, true); got != want {
			t.Errorf("virus %q: %q", verdict, got)
		}
	}
}

// What was not kept of an e-mail may have been what says that it is automatic.
func TestRefusal_WithoutHeader(t *testing.T) {
	e, _ := arrived(t, "From: ana@b.example\n"+usual+"\nHello.\n", pipeline.SenderVerified)
	if got := Refusal(support(), e, inbox.EmailContent{}, true); got != CodeUnclear {
		t.Errorf("%q", got)
	}
}

func TestCode_Sentence(t *testing.T) {
	for _, c := range []Code{CodeNoSender, CodeLoop, CodeNotAuthenticated, CodeSuspicious, CodeUnattended, CodeBounce, CodeBulk, CodeAutomatic, CodeUnclear, CodeLimit} {
		if s := c.Sentence(); len(s) < 30 || !strings.HasSuffix(s, ".") {
			t.Errorf("%s: %q", c, s)
		}
	}
}

// TestCheckData_Refusal has every sample message judged, and those that may be
// answered answered.
func TestCheckData_Refusal(t *testing.T) {
	dir := os.Getenv("CHECK_DATA")
	if dir == "" {
		t.Skip("CHECK_DATA is not set")
	}
	samples, err := filepath.Glob(filepath.Join(dir, "mail", "samples", "*", "*.eml"))
	if err != nil || len(samples) < 50 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	counted := map[Code]int{}
	for _, path := range samples {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e, c := arrived(t, string(raw), pipeline.SenderVerified)
		code := Refusal(support(), e, c, true)
		counted[code]++
		if code == "" {
			check(t, draft(e, c, "Thank you."))
		}
		t.Logf("%-20s %s (from %q)", code, filepath.Base(path), e.From)
	}
	if counted[""] < 20 || counted[""] == len(samples) {
		t.Errorf("of %d samples: %v", len(samples), counted)
	}
}
