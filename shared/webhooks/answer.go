package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The bounds of what is kept of an answer, in bytes but for maxFields.
const (
	maxBody       = 4096
	maxFields     = 40
	maxFieldName  = 64
	maxFieldValue = 256
)

var errTimeout = errors.New("webhooks: the receiver took too long")

// explain says in a sentence why no answer came. It tells neither the URL,
// which may hold a token, nor the address that a name led to.
func (s *Sender) explain(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, errAddress):
		return "The webhook's host leads to an address that is not public."
	case errors.Is(context.Cause(ctx), errTimeout):
		return fmt.Sprintf("The receiver did not answer within %v.", s.options.Timeout)
	case ctx.Err() != nil:
		return "The delivery was cut off before the receiver answered."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The receiver refused the connection."
	case is[*net.DNSError](err):
		return "The webhook's host name could not be resolved."
	case is[x509.HostnameError](err):
		return "The receiver's TLS certificate is for another host."
	case is[*tls.CertificateVerificationError](err):
		return "The receiver's TLS certificate is expired, or not by an authority that is trusted."
	default:
		return "The connection failed, or the answer was not a valid HTTP answer."
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// header returns what is kept of an answer's header fields, by name.
func (h hider) header(fields http.Header) map[string]string {
	kept := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(kept) < maxFields && len(name) <= maxFieldName && !private(name) && !h.repeats(name) {
			kept[name] = clip.Bytes(h.hide(strings.Join(fields[name], ", ")), maxFieldValue)
		}
	}
	return kept
}

// private reports whether a field of an answer may hold credentials.
func private(name string) bool {
	switch name {
	case "Set-Cookie", "Set-Cookie2", "Cookie", "Authorization", "Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info":
		return true
	}
	return false
}

// body reads and returns what is kept of an answer's body: what came of it
// until the delivery's deadline.
func (h hider) body(resp *http.Response) string {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return "" // what follows is another protocol's
	}
	limit := maxBody + h.longest
	read, _ := io.ReadAll(io.LimitReader(resp.Body, int64(limit)))
	text := h.hide(string(read))
	if len(read) == limit && text != repeated { // it may end within a text to remove
		text = text[:max(0, len(text)-h.longest)]
	}
	return clip.Bytes(text, maxBody)
}

// object is the JSON of header fields, with their names in order.
func object(fields map[string]string) inbox.Object {
	// It cannot fail: HTTP has its names in ASCII, and the values are clipped.
	o, _ := json.Marshal(fields, json.Deterministic(true))
	return o
}
