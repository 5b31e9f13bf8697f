package webhooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The published test vector of Standard Webhooks.
func TestStandardWebhooksVector(t *testing.T) {
	const (
		secret    = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
		id        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
		body      = `{"test": 2432232314}`
		signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	)
	at := time.Unix(1614265330, 0)
	sigs, err := sign([]Secret{secret}, id, at, []byte(body))
	if err != nil || len(sigs.standard) != 1 || sigs.standard[0] != signature {
		t.Errorf("signatures %q, %v, want %q", sigs.standard, err, signature)
	}
	h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {"1614265330"}, "Webhook-Signature": {"v1,bm9wZQ== " + signature + " v1a,eA=="}}
	if err := Verify(secret, h, []byte(body), at.Add(time.Minute)); err != nil {
		t.Errorf("the vector does not verify: %v", err)
	}
}

// The two signatures, each checked by what its receivers compute on their own.
func TestCase32BothSignaturesBindIDTimeAndBody(t *testing.T) {
	r := newReceiver(t, nil)
	req := request(r.URL)
	send(t, r.sender(Options{}), req)
	got := r.only(t)

	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(req.Secrets[0]), "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	standard := hmac.New(sha256.New, key)
	fmt.Fprintf(standard, "%s.%d.%s", req.Body.Event.ID, clock.Unix(), got.body)
	if want := "v1," + base64.StdEncoding.EncodeToString(standard.Sum(nil)); got.header.Get("webhook-signature") != want {
		t.Errorf("webhook-signature %q, want %q", got.header.Get("webhook-signature"), want)
	}
	kobana := hmac.New(sha256.New, []byte(req.Secrets[0]))
	kobana.Write(got.body)
	if want := "sha256=" + hex.EncodeToString(kobana.Sum(nil)); got.header.Get("X-Kobana-Signature") != want {
		t.Errorf("X-Kobana-Signature %q, want %q", got.header.Get("X-Kobana-Signature"), want)
	}
	// The Kobana signature binds id and time through the body.
	var e Envelope
	if err := json.Unmarshal(got.body, &e); err != nil {
		t.Fatal(err)
	}
	if e.DeliveryID != req.Body.DeliveryID || !e.DeliveredAt.Equal(clock.Truncate(time.Millisecond)) {
		t.Errorf("the body has delivery %s at %v", e.DeliveryID, e.DeliveredAt)
	}
}

func TestCase32CapturedRequest(t *testing.T) {
	r := newReceiver(t, nil)
	req := request(r.URL)
	send(t, r.sender(Options{}), req)
	got := r.only(t)
	changed := func(name, value string) http.Header {
		h := got.header.Clone()
		h.Set(name, value)
		return h
	}
	later := strconv.FormatInt(clock.Add(10*time.Minute).Unix(), 10)
	for name, c := range map[string]struct {
		header http.Header
		body   []byte
		secret Secret
		after  time.Duration
		want   error
	}{
		"at once":                          {got.header, got.body, req.Secrets[0], 0, nil},
		"at the end of the tolerance":      {got.header, got.body, req.Secrets[0], Tolerance, nil},
		"clock behind":                     {got.header, got.body, req.Secrets[0], -Tolerance, nil},
		"case 32 the same ten minutes on":  {got.header, got.body, req.Secrets[0], 10 * time.Minute, ErrTimestamp},
		"case 32 ten minutes on, new time": {changed("webhook-timestamp", later), got.body, req.Secrets[0], 10 * time.Minute, ErrSignature},
		"past the tolerance":               {got.header, got.body, req.Secrets[0], Tolerance + time.Second, ErrTimestamp},
		"from the future":                  {got.header, got.body, req.Secrets[0], -Tolerance - time.Second, ErrTimestamp},
		"another id":                       {changed("webhook-id", "x"), got.body, req.Secrets[0], 0, ErrSignature},
		"another body":                     {got.header, append(bytes.Clone(got.body), ' '), req.Secrets[0], 0, ErrSignature},
		"another secret":                   {got.header, got.body, NewSecret(), 0, ErrSignature},
		"no timestamp":                     {changed("webhook-timestamp", ""), got.body, req.Secrets[0], 0, ErrTimestamp},
		"timestamp at the end of time":     {changed("webhook-timestamp", "9223372036854775807"), got.body, req.Secrets[0], 0, ErrTimestamp},
		"timestamp at its beginning":       {changed("webhook-timestamp", "-9223372036854775808"), got.body, req.Secrets[0], 0, ErrTimestamp},
		"no signature":                     {changed("webhook-signature", ""), got.body, req.Secrets[0], 0, ErrSignature},
		"signature without its version":    {changed("webhook-signature", strings.TrimPrefix(got.header.Get("webhook-signature"), "v1,")), got.body, req.Secrets[0], 0, ErrSignature},
		"empty key":                        {got.header, got.body, "whsec_", 0, errSecret},
		"no prefix":                        {got.header, got.body, "c2VjcmV0c2VjcmV0", 0, errSecret},
	} {
		t.Run(name, func(t *testing.T) {
			if err := Verify(c.secret, c.header, c.body, clock.Truncate(time.Second).Add(c.after)); !errors.Is(err, c.want) {
				t.Errorf("Verify: %v, want %v", err, c.want)
			}
		})
	}
}

func TestCase32EachAttemptIsSignedAnew(t *testing.T) {
	r := newReceiver(t, nil)
	now := clock
	s := r.sender(Options{Now: func() time.Time { return now }})
	req := request(r.URL)
	first := send(t, s, req)

	// The second is made from the record of the first, as a replay is.
	now = now.Add(10 * time.Minute)
	if err := json.Unmarshal(first.RequestBody, &req.Body); err != nil {
		t.Fatal(err)
	}
	req.Body.DeliveryID, req.Attempt = inbox.NewID(now), 2
	send(t, s, req)

	a, b := r.seen[0], r.seen[1]
	if err := Verify(req.Secrets[0], b.header, b.body, now); err != nil {
		t.Errorf("the second attempt does not verify: %v", err)
	}
	for _, name := range []string{"webhook-timestamp", "webhook-signature", "X-Kobana-Signature"} {
		if a.header.Get(name) == b.header.Get(name) {
			t.Errorf("both attempts have the same %s", name)
		}
	}
	// Receivers tell by it that they know the event already.
	if id := string(req.Body.Event.ID); a.header.Get("webhook-id") != id || b.header.Get("webhook-id") != id {
		t.Errorf("webhook-id %q, then %q, want the event's twice", a.header.Get("webhook-id"), b.header.Get("webhook-id"))
	}
	var before, after Envelope
	if err := errors.Join(json.Unmarshal(a.body, &before), json.Unmarshal(b.body, &after)); err != nil {
		t.Fatal(err)
	}
	if show(before.Data) != show(after.Data) || show(before.Workspace) != show(after.Workspace) || before.Event != after.Event {
		t.Errorf("what is told changed: %s, then %s", a.body, b.body)
	}
	if before.DeliveryID == after.DeliveryID || !after.DeliveredAt.Equal(before.DeliveredAt.Add(10*time.Minute)) {
		t.Errorf("delivery %s at %v, then %s at %v", before.DeliveryID, before.DeliveredAt, after.DeliveryID, after.DeliveredAt)
	}
}

func TestRotatedSecretOverlap(t *testing.T) {
	r := newReceiver(t, nil)
	req := request(r.URL)
	old := req.Secrets[0]
	latest := NewSecret()
	req.Secrets = []Secret{latest, old}
	send(t, r.sender(Options{}), req)
	got := r.only(t)
	for name, secret := range map[string]Secret{"new": latest, "old": old} {
		if err := Verify(secret, got.header, got.body, clock); err != nil {
			t.Errorf("the %s secret does not verify: %v", name, err)
		}
	}
	if want := "sha256=" + hex.EncodeToString(mac([]byte(latest), got.body)); got.header.Get("X-Kobana-Signature") != want {
		t.Error("X-Kobana-Signature is not by the newest secret")
	}
}

func TestSecretsAreRandomAndDoNotPrint(t *testing.T) {
	s := NewSecret()
	if key, err := s.key(); err != nil || len(key) != secretBytes || s == NewSecret() {
		t.Errorf("a new secret has a key of %d bytes (%v), or repeats", len(key), err)
	}
	credentials := inbox.Credentials{BasicUser: "kate", BasicPassword: "pa55word", BearerToken: "t0ken", HeaderKey: "X-Key", HeaderValue: "v4lue"}
	var logged bytes.Buffer
	for _, h := range []slog.Handler{slog.NewJSONHandler(&logged, nil), slog.NewTextHandler(&logged, nil)} {
		slog.New(h).Info("m", "secret", s, "credentials", credentials)
	}
	r := Request{Secrets: []Secret{s}, Credentials: credentials}
	printed := fmt.Sprintf("%v %+v %#v %s %q %x %v %+v %#v %s", s, s, s, s, s, s, r, r, r, &credentials) + logged.String()
	for _, secret := range []string{string(s)[6:], hex.EncodeToString([]byte(s)), "kate", "pa55word", "t0ken", "v4lue"} {
		if strings.Contains(printed, secret) {
			t.Errorf("%q is in %s", secret, printed)
		}
	}
}

func TestUnusableSecretsAreErrorsThatDoNotQuoteThem(t *testing.T) {
	r := newReceiver(t, nil)
	for _, secrets := range [][]Secret{nil, {"whsec_"}, {"whsec_!secret!"}, {"c2VjcmV0c2VjcmV0"}, {NewSecret(), "whsec_sec-ret"}} {
		req := request(r.URL)
		req.Secrets = secrets
		_, err := r.sender(Options{}).Send(t.Context(), req)
		if err == nil || strings.Contains(err.Error(), "sec-ret") || strings.Contains(err.Error(), "!secret!") {
			t.Errorf("%d secrets: error %v", len(secrets), err)
		}
	}
	if len(r.seen) != 0 {
		t.Errorf("%d requests went out", len(r.seen))
	}
}
