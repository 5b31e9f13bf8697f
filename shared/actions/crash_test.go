package actions

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Wherever a test is cut off: it never sends twice for one yes, and what was
// sent has an outcome, or at least the event that it started.
func TestCutOffAnywhere(t *testing.T) {
	const start, finish = 1, 2 // the writes
	type events []inbox.Outcome
	for _, c := range []struct {
		name           string
		effect         storetest.Effect
		nth            int // the write that goes wrong; 0 for all from the finish on
		code, again    inbox.Code
		sent, sentThen int // requests after the first call, and after the second with the same yes
		events         events
		kept           int // deliveries
	}{
		{"before the start is written", storetest.Fail, start, inbox.CodeUnavailable, "", 0, 1, events{started, failed}, 1},
		{"after the start is written", storetest.LoseReply, start, inbox.CodeUnavailable, inbox.CodeConflict, 0, 0, events{started}, 0},
		{"the start is sent again", storetest.Resend, start, "", inbox.CodeConflict, 1, 1, events{started, failed}, 1},
		{"before the outcome is written, once", storetest.Fail, finish, "", inbox.CodeConflict, 1, 1, events{started, failed}, 1},
		{"after the outcome is written, once", storetest.LoseReply, finish, "", inbox.CodeConflict, 1, 1, events{started, failed}, 1},
		{"the outcome is sent again", storetest.Resend, finish, "", inbox.CodeConflict, 1, 1, events{started, failed}, 1},
		{"before the outcome is written, for good", storetest.Fail, 0, inbox.CodeUnavailable, inbox.CodeConflict, 1, 1, events{started}, 0},
		{"after the outcome is written, for good", storetest.LoseReply, 0, inbox.CodeUnavailable, inbox.CodeConflict, 1, 1, events{started, failed}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := local(t)
			w.to.status = 500
			hook, _ := w.webhook(t, w.to.URL)
			by := w.by("webhooks_test")
			inject := func() {
				w.table.Inject(storetest.Injection{Effect: c.effect, Method: storetest.Write, Nth: c.nth})
			}
			if w.table.Reset(); c.nth == 0 {
				w.to.during = func(*http.Request) { inject() }
			} else {
				inject()
			}
			if _, err := w.TestWebhook(t.Context(), by, hook); inbox.CodeOf(err) != c.code || err != nil && c.code == "" {
				t.Errorf("error = %v, want %q", err, c.code)
			}
			w.to.want(t, c.sent)
			w.table.Reset()
			w.to.during = nil
			if _, err := w.TestWebhook(t.Context(), by, hook); inbox.CodeOf(err) != c.again || err != nil && c.again == "" {
				t.Errorf("the same yes again: error = %v, want %q", err, c.again)
			}
			w.to.want(t, c.sentThen)
			w.wantOutcomes(t, "webhook.tested", c.events...)
			if n := len(w.deliveries(t, hook)); n != c.kept || w.failures(t, hook) != int64(c.kept) {
				t.Errorf("%d deliveries, %d failures, want %d", n, w.failures(t, hook), c.kept)
			}
		})
	}
}

// What could not be recorded is in the log, and is not told as not sent.
func TestUnrecordedOutcome(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	w.to.during = func(*http.Request) { w.table.Inject(storetest.Injection{Effect: storetest.Fail}) }
	by := w.by("webhooks_test")
	d, err := w.TestWebhook(t.Context(), by, hook)
	if err == nil || !strings.Contains(err.Error(), "The delivery ended (success), but this could not be recorded.") || d.Status != inbox.DeliverySuccess {
		t.Errorf("%+v, error = %v", d, err)
	}
	if log := w.logs.String(); !strings.Contains(log, "the outcome of an action is not recorded") || !strings.Contains(log, by.Confirmation) {
		t.Errorf("log: %s", log)
	}
}

// A call whose time is over while the receiver hangs is recorded all the same.
func TestCallEndsWhileTheReceiverHangs(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	ctx, cancel := context.WithCancel(t.Context())
	w.to.during = func(r *http.Request) { cancel(); <-r.Context().Done() }
	d, err := w.TestWebhook(ctx, w.by("webhooks_test"), hook)
	const sentence = "The delivery was cut off before the receiver answered. The receiver may have got the request."
	if err != nil || d.Status != inbox.DeliveryFailed || *d.Error != sentence {
		t.Errorf("%+v, %v", d, err)
	}
	w.to.want(t, 1)
	w.wantOutcomes(t, "webhook.tested", started, failed)
	if len(w.deliveries(t, hook)) != 1 || w.failures(t, hook) != 1 {
		t.Errorf("%d deliveries, %d failures, want 1", len(w.deliveries(t, hook)), w.failures(t, hook))
	}
}

// The receiver's time is bounded, so that the outcome is told within the call.
func TestReceiverTakesTooLong(t *testing.T) {
	w := newWorld(t, pipeline.Options{}, webhooks.Options{AllowLoopback: true, Timeout: 50 * time.Millisecond})
	hook, _ := w.webhook(t, w.to.URL)
	w.to.during = func(r *http.Request) { <-r.Context().Done() }
	d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook)
	if err != nil || *d.Error != "The receiver did not answer within 50ms. The receiver may have got the request." {
		t.Errorf("%+v, %v", d, err)
	}
	w.wantOutcomes(t, "webhook.tested", started, failed)
}

// What others do to the webhook while its receiver answers stays.
func TestWebhookChangesWhileItIsTested(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	w.to.status = 500
	w.to.during = func(*http.Request) {
		now := hook
		now.Label = "Another"
		if _, err := w.UpdateWebhook(context.Background(), w.by("webhooks_update"), hook, now); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook); err != nil {
		t.Fatal(err)
	}
	now, err := w.Webhook(t.Context(), w.ws, string(hook.ID))
	if err != nil || now.Label != "Another" || now.ConsecutiveFailures != 1 {
		t.Errorf("%+v, %v", now, err)
	}

	w.to.during = func(*http.Request) {
		if err := w.DeleteWebhook(context.Background(), w.by("webhooks_delete"), now); err != nil {
			t.Error(err)
		}
	}
	if d, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), now); err != nil || d.Status != inbox.DeliveryFailed {
		t.Errorf("%+v, %v", d, err)
	}
	w.wantOutcomes(t, "webhook.tested", started, started, failed, failed)
	_, err = w.Webhook(t.Context(), w.ws, string(hook.ID))
	wantError(t, err, inbox.CodeNotFound)
}

// Where nothing can be sent at all, there is no delivery, and the event says
// that it failed.
func TestNothingToSend(t *testing.T) {
	w := local(t)
	hook, _ := w.webhook(t, w.to.URL)
	w.apply(t, inboxstore.Signing(hook.ID, "not a secret", inbox.Credentials{}, noon))
	if _, err := w.TestWebhook(t.Context(), w.by("webhooks_test"), hook); err == nil || inbox.CodeOf(err) != "" {
		t.Errorf("error = %v, want one of the machinery", err)
	}
	w.to.want(t, 0)
	w.wantOutcomes(t, "webhook.tested", started, failed)
}
