package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Adding who is there, or removing who is not, is answered with the list as it
// is, at once: nobody is asked, nothing is written.
func TestRecipientsAreIdempotent(t *testing.T) {
	for _, test := range []struct{ tool, email string }{
		{"inboxes_add_recipient", "ana@example.com"}, {"inboxes_add_recipient", "ANA@Example.com"}, {"inboxes_remove_recipient", "eva@example.com"},
	} {
		l := newLab(t)
		r := l.call(test.tool, `{"id":"`+id1+`","email":"`+test.email+`"}`, "")
		want := `{"inbox_id":"` + id1 + `","allowed_recipients":["ana@example.com","rui@example.com"],"changed":false}`
		if r.Result.ResultType != "complete" || r.Result.IsError || r.Result.text() != want || string(r.Result.Structured) != want {
			t.Errorf("%+v: %s", test, r.Body)
		}
		l.wantWrites()
		l.wantRecorded()
	}
	// So is a yes to what somebody else did meanwhile.
	l := newLab(t)
	const args = `{"id":"` + id1 + `","email":"eva@example.com"}`
	state := l.ask("inboxes_add_recipient", args)
	l.things.inbox.AllowedRecipients = append(l.things.inbox.AllowedRecipients, "eva@example.com")
	if r := l.answer("inboxes_add_recipient", args, state, sayYes); !strings.Contains(r.Result.text(), `"changed":false`) {
		t.Error(r.Body)
	}
	l.wantWrites()
	l.wantRecorded()
	// R16 comes first: who cannot be asked gets the same answer always.
	l.wantError(l.at(mcp.V20251125, "inboxes_add_recipient", args, ""), "confirmation_required")
}

// Empty allowed_recipients means anyone may send: the question says when a
// sender closes the inbox to all others, or opens it to everyone,
// and an answer to another question does not count.
func TestRecipientsSayWhoMaySend(t *testing.T) {
	const (
		closes = "ANYONE may send to this inbox now. After this, only this sender may."
		opens  = "This is the last sender on the list. After this, ANYONE may send to this inbox."
	)
	add, remove := `{"id":"`+id1+`","email":"ana@example.com"}`, `{"id":"`+id1+`","email":"ana@example.com"}`
	for _, test := range []struct {
		tool, args string
		list       []string
		says       string
	}{
		{"inboxes_add_recipient", add, nil, closes},
		{"inboxes_add_recipient", add, []string{"rui@example.com"}, ""},
		{"inboxes_remove_recipient", remove, []string{"ana@example.com"}, opens},
		{"inboxes_remove_recipient", remove, []string{"ana@example.com", "rui@example.com"}, ""},
	} {
		l := newLab(t)
		l.things.inbox.AllowedRecipients = test.list
		r := l.call(test.tool, test.args, "")
		l.wantAsked(r)
		if m := r.message(); strings.Contains(m, closes) != (test.says == closes) || strings.Contains(m, opens) != (test.says == opens) {
			t.Errorf("%s of %v: %s", test.tool, test.list, m)
		}
	}
	l := newLab(t)
	state := l.ask("inboxes_remove_recipient", remove) // one of two
	l.things.inbox.AllowedRecipients = []string{"ana@example.com"}
	if r := l.answer("inboxes_remove_recipient", remove, state, sayYes); !strings.Contains(r.message(), opens) {
		t.Error(r.Body)
	}
	l.wantWrites()
}

func TestRecipientsAreBounded(t *testing.T) {
	l := newLab(t)
	for len(l.things.inbox.AllowedRecipients) < inbox.MaxRecipients {
		l.things.inbox.AllowedRecipients = append(l.things.inbox.AllowedRecipients, strings.Repeat("x", len(l.things.inbox.AllowedRecipients)%60+1)+"@"+strings.Repeat("y", len(l.things.inbox.AllowedRecipients)/60+1)+".example")
	}
	l.wantError(l.call("inboxes_add_recipient", `{"id":"`+id1+`","email":"one@more.example"}`, ""), "invalid_arguments", "at most 500", "Nothing was changed")
	l.wantError(l.call("inboxes_add_recipient", `{"id":"`+id1+`","email":"a\u200bb@x.example"}`, ""), "invalid_arguments", "email must be a plain e-mail address")
}

// inboxes_update cannot touch allowed_recipients.
func TestUpdateCannotChangeRecipients(t *testing.T) {
	l := newLab(t)
	l.wantError(l.call("inboxes_update", `{"id":"`+id1+`","allowed_recipients":[]}`, ""), "invalid_arguments", `"allowed_recipients" is not an argument`)
	l.wantWrites()
}

func TestCreateDefaults(t *testing.T) {
	l := newLab(t)
	l.call("inboxes_create", `{"label":"Jobs"}`, "")
	l.call("webhooks_create", `{"label":"ERP","url":"https://erp.example"}`, "")
	l.call("agents_create", `{"label":"Clerk","llm_model":"rules/demo","system_message":"Sort."}`, "")
	l.wantWrites("CreateInbox", "CreateWebhook", "CreateAgent")
	for i, want := range []any{
		inbox.Inbox{WorkspaceID: here, Label: "Jobs", Status: inbox.Active, AllowedRecipients: []string{}, Filters: []inbox.Object{}, AttachmentsAllow: true,
			AttachmentsMaxFileNumber: 10, AttachmentsMaxFileSize: 10 << 20, AttachmentsMaxTotalSize: 25 << 20},
		inbox.Webhook{WorkspaceID: here, Label: "ERP", URL: "https://erp.example", Status: inbox.Active, Auth: inbox.AuthNone, SubscribedEvents: []string{"*"}},
		inbox.Agent{WorkspaceID: here, Label: "Clerk", LLMModel: "rules/demo", SystemMessage: "Sort."},
	} {
		if diff := cmp.Diff(want, l.wrote[i].Given[0]); diff != "" {
			t.Error(diff)
		}
	}
}

// What a record may not be is told by the field, before anything is written.
func TestRecordsAreValid(t *testing.T) {
	id := `{"id":"` + id1 + `",`
	for _, test := range []struct{ tool, args, field string }{
		{"workspaces_update", id + `"email_prefix":"Not-It"}`, "email_prefix"},
		{"workspaces_update", id + `"label":"two\nlines"}`, "label"},
		{"inboxes_create", `{"label":" "}`, "label"},
		{"inboxes_create", `{"label":"x","filters":[{"field":"subject","operator":"matches","value":"("}]}`, "filters"},
		{"inboxes_create", `{"label":"x","allowed_recipients":["a\u200b@x.example"]}`, "allowed_recipients"},
		{"inboxes_create", `{"label":"x","email":"a\u200b@x.example"}`, "email"},
		{"inboxes_update", id + `"filters":[{"field":"subject","name":"x","operator":"equals","value":"x"}]}`, "filters"},
		{"agents_create", `{"label":"x","llm_model":"nope","system_message":"x"}`, "llm_model"},
		{"agents_update", id + `"llm_model":"nope"}`, "llm_model"},
		{"agents_update", id + `"skills_repo":"http://example.com"}`, "skills_repo"},
		{"webhooks_create", `{"label":"x","url":"https://erp.example","subscribed_events":["email.eaten"]}`, "subscribed_events"},
		{"webhooks_create", `{"label":"\u0007","url":"https://erp.example"}`, "label"},
		{"secrets_create", `{"name":"7","value":"x"}`, "name"},
		{"secrets_create", `{"name":"TOKEN","value":"` + strings.Repeat("é", 20_000) + `"}`, "value"},
		{"secrets_update", id + `"value":"` + strings.Repeat("é", 20_000) + `"}`, "value"},
		{"secrets_update", id + `"value":"x","description":"a\u0007"}`, "description"},
	} {
		l := newLab(t)
		r := l.call(test.tool, test.args, "")
		l.wantError(r, "invalid_arguments", test.field, "Nothing was changed")
		l.wantWrites()
		if len(r.Result.text()) > 400 || strings.Contains(r.Result.text(), "éé") {
			t.Errorf("%s: %.400s", test.tool, r.Result.text())
		}
	}
}

// A model that is no longer offered keeps an agent from nothing but choosing it.
func TestOldModelMayStay(t *testing.T) {
	l := newLab(t)
	l.things.agent.LLMModel = "gone/1"
	if r := l.call("agents_update", `{"id":"`+id1+`","label":"New"}`, ""); r.Result.IsError {
		t.Error(r.Body)
	}
	l.wantWrites("UpdateAgent")
}

// A record that an argument names and that is not there is named by it.
func TestReferencesAreNamed(t *testing.T) {
	for _, test := range []struct{ tool, args, field string }{
		{"inboxes_create", `{"label":"x","agent_id":"` + id1 + `"}`, "agent_id"},
		{"webhooks_create", `{"label":"x","url":"https://erp.example","inbox_id":"` + id1 + `"}`, "inbox_id"},
		{"webhooks_deliveries_replay", `{"webhook_id":"` + id1 + `","id":"` + id2 + `"}`, "webhook_id"},
	} {
		l := newLab(t)
		l.err = inbox.Errorf(inbox.CodeNotFound, "id", "There is no such thing in this workspace.")
		l.wantError(l.call(test.tool, test.args, ""), "not_found", test.field+": There is no such thing")
		l.wantWrites()
	}
}

// What the service refuses, such as a name that is taken or a limit of the
// workspace, is told as it says it.
func TestConflictsAndLimits(t *testing.T) {
	for _, err := range []*inbox.Error{
		inbox.Errorf(inbox.CodeConflict, "email", "Another inbox has this address. Nothing was changed."),
		inbox.Errorf(inbox.CodeLimit, "", "A workspace has at most 100 inboxes. Nothing was changed."),
	} {
		l := newLab(t)
		l.fault = func(int) error { return err }
		l.wantError(l.call("inboxes_create", `{"label":"Jobs"}`, ""), string(err.Code), err.Message)
		if strings.Count(strings.ToLower(l.call("inboxes_create", `{"label":"Jobs"}`, "").Result.text()), "nothing was") != 1 {
			t.Errorf("%v", err)
		}
	}
}
