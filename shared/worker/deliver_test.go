package worker

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Who subscribed to it is told of an event, once, of their inbox only.
func TestTell(t *testing.T) {
	w := newWorld(t)
	to := newReceiver(t, nil)
	subscribe := func(events ...string) func(*inbox.Webhook) {
		return func(h *inbox.Webhook) { h.SubscribedEvents = events }
	}
	other := w.box
	other.ID, other.Email = inbox.NewID(noon), "other@inbox.example"
	w.apply(t, inboxstore.Insert(other))
	here := func(h *inbox.Webhook) { h.InboxID = &w.box.ID }
	all, _ := w.hook(t, to.URL, subscribe(inbox.AllEvents))
	one, _ := w.hook(t, to.URL, subscribe(inbox.EventEmailProcessed), here)
	none, _ := w.hook(t, to.URL, subscribe(inbox.EventEmailRejected))
	elsewhere, _ := w.hook(t, to.URL, subscribe(inbox.AllEvents), func(h *inbox.Webhook) { h.InboxID = &other.ID })
	off, _ := w.hook(t, to.URL, subscribe(inbox.AllEvents))
	stored := must[inboxstore.Stored[inbox.Webhook]](t)(inboxstore.Get[inbox.Webhook](t.Context(), w.db, w.ws, string(off.ID)))
	inactive := stored.Record
	inactive.Status = inbox.Inactive
	w.apply(t, inboxstore.Update(stored, inactive))

	e := w.receive(t, message)
	w.work(t)
	for hook, want := range map[inbox.ID][]string{
		all.ID: {"email.received", "email.approved", "agent_run.succeeded", "email.processed"}, one.ID: {"email.processed"},
		none.ID: nil, elsewhere.ID: nil, off.ID: nil,
	} {
		var slugs []string
		for _, d := range w.deliveries(t, inbox.Webhook{ID: hook}) {
			event := must[inbox.SystemEvent](t)(w.db.SystemEvent(t.Context(), w.ws, d.SystemEventID))
			slugs = append(slugs, event.Slug)
			if d.Status != inbox.DeliverySuccess || d.Attempt != 1 || d.NextRetryAt != nil || *event.EmailID != e.ID {
				t.Errorf("delivery %+v of %+v", d, event)
			}
		}
		slices.Sort(slugs)
		slices.Sort(want)
		if !slices.Equal(slugs, want) {
			t.Errorf("told of %q, want %q", slugs, want)
		}
	}
	if n := to.requests(); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
}

// The body says what the event concerns, without what is the house's own.
func TestDeliveryBody(t *testing.T) {
	w := newWorld(t)
	to := newReceiver(t, nil)
	hook, secret := w.hook(t, to.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailProcessed} })
	e := w.receive(t, message)
	w.work(t)
	if to.requests() != 1 {
		t.Fatalf("%d requests", to.requests())
	}
	if err := webhooks.Verify(secret, to.got[0].Header, to.body[0], w.now()); err != nil {
		t.Errorf("signature: %v", err)
	}
	d := w.deliveries(t, hook)[0]
	var body struct {
		Event struct {
			Slug string
			ID   inbox.ID
		}
		DeliveryID inbox.ID `json:"delivery_id"`
		Workspace  struct{ ID access.WorkspaceID }
		Data       struct {
			Organization struct{ ID string }
			Inbox        struct {
				ID    inbox.ID
				Email string
			}
			Agent struct {
				ID    inbox.ID
				Label string
			}
			Email map[string]any
			Run   inbox.AgentRun `json:"agent_run"`
		}
	}
	if err := json.Unmarshal(to.body[0], &body, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if body.Event.Slug != inbox.EventEmailProcessed || body.Event.ID != d.SystemEventID || body.DeliveryID != d.ID || body.Workspace.ID != w.ws ||
		body.Data.Organization.ID != "aurora" || body.Data.Inbox.Email != w.box.Email || body.Data.Agent.Label != w.agent.Label ||
		body.Data.Email["id"] != string(e.ID) || body.Data.Email["subject"] != "Hello" || body.Data.Email["raw_s3_key"] != "" || *body.Data.Run.Output != "Answered." {
		t.Errorf("body %s", to.body[0])
	}
}

// An attempt that failed is made again, later each time, eight times in all;
// then the webhook is switched off if all the last ones failed.
func TestRetries(t *testing.T) {
	w := newWorld(t)
	to := newReceiver(t, status(http.StatusInternalServerError))
	hook, _ := w.hook(t, to.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailProcessed} })
	w.receive(t, message)
	w.receive(t, message)
	var waits []time.Duration
	for attempt := int64(1); ; attempt++ {
		w.work(t)
		list := w.deliveries(t, hook)
		if len(list) != 2*int(attempt) || w.webhook(t, hook).ConsecutiveFailures != 2*attempt {
			t.Fatalf("attempt %d: %d deliveries, %d failures", attempt, len(list), w.webhook(t, hook).ConsecutiveFailures)
		}
		last := list[len(list)-1]
		if last.Attempt != attempt || last.Status != inbox.DeliveryFailed || *last.Error != "The receiver answered 500." {
			t.Errorf("delivery %+v", last)
		}
		if last.NextRetryAt == nil {
			break
		}
		wait := last.NextRetryAt.Sub(*last.DeliveredAt)
		waits = append(waits, wait.Round(time.Second))
		w.pass(wait - time.Second)
		if w.work(t); to.requests() != len(list) {
			t.Errorf("attempt %d is made before its time", attempt+1)
		}
		w.pass(2 * time.Second)
	}
	want := []time.Duration{30 * time.Second, 2 * time.Minute, 8 * time.Minute, 32 * time.Minute, 128 * time.Minute, 512 * time.Minute, 12 * time.Hour}
	if !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	if h := w.webhook(t, hook); h.Status != inbox.Inactive || h.ConsecutiveFailures != disableAfter {
		t.Errorf("webhook %+v", h)
	}
	events := must[inbox.Page[inbox.SystemEvent]](t)(w.db.SystemEvents(t.Context(), w.ws, inbox.SystemEventFilter{Slug: inbox.EventWebhookDisabled}, inbox.PageRequest{}))
	if len(events.Data) != 1 || !strings.Contains(string(events.Data[0].Payload), `"webhook_id":"`+string(hook.ID)+`","consecutive_failures":16`) {
		t.Errorf("events %+v", events.Data)
	}
	if ids := w.left(t); len(ids) != 0 {
		t.Errorf("jobs %v are left", ids)
	}
	w.receive(t, message)
	if w.work(t); to.requests() != 2*maxAttempts {
		t.Errorf("a webhook that is switched off is told of %d things more", to.requests()-2*maxAttempts)
	}
}

// A receiver that comes back is told what it missed; one whose failures were
// interrupted by a success is not switched off.
func TestReceiverComesBack(t *testing.T) {
	w := newWorld(t)
	down := true
	to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
		if down {
			rw.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	hook, _ := w.hook(t, to.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailProcessed} })
	for range 20 {
		w.receive(t, message)
	}
	w.work(t)
	if h := w.webhook(t, hook); h.Status != inbox.Active || h.ConsecutiveFailures != 20 {
		t.Errorf("after an outage of moments: %+v", h)
	}
	down = false
	w.pass(time.Minute)
	w.work(t)
	told := map[inbox.ID]inbox.DeliveryStatus{}
	for _, d := range w.deliveries(t, hook) {
		told[d.SystemEventID] = d.Status
	}
	for id, status := range told {
		if status != inbox.DeliverySuccess {
			t.Errorf("event %s: %s", id, status)
		}
	}
	if h := w.webhook(t, hook); len(told) != 20 || h.ConsecutiveFailures != 0 {
		t.Errorf("%d events told, %+v", len(told), h)
	}
}

// Receivers that hang, redirect, lie or want no more.
func TestBadReceivers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status inbox.Status
		want   string
		again  bool
	}{
		{"hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, inbox.Active, "The receiver did not answer within 1s.", true},
		{"redirects", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "http://169.254.169.254/", http.StatusFound)
		},
			inbox.Active, "The receiver answered 302: redirects are not followed.", true},
		{"is gone", status(http.StatusGone), inbox.Inactive, "The receiver answered 410.", false},
		{"lies about its length", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Length", "1000")
			fmt.Fprint(rw, "ok")
		}, inbox.Active, "", false},
		{"breaks off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, inbox.Active, "The connection", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			to := newReceiver(t, c.answer)
			hook, _ := w.hook(t, to.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailReceived} })
			w.receive(t, message)
			w.work(t)
			d := w.deliveries(t, hook)
			if len(d) != 1 || (d[0].Error == nil) != (c.want == "") || c.want != "" && !strings.HasPrefix(*d[0].Error, c.want) || (d[0].NextRetryAt != nil) != c.again {
				t.Errorf("deliveries %+v", d)
			}
			if h := w.webhook(t, hook); h.Status != c.status || to.requests() != 1 {
				t.Errorf("webhook %+v, %d requests", h, to.requests())
			}
			if len(w.left(t)) != map[bool]int{true: 1}[c.again] {
				t.Errorf("jobs %v are left", w.left(t))
			}
		})
	}
}

// Each attempt is signed anew, for its own time and under an id of its own; the
// event's id stays, so that a receiver knows what it has had. What was captured
// is worth nothing ten minutes later.
func TestCase32_EachAttemptIsSignedAnew(t *testing.T) {
	w := newWorld(t)
	to := newReceiver(t, status(http.StatusInternalServerError))
	_, secret := w.hook(t, to.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailReceived} })
	w.receive(t, message)
	w.work(t)
	first := w.now()
	w.pass(10 * time.Minute)
	w.work(t)
	if to.requests() != 2 {
		t.Fatalf("%d requests", to.requests())
	}
	a, b := to.got[0].Header, to.got[1].Header
	if err := webhooks.Verify(secret, a, to.body[0], first); err != nil {
		t.Errorf("the first: %v", err)
	}
	if err := webhooks.Verify(secret, a, to.body[0], w.now()); err == nil {
		t.Error("the first is good ten minutes later")
	}
	if err := webhooks.Verify(secret, b, to.body[1], w.now()); err != nil {
		t.Errorf("the second: %v", err)
	}
	for _, name := range []string{"Webhook-Signature", "Webhook-Timestamp", "X-Kobana-Signature"} {
		if a.Get(name) == b.Get(name) {
			t.Errorf("both attempts have the same %s", name)
		}
	}
	if a.Get("Webhook-Id") != b.Get("Webhook-Id") {
		t.Error("the event's id changed")
	}
}

// However many webhooks a workspace has, each is told once.
func TestTellMany(t *testing.T) {
	w := newWorld(t)
	to := newReceiver(t, nil)
	for range inbox.MaxWebhooks {
		w.hook(t, to.URL, func(h *inbox.Webhook) {
			h.SubscribedEvents = []string{inbox.EventEmailReceived, inbox.EventEmailRejected}
		})
	}
	box := must[inboxstore.Stored[inbox.Inbox]](t)(inboxstore.Get[inbox.Inbox](t.Context(), w.db, w.ws, string(w.box.ID)))
	w.box.Status = inbox.Inactive
	w.apply(t, inboxstore.Update(box, w.box))
	w.receive(t, message)
	w.work(t)
	if n := to.requests(); n != 2*inbox.MaxWebhooks {
		t.Errorf("%d requests, want %d", n, 2*inbox.MaxWebhooks)
	}
}

// What a delivery says of an e-mail goes with the e-mail, also when that is
// deleted while it is told.
func TestDeletedEmailIsForgottenByDeliveries(t *testing.T) {
	for _, during := range []bool{false, true} {
		w := newWorld(t)
		var e inbox.Email
		forget := func() {
			by := inbox.Actor{Workspace: w.ws, Person: access.Person{Issuer: "test", Subject: "ana"}, Tool: "emails_delete"}
			if err := w.db.DeleteEmail(context.WithoutCancel(t.Context()), by, w.email(t, e.ID)); err != nil {
				t.Error(err)
			}
		}
		to := newReceiver(t, func(rw http.ResponseWriter, _ *http.Request) {
			if during {
				forget()
			}
			rw.Header().Set("X-Subject", "Hello")
			fmt.Fprint(rw, "got: Hello")
		})
		hook, _ := w.hook(t, to.URL, func(h *inbox.Webhook) { h.SubscribedEvents = []string{inbox.EventEmailProcessed} })
		e = w.receive(t, message)
		w.work(t)
		if !during {
			if d := w.deliveries(t, hook)[0]; !strings.Contains(string(d.RequestBody), "Hello") || *d.ResponseBody != "got: Hello" {
				t.Errorf("before: %+v", d)
			}
			forget()
		}
		d := w.deliveries(t, hook)
		if len(d) != 1 || strings.Contains(string(d[0].RequestBody), "Hello") || !strings.Contains(string(d[0].RequestBody), `"data":{}`) || d[0].ResponseBody != nil || d[0].ResponseHeaders != nil || d[0].Status != inbox.DeliverySuccess {
			t.Errorf("during %v: %+v", during, d)
		}
	}
}
