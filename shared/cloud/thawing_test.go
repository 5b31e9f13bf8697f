package cloud

import (
	"io"
	"net/http"
	"net/http/httptest"
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
	transport := &thawing{next: &http.Transport{}, now: func() time.Time { return now }}
	defer transport.next.CloseIdleConnections()
	call := func() string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(r)
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
