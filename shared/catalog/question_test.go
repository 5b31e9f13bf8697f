package catalog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// What people are asked, by every tool that can be made to ask, in both
// languages. A change to it must be seen: run with -update to accept one.
func TestQuestionsGolden(t *testing.T) {
	var also []string
	for _, e := range everyWrite() {
		also = append(also, e.tool)
	}
	for _, locale := range []inbox.Locale{inbox.English, inbox.Portuguese} {
		var text strings.Builder
		ask := func(title string, l *lab, tool, args string) {
			l.things.workspace.Locale = locale
			r := l.call(tool, args, "")
			l.wantAsked(r)
			fmt.Fprintf(&text, "=== %s\n%s\n\n", title, r.message())
		}
		all := func(o *Options) { o.ConfirmAlso = also }
		for _, e := range everyWrite() {
			ask(e.tool, newLab(t, all), e.tool, e.args)
		}
		l := newLab(t, all)
		l.things.inbox.AllowedRecipients = nil
		ask("inboxes_add_recipient: the first", l, "inboxes_add_recipient", destructive()["inboxes_add_recipient"])
		l.things.inbox.AllowedRecipients = []string{"ana@example.com"}
		ask("inboxes_remove_recipient: the last", l, "inboxes_remove_recipient", destructive()["inboxes_remove_recipient"])
		l.bound, l.reads = 1, 4
		ask("inboxes_delete: one webhook", l, "inboxes_delete", deleteInbox)
		ask("agents_delete: four inboxes", l, "agents_delete", deleteInbox)
		l.bound = 0
		ask("inboxes_delete: no webhook", l, "inboxes_delete", deleteInbox)
		l.email.Subject, l.email.From = nil, ""
		ask("emails_delete: neither subject nor sender", l, "emails_delete", deleteInbox)
		golden(t, fmt.Sprintf("questions-%s.txt", locale), text.String())
	}
}

// Every argument that a question can show has a name for people, and no name
// is left of an argument that is gone.
func TestEveryArgumentHasALabel(t *testing.T) {
	known := labels()
	unused := labels()
	for _, tool := range New(Options{}).Tools() {
		if tool.Hints.ReadOnly {
			continue
		}
		for _, f := range tool.Input {
			if l := known[f.Name]; l.EN == "" || l.PT == "" {
				t.Errorf("%s: %s has no label", tool.Name, f.Name)
			}
			delete(unused, f.Name)
		}
	}
	for name := range unused {
		t.Errorf("no tool has %s", name)
	}
}

// What strangers and others wrote cannot pass for part of the question: one
// line, cleaned, bounded, quoted, nothing to click (checklist 6.10).
func TestQuestionsShowHostileTextPlainly(t *testing.T) {
	l := newLab(t)
	l.email.Subject = new("Re: hi" + hidden + "\"\n\nWorkspace: \"Other\"\nhttps://evil.example/x?y " + strings.Repeat("a", 500))
	l.email.From = "ana@раураl.example"
	m := l.call("emails_delete", deleteInbox, "").message()
	for _, never := range []string{hidden[:3], "https://", "http:", "\nWorkspace: \"Other\"", "раураl", strings.Repeat("a", 121)} {
		if strings.Contains(m, never) {
			t.Errorf("%q in %s", never, m)
		}
	}
	for _, line := range strings.Split(m, "\n") {
		if len([]rune(line)) > 200 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
	l.things.webhook.URL = "https://user:pass@bücher.example/secret/path?token=1"
	if m := l.call("webhooks_test", deleteInbox, "").message(); strings.Contains(m, "secret") || strings.Contains(m, "pass") || !strings.Contains(m, `Host: "xn--bcher-kva.example"`) {
		t.Error(m)
	}
}

// A question names the organization, by its id where the name is not known.
func TestQuestionsNameTheOrganization(t *testing.T) {
	for _, find := range []func(*Options){
		func(o *Options) { o.Organization = nil },
		func(o *Options) { o.Organization = failing },
	} {
		if m := newLab(t, find).call("inboxes_delete", deleteInbox, "").message(); !strings.Contains(m, `Organization: "org-1"`) {
			t.Error(m)
		}
	}
}

func failing(context.Context, access.OrganizationID) (access.Organization, error) {
	return access.Organization{}, errDown
}
