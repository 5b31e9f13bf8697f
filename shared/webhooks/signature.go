package webhooks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The header fields of a signed delivery, in canonical form: those of Standard
// Webhooks 1.0.0, and the one that receivers of other Kobana products check.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	headerKobana    = "X-Kobana-Signature"
)

// Tolerance is how far a delivery's timestamp may be from the receiver's clock.
const Tolerance = 5 * time.Minute

// Secret is a webhook's signing secret as the receiver is given it: "whsec_"
// and the key in base64. It does not print.
type Secret string

const (
	secretPrefix = "whsec_"
	secretBytes  = 32 // of the 24 to 64 that Standard Webhooks allows
)

// NewSecret makes a random secret.
func NewSecret() Secret {
	key := make([]byte, secretBytes)
	rand.Read(key) // never fails
	return Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// Format prints nothing of the secret, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[secret]") }

// LogValue logs nothing of the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

var errSecret = errors.New("the secret is not " + secretPrefix + " with a key in base64")

// key returns the bytes to sign with by Standard Webhooks.
func (s Secret) key() ([]byte, error) {
	encoded, ok := strings.CutPrefix(string(s), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) == 0 {
		return nil, errSecret // without err, which quotes the secret
	}
	return key, nil
}

// standard returns the Standard Webhooks signature of a message.
func (s Secret) standard(id, timestamp string, body []byte) (string, error) {
	key, err := s.key()
	if err != nil {
		return "", err
	}
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, []byte(id+"."+timestamp+"."), body)), nil
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// signatures are those of one message.
type signatures struct {
	standard []string // one per secret
	kobana   string   // by the newest secret
}

// sign signs a message with each of the secrets, newest first. The key of the
// Kobana signature is the secret's text whole, as its receivers have it.
func sign(secrets []Secret, id string, at time.Time, body []byte) (signatures, error) {
	if len(secrets) == 0 {
		return signatures{}, errors.New("no secret to sign with")
	}
	sigs := signatures{kobana: hex.EncodeToString(mac([]byte(secrets[0]), body))}
	for _, s := range secrets {
		sig, err := s.standard(id, strconv.FormatInt(at.Unix(), 10), body)
		if err != nil {
			return signatures{}, err
		}
		sigs.standard = append(sigs.standard, sig)
	}
	return sigs, nil
}

// set puts the signatures into the header.
func (s signatures) set(h http.Header) {
	h.Set(headerSignature, strings.Join(s.standard, " "))
	h.Set(headerKobana, "sha256="+s.kobana)
}

// values are the texts that no record may show.
func (s signatures) values() []string {
	list := []string{s.kobana}
	for _, sig := range s.standard {
		list = append(list, strings.TrimPrefix(sig, "v1,"))
	}
	return list
}

// Errors of [Verify].
var (
	ErrTimestamp = errors.New("the delivery's timestamp is missing or more than five minutes away")
	ErrSignature = errors.New("no signature of the delivery is by this secret")
)

// Verify is for receivers: it reports whether a delivery that arrived at now
// was signed with the secret, for its id, its time and exactly this body, at
// most [Tolerance] from now. It compares in constant time. Because a delivery
// can be sent again within that time, a receiver that must act once keeps the
// Webhook-Id: it stays the same when an event is sent again.
func Verify(secret Secret, h http.Header, body []byte, now time.Time) error {
	timestamp := h.Get(headerTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return ErrTimestamp
	}
	want, err := secret.standard(h.Get(headerID), timestamp, body)
	if err != nil {
		return err
	}
	for got := range strings.FieldsSeq(h.Get(headerSignature)) {
		if hmac.Equal([]byte(got), []byte(want)) {
			return nil
		}
	}
	return ErrSignature
}
