package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func TestApplyFilters(t *testing.T) {
	const (
		head = "From: Ana <ana@sender.example>\r\nTo: support@inbox.example, boss@inbox.example\r\nCc: bob@sender.example\r\n" +
			"List-Id: <news.sender.example>\r\nX-Tag: one\r\nX-Tag: two\r\n"
		plain = head + "Subject: Big\u200b Sale\r\n\r\nGood\u200bbye.\r\n"
		html  = head + "Content-Type: text/html\r\n\r\n<p>Good<b>bye</b>.</p><p style=\"display:none\">secret</p>"
		both  = head + "Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n\r\nHello.\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>Goodbye.</p>\r\n--x--\r\n"
	)
	filter := func(field, operator, value string) string {
		return fmt.Sprintf(`{"field":%q,"operator":%q,"value":%q,"action":"reject"}`, field, operator, value)
	}
	header := func(name, operator, value string) string {
		return fmt.Sprintf(`{"field":"header","name":%q,"operator":%q,"value":%q}`, name, operator, value)
	}
	for _, c := range []struct {
		raw, filter string
		rejected    bool
	}{
		{plain, filter("from", "equals", "ANA@sender.example"), true},
		{plain, filter("from", "equals", "ana"), false},
		{plain, filter("from", "ends_with", "@sender.example"), true},
		{plain, filter("from", "contains", "Ana <"), false}, // the name is no address
		{plain, filter("to", "equals", "boss@inbox.example"), true},
		{plain, filter("to", "equals", "bob@sender.example"), true},
		{plain, filter("to", "equals", "ana@sender.example"), false},
		{plain, filter("subject", "equals", "big sale"), true},
		{plain, filter("subject", "starts_with", "sale"), false},
		{plain, filter("subject", "matches", "^Big .ale$"), true},
		{plain, filter("subject", "matches", "big"), false},
		{plain, filter("subject", "matches", "(?i)big"), true},
		{html, filter("subject", "matches", ".*"), false}, // it has none
		{plain, filter("body", "contains", "goodbye"), true},
		{html, filter("body", "contains", "goodbye"), true},
		{both, filter("body", "contains", "goodbye"), true},
		{both, filter("body", "contains", "hello"), true},
		{html, filter("body", "contains", "<p>"), false},
		{head + "\r\n", filter("body", "contains", "goodbye"), false},
		{plain, header("list-id", "contains", "news."), true},
		{plain, header("X-Tag", "equals", "two"), true},
		{plain, header("X-Tag", "equals", "one two"), false},
		{plain, header("X-Other", "matches", ""), false},
	} {
		t.Run(c.filter, func(t *testing.T) {
			if strings.Contains(c.filter, `"value":""`) {
				c.filter = strings.Replace(c.filter, `""`, `".*"`, 1)
			}
			in := box(func(in *inbox.Inbox) {
				in.Filters = []inbox.Object{inbox.Object(filter("subject", "equals", "something else")), inbox.Object(c.filter)}
			})
			r := run(t, Options{}, in, c.raw)
			if !c.rejected {
				wantEnd(t, r, approved, "", "")
				return
			}
			f, err := inbox.ParseFilters(in.Filters)
			if err != nil {
				t.Fatal(err)
			}
			wantEnd(t, r, inbox.EmailRejected,
				fmt.Sprintf("filtered: Filter 2 of the inbox (%s %s) turns this e-mail away.", f[1].Field, f[1].Operator), inbox.StepApplyFilters)
		})
	}
}

// Filters only reject: nothing that one matches lets in what another rule
// keeps out.
func TestFiltersNeverAdmit(t *testing.T) {
	in := box(func(in *inbox.Inbox) {
		in.AllowedRecipients = []string{"other@sender.example"}
		in.Filters = []inbox.Object{inbox.Object(`{"field":"from","operator":"equals","value":"ana@sender.example","action":"reject"}`)}
	})
	if r := run(t, Options{}, in, message); !strings.HasPrefix(*r.Email.RejectionReason, "sender_not_allowed: ") {
		t.Errorf("reason %q", *r.Email.RejectionReason)
	}
}

// An invalid filter that was stored somehow admits nothing.
func TestInvalidFilters(t *testing.T) {
	good := inbox.Object(`{"field":"subject","operator":"equals","value":"x","action":"reject"}`)
	for _, bad := range []string{
		`{}`, `[]`, `null`, `"x"`, `{"field":"subject"}`,
		`{"field":"subject","operator":"matches","value":"(","action":"reject"}`,
		`{"field":"subject","operator":"equals","value":"x","action":"admit"}`,
		`{"field":"size","operator":"equals","value":"x","action":"reject"}`,
		`{"field":"subject","operator":"equals","value":"x","action":"reject","not":true}`,
	} {
		r := run(t, Options{}, box(func(in *inbox.Inbox) { in.Filters = []inbox.Object{good, inbox.Object(bad)} }), message)
		if r.Email.Status != inbox.EmailFailed || !strings.HasPrefix(*r.Email.RejectionReason, "The inbox's filters cannot be applied. Filter 2: ") {
			t.Errorf("%s: e-mail %s, reason %v", bad, r.Email.Status, r.Email.RejectionReason)
			continue
		}
		wantEnd(t, r, inbox.EmailFailed, *r.Email.RejectionReason, inbox.StepApplyFilters)
	}
}
