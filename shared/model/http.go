package model

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
)

// maxBody is how many bytes of a provider's answer are read: many times
// [MaxText], for what stands around the text and for how JSON escapes it.
const maxBody = 1 << 20

// errTooLarge is what reading beyond maxBody ends with.
var errTooLarge = errors.New("the body is larger than 1 MiB")

// NewHTTPClient returns a client for a provider: it follows no redirect, which
// would carry mail and credentials elsewhere, and reads no more than 1 MiB of
// an answer. How long an answer may take, the context says. It uses no connection
// that may have died while a function was frozen.
func NewHTTPClient() *http.Client { return newHTTPClient(time.Now) }

func newHTTPClient(now func() time.Time) *http.Client {
	return &http.Client{
		Transport: bounded{awshttp.Guard(&http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    16,
			IdleConnTimeout:        time.Minute,
			ForceAttemptHTTP2:      true,
		}, now)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bounded bounds the bodies of answers.
type bounded struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &boundedBody{answer.Body, maxBody}
	}
	return answer, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
