package inboxstore

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// What is left empty is made; what comes back is what reading gives.
func TestWhatADraftBecomes(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx, by := t.Context(), actor(o.ws, "tool")

	box := must[inbox.Inbox](t)(w.CreateInbox(ctx, by, inbox.Inbox{Label: "Cobrança & São Paulo", AllowedRecipients: []string{"Ana@b.example", "ana@B.example", "c@d.example"}}))
	if !regexp.MustCompile(`^acme-cobranca-sao-paulo-[a-z2-7]{8}@inbox\.kobana\.com\.br$`).MatchString(box.Email) {
		t.Errorf("address %s", box.Email)
	}
	if *box.ExternalID != string(box.ID) || box.Status != inbox.Active || box.AttachmentsAllow || box.AttachmentsMaxFileNumber != inbox.DefaultAttachments ||
		box.AttachmentsMaxFileSize != inbox.DefaultAttachmentSize || box.AttachmentsMaxTotalSize != inbox.DefaultAttachmentsSum ||
		!slices.Equal(box.AllowedRecipients, []string{"Ana@b.example", "c@d.example"}) || !box.CreatedAt.Equal(w.now) || !box.UpdatedAt.Equal(w.now) {
		t.Errorf("inbox %+v", box)
	}
	if got := must[inbox.Inbox](t)(w.InboxByAddress(ctx, box.Email)); allJSON(t, got, nil) != allJSON(t, box, nil) {
		t.Errorf("returned %+v\nreads as %+v", box, got)
	}

	ref := uuid.NewString()
	agent := must[inbox.Agent](t)(w.CreateAgent(ctx, by, inbox.Agent{ExternalID: new(strings.ToUpper(ref)), Label: "x", LLMModel: "rules/demo", SystemMessage: "x"}))
	if got := must[inbox.Agent](t)(w.Agent(ctx, o.ws, ref)); got.ID != agent.ID {
		t.Errorf("by external_id: %+v", got)
	}
	_, err := w.CreateAgent(ctx, by, inbox.Agent{ExternalID: &ref, Label: "x", LLMModel: "rules/demo", SystemMessage: "x"})
	wantError(t, err, inbox.CodeConflict, "external_id")

	hook, secret, err := w.CreateWebhook(ctx, by, inbox.Webhook{Label: "x", URL: "https://a.example"}, inbox.Credentials{})
	if err != nil || !slices.Equal(hook.SubscribedEvents, []string{"*"}) || hook.Auth != inbox.AuthNone || hook.Status != inbox.Active || !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("webhook %+v, %v", hook, err)
	}
	hook, _, err = w.CreateWebhook(ctx, by, inbox.Webhook{Label: "x", URL: "https://a.example", Status: inbox.Inactive, ConsecutiveFailures: 9,
		SubscribedEvents: []string{"email.received", "email.failed", "email.received"}}, inbox.Credentials{})
	if err != nil || !slices.Equal(hook.SubscribedEvents, []string{"email.failed", "email.received"}) || hook.Status != inbox.Active || hook.ConsecutiveFailures != 0 {
		t.Errorf("webhook %+v, %v", hook, err)
	}
}

func TestAddressesOfInboxes(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Domain = "in.example" })
	o := newOffice(t, w)
	create := func(label, email string) (inbox.Inbox, error) {
		return w.CreateInbox(t.Context(), actor(o.ws, "inboxes_create"), inbox.Inbox{Label: label, Email: email})
	}
	for email, want := range map[string]string{
		"Support.BR+x@IN.example": "support.br+x@in.example", "a@in.example": "a@in.example", strings.Repeat("a", 64) + "@in.example": strings.Repeat("a", 64) + "@in.example",
	} {
		if r, err := create("x", email); err != nil || r.Email != want {
			t.Errorf("%q became %q, %v", email, r.Email, err)
		}
	}
	for _, email := range []string{
		"a@other.example", "a@sub.in.example", "a@in.example.", "a", "@in.example", "a@b@in.example", ".a@in.example", "a.@in.example", "a..b@in.example",
		"a b@in.example", "á@in.example", `"a"@in.example`, "a\u200b@in.example", "a@in.example\n", strings.Repeat("a", 65) + "@in.example",
		"postmaster@in.example", "Admin@in.example", "hostmaster@in.example", "abuse@in.example",
	} {
		_, err := create("x", email)
		wantError(t, err, inbox.CodeInvalid, "email")
		wantUnchanged(t, err)
	}
	_, err := create("x", "SUPPORT.br+x@in.example")
	wantError(t, err, inbox.CodeConflict, "email")
	for _, label := range []string{"日本", "---", strings.Repeat("Ação ", 24), "İstanbul ﬁn"} {
		r, err := create(label, "")
		if err != nil || !inbox.IsAddress(r.Email) || len(strings.TrimSuffix(r.Email, "@in.example")) > maxLocalPart {
			t.Errorf("%q became %q, %v", label, r.Email, err)
		}
	}
	bare := w.newWorkspace(t)
	r, err := w.CreateInbox(t.Context(), actor(bare, "inboxes_create"), inbox.Inbox{Label: "日本"})
	if err != nil || !regexp.MustCompile(`^[a-z2-7]{8}@in\.example$`).MatchString(r.Email) {
		t.Errorf("without a prefix and a label in letters: %q, %v", r.Email, err)
	}
}

func TestSetRecipients(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	for _, c := range []struct {
		set, want []string
		slug      string
	}{
		{[]string{"ana@b.example"}, []string{"ana@b.example"}, "inbox.recipient_added"},
		{[]string{"ana@b.example", "ANA@b.example"}, []string{"ana@b.example"}, "inbox.updated"}, // idempotent
		{[]string{"ana@b.example", "c@d.example"}, []string{"ana@b.example", "c@d.example"}, "inbox.recipient_added"},
		{[]string{"c@d.example"}, []string{"c@d.example"}, "inbox.recipient_removed"},
		{nil, []string{}, "inbox.recipient_removed"},
	} {
		before := len(w.events(t, o.ws, c.slug))
		r, err := w.SetRecipients(t.Context(), actor(o.ws, "inboxes_add_recipient"), o.box, c.set)
		if err != nil || !slices.Equal(r.AllowedRecipients, c.want) || r.AllowedRecipients == nil {
			t.Fatalf("%q became %q, %v", c.set, r.AllowedRecipients, err)
		}
		if after := len(w.events(t, o.ws, c.slug)); after != before+1 {
			t.Errorf("%q: %d events %s, want %d", c.set, after, c.slug, before+1)
		}
		o.box = r
	}
	_, err := w.SetRecipients(t.Context(), actor(o.ws, "inboxes_add_recipient"), o.box, []string{"no address"})
	wantError(t, err, inbox.CodeInvalid, "allowed_recipients")
}

// An update takes what it says that it changes, and nothing else.
func TestUpdatesLeaveTheRestAlone(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx, by := t.Context(), actor(o.ws, "tool")
	other := inbox.NewID(noon)

	now := o.box
	now.ID, now.WorkspaceID, now.ExternalID, now.Email, now.CreatedAt = other, "other", new("other"), "other@example.com", noon.AddDate(1, 0, 0)
	now.AllowedRecipients, now.Metadata = []string{"evil@example.com"}, inbox.Object(`{"x":1}`)
	box, err := w.UpdateInbox(ctx, by, o.box, now)
	o.box.UpdatedAt = box.UpdatedAt
	if d := diff(o.box, box); d != "" || err != nil {
		t.Errorf("inbox (-want +got):\n%s%v", d, err)
	}

	hook := o.hook
	hook.ID, hook.WorkspaceID, hook.ExternalID, hook.Auth, hook.ConsecutiveFailures = other, "other", nil, inbox.AuthNone, 3
	got, err := w.UpdateWebhook(ctx, by, o.hook, hook)
	o.hook.UpdatedAt = got.UpdatedAt
	if d := diff(o.hook, got); d != "" || err != nil {
		t.Errorf("webhook (-want +got):\n%s%v", d, err)
	}

	secret := o.secret
	secret.Name, secret.ID = "OTHER", other
	kept, err := w.UpdateSecret(ctx, by, o.secret, secret, nil)
	o.secret.UpdatedAt = kept.UpdatedAt
	if d := diff(o.secret, kept); d != "" || err != nil {
		t.Errorf("secret (-want +got):\n%s%v", d, err)
	}
	var value string
	if err := w.reveal(ctx, o.ws, o.secret.ID, &value); value != officeValue || err != nil {
		t.Errorf("the value is %q, %v", value, err)
	}
	kept = must[inbox.Secret](t)(w.UpdateSecret(ctx, by, kept, kept, new("new value")))
	if err := w.reveal(ctx, o.ws, o.secret.ID, &value); value != "new value" || err != nil {
		t.Errorf("the value is %q, %v", value, err)
	}
	if d := diff(kept, must[inbox.Secret](t)(w.Secret(ctx, o.ws, o.secret.ID))); d != "" {
		t.Errorf("secret (-want +got):\n%s", d)
	}
}

// What is no longer offered, or no longer there, may stay while other things
// change.
func TestWhatARecordHasMayStay(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	agent, box := anAgent(o.ws), o.alone
	agent.LLMModel = "gone/model"
	box.ID, box.ExternalID, box.Email, box.AgentID = inbox.NewID(noon), nil, "gone@inbox.example", new(inbox.NewID(noon))
	w.apply(t, o.ws, Insert(agent), Insert(box))
	other := agent
	other.Label = "Other"
	if _, err := w.UpdateAgent(t.Context(), actor(o.ws, "agents_update"), agent, other); err != nil {
		t.Error(err)
	}
	renamed := box
	renamed.Label = "Other"
	if _, err := w.UpdateInbox(t.Context(), actor(o.ws, "inboxes_update"), box, renamed); err != nil {
		t.Error(err)
	}
}

// A webhook that is switched on again begins anew to count failures.
func TestSwitchingOnForgetsFailures(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	stored := must[Stored[inbox.Webhook]](t)(Get[inbox.Webhook](t.Context(), w.DB, o.ws, string(o.hook.ID)))
	off := stored.Record
	off.Status, off.ConsecutiveFailures = inbox.Inactive, 9
	w.apply(t, o.ws, Update(stored, off))
	on := off
	on.Status = inbox.Active
	if r, err := w.UpdateWebhook(t.Context(), actor(o.ws, "webhooks_update"), off, on); err != nil || r.ConsecutiveFailures != 0 || r.Status != inbox.Active {
		t.Errorf("%+v, %v", r, err)
	}
}

// Wrong drafts and updates name the field, and leave everything as it was.
func TestWhatNoRecordCanHave(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx, by := t.Context(), actor(o.ws, "tool")
	agent := inbox.Agent{Label: "x", LLMModel: "rules/demo", SystemMessage: "x"}
	hook := inbox.Webhook{Label: "x", URL: "https://a.example"}
	createInbox := func(change func(*inbox.Inbox)) error {
		r := inbox.Inbox{Label: "x"}
		change(&r)
		_, err := w.CreateInbox(ctx, by, r)
		return err
	}
	createAgent := func(change func(*inbox.Agent)) error {
		r := agent
		change(&r)
		_, err := w.CreateAgent(ctx, by, r)
		return err
	}
	createWebhook := func(c inbox.Credentials, change func(*inbox.Webhook)) error {
		r := hook
		change(&r)
		_, secret, err := w.CreateWebhook(ctx, by, r, c)
		if secret != "" {
			t.Error("a secret with an error")
		}
		return err
	}
	before := w.everything(t)
	for name, err := range map[string]error{
		"external_id of an inbox":   createInbox(func(r *inbox.Inbox) { r.ExternalID = new("same") }),
		"label of an inbox":         createInbox(func(r *inbox.Inbox) { r.Label = "" }),
		"external_id of an agent":   createAgent(func(r *inbox.Agent) { r.ExternalID = new("") }),
		"llm_model":                 createAgent(func(r *inbox.Agent) { r.LLMModel = "gpt-1" }),
		"system_message":            createAgent(func(r *inbox.Agent) { r.SystemMessage = "" }),
		"external_id of a webhook":  createWebhook(inbox.Credentials{}, func(r *inbox.Webhook) { r.ExternalID = new("x") }),
		"url":                       createWebhook(inbox.Credentials{}, func(r *inbox.Webhook) { r.URL = "https://localhost/" }),
		"subscribed_events":         createWebhook(inbox.Credentials{}, func(r *inbox.Webhook) { r.SubscribedEvents = []string{"inbox.deleted"} }),
		"auth":                      createWebhook(inbox.Credentials{}, func(r *inbox.Webhook) { r.Auth = "digest" }),
		"auth_basic_user":           createWebhook(inbox.Credentials{}, func(r *inbox.Webhook) { r.Auth = inbox.AuthBasic }),
		"auth_header_key, of none":  createWebhook(inbox.Credentials{HeaderKey: "X-Key"}, func(*inbox.Webhook) {}),
		"auth_bearer_token, and so": createWebhook(inbox.Credentials{BasicUser: "a", BearerToken: "b"}, func(r *inbox.Webhook) { r.Auth = inbox.AuthBasic }),
		"name":                      second(w.CreateSecret(ctx, by, inbox.Secret{Name: "a b"}, "x")),
		"value":                     second(w.CreateSecret(ctx, by, inbox.Secret{Name: "a"}, "")),
		"value of an update":        second(w.UpdateSecret(ctx, by, o.secret, o.secret, new(""))),
		"description":               second(w.UpdateSecret(ctx, by, o.secret, inbox.Secret{Description: new("\x00")}, nil)),
		"email_prefix":              second(w.UpdateWorkspace(ctx, by, o.workspace, inbox.Workspace{Label: "x", Locale: inbox.English})),
		"label of an inbox update":  second(w.UpdateInbox(ctx, by, o.box, inbox.Inbox{})),
		"label of an agent update":  second(w.UpdateAgent(ctx, by, o.agent, inbox.Agent{LLMModel: o.agent.LLMModel})),
		"llm_model of an update":    second(w.UpdateAgent(ctx, by, o.agent, inbox.Agent{Label: "x", LLMModel: "y"})),
		"label of a webhook update": second(w.UpdateWebhook(ctx, by, o.hook, inbox.Webhook{})),
		"subscribed_events to none": second(w.UpdateWebhook(ctx, by, o.hook, inbox.Webhook{Label: "x", Status: inbox.Active, URL: o.hook.URL})),
	} {
		field, _, _ := strings.Cut(name, " ")
		wantError(t, err, inbox.CodeInvalid, strings.TrimSuffix(field, ","))
		wantUnchanged(t, err)
	}
	w.wantNothingChanged(t, before)
}

func second[T any](_ T, err error) error { return err }
