package inboxstore

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

func TestNamesAreUnique(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	elsewhere := w.newWorkspace(t)

	box := anInbox(f.ws)
	box.ExternalID = f.box.ExternalID
	wantError(t, w.Apply(t.Context(), f.ws, Insert(box)), inbox.CodeConflict, "external_id")

	box = anInbox(elsewhere)
	box.Email = strings.ToUpper(f.box.Email)
	wantError(t, w.Apply(t.Context(), elsewhere, Insert(box)), inbox.CodeConflict, "email")

	box = anInbox(elsewhere)
	box.ExternalID = f.box.ExternalID // unique per workspace
	w.apply(t, elsewhere, Insert(box))

	secret := inbox.Secret{ID: inbox.NewID(noon), WorkspaceID: f.ws, Name: f.secret.Name}
	wantError(t, w.Apply(t.Context(), f.ws, Insert(secret)), inbox.CodeConflict, "name")

	email := f.email
	email.Status = inbox.EmailFailed
	wantError(t, w.Apply(t.Context(), f.ws, Insert(email)), inbox.CodeConflict, "id")

	workspace := f.workspace
	workspace.ID = access.WorkspaceID(inbox.NewID(noon))
	wantError(t, w.Apply(t.Context(), workspace.ID, Insert(workspace)), inbox.CodeConflict, "external_id")
}

func TestNamesCanChange(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	stored := must[Stored[inbox.Secret]](t)(Get[inbox.Secret](t.Context(), w.DB, f.ws, string(f.secret.ID)))
	renamed := stored.Record
	renamed.Name = "OTHER"
	w.apply(t, f.ws, Update(stored, renamed))
	again := f.secret
	again.ID = inbox.NewID(noon)
	w.apply(t, f.ws, Insert(again)) // the old name is free
	again.ID, again.Name = inbox.NewID(noon), "OTHER"
	wantError(t, w.Apply(t.Context(), f.ws, Insert(again)), inbox.CodeConflict, "name")
}

// An external_id and an address stay taken by a deleted record; a secret's
// name does not.
func TestDelete(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	ctx, ws := t.Context(), f.ws
	w.apply(t, ws, Confidential(f.hook.ID, []byte("signing secret")))
	w.apply(t, ws,
		Delete(must[Stored[inbox.Inbox]](t)(Get[inbox.Inbox](ctx, w.DB, ws, "same"))),
		Delete(must[Stored[inbox.Webhook]](t)(Get[inbox.Webhook](ctx, w.DB, ws, "same"))),
		Delete(must[Stored[inbox.Email]](t)(Get[inbox.Email](ctx, w.DB, ws, string(f.email.ID)))),
		Delete(must[Stored[inbox.Secret]](t)(Get[inbox.Secret](ctx, w.DB, ws, string(f.secret.ID)))),
	)

	for _, ref := range []string{"same", string(f.box.ID)} {
		_, err := w.Inbox(ctx, ws, ref)
		wantError(t, err, inbox.CodeNotFound, "id")
		_, err = w.Emails(ctx, ws, inbox.EmailFilter{Inbox: ref}, inbox.PageRequest{})
		wantError(t, err, inbox.CodeNotFound, "inbox_id")
	}
	_, err := w.InboxByAddress(ctx, f.box.Email)
	wantError(t, err, inbox.CodeNotFound, "email")
	_, err = w.Delivery(ctx, ws, string(f.hook.ID), f.delivery.ID)
	wantError(t, err, inbox.CodeNotFound, "webhook_id")
	_, _, err = w.Email(ctx, ws, f.email.ID)
	wantError(t, err, inbox.CodeNotFound, "id")
	if page := must[inbox.Page[inbox.AgentRun]](t)(w.AgentRuns(ctx, ws, inbox.AgentRunFilter{Email: f.email.ID}, inbox.PageRequest{})); len(page.Data) != 1 {
		t.Error("the runs of a deleted e-mail are gone")
	}

	box := anInbox(ws)
	box.ExternalID = new("same")
	wantError(t, w.Apply(ctx, ws, Insert(box)), inbox.CodeConflict, "external_id")
	box.ExternalID, box.Email = nil, f.box.Email
	wantError(t, w.Apply(ctx, ws, Insert(box)), inbox.CodeConflict, "email")
	secret := f.secret
	secret.ID = inbox.NewID(noon)
	w.apply(t, ws, Insert(secret))

	s := space(ws)
	for _, c := range []struct {
		key  store.Key
		kept bool
	}{
		{s.deleted(inbox.Inboxes, f.box.ID), true}, {s.deleted(inbox.Webhooks, f.hook.ID), true}, {s.deleted(inbox.Emails, f.email.ID), false},
		{s.content(f.email.ID), false}, {s.confidential(f.secret.ID), false}, {s.confidential(f.hook.ID), false},
	} {
		if _, err := w.table.Get(ctx, c.key); (err == nil) != c.kept {
			t.Errorf("%v: %v; want it kept: %v", c.key, err, c.kept)
		}
	}
}

func TestAChangeOfWhatChangedIsRefused(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	shown := must[Stored[inbox.Inbox]](t)(Get[inbox.Inbox](t.Context(), w.DB, f.ws, "same"))
	other := shown.Record
	other.Label = "Sales"
	w.apply(t, f.ws, Update(shown, other))
	for name, change := range map[string]Change{"update": Update(shown, other), "delete": Delete(shown)} {
		t.Run(name, func(t *testing.T) {
			event := anEvent(f.ws, "inbox.changed", noon)
			err := w.Apply(t.Context(), f.ws, Insert(event), change)
			wantError(t, err, inbox.CodeConflict, "")
			if !errors.Is(err, inbox.ErrChanged) {
				t.Errorf("error = %v, want ErrChanged", err)
			}
			_, err = w.SystemEvent(t.Context(), f.ws, event.ID)
			wantError(t, err, inbox.CodeNotFound, "id") // all or none
		})
	}
}

func TestOfManyUpdatesOneWins(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	shown := must[Stored[inbox.Agent]](t)(Get[inbox.Agent](t.Context(), w.DB, f.ws, "same"))
	errs := make([]error, 32)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			r := shown.Record
			r.Label = fmt.Sprint("by ", i)
			errs[i] = w.Apply(t.Context(), f.ws, Update(shown, r), Insert(anEvent(f.ws, "agent.updated", noon)))
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, inbox.ErrChanged) {
			t.Error(err)
		}
	}
	events := must[inbox.Page[inbox.SystemEvent]](t)(w.SystemEvents(t.Context(), f.ws, inbox.SystemEventFilter{Slug: "agent.updated"}, inbox.PageRequest{}))
	if won != 1 || len(events.Data) != 1 {
		t.Errorf("%d updates won and left %d events, want 1 and 1", won, len(events.Data))
	}
}

func TestRecordsGoWhereTheyBelongOnly(t *testing.T) {
	w := newWorld(t)
	f := newFull(t, w)
	elsewhere := w.newWorkspace(t)
	moved := must[Stored[inbox.Delivery]](t)(getDelivery(t.Context(), w.DB, f.ws, "same", f.delivery.ID))
	to := moved.Record
	to.WebhookID = inbox.NewID(noon)
	noID, noHook := f.email, f.delivery
	noID.ID, noHook.WebhookID = "x#y", ""
	for name, err := range map[string]error{
		"insert into another workspace": w.Apply(t.Context(), elsewhere, Insert(anInbox(f.ws))),
		"move to another parent":        w.Apply(t.Context(), f.ws, Update(moved, to)),
		"no id":                         w.Apply(t.Context(), f.ws, Insert(noID)),
		"no parent":                     w.Apply(t.Context(), f.ws, Insert(noHook)),
	} {
		if _, ok := errors.AsType[*inbox.Error](err); err == nil || ok {
			t.Errorf("%s: %v, want a plain error", name, err)
		}
	}
}

func TestClaim(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	_, err := w.Claimed(t.Context(), ws, "job/1")
	wantError(t, err, inbox.CodeNotFound, "")
	first := anEvent(ws, "first", noon)
	w.apply(t, ws, Claim("job/1", first.ID), Insert(first))
	second := anEvent(ws, "second", noon)
	if err := w.Apply(t.Context(), ws, Insert(second), Claim("job/1", second.ID)); !errors.Is(err, ErrClaimed) {
		t.Errorf("second claim: %v", err)
	}
	_, err = w.SystemEvent(t.Context(), ws, second.ID)
	wantError(t, err, inbox.CodeNotFound, "id")
	if by, err := w.Claimed(t.Context(), ws, "job/1"); by != first.ID || err != nil {
		t.Errorf("claimed by %v, %v; want %v", by, err, first.ID)
	}
	if err := w.Apply(t.Context(), w.newWorkspace(t), Claim("job/1", second.ID)); err != nil {
		t.Errorf("the same name in another workspace: %v", err)
	}
}

func TestTooLargeIsALimit(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	agent := anAgent(ws)
	agent.SystemMessage = strings.Repeat("x", store.MaxItemBytes)
	wantError(t, w.Apply(t.Context(), ws, Insert(agent)), inbox.CodeLimit, "")
}

// A write whose reply was lost, and which the client library sends again, meets
// itself: it has happened, once.
func TestALostReply(t *testing.T) {
	w := newWorld(t)
	ws := w.newWorkspace(t)
	w.table.Inject(storetest.Injection{Effect: storetest.Resend, Method: storetest.Write})
	e, hook := anEmail(ws, anInbox(ws).ID, noon), aWebhook(ws)
	hook.ExternalID = new("hook")
	w.apply(t, ws, Insert(e), Count(noon, "", inbox.UsageSum{Emails: 1}))
	w.apply(t, ws, Insert(hook))
	w.apply(t, ws, Claim("job", e.ID))
	if u := must[inbox.Usage](t)(w.Usage(t.Context(), ws, noon, noon)); u.Total.Emails != 1 {
		t.Errorf("%d e-mails counted, want 1", u.Total.Emails)
	}
	if err := w.Apply(t.Context(), ws, Claim("job", hook.ID)); !errors.Is(err, ErrClaimed) {
		t.Errorf("claimed by another: %v", err)
	}
}
