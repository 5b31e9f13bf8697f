package inboxstore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// wantSigning fails unless exactly these secrets sign now, newest first.
func (w *world) wantSigning(t *testing.T, o office, want ...string) {
	t.Helper()
	secrets, c, err := w.SigningOf(t.Context(), o.ws, o.hook.ID)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range secrets {
		got = append(got, string(s))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d secrets sign: %q, want %q", len(got), got, want)
	}
	if string(c.BearerToken) != officeToken {
		t.Error("the credentials are lost")
	}
}

// The old secret signs for 24 hours, to the last moment.
func TestRotateSecretOverlaps(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	by := actor(o.ws, "webhooks_rotate_secret")
	w.wantSigning(t, o, o.signedBy)
	rotated := w.now
	second, until, err := w.RotateSecret(t.Context(), by, o.hook)
	if err != nil || !until.Equal(rotated.Add(24*time.Hour)) || second == o.signedBy || !strings.HasPrefix(second, "whsec_") {
		t.Fatalf("valid until %v, %v", until, err)
	}
	w.wantSigning(t, o, second, o.signedBy)
	w.now = until.Add(-1)
	w.wantSigning(t, o, second, o.signedBy)
	w.now = until
	w.wantSigning(t, o, second)

	// Twice within a day, each goes on as long as was said.
	o.hook = must[inbox.Webhook](t)(w.Webhook(t.Context(), o.ws, string(o.hook.ID)))
	third, untilSecond, err := w.RotateSecret(t.Context(), by, o.hook)
	if err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Hour)
	o.hook = must[inbox.Webhook](t)(w.Webhook(t.Context(), o.ws, string(o.hook.ID)))
	fourth, untilThird, err := w.RotateSecret(t.Context(), by, o.hook)
	if err != nil || untilThird.Sub(untilSecond) != time.Hour {
		t.Fatalf("valid until %v and %v, %v", untilSecond, untilThird, err)
	}
	w.wantSigning(t, o, fourth, third, second)
	w.now = untilSecond
	w.wantSigning(t, o, fourth, third)
	w.now = untilThird
	w.wantSigning(t, o, fourth)
}

// Two states of a record never look alike, however little time is between them.
func TestEachStateHasItsTime(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	by := actor(o.ws, "webhooks_rotate_secret")
	w.now = o.hook.UpdatedAt
	if _, _, err := w.RotateSecret(t.Context(), by, o.hook); err != nil {
		t.Fatal(err)
	}
	_, _, err := w.RotateSecret(t.Context(), by, o.hook)
	wantChanged(t, err)
	w.now = w.now.Add(-time.Hour) // a clock that is behind
	hook := must[inbox.Webhook](t)(w.Webhook(t.Context(), o.ws, string(o.hook.ID)))
	if _, _, err := w.RotateSecret(t.Context(), by, hook); err != nil {
		t.Fatal(err)
	}
	if after := must[inbox.Webhook](t)(w.Webhook(t.Context(), o.ws, string(hook.ID))); !after.UpdatedAt.After(hook.UpdatedAt) {
		t.Errorf("updated at %v, before that at %v", after.UpdatedAt, hook.UpdatedAt)
	}
}

func TestRotationsWithinADayAreBounded(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	by := actor(o.ws, "webhooks_rotate_secret")
	rotate := func() error {
		o.hook = must[inbox.Webhook](t)(w.Webhook(t.Context(), o.ws, string(o.hook.ID)))
		_, _, err := w.RotateSecret(t.Context(), by, o.hook)
		return err
	}
	for range maxOverlap {
		if err := rotate(); err != nil {
			t.Fatal(err)
		}
	}
	before := w.everything(t)
	wantError(t, rotate(), inbox.CodeLimit, "")
	w.wantNothingChanged(t, before)
	w.now = w.now.Add(overlap)
	if err := rotate(); err != nil {
		t.Error(err)
	}
}

// A webhook that was put in without a secret gets its first one.
func TestRotateSecretWhereThereIsNone(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	hook := aWebhook(o.ws)
	w.apply(t, o.ws, Insert(hook))
	if secrets, _, err := w.SigningOf(t.Context(), o.ws, hook.ID); len(secrets) != 0 || err != nil {
		t.Errorf("%d secrets, %v", len(secrets), err)
	}
	secret, until, err := w.RotateSecret(t.Context(), actor(o.ws, "webhooks_rotate_secret"), hook)
	if err != nil || !until.Equal(w.now) {
		t.Errorf("until %v, %v; want %v", until, err, w.now)
	}
	secrets, _, err := w.SigningOf(t.Context(), o.ws, hook.ID)
	if err != nil || !slices.Equal(secrets, []webhooks.Secret{webhooks.Secret(secret)}) {
		t.Errorf("%d secrets, %v", len(secrets), err)
	}
}

func TestADeletedWebhookSignsNothing(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	if err := w.DeleteWebhook(t.Context(), actor(o.ws, "webhooks_delete"), o.hook); err != nil {
		t.Fatal(err)
	}
	if secrets, c, err := w.SigningOf(t.Context(), o.ws, o.hook.ID); len(secrets) != 0 || c != (inbox.Credentials{}) || err != nil {
		t.Errorf("%d secrets, %v", len(secrets), err)
	}
}

// Credentials would follow a webhook to whatever host it is given.
func TestAWebhookWithAuthStaysAtItsHost(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	open := aWebhook(o.ws)
	open.URL = o.hook.URL
	w.apply(t, o.ws, Insert(open))
	for _, c := range []struct {
		url         string
		code, plain inbox.Code // of one with auth, and of one without
	}{
		{"https://crm.example/other?x=1", "", ""},
		{"https://CRM.example:443/hook", "", ""},
		{"https://other.example/hook", inbox.CodeConflict, ""},
		{"https://crm.example.evil.example/hook", inbox.CodeConflict, ""},
		{"https://crm.example:8443/hook", inbox.CodeInvalid, inbox.CodeInvalid},
		{"http://crm.example/hook", inbox.CodeInvalid, inbox.CodeInvalid},
		{"https://169.254.169.254/", inbox.CodeInvalid, inbox.CodeInvalid}, // case 33
		{"https://[::ffff:127.0.0.1]/", inbox.CodeInvalid, inbox.CodeInvalid},
		{"https://0x7f.1/", inbox.CodeInvalid, inbox.CodeInvalid},
		{"nonsense", inbox.CodeInvalid, inbox.CodeInvalid},
	} {
		for was, code := range map[*inbox.Webhook]inbox.Code{&o.hook: c.code, &open: c.plain} {
			now := *was
			now.URL = c.url
			r, err := w.UpdateWebhook(t.Context(), actor(o.ws, "webhooks_update"), *was, now)
			if code != "" {
				wantError(t, err, code, "url")
				wantUnchanged(t, err)
				continue
			}
			if err != nil || r.URL != c.url {
				t.Errorf("%s with auth %s: %v", c.url, was.Auth, err)
				continue
			}
			*was = r
		}
		back := open
		back.URL = "https://crm.example/hook"
		if open.URL != back.URL {
			open = must[inbox.Webhook](t)(w.UpdateWebhook(t.Context(), actor(o.ws, "webhooks_update"), open, back))
		}
	}
}

// wantUnchanged fails unless an error tells the caller that nothing was changed.
func wantUnchanged(t testing.TB, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "Nothing was changed.") {
		t.Errorf("%v does not say that nothing was changed", err)
	}
}
