package inboxstore

import (
	"errors"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// office is a workspace with one record of each kind that people change, as
// they were read. The inbox has the agent, and the webhook is bound to it.
type office struct {
	ws        access.WorkspaceID
	workspace inbox.Workspace
	agent     inbox.Agent
	box       inbox.Inbox
	hook      inbox.Webhook
	alone     inbox.Inbox
	off, free inbox.Webhook
	signedBy  string
	secret    inbox.Secret
	email     inbox.Email
	run       inbox.AgentRun
}

// The secrets of an office.
const (
	officeToken = "t0ken-of-the-receiver"
	officeValue = "v4lue-of-the-secret"
)

func newOffice(t testing.TB, w *world) office {
	t.Helper()
	ctx := t.Context()
	var o office
	o.ws = w.newWorkspace(t, func(r *Workspace) { r.EmailPrefix = "acme" })
	by := actor(o.ws, "setup")
	o.workspace = must[inbox.Workspace](t)(w.Workspace(ctx, []access.WorkspaceID{o.ws}, string(o.ws)))
	o.agent = must[inbox.Agent](t)(w.CreateAgent(ctx, by, inbox.Agent{Label: "Clerk", LLMModel: "rules/demo", SystemMessage: "Be kind."}))
	o.box = must[inbox.Inbox](t)(w.CreateInbox(ctx, by, inbox.Inbox{Label: "Support", AgentID: &o.agent.ID, AttachmentsAllow: true}))
	var err error
	o.hook, o.signedBy, err = w.CreateWebhook(ctx, by, inbox.Webhook{
		Label: "CRM", URL: "https://crm.example/hook", InboxID: &o.box.ID, Auth: inbox.AuthBearer,
	}, inbox.Credentials{BearerToken: officeToken})
	if err != nil {
		t.Fatal(err)
	}
	o.secret = must[inbox.Secret](t)(w.CreateSecret(ctx, by, inbox.Secret{Name: "API_KEY"}, officeValue))
	o.email = anEmail(o.ws, o.box.ID, noon)
	o.email.RawS3Key = must[string](t)(w.KeepRaw(ctx, o.ws, o.email.ID, []byte("raw")))
	o.run = aRun(o.email, o.agent.ID, noon)
	o.run.Output = new("It says: Olá")
	w.apply(t, o.ws, Insert(o.email), Content(o.email.ID, inbox.EmailContent{Text: new("Olá")}), Insert(o.run))
	o.alone, o.off, o.free = anInbox(o.ws), aWebhook(o.ws), aWebhook(o.ws)
	o.alone.AttachmentsMaxFileNumber, o.alone.AttachmentsMaxFileSize, o.alone.AttachmentsMaxTotalSize = 1, 1, 1
	o.off.Status, o.off.InboxID = inbox.Inactive, &o.box.ID
	w.apply(t, o.ws, Insert(o.alone), Insert(o.off), Insert(o.free))
	o.email, _, err = w.Email(ctx, o.ws, o.email.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.table.Reset()
	w.now = w.now.Add(time.Second) // what comes is newer
	return o
}

func actor(ws access.WorkspaceID, tool string) inbox.Actor {
	return inbox.Actor{Workspace: ws, Person: access.Person{Issuer: "https://id.example", Subject: "ana"}, Client: "claude", Tool: tool, Arguments: "digest"}
}

// edit is a call of one method of inbox.Editor.
type edit struct {
	tool, slug string
	// do makes the change of what the office has, and returns what was changed.
	do func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error)
	// creates: there is nothing that it could have read before.
	creates bool
	// about are the inbox and the e-mail that the event concerns.
	about func(o office) (in, email inbox.ID)
}

func nothing(office) (in, email inbox.ID)    { return "", "" }
func theInbox(o office) (in, email inbox.ID) { return o.box.ID, "" }
func theEmail(o office) (in, email inbox.ID) { return o.box.ID, o.email.ID }

// edits are all methods of inbox.Editor that change something.
func edits() []edit {
	return []edit{
		{tool: "workspaces_update", slug: "workspace.updated", about: nothing, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			now := o.workspace
			now.Label, now.Locale = "Acme Ltd", inbox.Portuguese
			r, err := w.UpdateWorkspace(t.Context(), by, o.workspace, now)
			return inbox.ID(r.ID), err
		}},
		{tool: "inboxes_create", slug: "inbox.created", creates: true, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			r, err := w.CreateInbox(t.Context(), by, inbox.Inbox{Label: "Sales", AgentID: &o.agent.ID})
			return r.ID, err
		}},
		{tool: "inboxes_update", slug: "inbox.updated", about: theInbox, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			now := o.box
			now.Label, now.Status = "Help", inbox.Inactive
			r, err := w.UpdateInbox(t.Context(), by, o.box, now)
			return r.ID, err
		}},
		{tool: "inboxes_delete", slug: "inbox.deleted", about: theInbox, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			return o.box.ID, w.DeleteInbox(t.Context(), by, o.box, 1)
		}},
		{tool: "inboxes_add_recipient", slug: "inbox.recipient_added", about: theInbox, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			r, err := w.SetRecipients(t.Context(), by, o.box, []string{"ana@example.com"})
			return r.ID, err
		}},
		{tool: "agents_create", slug: "agent.created", about: nothing, creates: true, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			r, err := w.CreateAgent(t.Context(), by, inbox.Agent{Label: "Judge", LLMModel: "rules/demo", SystemMessage: "Be just."})
			return r.ID, err
		}},
		{tool: "agents_update", slug: "agent.updated", about: nothing, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			now := o.agent
			now.SystemMessage = "Be brief."
			r, err := w.UpdateAgent(t.Context(), by, o.agent, now)
			return r.ID, err
		}},
		{tool: "agents_delete", slug: "agent.deleted", about: nothing, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			return o.agent.ID, w.DeleteAgent(t.Context(), by, o.agent, 1)
		}},
		{tool: "webhooks_create", slug: "webhook.created", about: theInbox, creates: true, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			r, _, err := w.CreateWebhook(t.Context(), by, inbox.Webhook{Label: "ERP", URL: "https://erp.example", InboxID: &o.box.ID}, inbox.Credentials{})
			return r.ID, err
		}},
		{tool: "webhooks_update", slug: "webhook.updated", about: theInbox, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			now := o.hook
			now.SubscribedEvents = []string{inbox.EventEmailProcessed}
			r, err := w.UpdateWebhook(t.Context(), by, o.hook, now)
			return r.ID, err
		}},
		{tool: "webhooks_delete", slug: "webhook.deleted", about: theInbox, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			return o.hook.ID, w.DeleteWebhook(t.Context(), by, o.hook)
		}},
		{tool: "webhooks_rotate_secret", slug: "webhook.secret_rotated", about: theInbox, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			_, _, err := w.RotateSecret(t.Context(), by, o.hook)
			return o.hook.ID, err
		}},
		{tool: "emails_delete", slug: "email.deleted", about: theEmail, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			return o.email.ID, w.DeleteEmail(t.Context(), by, o.email)
		}},
		{tool: "secrets_create", slug: "secret.created", about: nothing, creates: true, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			r, err := w.CreateSecret(t.Context(), by, inbox.Secret{Name: "OTHER"}, "other value")
			return r.ID, err
		}},
		{tool: "secrets_update", slug: "secret.updated", about: nothing, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			now := o.secret
			now.Description = new("for the bank")
			r, err := w.UpdateSecret(t.Context(), by, o.secret, now, new("another value"))
			return r.ID, err
		}},
		{tool: "secrets_delete", slug: "secret.deleted", about: nothing, do: func(t *testing.T, w *world, by inbox.Actor, o office) (inbox.ID, error) {
			return o.secret.ID, w.DeleteSecret(t.Context(), by, o.secret)
		}},
	}
}

// wantChanged fails unless err is the conflict over a record that changed, or
// the record is gone.
func wantChanged(t testing.TB, err error) {
	t.Helper()
	conflict := inbox.CodeOf(err) == inbox.CodeConflict && errors.Is(err, inbox.ErrChanged)
	if !conflict && inbox.CodeOf(err) != inbox.CodeNotFound {
		t.Errorf("error = %v, want that the record changed or is gone", err)
	}
}
