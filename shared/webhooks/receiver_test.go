package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Receiver takes deliveries. It keeps those that are signed and answers then,
// before anything is done about them.
type Receiver struct {
	key  []byte
	keep func(id string, body []byte) error
}

// NewReceiver returns a receiver with the webhook's secret, "whsec_…". Keep
// stores an event by its id; to store one that is there already is no error.
func NewReceiver(secret string, keep func(id string, body []byte) error) (*Receiver, error) {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) == 0 {
		return nil, errors.New("the secret must be whsec_ and a key in base64")
	}
	return &Receiver{key, keep}, nil
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	if err := verify(r.key, req.Header, body, time.Now()); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if err := r.keep(req.Header.Get("Webhook-Id"), body); err != nil {
		http.Error(w, "not now", http.StatusServiceUnavailable) // it will come again
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// verify says why a delivery does not count: it must be signed with the key, for
// its id, its time and exactly this body, within five minutes of now.
func verify(key []byte, h http.Header, body []byte, now time.Time) error {
	id, timestamp := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("the delivery is too old, or from the future")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
	want := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for got := range strings.FieldsSeq(h.Get("Webhook-Signature")) { // more than one after a rotation
		if hmac.Equal([]byte(got), want) {
			return nil
		}
	}
	return errors.New("the delivery is not signed with this secret")
}
