package inboxstore

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// eachEdit tests every edit in an office of its own.
func eachEdit(t *testing.T, test func(t *testing.T, w *world, e edit, o office)) {
	for _, e := range edits() {
		t.Run(e.tool, func(t *testing.T) {
			w := newWorld(t)
			o := newOffice(t, w)
			test(t, w, e, o)
		})
	}
}

// writes are the ops of all writes since the last time, write by write.
func (w *world) writes() (all [][]store.Op) {
	for _, c := range w.table.Calls() {
		if c.Method == storetest.Write {
			all = append(all, c.Ops)
		}
	}
	w.table.Reset()
	return all
}

// events are the system events of a workspace with that slug.
func (w *world) events(t *testing.T, ws access.WorkspaceID, slug string) []inbox.SystemEvent {
	t.Helper()
	return must[inbox.Page[inbox.SystemEvent]](t)(w.SystemEvents(t.Context(), ws, inbox.SystemEventFilter{Slug: slug}, inbox.PageRequest{})).Data
}

// Every change is one transaction, with one event that names the actor.
func TestEachEditLeavesOneEventWithItsEffect(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		before := w.events(t, o.ws, e.slug)
		w.writes()
		by := actor(o.ws, e.tool)
		by.Confirmation = "c-1"
		target, err := e.do(t, w, by, o)
		if err != nil {
			t.Fatal(err)
		}
		writes := w.writes()
		events := w.events(t, o.ws, e.slug)
		if len(events) != len(before)+1 {
			t.Fatalf("%d events, want %d", len(events), len(before)+1)
		}
		event := events[0]
		if len(writes) > 1 && e.tool != "emails_delete" { // whose raw message cannot be in the transaction
			t.Errorf("%d writes, want 1", len(writes))
		}
		has := func(key store.Key) bool {
			return slices.ContainsFunc(writes[0], func(op store.Op) bool { return op.Item.Key == key })
		}
		for what, key := range map[string]store.Key{
			"event":  {Partition: space(o.ws).records(inbox.SystemEvents, ""), Sort: string(event.ID)},
			"claim":  space(o.ws).claim("confirmation/c-1"),
			"effect": {Partition: space(o.ws).records(inbox.Family(strings.SplitN(e.tool, "_", 2)[0]), ""), Sort: string(target)},
		} {
			if !has(key) {
				t.Errorf("the %s is not in the transaction", what)
			}
		}

		want := `{"person":{"issuer":"https://id.example","subject":"ana"},"tool":"` + e.tool + `","outcome":"done",` +
			`"client":"claude","confirmation_id":"c-1","arguments_digest":"digest","target_id":"` + string(target) + `"}`
		switch e.tool {
		case "inboxes_delete":
			want = strings.TrimSuffix(want, "}") + `,"also_changed":["` + string(o.hook.ID) + `"]}`
		case "agents_delete":
			want = strings.TrimSuffix(want, "}") + `,"also_changed":["` + string(o.box.ID) + `"]}`
		}
		if strings.HasPrefix(e.tool, "secrets_") { // R4
			want = `{"person":{"issuer":"https://id.example","subject":"ana"},"tool":"` + e.tool + `","outcome":"done"}`
		}
		if string(event.Payload) != want {
			t.Errorf("payload %s\nwant    %s", event.Payload, want)
		}
		in, email := target, inbox.ID("") // of an inbox that is made
		if e.about != nil {
			in, email = e.about(o)
		}
		if text(event.InboxID) != string(in) || text(event.EmailID) != string(email) {
			t.Errorf("the event concerns inbox %q and e-mail %q, want %q and %q", text(event.InboxID), text(event.EmailID), in, email)
		}
	})
}

// Whatever happens to the write, all of it has happened or nothing.
func TestEachEditHappensWholeOrNotAtAll(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		by := actor(o.ws, e.tool)
		by.Confirmation = "c-1"

		before := w.everything(t)
		w.table.Inject(storetest.Injection{Effect: storetest.Fail, Method: storetest.Write, Nth: 1})
		_, err := e.do(t, w, by, o)
		wantError(t, err, inbox.CodeUnavailable, "")
		w.wantNothingChanged(t, before)
		w.table.Reset()

		w.table.Inject(storetest.Injection{Effect: storetest.LoseReply, Method: storetest.Write, Nth: 1})
		_, err = e.do(t, w, by, o)
		wantError(t, err, inbox.CodeUnavailable, "")
		if writes := w.writes(); !w.holds(t, writes[0]) {
			t.Error("the reply was lost, and nothing happened")
		}
	})
}

// A client library that sends a write again, because its reply was lost, meets
// itself: it has happened, once.
func TestCase29_EachEditAfterALostReply(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		before := len(w.events(t, o.ws, e.slug))
		w.table.Inject(storetest.Injection{Effect: storetest.Resend, Method: storetest.Write})
		by := actor(o.ws, e.tool)
		by.Confirmation = "c-1"
		if _, err := e.do(t, w, by, o); err != nil {
			t.Fatal(err)
		}
		if got := len(w.events(t, o.ws, e.slug)); got != before+1 {
			t.Errorf("%d events, want %d", got, before+1)
		}
	})
}

// One confirmation has one effect, whatever calls claim it.
func TestR14_AConfirmationHasOneEffect(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		by := actor(o.ws, e.tool)
		by.Confirmation = "c-1"
		if err := w.Audited(t.Context(), by, Event{Slug: inbox.EventWebhookTested, Outcome: inbox.OutcomeStarted}); err != nil {
			t.Fatal(err)
		}
		before := w.everything(t)
		_, err := e.do(t, w, by, o)
		wantError(t, err, inbox.CodeConflict, "")
		if !errors.Is(err, ErrClaimed) {
			t.Errorf("error = %v, want ErrClaimed", err)
		}
		w.wantNothingChanged(t, before)
	})
}

func TestARecordThatChangedIsLeftAlone(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		if e.creates {
			return
		}
		if _, err := e.do(t, w, actor(o.ws, e.tool), o); err != nil {
			t.Fatal(err)
		}
		before := w.everything(t)
		_, err := e.do(t, w, actor(o.ws, e.tool), o) // with what it read before
		wantChanged(t, err)
		w.wantNothingChanged(t, before)
	})
}

// What moves by itself is no change.
func TestWhatMovesByItselfIsNoChange(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	stored := must[Stored[inbox.Webhook]](t)(Current(t.Context(), w.DB, o.ws, o.hook))
	failed := stored.Record
	failed.ConsecutiveFailures = 7
	w.apply(t, o.ws, Update(stored, failed), Count(w.now, "", inbox.UsageSum{Emails: 3}))

	now := o.hook
	now.Label = "CRM 2"
	hook, err := w.UpdateWebhook(t.Context(), actor(o.ws, "webhooks_update"), o.hook, now)
	if err != nil || hook.Label != "CRM 2" || hook.ConsecutiveFailures != 7 {
		t.Errorf("%+v, %v; want the label changed and 7 failures", hook, err)
	}
	o.workspace = must[inbox.Workspace](t)(w.Workspace(t.Context(), []access.WorkspaceID{o.ws}, string(o.ws)))
	w.apply(t, o.ws, Count(w.now, "", inbox.UsageSum{Emails: 4}))
	limited := o.workspace
	limited.MonthlyEmailsLimit = new(int64(10))
	workspace, err := w.UpdateWorkspace(t.Context(), actor(o.ws, "workspaces_update"), o.workspace, limited)
	if err != nil || *workspace.MonthlyEmailsLimit != 10 || workspace.MonthlyEmailsUsed != 7 {
		t.Errorf("%+v, %v; want a limit of 10 and 7 used", workspace, err)
	}
	if kept := must[Stored[Workspace]](t)(Get[Workspace](t.Context(), w.DB, o.ws, string(o.ws))); kept.Record.Organization != "org-1" || kept.Record.MonthlyEmailsUsed != 0 {
		t.Errorf("kept as %+v", kept.Record)
	}
}

// Not even when it moves between reading and writing.
func TestWhatMovesByItselfMeanwhileIsNoChange(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		if !strings.HasPrefix(e.tool, "webhooks_") {
			return
		}
		moved := false
		w.meanwhile(func(other *DB) {
			moved = true
			stored := must[Stored[inbox.Webhook]](t)(Get[inbox.Webhook](t.Context(), other, o.ws, string(o.hook.ID)))
			failed := stored.Record
			failed.ConsecutiveFailures++
			if err := other.Apply(t.Context(), o.ws, Update(stored, failed)); err != nil {
				t.Error(err)
			}
		})
		if _, err := e.do(t, w, actor(o.ws, e.tool), o); err != nil || !moved {
			t.Errorf("moved %v, %v", moved, err)
		}
		if hook, err := w.Webhook(t.Context(), o.ws, string(o.hook.ID)); err == nil && hook.ConsecutiveFailures != 1 {
			t.Errorf("%d failures, want 1", hook.ConsecutiveFailures)
		}
	})
}

// In another workspace, what exists answers like what never was, and nothing
// happens.
func TestR5_EditsReachNoOtherWorkspace(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, theirs office) {
		mine := newOffice(t, w)
		never := mine
		never.workspace.ID = access.WorkspaceID(inbox.NewID(w.now))
		for _, id := range []*inbox.ID{&never.agent.ID, &never.box.ID, &never.hook.ID, &never.secret.ID, &never.email.ID} {
			*id = inbox.NewID(w.now)
		}
		before := w.everything(t)
		for name, o := range map[string]office{"theirs": theirs, "theirs, said to be mine": disguised(theirs, mine.ws), "never": never} {
			if e.creates && e.tool != "inboxes_create" && e.tool != "webhooks_create" {
				return // it refers to nothing
			}
			field := map[string]string{"inboxes_create": "agent_id", "webhooks_create": "inbox_id"}[e.tool]
			if field == "" {
				field = "id"
			}
			_, err := e.do(t, w, actor(mine.ws, e.tool), o)
			wantError(t, err, inbox.CodeNotFound, field)
			w.wantNothingChanged(t, before)
			if err != nil && !strings.HasPrefix(err.Error(), "not_found: There is no such ") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// disguised are records of one workspace that claim to be of another.
func disguised(o office, ws access.WorkspaceID) office {
	o.agent.WorkspaceID, o.box.WorkspaceID, o.hook.WorkspaceID, o.secret.WorkspaceID, o.email.WorkspaceID = ws, ws, ws, ws, ws
	return o
}

// What a person did with secrets is nobody's to read, whatever did it (R4).
func TestR4_EventsOfSecretsByAnyTool(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	if err := w.DeleteSecret(t.Context(), actor(o.ws, "import"), o.secret); err != nil {
		t.Fatal(err)
	}
	if p := string(w.events(t, o.ws, "secret.deleted")[0].Payload); p != `{"person":{"issuer":"https://id.example","subject":"ana"},"tool":"import","outcome":"done"}` {
		t.Errorf("payload %s", p)
	}
}

// What was not done leaves an event, and claims nothing.
func TestRecord(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	for outcome, slug := range map[inbox.Outcome]string{
		inbox.OutcomeDeclined: "confirmation.user_declined", inbox.OutcomeReplayed: "confirmation.replayed",
		inbox.OutcomeRequired: "confirmation.required", inbox.OutcomeUnavailable: "confirmation.unavailable",
	} {
		by := actor(o.ws, "inboxes_delete")
		by.Confirmation, by.Client = "c-1", strings.Repeat("é", 1000)
		if err := w.Record(t.Context(), by, outcome); err != nil {
			t.Fatal(err)
		}
		events := w.events(t, o.ws, slug)
		want := `{"person":{"issuer":"https://id.example","subject":"ana"},"tool":"inboxes_delete","outcome":"` + string(outcome) + `",` +
			`"client":"` + strings.Repeat("é", maxClient/2) + `","confirmation_id":"c-1","arguments_digest":"digest"}`
		if len(events) != 1 || string(events[0].Payload) != want {
			t.Errorf("%s: %d events, %v", slug, len(events), events)
		}
	}
	_, err := w.Claimed(t.Context(), o.ws, "confirmation/c-1")
	wantError(t, err, inbox.CodeNotFound, "")
	w.now = w.now.Add(time.Second)
	by := actor(o.ws, "secrets_delete")
	by.Confirmation = "c-2"
	if err := w.Record(t.Context(), by, inbox.OutcomeDeclined); err != nil {
		t.Fatal(err)
	}
	if p := string(w.events(t, o.ws, "confirmation.user_declined")[0].Payload); strings.Contains(p, "c-2") || strings.Contains(p, "digest") || strings.Contains(p, "claude") {
		t.Errorf("R4: the event of a tool of secrets says %s", p)
	}
}
