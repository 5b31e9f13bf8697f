package inboxstore

import (
	"context"
	"errors"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// full is a workspace with one record of each family, in every field that is
// easily lost.
type full struct {
	ws        access.WorkspaceID
	workspace Workspace
	box       inbox.Inbox
	agent     inbox.Agent
	email     inbox.Email
	content   inbox.EmailContent
	run       inbox.AgentRun
	workflow  inbox.WorkflowRun
	hook      inbox.Webhook
	delivery  inbox.Delivery
	event     inbox.SystemEvent
	secret    inbox.Secret
}

func newFull(t testing.TB, w *world) full {
	t.Helper()
	var f full
	f.ws = w.newWorkspace(t, func(r *Workspace) {
		r.ExternalID, r.MonthlyCostLimit = new("ext-"+string(r.ID)), new(12.5)
		f.workspace = *r
	})
	f.box, f.agent, f.hook = anInbox(f.ws), anAgent(f.ws), aWebhook(f.ws)
	f.box.ExternalID, f.agent.ExternalID, f.hook.ExternalID = new("same"), new("same"), new("same")
	f.box.Filters = []inbox.Object{inbox.Object(`{"field":"subject","contains":"<b>"}`)}
	f.email = anEmail(f.ws, f.box.ID, noon)
	f.email.Attachments = []inbox.Attachment{{Filename: "a.pdf", ContentType: "application/pdf", Size: 3}}
	f.email.RawS3Key = "raw"
	f.content = inbox.EmailContent{Headers: []inbox.Header{{Name: "Subject", Value: "Olá"}}, Text: new("text"), HTML: new("<p>")}
	f.run = aRun(f.email, f.agent.ID, noon)
	f.workflow = inbox.WorkflowRun{ID: inbox.NewID(noon), WorkspaceID: f.ws, InboxID: f.box.ID, EmailID: f.email.ID, Status: inbox.RunSuccess}
	f.event = anEvent(f.ws, "email.received", noon)
	f.event.EmailID = &f.email.ID
	f.delivery = aDelivery(f.hook.ID, noon)
	f.secret = inbox.Secret{ID: inbox.NewID(noon), WorkspaceID: f.ws, Name: "API_KEY", CreatedAt: noon, UpdatedAt: noon}
	w.apply(t, f.ws, Insert(f.box), Insert(f.agent), Insert(f.email), Content(f.email.ID, f.content), Insert(f.run),
		Insert(f.workflow), Insert(f.hook), Insert(f.event), Insert(f.delivery), Insert(f.secret), Confidential(f.secret.ID, []byte("value")))
	w.calls()
	return f
}

// read1 makes a call and compares what it answers and what it read.
func read1[T any](t *testing.T, w *world, what string, want T, gets, queries int, ask func() (T, error)) {
	t.Helper()
	got, err := ask()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if d := diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
	w.wantCalls(t, what, gets, queries)
}

func TestRecordsComeBackInOneRead(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	ctx, ws := t.Context(), f.ws

	read1(t, w, "inbox", f.box, 1, 0, func() (inbox.Inbox, error) { return w.Inbox(ctx, ws, string(f.box.ID)) })
	read1(t, w, "inbox by external_id", f.box, 2, 0, func() (inbox.Inbox, error) { return w.Inbox(ctx, ws, "same") })
	read1(t, w, "inbox by address", f.box, 2, 0, func() (inbox.Inbox, error) { return w.InboxByAddress(ctx, f.box.Email) })
	read1(t, w, "agent", f.agent, 1, 0, func() (inbox.Agent, error) { return w.Agent(ctx, ws, string(f.agent.ID)) })
	read1(t, w, "agent by external_id", f.agent, 2, 0, func() (inbox.Agent, error) { return w.Agent(ctx, ws, "same") })
	read1(t, w, "webhook", f.hook, 1, 0, func() (inbox.Webhook, error) { return w.Webhook(ctx, ws, string(f.hook.ID)) })
	read1(t, w, "webhook by external_id", f.hook, 2, 0, func() (inbox.Webhook, error) { return w.Webhook(ctx, ws, "same") })
	read1(t, w, "agent run", f.run, 1, 0, func() (inbox.AgentRun, error) { return w.AgentRun(ctx, ws, f.run.ID) })
	read1(t, w, "workflow run", f.workflow, 1, 0, func() (inbox.WorkflowRun, error) { return w.WorkflowRun(ctx, ws, f.workflow.ID) })
	read1(t, w, "system event", f.event, 1, 0, func() (inbox.SystemEvent, error) { return w.SystemEvent(ctx, ws, f.event.ID) })
	read1(t, w, "delivery", f.delivery, 2, 0, func() (inbox.Delivery, error) { return w.Delivery(ctx, ws, string(f.hook.ID), f.delivery.ID) })
	read1(t, w, "e-mail", f.email, 2, 0, func() (inbox.Email, error) {
		e, c, err := w.Email(ctx, ws, f.email.ID)
		if d := diff(f.content, c); d != "" {
			t.Errorf("content (-want +got):\n%s", d)
		}
		return e, err
	})
	ids := []access.WorkspaceID{ws}
	read1(t, w, "workspace", f.workspace.Workspace, 1, 1, func() (inbox.Workspace, error) { return w.Workspace(ctx, ids, string(ws)) })
	read1(t, w, "workspace by external_id", f.workspace.Workspace, 2, 1, func() (inbox.Workspace, error) {
		return w.Workspace(ctx, ids, *f.workspace.ExternalID)
	})
	read1(t, w, "workspace with organization", f.workspace, 1, 0, func() (Workspace, error) {
		s, err := Get[Workspace](ctx, w.DB, ws, string(ws))
		return s.Record, err
	})
	read1(t, w, "link", inbox.Link{URL: "https://link/raw"}, 1, 0, func() (inbox.Link, error) {
		o := w.opts
		o.Links = func(_ context.Context, key string) (inbox.Link, error) {
			return inbox.Link{URL: "https://link/" + key}, nil
		}
		return New(o).EmailLink(ctx, ws, f.email.ID)
	})
}

func TestListsOfOneIndexAreOneQuery(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	ctx, ws, p := t.Context(), f.ws, inbox.PageRequest{}

	list1(t, w, "inboxes", f.box, 0, func() (inbox.Page[inbox.Inbox], error) { return w.Inboxes(ctx, ws, p) })
	list1(t, w, "agents", f.agent, 0, func() (inbox.Page[inbox.Agent], error) { return w.Agents(ctx, ws, p) })
	list1(t, w, "webhooks", f.hook, 0, func() (inbox.Page[inbox.Webhook], error) { return w.Webhooks(ctx, ws, p) })
	list1(t, w, "secrets", f.secret, 0, func() (inbox.Page[inbox.Secret], error) { return w.Secrets(ctx, ws, p) })
	list1(t, w, "deliveries", f.delivery, 1, func() (inbox.Page[inbox.Delivery], error) {
		return w.Deliveries(ctx, ws, string(f.hook.ID), inbox.DeliveryFilter{Status: inbox.DeliverySuccess}, p)
	})
	list1(t, w, "e-mails by inbox", f.email, 1, func() (inbox.Page[inbox.Email], error) {
		return w.Emails(ctx, ws, inbox.EmailFilter{Inbox: string(f.box.ID)}, p)
	})
	list1(t, w, "e-mails by sender and time", f.email, 0, func() (inbox.Page[inbox.Email], error) {
		return w.Emails(ctx, ws, inbox.EmailFilter{From: "ANA@example.com", Since: noon}, p)
	})
	list1(t, w, "runs by status and e-mail", f.run, 0, func() (inbox.Page[inbox.AgentRun], error) {
		return w.AgentRuns(ctx, ws, inbox.AgentRunFilter{Status: inbox.RunSuccess, Email: f.email.ID}, p)
	})
	list1(t, w, "workflow runs by e-mail", f.workflow, 0, func() (inbox.Page[inbox.WorkflowRun], error) {
		return w.WorkflowRuns(ctx, ws, inbox.WorkflowRunFilter{Email: f.email.ID}, p)
	})
	list1(t, w, "events by e-mail", f.event, 0, func() (inbox.Page[inbox.SystemEvent], error) {
		return w.SystemEvents(ctx, ws, inbox.SystemEventFilter{Email: f.email.ID}, p)
	})
}

// list1 is [read1] for a list of one record, which is one query.
func list1[T any](t *testing.T, w *world, what string, want T, gets int, ask func() (inbox.Page[T], error)) {
	t.Helper()
	read1(t, w, what, inbox.Page[T]{Data: []T{want}}, gets, 1, ask)
}

func TestR9_RecentIDsAreOneQuery(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	w.fill(t, f.ws, f.box.ID, 5, nil)
	w.calls()
	newest := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), f.ws, inbox.EmailFilter{}, inbox.PageRequest{})).Data
	w.calls()
	for _, c := range []struct {
		name, prefix string
		n, want      int
		more         bool
	}{
		{"all", "", 6, 6, false}, {"some", "", 5, 5, true}, {"by a whole id", string(newest[2].ID), 5, 1, false},
		{"by what they share", string(newest[0].ID)[:10], 9, 6, false}, {"by nothing they have", "ffff", 5, 0, false},
	} {
		ids, more, err := w.RecentIDs(t.Context(), f.ws, inbox.Emails, c.prefix, c.n)
		if err != nil || len(ids) != c.want || more != c.more {
			t.Errorf("%s: %d ids, more %v, %v; want %d, %v", c.name, len(ids), more, err, c.want, c.more)
		}
		if c.want > 1 && ids[0] != string(newest[0].ID) {
			t.Errorf("%s: not newest first", c.name)
		}
		w.wantCalls(t, c.name, 0, 1)
	}
	for _, prefix := range []string{"x", "#", "\xff", "0193864C", string(newest[0].ID) + "0"} {
		if ids, more, err := w.RecentIDs(t.Context(), f.ws, inbox.Emails, prefix, 5); err != nil || len(ids) != 0 || more {
			t.Errorf("prefix %q: %v, %v, %v", prefix, ids, more, err)
		}
	}
	for _, family := range []inbox.Family{secretsFamily, deliveriesFamily, workspacesFamily, "", "deleted"} {
		if _, _, err := w.RecentIDs(t.Context(), f.ws, family, "", 5); err == nil {
			t.Errorf("family %q has ids to complete", family)
		}
	}
}

func TestNilObjectsAreEmptyOnes(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	d := must[inbox.Delivery](t)(w.Delivery(t.Context(), f.ws, string(f.hook.ID), f.delivery.ID))
	if string(d.RequestHeaders) != "{}" || d.ResponseHeaders != nil {
		t.Errorf("request_headers %s, response_headers %v; want {} and null", d.RequestHeaders, d.ResponseHeaders)
	}
	b := must[inbox.Inbox](t)(w.Inbox(t.Context(), f.ws, string(f.box.ID)))
	if string(b.Metadata) != "{}" || b.AllowedRecipients == nil {
		t.Errorf("metadata %s, allowed_recipients %v; want {} and []", b.Metadata, b.AllowedRecipients)
	}
}

func TestHostileTextIsKeptAndFound(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	e := anEmail(ws, anInbox(ws).ID, noon)
	e.From, e.Subject = "a\xff\xff#%\x00@example.com", new("\xc3\x28\x00\u2028")
	w.apply(t, ws, Insert(e))
	kept := must[Stored[inbox.Email]](t)(Get[inbox.Email](t.Context(), w.DB, ws, string(e.ID)))
	if *kept.Record.Subject != "\ufffd(\x00\u2028" {
		t.Errorf("subject kept as %q", *kept.Record.Subject)
	}
	bySender := func() int {
		return len(must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), ws, inbox.EmailFilter{From: kept.Record.From}, inbox.PageRequest{})).Data)
	}
	if n := bySender(); n != 1 {
		t.Errorf("by its sender %q: %d e-mails", kept.Record.From, n)
	}
	w.apply(t, ws, Delete(kept))
	if n := bySender(); n != 0 {
		t.Errorf("deleted, and still by its sender: %d e-mails", n)
	}
}

func TestUnavailable(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	w.table.Inject(storetest.Injection{Effect: storetest.Fail})
	ctx, ws, p := t.Context(), f.ws, inbox.PageRequest{}
	calls := map[string]error{}
	_, calls["get"] = w.Inbox(ctx, ws, string(f.box.ID))
	_, calls["get by external_id"] = w.Inbox(ctx, ws, "same")
	_, calls["list"] = w.Inboxes(ctx, ws, p)
	_, calls["list by a ref"] = w.Emails(ctx, ws, inbox.EmailFilter{Inbox: "same"}, p)
	_, calls["workspace"] = w.Workspace(ctx, []access.WorkspaceID{ws}, string(ws))
	_, calls["workspace by external_id"] = w.Workspace(ctx, []access.WorkspaceID{ws}, "x")
	_, calls["workspaces"] = w.Workspaces(ctx, []access.WorkspaceID{ws}, p)
	_, calls["usage"] = w.Usage(ctx, ws, noon, noon)
	_, _, calls["ids"] = w.RecentIDs(ctx, ws, inbox.Inboxes, "", 3)
	calls["apply"] = w.Apply(ctx, ws, Insert(anInbox(ws)))
	for name, err := range calls {
		wantError(t, err, inbox.CodeUnavailable, "")
		if !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: the cause is lost: %v", name, err)
		}
	}
	_, err := w.EmailLink(ctx, ws, f.email.ID)
	wantError(t, err, inbox.CodeUnavailable, "")
}
