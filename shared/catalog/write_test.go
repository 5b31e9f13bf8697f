package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const id3 = "0193864c-1e00-7abc-8def-0123456789ad"

// Every writing tool, called with every argument it has: what the service is
// told to do, by what it has, and what is answered.
func everyWrite() []struct {
	tool, args, method string
	given              []any
	answer             string
} {
	f := furnished()
	was := struct {
		workspace inbox.Workspace
		inbox     inbox.Inbox
		agent     inbox.Agent
		webhook   inbox.Webhook
		secret    inbox.Secret
	}{*f.things.workspace, *f.things.inbox, *f.things.agent, *f.things.webhook, *f.things.secret}
	now := was

	now.workspace.Label, now.workspace.EmailPrefix, now.workspace.Locale = "Bosque", "bosque-2", inbox.Portuguese
	now.workspace.MonthlyCostLimit, now.workspace.MonthlyEmailsLimit = new(2.5), nil
	now.workspace.CustomMetadata, now.workspace.Metadata = inbox.Object(`{"a":1}`), inbox.Object(`{}`)

	filter := inbox.Object(`{"field":"header","name":"List-Id","operator":"contains","value":"news","action":"reject"}`)
	draft := inbox.Inbox{
		WorkspaceID: here, ExternalID: new(id3), AgentID: new(inbox.ID(id2)), Label: "Jobs", Email: "jobs@inbox.example", Status: inbox.Active,
		AllowedRecipients: []string{"eva@example.com"}, Filters: []inbox.Object{filter},
		AttachmentsMaxFileNumber: 3, AttachmentsMaxFileSize: 4, AttachmentsMaxTotalSize: 5,
	}
	const rules = `"filters":[{"field":"header","name":"List-Id","operator":"contains","value":"news","action":"reject"}],"attachments_allow":false,"attachments_max_file_number":3,"attachments_max_file_size":4,"attachments_max_total_size":5`
	now.inbox.AgentID, now.inbox.Label, now.inbox.Status, now.inbox.Filters, now.inbox.AttachmentsAllow = nil, "Jobs", inbox.Inactive, draft.Filters, false
	now.inbox.AttachmentsMaxFileNumber, now.inbox.AttachmentsMaxFileSize, now.inbox.AttachmentsMaxTotalSize = 3, 4, 5

	agent := inbox.Agent{WorkspaceID: here, ExternalID: new(id3), Label: "Clerk", LLMModel: "rules/demo", SystemMessage: "Sort.", SkillsRepo: new("https://example.com/s")}
	now.agent.Label, now.agent.SystemMessage, now.agent.SkillsRepo = "Clerk", "", nil

	hook := inbox.Webhook{WorkspaceID: here, ExternalID: new(id3), InboxID: new(inbox.ID(id1)), Status: inbox.Active, Label: "ERP",
		URL: "https://erp.example/x", Auth: inbox.AuthBasic, SubscribedEvents: []string{"email.processed"}}
	now.webhook.InboxID, now.webhook.Status, now.webhook.Label, now.webhook.URL = nil, inbox.Inactive, "ERP", "https://erp.example/x"
	now.webhook.SubscribedEvents = []string{"email.failed", "*"}

	secret := inbox.Secret{WorkspaceID: here, Name: "TOKEN", Description: new("mine")}
	now.secret.Description = nil
	const unchanged = `"expected_updated_at":"2026-12-02T09:00:00-03:00"`
	one := `{"id":"` + id1 + `"}`
	return []struct {
		tool, args, method string
		given              []any
		answer             string
	}{
		{"workspaces_update", `{"id":"` + id1 + `","label":"Bosque","email_prefix":"bosque-2","locale":"pt-BR","monthly_cost_limit":2.5,"monthly_emails_limit":null,"custom_metadata":{"a":1},"metadata":{},` + unchanged + `}`,
			"UpdateWorkspace", []any{was.workspace, now.workspace}, `"label":"Bosque"`},
		{"inboxes_create", `{"external_id":"` + id3 + `","label":"Jobs","email":"jobs@inbox.example","allowed_recipients":["eva@example.com"],"agent_id":"` + id3 + `",` + rules + `}`,
			"CreateInbox", []any{draft}, `"label":"Jobs"`},
		{"inboxes_update", `{"id":"` + id1 + `","label":"Jobs","status":"inactive","agent_id":null,` + rules + `,` + unchanged + `}`,
			"UpdateInbox", []any{was.inbox, now.inbox}, `"status":"inactive"`},
		{"inboxes_delete", one, "DeleteInbox", []any{was.inbox, f.bound}, `{"id":"` + id1 + `","deleted":true}`},
		{"inboxes_add_recipient", `{"id":"` + id1 + `","email":"eva@example.com"}`,
			"SetRecipients", []any{was.inbox, []string{"ana@example.com", "rui@example.com", "eva@example.com"}},
			`{"inbox_id":"` + id1 + `","allowed_recipients":["ana@example.com","rui@example.com","eva@example.com"],"changed":true}`},
		{"inboxes_remove_recipient", `{"id":"` + id1 + `","email":"ANA@example.com"}`,
			"SetRecipients", []any{was.inbox, []string{"rui@example.com"}},
			`{"inbox_id":"` + id1 + `","allowed_recipients":["rui@example.com"],"changed":true}`},
		{"emails_reprocess", one, "ReprocessEmail", []any{f.email}, `"status":"running"`},
		{"emails_delete", one, "DeleteEmail", []any{f.email}, `{"id":"` + id1 + `","deleted":true}`},
		{"agents_create", `{"external_id":"` + id3 + `","label":"Clerk","llm_model":"rules/demo","system_message":"Sort.","skills_repo":"https://example.com/s"}`,
			"CreateAgent", []any{agent}, `"label":"Clerk"`},
		{"agents_update", `{"id":"` + id2 + `","label":"Clerk","llm_model":"rules/demo","system_message":"","skills_repo":null,` + unchanged + `}`,
			"UpdateAgent", []any{was.agent, now.agent}, `"skills_repo":null`},
		{"agents_delete", one, "DeleteAgent", []any{was.agent, f.reads}, `{"id":"` + id2 + `","deleted":true}`},
		{"webhooks_create", `{"external_id":"` + id3 + `","label":"ERP","url":"https://erp.example/x","inbox_id":"` + id3 + `","subscribed_events":["email.processed"],"auth":"basic","auth_basic_user":"u","auth_basic_password":"p"}`,
			"CreateWebhook", []any{hook, inbox.Credentials{BasicUser: "u", BasicPassword: "p"}}, `"url":"https://erp.example/x"`},
		{"webhooks_update", `{"id":"` + id1 + `","label":"ERP","url":"https://erp.example/x","inbox_id":null,"subscribed_events":["email.failed","*"],"status":"inactive",` + unchanged + `}`,
			"UpdateWebhook", []any{was.webhook, now.webhook}, `"inbox_id":null`},
		{"webhooks_delete", one, "DeleteWebhook", []any{was.webhook}, `{"id":"` + id1 + `","deleted":true}`},
		{"webhooks_test", one, "TestWebhook", []any{was.webhook}, `"attempt":3`},
		{"webhooks_rotate_secret", one, "RotateSecret", []any{was.webhook}, `{"webhook_id":"` + id1 + `","previous_secret_valid_until":"2026-12-03T12:00:00Z"}`},
		{"webhooks_deliveries_replay", `{"webhook_id":"` + id1 + `","id":"` + id2 + `"}`, "ReplayDelivery", []any{was.webhook, f.deliver}, `"attempt":3`},
		{"secrets_create", `{"name":"TOKEN","value":"v4lue","description":"mine"}`, "CreateSecret", []any{secret, "v4lue"}, `"name":"TOKEN"`},
		{"secrets_update", `{"id":"` + id1 + `","value":"v4lue","description":null,` + unchanged + `}`,
			"UpdateSecret", []any{was.secret, now.secret, new("v4lue")}, `"description":null`},
		{"secrets_delete", one, "DeleteSecret", []any{was.secret}, `{"id":"` + id1 + `","deleted":true}`},
	}
}

// R12, R13: every writing tool does once what it was asked to, those that are
// destructive after a yes, with the records as they were shown.
func TestEveryWritingTool_R12_and_R13(t *testing.T) {
	called := map[string]bool{}
	for _, e := range everyWrite() {
		called[e.tool] = true
		l := newLab(t)
		tool := l.byName[e.tool]
		var r reply
		if tool.Hints.Destructive {
			state := l.ask(e.tool, e.args)
			l.wantWrites()
			r = l.answer(e.tool, e.args, state, sayYes)
		} else {
			r = l.call(e.tool, e.args, "")
		}
		l.wantWrites(e.method)
		l.wantRecorded()
		if r.Result.IsError || r.Status != 200 || !strings.Contains(r.Result.text(), e.answer) || string(r.Result.Structured) != r.Result.text() {
			t.Fatalf("%s: HTTP %d %s, want %s", e.tool, r.Status, r.Body, e.answer)
		}
		if diff := cmp.Diff(e.given, l.wrote[0].Given); diff != "" {
			t.Errorf("%s: %s", e.tool, diff)
		}
		by := l.wrote[0].By
		if tool.Hints.Destructive != (by.Confirmation != "") {
			t.Errorf("%s: confirmation %q", e.tool, by.Confirmation)
		}
		digest, err := digest(audited, tool.Input, []byte(e.args))
		if err != nil {
			t.Fatal(err)
		}
		by.Confirmation = ""
		want := inbox.Actor{Workspace: here, Person: l.caller.Person, Client: "editor", Tool: e.tool, Arguments: digest}
		if diff := cmp.Diff(want, by); diff != "" {
			t.Errorf("%s: %s", e.tool, diff)
		}
		given := map[string]any{}
		decode(t, []byte(e.args), &given)
		for _, field := range tool.Input {
			if _, ok := given[field.Name]; !ok && !slices.Contains([]string{"auth_bearer_token", "auth_header_key", "auth_header_value"}, field.Name) {
				t.Errorf("%s was not called with %s", e.tool, field.Name)
			}
		}
	}
	for _, tool := range New(Options{}).Tools() {
		if !tool.Hints.ReadOnly && !called[tool.Name] {
			t.Errorf("%s was not called", tool.Name)
		}
	}
}

// What is left out stays as it is, and a call that changes nothing is answered
// without a change.
func TestUpdatesLeaveTheRestAlone(t *testing.T) {
	f := furnished()
	label := *f.things.inbox
	label.Label = "Jobs"
	description := *f.secret
	description.Description = new("new")
	for _, test := range []struct {
		tool, args string
		given      []any
	}{
		{"inboxes_update", `{"id":"` + id1 + `","label":"Jobs"}`, []any{*f.things.inbox, label}},
		{"inboxes_update", `{"id":"` + id1 + `","label":"Support","agent_id":"` + id3 + `"}`, nil}, // which is the same agent's
		{"inboxes_update", `{"id":"` + id1 + `"}`, nil},
		{"workspaces_update", `{"id":"` + id1 + `"}`, nil},
		{"agents_update", `{"id":"` + id1 + `"}`, nil},
		{"webhooks_update", `{"id":"` + id1 + `"}`, nil},
		{"secrets_update", `{"id":"` + id1 + `"}`, nil},
		{"secrets_update", `{"id":"` + id1 + `","description":"new"}`, []any{*f.secret, description, (*string)(nil)}},
	} {
		l := newLab(t)
		r := l.call(test.tool, test.args, "")
		if r.Result.IsError || r.Result.ResultType != "complete" {
			t.Fatalf("%s %s: %s", test.tool, test.args, r.Body)
		}
		var given []any
		if len(l.wrote) > 0 {
			given = l.wrote[0].Given
		}
		if diff := cmp.Diff(test.given, given); diff != "" {
			t.Errorf("%s %s: %s", test.tool, test.args, diff)
		}
	}
}

// A workspace is changed under the membership there, and the event is left
// there.
func TestWorkspacesAreChangedThere(t *testing.T) {
	l := newLab(t)
	l.things.workspace.ID = there
	l.caller.Memberships = append(l.caller.Memberships, access.Membership{Workspace: there, Role: access.Owner}, access.Membership{Workspace: "x", Role: access.Admin})
	l.call("workspaces_update", `{"id":"`+string(there)+`","label":"Bosque"}`, "")
	l.wantWrites("UpdateWorkspace")
	if by := l.wrote[0].By; by.Workspace != there {
		t.Errorf("the event is left in %s", by.Workspace)
	}
	if want := []string{fmt.Sprintf("Workspace [%s %s] %s", here, there, there)}; !cmp.Equal(want, l.asked) {
		t.Errorf("asked %v, want %v", l.asked, want)
	}
}

// Two people edit one record: who read it before the other one changed it is
// told so.
func TestExpectedUpdatedAt(t *testing.T) {
	for _, tool := range []string{"workspaces_update", "inboxes_update", "agents_update", "webhooks_update", "secrets_update"} {
		l := newLab(t)
		changed := ""
		if tool != "secrets_update" {
			changed = `,"label":"New"`
		}
		args := `{"id":"` + id1 + `"` + changed + `,"expected_updated_at":"2026-12-02T12:00:00.000000001Z"}`
		l.wantError(l.call(tool, args, ""), "conflict", "was last changed at 2026-12-02T12:00:00Z, not at expected_updated_at", "Nothing was changed")
		l.wantWrites()
		l.wantError(l.call(tool, `{"id":"`+id1+`","expected_updated_at":"2026-12-02"}`, ""), "invalid_arguments", "expected_updated_at must be an RFC 3339 time", "Nothing was changed")
	}
}

// A record that changes between reading and writing is read and judged again,
// a few times.
func TestChangedInTheMeantime(t *testing.T) {
	changed := &inbox.Error{Code: inbox.CodeConflict, Message: "The inbox changed in the meantime. Nothing was done.", Err: inbox.ErrChanged}
	l := newLab(t)
	l.fault = func(n int) error {
		l.things.inbox = new(*l.things.inbox)
		l.things.inbox.Label = fmt.Sprint("Version ", n)
		if n < 3 {
			return changed
		}
		return nil
	}
	if r := l.call("inboxes_update", `{"id":"`+id1+`","status":"inactive"}`, ""); r.Result.IsError {
		t.Error(r.Body)
	}
	l.wantWrites("UpdateInbox", "UpdateInbox", "UpdateInbox")
	if was, now := l.wrote[2].Given[0].(inbox.Inbox), l.wrote[2].Given[1].(inbox.Inbox); was.Label != "Version 2" || now.Label != "Version 2" || now.Status != inbox.Inactive {
		t.Errorf("the last try changed %+v to %+v", was, now)
	}

	l = newLab(t)
	l.fault = func(int) error { return changed }
	l.wantError(l.call("inboxes_update", `{"id":"`+id1+`","label":"New"}`, ""), "conflict", "keeps changing", "Nothing was changed")
	l.wantWrites("UpdateInbox", "UpdateInbox", "UpdateInbox")

	l = newLab(t) // an expectation that no longer holds is no reason to try again
	l.fault = func(int) error {
		l.things.inbox = new(*l.things.inbox)
		l.things.inbox.UpdatedAt = noon.Add(time.Second)
		return changed
	}
	l.wantError(l.call("inboxes_update", `{"id":"`+id1+`","label":"New","expected_updated_at":"2026-12-02T12:00:00Z"}`, ""),
		"conflict", "last changed at 2026-12-02T12:00:01Z")
	l.wantWrites("UpdateInbox")
}

// A write that broke may have happened: the answer says so. The audit names the
// client by its token alone: what it calls itself could be another's name.
func TestBrokenWrite(t *testing.T) {
	l := newLab(t)
	l.caller.Client = ""
	l.fault = func(int) error { return errDown }
	l.wantError(l.call("inboxes_update", `{"id":"`+id1+`","label":"New"}`, ""), "internal", "it is not certain what was done, so look before you repeat it.")
	l.wantWrites("UpdateInbox")
	if by := l.wrote[0].By; by.Client != "" {
		t.Errorf("client %q", by.Client)
	}
	l.err = errDown // before anything was written
	l.wantError(l.call("inboxes_update", `{"id":"`+id1+`","label":"New"}`, ""), "internal", "nothing was changed")
}

// A client that hangs up while its call runs does not undo it, nor end it
// halfway.
func TestHangingUp_13_03(t *testing.T) {
	for _, tool := range []string{"inboxes_update", "inboxes_delete"} {
		l := newLab(t)
		args := `{"id":"` + id1 + `"}`
		state := l.ask("inboxes_delete", args)
		if tool == "inboxes_update" {
			args = `{"id":"` + id1 + `","label":"New"}`
		}
		ctx, hangUp := context.WithCancel(access.WithCaller(t.Context(), l.caller))
		l.fault = func(int) error { hangUp(); return nil }
		run, err := l.Methods()["tools/call"](ctx, &mcp.Request{
			Params:  jsontext.Value(`{"name":"` + tool + `","arguments":` + args + answered(state, sayYes) + `}`),
			Version: mcp.V20260728, ElicitForm: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := run(ctx); err != nil || strings.Contains(string(r.Fields), "isError") || ctx.Err() == nil {
			t.Errorf("%s: %v %v", tool, r, err)
		}
	}
}

// A tool that writes answers the same in every era, if it asks nobody.
func TestWritingInEveryEra(t *testing.T) {
	for _, v := range mcp.Versions() {
		l := newLab(t)
		r := l.at(v, "inboxes_update", `{"id":"`+id1+`","label":"New"}`, "")
		l.wantWrites("UpdateInbox")
		if r.Result.IsError || !strings.Contains(r.Result.text(), `"label":"New"`) {
			t.Errorf("%s: %s", v, r.Body)
		}
	}
}
