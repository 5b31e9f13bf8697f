package inboxstore

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// No item of the table shows a secret, in any form that it might be kept in,
// after every kind of change.
func TestR4_SecretsAreNowhereInTheTable(t *testing.T) {
	eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
		fresh, _, err := w.RotateSecret(t.Context(), actor(o.ws, "webhooks_rotate_secret"), o.hook)
		if err != nil {
			t.Fatal(err)
		}
		o.hook = must[inbox.Webhook](t)(w.Webhook(t.Context(), o.ws, string(o.hook.ID)))
		if _, err := e.do(t, w, actor(o.ws, e.tool), o); err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{officeToken, officeValue, "other value", "another value", o.signedBy, fresh} {
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
			for k, item := range w.everything(t) {
				for _, form := range []string{secret, strings.TrimPrefix(secret, "whsec_"), base64.StdEncoding.EncodeToString([]byte(secret)), string(raw)} {
					if form != "" && (bytes.Contains(item.Value, []byte(form)) || strings.Contains(k.Partition+k.Sort, form)) {
						t.Fatalf("%q is in %v", form, k)
					}
				}
			}
		}
	})
}

// Nor does an error or a printed record.
func TestCredentialsDoNotPrint(t *testing.T) {
	c := inbox.Credentials{BasicUser: "u-x", BasicPassword: "p-x", BearerToken: "b-x", HeaderKey: "h-x", HeaderValue: "v-x"}
	s := signing{Secrets: []signingSecret{{Value: "whsec_x"}}}
	s.Credentials.BearerToken = "b-x"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(verb+verb, c, s); strings.Contains(text, "-x") || strings.Contains(text, "whsec_") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
	if c.LogValue().String() != "[credentials]" {
		t.Errorf("logged as %v", c.LogValue())
	}
	w := newWorld(t)
	o := newOffice(t, w)
	_, _, err := w.CreateWebhook(t.Context(), actor(o.ws, "webhooks_create"), inbox.Webhook{Label: "x", URL: "https://a.example"}, inbox.Credentials{BearerToken: officeToken})
	wantError(t, err, inbox.CodeInvalid, "auth_bearer_token")
	if strings.Contains(err.Error(), officeToken) {
		t.Errorf("the error tells the token: %v", err)
	}
}

func TestSealedValuesAreGoodInTheirPlaceOnly(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	ctx := t.Context()
	here, there := space(o.ws).confidential(o.secret.ID), space(o.ws).confidential(o.hook.ID)
	item := must[store.Item](t)(w.table.Get(ctx, here))
	var value string
	if err := w.open(ctx, item, &value); err != nil || value != officeValue {
		t.Fatalf("opened as %q, %v", value, err)
	}
	again := must[[]byte](t)(w.seal(ctx, here, officeValue))
	if bytes.Equal(again, item.Value) {
		t.Error("sealed twice, it is the same")
	}
	for name, bad := range map[string]store.Item{
		"moved":     {Key: there, Value: item.Value},
		"empty":     {Key: here},
		"cut":       {Key: here, Value: item.Value[:len(item.Value)-1]},
		"short":     {Key: here, Value: item.Value[:sealHeader+3]},
		"version":   {Key: here, Value: append([]byte{2}, item.Value[1:]...)},
		"key id":    {Key: here, Value: append([]byte{1, 0xff, 0xff}, item.Value[3:]...)},
		"plaintext": {Key: here, Value: []byte(`"` + officeValue + `"`)},
		"flipped":   {Key: here, Value: append(bytes.Clone(item.Value[:30]), append([]byte{item.Value[30] ^ 1}, item.Value[31:]...)...)},
	} {
		var value string
		if err := w.open(ctx, bad, &value); err == nil || value != "" || strings.Contains(err.Error(), officeValue) {
			t.Errorf("%s: opened as %q, %v", name, value, err)
		}
	}
}

// A new key seals, and the old one still opens.
func TestSealingKeysRotate(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	old, fresh := testKey, bytes.Repeat([]byte{9}, 32)
	sign := func() error { _, _, err := w.SigningOf(t.Context(), o.ws, o.hook.ID); return err }

	w.opts.Keys = staticKeys(fresh, old)
	if err := sign(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.RotateSecret(t.Context(), actor(o.ws, "webhooks_rotate_secret"), o.hook); err != nil {
		t.Fatal(err)
	}
	w.opts.Keys = staticKeys(old)
	if err := sign(); err == nil || !strings.Contains(err.Error(), "a key that is not there") {
		t.Errorf("what the new key sealed, with the old one only: %v", err)
	}
	w.opts.Keys = staticKeys(fresh)
	w.wantSigningCount(t, o, 2)
	if err := w.reveal(t.Context(), o.ws, o.secret.ID, new(string)); err == nil {
		t.Error("what the old key sealed opens without it")
	}
}

func (w *world) wantSigningCount(t *testing.T, o office, n int) {
	t.Helper()
	if secrets, _, err := w.SigningOf(t.Context(), o.ws, o.hook.ID); len(secrets) != n || err != nil {
		t.Errorf("%d secrets, %v; want %d", len(secrets), err, n)
	}
}

// Without keys nothing confidential is written, and all else is as ever.
func TestWithoutSealingKeys(t *testing.T) {
	broken := errors.New("the vault is on fire")
	for name, keys := range map[string]func(context.Context) ([][]byte, error){
		"not configured": nil, "none": staticKeys(), "out of reach": func(context.Context) ([][]byte, error) { return nil, broken },
	} {
		t.Run(name, func(t *testing.T) {
			eachEdit(t, func(t *testing.T, w *world, e edit, o office) {
				w.opts.Keys = keys
				before := w.everything(t)
				_, err := e.do(t, w, actor(o.ws, e.tool), o)
				switch e.tool {
				case "webhooks_create", "webhooks_rotate_secret", "secrets_create", "secrets_update":
					wantError(t, err, inbox.CodeUnavailable, "")
					wantUnchanged(t, err)
					w.wantNothingChanged(t, before)
				default:
					if err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
	w := newWorld(t)
	w.opts.Keys = staticKeys(testKey[:16])
	ws := w.newWorkspace(t)
	_, err := w.CreateSecret(t.Context(), actor(ws, "secrets_create"), inbox.Secret{Name: "X"}, "value")
	if _, ok := errors.AsType[*inbox.Error](err); err == nil || ok {
		t.Errorf("with a short key: %v, want a plain error", err)
	}
}
