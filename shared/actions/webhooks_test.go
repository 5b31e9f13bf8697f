package actions

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

const (
	started = inbox.OutcomeStarted
	done    = inbox.OutcomeDone
	failed  = inbox.OutcomeFailed
)

func TestTestWebhook(t *testing.T) {
	w := local(t)
	hook, secret := w.webhook(t, w.to.URL, func(h *inbox.Webhook) { h.InboxID = &w.box.ID })
	d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
	if err != nil {
		t.Fatal(err)
	}
	w.to.want(t, 1)
	r := w.to.got()[0]
	if err := webhooks.Verify(secret, r.header, r.body, noon); err != nil {
		t.Errorf("signature: %v", err)
	}
	var body webhooks.Envelope
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatal(err)
	}
	want := webhooks.Envelope{
		Event: webhooks.Event{Slug: "webhook.test", ID: d.SystemEventID}, DeliveryID: d.ID, DeliveredAt: noon,
		Workspace: inbox.Object(`{"id":"` + string(w.ws) + `","external_id":"` + string(w.ws) + `","label":"Aurora"}`),
		Data: inbox.Object(`{"inbox":{"id":"` + string(w.box.ID) + `","external_id":null,"label":"Support","email":"support@inbox.example"},` +
			`"organization":{"id":""},"webhook":{"id":"` + string(hook.ID) + `","external_id":"` + string(hook.ID) + `","label":"ERP"}}`),
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if kept, err := w.Delivery(t.Context(), w.ws, string(hook.ID), d.ID); err != nil || !cmp.Equal(kept, d) ||
		d.Status != inbox.DeliverySuccess || d.Attempt != 1 || *d.ResponseStatus != 200 {
		t.Errorf("delivery %+v, kept %+v, %v", d, kept, err)
	}
	event, err := w.SystemEvent(t.Context(), w.ws, d.SystemEventID)
	if err != nil || event.Slug != "webhook.test" || *event.InboxID != w.box.ID {
		t.Errorf("event %+v, %v", event, err)
	}
	w.wantOutcomes(t, "webhook.tested", started, done)
}

// An event that tells who did it names the webhook and the delivery.
func TestEventsOfATest(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	by := w.by("webhooks_test")
	d, err := w.TestWebhook(t.Context(), by, hook)
	if err != nil {
		t.Fatal(err)
	}
	page, err := w.SystemEvents(t.Context(), w.ws, inbox.SystemEventFilter{Slug: "webhook.tested"}, inbox.PageRequest{})
	if err != nil || len(page.Data) != 2 {
		t.Fatalf("%+v, %v", page.Data, err)
	}
	for _, e := range page.Data {
		for _, part := range []string{`"webhooks_test"`, `"ana"`, `"` + by.Confirmation + `"`, `"` + string(hook.ID) + `"`, `"` + string(d.ID) + `"`} {
			if !strings.Contains(string(e.Payload), part) {
				t.Errorf("payload %s does not have %s", e.Payload, part)
			}
		}
	}
}

// A failing receiver is no error: the delivery says so, and it is counted.
func TestFailingReceivers(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	test := func() inbox.Delivery {
		t.Helper()
		d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	w.to.status = 503
	test()
	d := test()
	if d.Status != inbox.DeliveryFailed || *d.Error != "The receiver answered 503." || w.failures(t, hook) != 2 {
		t.Errorf("delivery %+v, %d failures", d, w.failures(t, hook))
	}
	w.wantOutcomes(t, "webhook.tested", started, started, failed, failed)
	w.to.status = 204
	if d := test(); d.Status != inbox.DeliverySuccess || w.failures(t, hook) != 0 {
		t.Errorf("delivery %+v, %d failures", d, w.failures(t, hook))
	}
	w.to.Close()
	if d := test(); d.Status != inbox.DeliveryFailed || *d.Error != "The receiver refused the connection. Nothing was sent." || w.failures(t, hook) != 1 {
		t.Errorf("delivery %+v, %d failures", d, w.failures(t, hook))
	}
	if n := len(w.deliveries(t, hook)); n != 4 {
		t.Errorf("%d deliveries, want 4", n)
	}
}

// While a rotated secret is still valid, both sign.
func TestSecretsInForce(t *testing.T) {
	w := local(t)
	hook, old := w.webhook(t, w.to.URL)
	fresh, until, err := w.RotateSecret(t.Context(), w.by("webhooks_rotate_secret"), hook)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at     time.Time
		oldErr error
	}{{noon.Add(time.Second), nil}, {until, webhooks.ErrSignature}} {
		w.now = c.at
		if hook, err = w.Webhook(t.Context(), w.ws, string(hook.ID)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook); err != nil {
			t.Fatal(err)
		}
		got := w.to.got()
		r := got[len(got)-1]
		if err := webhooks.Verify(webhooks.Secret(fresh), r.header, r.body, c.at); err != nil {
			t.Errorf("at %v: new secret: %v", c.at, err)
		}
		if err := webhooks.Verify(old, r.header, r.body, c.at); err != c.oldErr {
			t.Errorf("at %v: old secret: %v, want %v", c.at, err, c.oldErr)
		}
	}
}

func TestCase32_EachAttemptIsSignedAnew(t *testing.T) {
	w := local(t)
	hook, secret := w.webhook(t, w.to.URL)
	first, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
	if err != nil {
		t.Fatal(err)
	}
	w.now = noon.Add(10 * time.Minute)
	second, err := w.ReplayDelivery(t.Context(), w.by("webhooks_deliveries_replay"), hook, first)
	if err != nil {
		t.Fatal(err)
	}
	w.to.want(t, 2)
	a, b := w.to.got()[0], w.to.got()[1]
	if err := webhooks.Verify(secret, a.header, a.body, w.now); err != webhooks.ErrTimestamp {
		t.Errorf("case 32 the same headers ten minutes later: %v, want ErrTimestamp", err)
	}
	if err := webhooks.Verify(secret, b.header, b.body, w.now); err != nil {
		t.Errorf("case 32 the replay: %v", err)
	}
	if a.header.Get("Webhook-Id") != b.header.Get("Webhook-Id") || a.header.Get("Webhook-Id") != string(first.SystemEventID) {
		t.Errorf("webhook ids %q and %q, want that of the event %s", a.header.Get("Webhook-Id"), b.header.Get("Webhook-Id"), first.SystemEventID)
	}
	if second.ID == first.ID || second.Attempt != 2 || second.SystemEventID != first.SystemEventID || *second.DeliveredAt != w.now {
		t.Errorf("replay %+v of %+v", second, first)
	}
	w.wantOutcomes(t, "webhook.delivery_replayed", started, done)
	if n := len(w.deliveries(t, hook)); n != 2 {
		t.Errorf("%d deliveries, want 2", n)
	}
}

// URLs that got into the store somehow lead nowhere inside.
func TestCase33_DialledAddresses(t *testing.T) {
	w := newWorld(t, pipeline.Options{}, webhooks.Options{})
	port := w.to.URL[strings.LastIndex(w.to.URL, ":"):]
	for _, url := range []string{
		w.to.URL, "http://localhost" + port, "http://[::1]" + port, "http://[::ffff:127.0.0.1]" + port, "http://0x7f.1" + port, "http://2130706433" + port,
		"https://169.254.169.254/latest/meta-data", "https://10.0.0.1", "http://example.com",
	} {
		hook, _ := w.webhook(t, url)
		d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
		if err != nil || d.Status != inbox.DeliveryFailed || !strings.HasSuffix(*d.Error, "Nothing was sent.") || d.ResponseStatus != nil {
			t.Errorf("case 33 %s: %+v, %v", url, d, err)
		}
	}
	w.to.want(t, 0)

	t.Run("case 33 a redirect is not followed, its answer trimmed", func(t *testing.T) {
		w := local(t)
		other := newReceiver(t)
		redirect := newReceiver(t)
		redirect.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", other.URL)
			rw.WriteHeader(http.StatusTemporaryRedirect)
			rw.Write([]byte(strings.Repeat("x", 1<<20)))
		})
		hook, _ := w.webhook(t, redirect.URL)
		d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
		if err != nil || *d.Error != "The receiver answered 307: redirects are not followed." || len(*d.ResponseBody) > 4096 {
			t.Errorf("%+v, %v", d, err)
		}
		other.want(t, 0)
	})
}

// What was confirmed is what is dialled.
func TestChangedWebhooks(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, "http://127.0.0.1:1/confirmed")
	now := hook
	now.URL = w.to.URL
	if _, err := w.UpdateWebhook(t.Context(), w.by("webhooks_update"), hook, now); err != nil {
		t.Fatal(err)
	}
	_, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
	if wantError(t, err, inbox.CodeConflict); !errors.Is(err, inbox.ErrChanged) {
		t.Errorf("error = %v, want ErrChanged", err)
	}
	w.to.want(t, 0)
	w.wantOutcomes(t, "webhook.tested")
}

func TestRefusedTests(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)

	by := w.by("webhooks_test")
	by.Confirmation = ""
	if _, err := w.TestWebhook(t.Context(), by, hook); !errors.Is(err, errNoConfirmation) {
		t.Errorf("without a confirmation: %v", err)
	}

	bare := hook
	bare.ID, bare.ExternalID = inbox.NewID(noon), nil
	w.apply(t, inboxstore.Insert(bare))
	_, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), bare)
	wantError(t, err, inbox.CodeConflict)

	by = w.by("webhooks_test")
	by.Workspace = w.workspace(t, "Bosque")
	_, err = w.TestWebhook(t.Context(), by, hook)
	wantError(t, err, inbox.CodeNotFound)

	if err := w.DeleteWebhook(t.Context(), w.by("webhooks_delete"), hook); err != nil {
		t.Fatal(err)
	}
	_, err = w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
	wantError(t, err, inbox.CodeNotFound)

	w.to.want(t, 0)
	w.wantOutcomes(t, "webhook.tested")
}

func TestRefusedReplays(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	other, _ := w.webhook(t, w.to.URL)
	d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
	if err != nil {
		t.Fatal(err)
	}
	replay := func(hook inbox.Webhook, d inbox.Delivery, code inbox.Code) {
		t.Helper()
		_, err := w.ReplayDelivery(t.Context(), w.by("webhooks_deliveries_replay"), hook, d)
		wantError(t, err, code)
	}
	replay(other, d, inbox.CodeNotFound)
	wantError(t, w.CanReplay(t.Context(), other, d), inbox.CodeNotFound)
	if err := errors.Join(w.CanReplay(t.Context(), hook, d), w.CanTest(t.Context(), hook)); err != nil {
		t.Error(err)
	}
	bare := hook
	bare.ID, bare.ExternalID = inbox.NewID(noon), nil
	w.apply(t, inboxstore.Insert(bare)) // without a signing secret
	wantError(t, w.CanTest(t.Context(), bare), inbox.CodeConflict)
	_, err = w.TestWebhook(t.Context(), w.by("webhooks_test"), bare)
	wantError(t, err, inbox.CodeConflict)

	changed := d
	changed.RequestBody = inbox.Object(`{"event":{"slug":"webhook.test","id":"` + string(d.SystemEventID) + `"}}`)
	replay(hook, changed, inbox.CodeConflict)

	for _, body := range []string{`{}`, `[]`, `{"event":{"slug":"webhook.test","id":"` + string(hook.ID) + `"}}`} {
		bad := d
		bad.ID, bad.RequestBody = inbox.NewID(noon), inbox.Object(body)
		w.apply(t, inboxstore.Insert(bad))
		replay(hook, bad, inbox.CodeConflict)
		wantError(t, w.CanReplay(t.Context(), hook, bad), inbox.CodeConflict)
	}

	off := hook
	off.Status = inbox.Inactive
	off, err = w.UpdateWebhook(t.Context(), w.by("webhooks_update"), hook, off)
	if err != nil {
		t.Fatal(err)
	}
	replay(off, d, inbox.CodeConflict)
	wantError(t, w.CanReplay(t.Context(), off, d), inbox.CodeConflict)
	if _, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), off); err != nil {
		t.Errorf("a webhook that is off cannot be tested: %v", err)
	}
	if err := w.DeleteWebhook(t.Context(), w.by("webhooks_delete"), off); err != nil {
		t.Fatal(err)
	}
	replay(off, d, inbox.CodeNotFound)
	w.to.want(t, 2) // both tests
	w.wantOutcomes(t, "webhook.delivery_replayed")
}

// Of many calls with one yes, one sends; the failures of many are all counted.
func TestAtOnce(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	w.to.status = 500
	const n = 16
	one := w.by("webhooks_test")
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = w.TestWebhook(t.Context(), one, hook) })
	}
	wg.Wait()
	refused := 0
	for _, err := range errs {
		if err != nil {
			wantError(t, err, inbox.CodeConflict)
			refused++
		}
	}
	if refused != n-1 {
		t.Errorf("%d of %d calls were refused", refused, n)
	}
	w.to.want(t, 1)
	w.wantOutcomes(t, "webhook.tested", started, failed)

	for range n {
		by := w.by("webhooks_test")
		wg.Go(func() {
			if _, err := w.TestWebhook(t.Context(), by, hook); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	w.to.want(t, 1+n)
	if got := w.failures(t, hook); got != 1+n {
		t.Errorf("%d failures in a row, want %d", got, 1+n)
	}
}
