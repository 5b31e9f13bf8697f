package awshttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestThawing: after a rest, by the wall clock, no connection is used that was
// open before it: it may have died while the instance was frozen, and the call
// over it would be lost.
func TestThawing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.RemoteAddr) }))
	defer server.Close()
	now := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	c := &transport{next: &http.Transport{}, now: func() time.Time { return now }}
	defer c.next.CloseIdleConnections()
	call := func() string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		from, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(from)
	}
	last := call()
	for _, step := range []struct {
		rest time.Duration
		kept bool
	}{{0, true}, {maxIdle, true}, {maxIdle + time.Second, false}, {time.Second, true}, {time.Hour, false}, {-time.Hour, false}} {
		now = now.Add(step.rest)
		from := call()
		if (from == last) != step.kept {
			t.Errorf("after %v: from %s, before from %s", step.rest, from, last)
		}
		last = from
	}
}

// closedBody is what smithy-go makes of a request's body, once the answer has
// begun: it can be read to its end, but not written.
type closedBody struct{ *strings.Reader }

func (closedBody) Close() error                     { return nil }
func (closedBody) WriteTo(io.Writer) (int64, error) { return 0, io.EOF }

// TestBodies_closed_early: a body that was closed early does not cost the answer,
// nor the connection.
func TestBodies_closed_early(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, r.RemoteAddr)
	}))
	defer server.Close()
	c := &transport{next: &http.Transport{}, now: time.Now}
	defer c.next.CloseIdleConnections()
	from := map[string]bool{}
	for range 10 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, closedBody{strings.NewReader(strings.Repeat("x", 10_000))})
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = 10_000
		resp, err := c.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		from[string(text)] = true
	}
	if len(from) != 1 {
		t.Errorf("%d connections for calls one after the other", len(from))
	}
}
