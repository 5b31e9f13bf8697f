package inboxstore

import (
	"fmt"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func TestDeleteInboxSwitchesOffItsWebhooks(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx := t.Context()
	off, everywhere := aWebhook(o.ws), aWebhook(o.ws)
	off.InboxID, off.Status = &o.box.ID, inbox.Inactive
	w.apply(t, o.ws, Insert(off), Insert(everywhere))
	if n, err := w.BoundWebhooks(ctx, o.ws, o.box.ID); n != 1 || err != nil {
		t.Errorf("%d bound webhooks, %v; want 1", n, err)
	}
	if err := w.DeleteInbox(ctx, actor(o.ws, "inboxes_delete"), o.box, 1); err != nil {
		t.Fatal(err)
	}
	_, err := w.Inbox(ctx, o.ws, string(o.box.ID))
	wantError(t, err, inbox.CodeNotFound, "id")
	hook := must[inbox.Webhook](t)(w.Webhook(ctx, o.ws, string(o.hook.ID)))
	if hook.Status != inbox.Inactive || text(hook.InboxID) != string(o.box.ID) || !hook.UpdatedAt.After(o.hook.UpdatedAt) {
		t.Errorf("the bound webhook is %+v", hook)
	}
	if d := diff(everywhere, must[inbox.Webhook](t)(w.Webhook(ctx, o.ws, string(everywhere.ID)))); d != "" {
		t.Errorf("the webhook of all inboxes changed:\n%s", d)
	}

	// It goes on as it is, and cannot be switched on without another inbox.
	now := hook
	now.Label = "Old CRM"
	hook = must[inbox.Webhook](t)(w.UpdateWebhook(ctx, actor(o.ws, "webhooks_update"), hook, now))
	now = hook
	now.Status = inbox.Active
	_, err = w.UpdateWebhook(ctx, actor(o.ws, "webhooks_update"), hook, now)
	wantError(t, err, inbox.CodeNotFound, "inbox_id")
	now.InboxID = nil
	if hook, err = w.UpdateWebhook(ctx, actor(o.ws, "webhooks_update"), hook, now); err != nil || hook.Status != inbox.Active {
		t.Errorf("bound to all inboxes: %+v, %v", hook, err)
	}
}

func TestDeleteAgentTakesItFromItsInboxes(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx := t.Context()
	if n, err := w.AgentInboxes(ctx, o.ws, o.agent.ID); n != 1 || err != nil {
		t.Errorf("%d inboxes, %v; want 1", n, err)
	}
	if err := w.DeleteAgent(ctx, actor(o.ws, "agents_delete"), o.agent, 1); err != nil {
		t.Fatal(err)
	}
	if box := must[inbox.Inbox](t)(w.Inbox(ctx, o.ws, string(o.box.ID))); box.AgentID != nil {
		t.Errorf("the inbox has agent %s", *box.AgentID)
	}
	if n, err := w.AgentInboxes(ctx, o.ws, o.agent.ID); n != 0 || err != nil {
		t.Errorf("%d inboxes, %v; want 0", n, err)
	}
	_, err := w.CreateInbox(ctx, actor(o.ws, "inboxes_create"), inbox.Inbox{Label: "x", AgentID: &o.agent.ID})
	wantError(t, err, inbox.CodeNotFound, "agent_id")
	_, err = w.CreateInbox(ctx, actor(o.ws, "inboxes_create"), inbox.Inbox{Label: "x", AgentID: new(inbox.ID("x#y"))})
	wantError(t, err, inbox.CodeNotFound, "agent_id")
}

// A transaction takes so many records along, as large as they get, and no more.
func TestCascadesAreBounded(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	many := make([]string, inbox.MaxRecipients)
	for i := range many {
		many[i] = fmt.Sprintf("%060d@example.com", i)
	}
	add := func() {
		box, hook := o.box, o.hook
		box.ID, hook.ID = inbox.NewID(noon), inbox.NewID(noon)
		box.ExternalID, hook.ExternalID, box.Email = nil, nil, string(box.ID)+"@inbox.example"
		box.AllowedRecipients = many
		w.apply(t, o.ws, Insert(box), Insert(hook))
	}
	for range maxAlong { // the office has one
		add()
	}
	by := actor(o.ws, "inboxes_delete")
	by.Confirmation = "c-1"
	before := w.everything(t)
	wantError(t, w.DeleteInbox(t.Context(), by, o.box, maxAlong), inbox.CodeLimit, "")
	wantError(t, w.DeleteAgent(t.Context(), by, o.agent, maxAlong), inbox.CodeLimit, "")
	_, err := w.BoundWebhooks(t.Context(), o.ws, o.box.ID)
	wantError(t, err, inbox.CodeLimit, "")
	_, err = w.AgentInboxes(t.Context(), o.ws, o.agent.ID)
	wantError(t, err, inbox.CodeLimit, "")
	w.wantNothingChanged(t, before)

	if err := w.DeleteWebhook(t.Context(), actor(o.ws, "webhooks_delete"), o.hook); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteInbox(t.Context(), by, o.box, maxAlong); err != nil { // of which the agent has one less
		t.Errorf("with %d webhooks: %v", maxAlong, err)
	}
	by.Confirmation = "c-2"
	if err := w.DeleteAgent(t.Context(), by, o.agent, maxAlong); err != nil {
		t.Errorf("with %d inboxes: %v", maxAlong, err)
	}
}
