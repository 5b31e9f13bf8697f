package local

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// linkTTL is how long a link to a raw message works.
const linkTTL = 5 * time.Minute

// links signs and serves the download links of raw messages, as S3 does with
// presigned URLs in the cloud: whoever holds the link may download until it
// expires, and nothing else.
type links struct {
	base  string // the server's public address
	key   []byte
	blobs store.Blobs
	now   func() time.Time
}

// Link returns a signed URL of the raw message kept under the blob key.
func (l *links) Link(_ context.Context, blob string) (inbox.Link, error) {
	expires := l.now().Add(linkTTL).UTC().Truncate(time.Second)
	exp := strconv.FormatInt(expires.Unix(), 10)
	q := url.Values{"key": {blob}, "expires": {exp}, "signature": {l.sign(blob, exp)}}
	return inbox.Link{URL: l.base + "/eml?" + q.Encode(), ExpiresAt: expires}, nil
}

func (l *links) sign(blob, expires string) string {
	m := hmac.New(sha256.New, l.key)
	fmt.Fprintf(m, "eml\n%s\n%s", blob, expires)
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// ServeHTTP answers GET /eml with the raw message that the link names.
func (l *links) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	blob, exp := q.Get("key"), q.Get("expires")
	if !hmac.Equal([]byte(q.Get("signature")), []byte(l.sign(blob, exp))) {
		http.Error(w, "this link is not valid: ask for a new one", http.StatusForbidden)
		return
	}
	if sec, err := strconv.ParseInt(exp, 10, 64); err != nil || l.now().Unix() >= sec {
		http.Error(w, "this link has expired: ask for a new one", http.StatusForbidden)
		return
	}
	raw, err := l.blobs.Get(r.Context(), blob)
	switch {
	case errors.Is(err, store.ErrNotFound):
		http.Error(w, "the message is gone", http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, "the message cannot be read now: try again later", http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "message/rfc822")
	h.Set("Content-Disposition", `attachment; filename="message.eml"`)
	h.Set("Content-Length", strconv.Itoa(len(raw)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.Write(raw)
}
