package inboxstore

import (
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// attempt is a read by a workspace with something that it got hold of.
type attempt struct {
	name string
	ask  func() (any, error)
}

func try[T any](name string, ask func() (T, error)) attempt {
	return attempt{name, func() (any, error) { return ask() }}
}

// attempts are all reads that take an id or a ref.
func attempts(t *testing.T, w *world, ws access.WorkspaceID, ids full, ref func(inbox.ID) string) []attempt {
	ctx, p := t.Context(), inbox.PageRequest{}
	id := func(id inbox.ID) inbox.ID { return inbox.ID(ref(id)) }
	return []attempt{
		try("workspace", func() (inbox.Workspace, error) {
			return w.Workspace(ctx, []access.WorkspaceID{ws}, ref(inbox.ID(ids.ws)))
		}),
		try("inbox", func() (inbox.Inbox, error) { return w.Inbox(ctx, ws, ref(ids.box.ID)) }),
		try("agent", func() (inbox.Agent, error) { return w.Agent(ctx, ws, ref(ids.agent.ID)) }),
		try("webhook", func() (inbox.Webhook, error) { return w.Webhook(ctx, ws, ref(ids.hook.ID)) }),
		try("e-mail", func() (inbox.Email, error) { e, _, err := w.Email(ctx, ws, id(ids.email.ID)); return e, err }),
		try("link", func() (inbox.Link, error) { return w.EmailLink(ctx, ws, id(ids.email.ID)) }),
		try("agent run", func() (inbox.AgentRun, error) { return w.AgentRun(ctx, ws, id(ids.run.ID)) }),
		try("workflow run", func() (inbox.WorkflowRun, error) { return w.WorkflowRun(ctx, ws, id(ids.workflow.ID)) }),
		try("system event", func() (inbox.SystemEvent, error) { return w.SystemEvent(ctx, ws, id(ids.event.ID)) }),
		try("delivery", func() (inbox.Delivery, error) { return w.Delivery(ctx, ws, ref(ids.hook.ID), id(ids.delivery.ID)) }),
		try("secret", func() (inbox.Secret, error) { return w.Secret(ctx, ws, id(ids.secret.ID)) }),
		try("deliveries", func() (inbox.Page[inbox.Delivery], error) {
			return w.Deliveries(ctx, ws, ref(ids.hook.ID), inbox.DeliveryFilter{}, p)
		}),
		try("e-mails by inbox", func() (inbox.Page[inbox.Email], error) {
			return w.Emails(ctx, ws, inbox.EmailFilter{Inbox: ref(ids.box.ID)}, p)
		}),
		try("runs by inbox", func() (inbox.Page[inbox.AgentRun], error) {
			return w.AgentRuns(ctx, ws, inbox.AgentRunFilter{Inbox: ref(ids.box.ID)}, p)
		}),
		try("runs by agent", func() (inbox.Page[inbox.AgentRun], error) {
			return w.AgentRuns(ctx, ws, inbox.AgentRunFilter{Agent: ref(ids.agent.ID)}, p)
		}),
		try("runs by e-mail", func() (inbox.Page[inbox.AgentRun], error) {
			return w.AgentRuns(ctx, ws, inbox.AgentRunFilter{Email: id(ids.email.ID)}, p)
		}),
		try("workflow runs by e-mail", func() (inbox.Page[inbox.WorkflowRun], error) {
			return w.WorkflowRuns(ctx, ws, inbox.WorkflowRunFilter{Email: id(ids.email.ID)}, p)
		}),
		try("events by e-mail", func() (inbox.Page[inbox.SystemEvent], error) {
			return w.SystemEvents(ctx, ws, inbox.SystemEventFilter{Email: id(ids.email.ID)}, p)
		}),
	}
}

// What another workspace has answers like what never was, to the byte.
func TestR5_AnotherWorkspaceIsNotThere(t *testing.T) {
	w := newWorld(t)
	theirs, ws := newFull(t, w), w.newWorkspace(t)
	never := map[inbox.ID]inbox.ID{}
	for i, a := range attempts(t, w, ws, theirs, func(id inbox.ID) string { return string(id) }) {
		b := attempts(t, w, ws, theirs, func(id inbox.ID) string {
			if never[id] == "" {
				never[id] = inbox.NewID(noon)
			}
			return string(never[id])
		})[i]
		t.Run(a.name, func(t *testing.T) {
			got, err := a.ask()
			want, wantErr := b.ask()
			if got, want := allJSON(t, got, err), allJSON(t, want, wantErr); got != want {
				t.Errorf("theirs answers %s\nwhat never was answers %s", got, want)
			}
			if page := allJSON(t, got, err); err == nil && page != `{"data":[],"next_cursor":null}` {
				t.Errorf("answers %s", page)
			}
		})
	}
}

// Nor is what it keeps in confidence, or what would change with it.
func TestR5_NothingOfAnotherWorkspaceIsCountedOrSigns(t *testing.T) {
	w := newWorld(t)
	theirs, ws := newOffice(t, w), w.newWorkspace(t)
	if n, err := w.BoundWebhooks(t.Context(), ws, theirs.box.ID); n != 0 || err != nil {
		t.Errorf("%d bound webhooks, %v", n, err)
	}
	if n, err := w.AgentInboxes(t.Context(), ws, theirs.agent.ID); n != 0 || err != nil {
		t.Errorf("%d inboxes, %v", n, err)
	}
	if secrets, c, err := w.SigningOf(t.Context(), ws, theirs.hook.ID); len(secrets) != 0 || c != (inbox.Credentials{}) || err != nil {
		t.Errorf("%d secrets, %v", len(secrets), err)
	}
}

// No text in place of an id or a ref reaches anything, or breaks anything.
func TestMalformedRefsAreNotThere(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	other := w.newWorkspace(t)
	for _, bad := range []string{
		"x", "#", "%", "%%", "..", "\x00", "\xff", "é", " ", strings.Repeat("9", 5000), strings.Repeat("é", 1000),
		string(f.box.ID) + "#", strings.ToUpper(string(f.box.ID)), string(f.ws) + "#inboxes", "../" + string(f.ws),
	} {
		for _, a := range attempts(t, w, other, f, func(inbox.ID) string { return bad }) {
			got, err := a.ask()
			if answer := allJSON(t, got, err); err == nil && answer != `{"data":[],"next_cursor":null}` {
				t.Errorf("%s of %.40q: %s", a.name, bad, answer)
			} else if err != nil && !strings.HasPrefix(err.Error(), string(inbox.CodeNotFound)) {
				t.Errorf("%s of %.40q: %v", a.name, bad, err)
			}
		}
		if ids := must[inbox.Page[inbox.Email]](t)(w.Emails(t.Context(), other, inbox.EmailFilter{From: bad}, inbox.PageRequest{})); len(ids.Data) > 0 {
			t.Errorf("e-mails from %.40q: %v", bad, ids.Data)
		}
		_, err := w.InboxByAddress(t.Context(), bad)
		wantError(t, err, inbox.CodeNotFound, "email")
	}
}

// A workspace id cannot be so made that its keys are another's.
func TestWorkspacesHaveTheirKeysToThemselves(t *testing.T) {
	seen := map[string]access.WorkspaceID{}
	for _, ws := range []access.WorkspaceID{"a", "a#emails", "a#emails#from", "a%23emails", "A", "", "#", "a#", access.WorkspaceID(strings.Repeat("a", 400)), access.WorkspaceID(part(strings.Repeat("a", 400)))} {
		s := space(ws)
		for _, partition := range []string{
			s.records(inbox.Emails, ""), s.listed(inbox.Emails, "", "from", "usage"), s.listed(inbox.Emails, "", "from", "a#b"),
			s.records(deliveriesFamily, "from"), s.content("x").Partition, s.usage(), s.deleted(inbox.Emails, "x").Partition,
		} {
			if owner, ok := seen[partition]; ok {
				t.Errorf("%q is a partition of %q and of %q", partition, owner, ws)
			}
			seen[partition] = ws
		}
	}
	if a, b := part(strings.Repeat("x", 400)+"1"), part(strings.Repeat("x", 400)+"2"); a == b || len(a) > maxPart {
		t.Errorf("long parts: %q and %q", a, b)
	}
}
