// Package awshttp is the HTTP below the clients of AWS, and of models, in a process
// that is frozen between requests. No call goes out on a connection that may have
// died meanwhile: a call whose answer is lost may have been made, and cannot just
// be made again.
//
// It imports nothing else of this module.
package awshttp

import (
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// dialTimeout bounds the connection, and again TLS on it.
	dialTimeout = time.Second
	// maxIdle is how long all connections may rest and still be used.
	maxIdle = 20 * time.Second
)

// Options are what differs between clients.
type Options struct {
	Timeout       time.Duration // of one attempt; 0 is none but the caller's deadline
	AnswerTimeout time.Duration // until an answer begins; 0 is none
	IdlePerHost   int           // connections that may rest, 0 is net/http's 2
}

// NewClient returns the HTTPClient of an SDK client. It follows no redirect:
// the SDK's requests are signed for one address.
func NewClient(o Options) *http.Client {
	return &http.Client{
		Timeout: o.Timeout,
		Transport: Guard(&http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:   dialTimeout,
			ResponseHeaderTimeout: o.AnswerTimeout,
			MaxIdleConnsPerHost:   o.IdlePerHost,
			IdleConnTimeout:       time.Minute,
		}, time.Now),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Guard returns a transport by which no call is lost to a dead connection.
//
// Connections of next may die during a rest without its knowing, since its own
// clock stands still meanwhile. So after a rest by the wall clock, which now
// tells, it opens new ones.
func Guard(next *http.Transport, now func() time.Time) http.RoundTripper {
	return &transport{next: next, now: now}
}

type transport struct {
	next *http.Transport
	now  func() time.Time
	mu   sync.Mutex
	used time.Time
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.use()
	defer t.use()
	if r.Body != nil && r.Body != http.NoBody {
		r = r.WithContext(r.Context()) // a copy
		r.Body = onlyReads{r.Body}
	}
	return t.next.RoundTrip(r)
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// use notes that connections are used now, and closes those that rested for too
// long.
func (t *transport) use() {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now().Round(0)
	if age := now.Sub(t.used); age < 0 || age > maxIdle {
		t.next.CloseIdleConnections()
	}
	t.used = now
}

// onlyReads hides the WriteTo of a body that smithy-go made. When the answer
// begins, smithy-go closes the body, and WriteTo fails from then on. net/http
// may be about to look whether there is more of the body, and where that fails
// it closes the connection, under the answer that is being read.
type onlyReads struct{ io.ReadCloser }
