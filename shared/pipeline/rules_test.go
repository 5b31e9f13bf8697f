package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// wantEnd fails unless the e-mail ended by that reason: a status, and for a
// rejection the code and the sentence.
func wantEnd(t testing.TB, r *Run, status inbox.EmailStatus, reason string, at inbox.StepName) {
	t.Helper()
	got := ""
	if r.Email.RejectionReason != nil {
		got = *r.Email.RejectionReason
	}
	if r.Email.Status != status || got != reason {
		t.Errorf("e-mail %s, reason %q; want %s, %q", r.Email.Status, got, status, reason)
	}
	for _, s := range r.Workflow.Steps {
		if (s.Status == inbox.StepFailed) != (s.Name == at) || s.Name == at && *s.Result != reason {
			t.Errorf("step %s is %s; want %s to have ended it by %q", s.Name, s.Status, at, reason)
		}
	}
}

const approved = inbox.EmailProcessed // there is no agent to wait for

func TestCheckSender(t *testing.T) {
	const (
		notAllowed = "sender_not_allowed: The sender is not among those who may send to this inbox."
		forged     = "sender_not_authenticated: The sender's address is allowed, but nothing shows that the message is from there."
	)
	for _, c := range []struct {
		name, from string
		allowed    []string
		sender     Sender
		reason     string
	}{
		{"an empty list allows anyone", "a@b.example", []string{}, "", ""},
		{"an empty list allows nobody's address", "", nil, "", ""},
		{"an empty list allows a forged one", "a@b.example", nil, SenderUnauthenticated, ""},
		{"in the list", "a@b.example", []string{"x@b.example", "a@b.example"}, "", ""},
		{"in the list, verified", "a@b.example", []string{"a@b.example"}, SenderVerified, ""},
		{"in the list, in other case", "Ana@B.Example", []string{"aNA@b.exAMPLE"}, "", ""},
		{"in the list, with a letter in other case", "É@b.example", []string{"é@b.example"}, "", ""},
		{"in the list, forged", "a@b.example", []string{"a@b.example"}, SenderUnauthenticated, forged},
		{"not in the list", "a@b.example", []string{"b@b.example"}, "", notAllowed},
		{"not in the list, verified", "a@b.example", []string{"b@b.example"}, SenderVerified, notAllowed},
		{"of the same domain", "a@b.example", []string{"@b.example", "b.example", "*@b.example"}, "", notAllowed},
		{"no sender", "", []string{"a@b.example"}, "", notAllowed},
		{"a Kelvin sign for k", "mi\u212Ae@b.example", []string{"mike@b.example"}, "", notAllowed},
		{"a long s", "\u017Fam@b.example", []string{"sam@b.example"}, "", notAllowed},
		{"a name that is an address", `"a@b.example" <x@y.example>`, []string{"a@b.example"}, "", notAllowed},
		{"the second sender", "x@y.example, a@b.example", []string{"a@b.example"}, "", notAllowed},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := box(func(in *inbox.Inbox) { in.AllowedRecipients = c.allowed })
			r := run(t, Options{}, in, "From: "+c.from+"\r\n\r\nhi", func(e *inbox.Email) { e.From, e.Metadata = "", c.sender.Metadata() })
			if c.reason == "" {
				wantEnd(t, r, approved, "", "")
			} else {
				wantEnd(t, r, inbox.EmailRejected, c.reason, inbox.StepCheckSender)
				wantSteps(t, r, inbox.RunFailed, inbox.StepSuccess, inbox.StepFailed, inbox.StepSkipped)
			}
		})
	}
}

func TestInactiveInboxRejects(t *testing.T) {
	for _, status := range []inbox.Status{inbox.Inactive, ""} {
		r := run(t, Options{}, box(func(in *inbox.Inbox) { in.Status = status }), message)
		wantEnd(t, r, inbox.EmailRejected, "inbox_inactive: The inbox is not active.", inbox.StepCheckSender)
		if *r.Email.Subject != "Olá" || r.Content == nil {
			t.Error("the record of a rejected e-mail is not whole")
		}
	}
}

func TestVirusIsTurnedAway(t *testing.T) {
	for verdict, reason := range map[string]string{"FAIL": "virus_found: The scan on arrival found a virus in the message.", "PASS": "", "GRAY": "", "PROCESSING_FAILED": ""} {
		r := run(t, Options{}, box(), message, func(e *inbox.Email) { e.VirusVerdict = &verdict })
		if reason == "" {
			wantEnd(t, r, approved, "", "")
		} else {
			wantEnd(t, r, inbox.EmailRejected, reason, inbox.StepCheckAttachments)
		}
	}
}

func TestCheckAttachments(t *testing.T) {
	limits := func(number, size, total int64) inbox.Inbox {
		return inbox.Inbox{AttachmentsAllow: true, AttachmentsMaxFileNumber: number, AttachmentsMaxFileSize: size, AttachmentsMaxTotalSize: total}
	}
	for _, c := range []struct {
		name   string
		in     inbox.Inbox
		sizes  []int
		reason string
	}{
		{"none, where none is allowed", inbox.Inbox{}, nil, ""},
		{"one, where none is allowed", inbox.Inbox{AttachmentsMaxFileNumber: 9}, []int{1}, "attachments_not_allowed: The message has 1 attachment, and the inbox takes none."},
		{"no limits", limits(0, 0, 0), []int{1000, 1000}, ""},
		{"at the limits", limits(2, 60, 100), []int{60, 40}, ""},
		{"too many", limits(2, 60, 100), []int{1, 1, 1}, "too_many_attachments: The message has 3 attachments, and the inbox takes at most 2."},
		{"one too large", limits(2, 60, 100), []int{1, 61}, "attachment_too_large: An attachment has 61 bytes, and the inbox takes at most 60 of each."},
		{"too large together", limits(2, 60, 100), []int{60, 41}, "attachments_too_large: The attachments have 101 bytes in all, and the inbox takes at most 100."},
		{"more than the record lists", limits(200, 0, 0), make([]int, 201), "too_many_attachments: The message has 201 attachments, and the inbox takes at most 200."},
		{"more than are read, without limits", limits(0, 0, 0), make([]int, 300), "too_many_attachments: The message has more parts than are read, so not all of its attachments can be checked."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var raw strings.Builder
			raw.WriteString("From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nhi\r\n")
			for i, size := range c.sizes {
				fmt.Fprintf(&raw, "--x\r\nContent-Type: image/png\r\nContent-Disposition: %s; filename=\"%s\"\r\n\r\n%s\r\n",
					[]string{"attachment", "inline"}[i%2], strings.Repeat("n", 250), strings.Repeat("x", size))
			}
			raw.WriteString("--x--\r\n")
			c.in.Status = inbox.Active
			r := run(t, Options{}, c.in, raw.String())
			if c.reason == "" {
				wantEnd(t, r, approved, "", "")
			} else {
				wantEnd(t, r, inbox.EmailRejected, c.reason, inbox.StepCheckAttachments)
			}
		})
	}
}
