package accesstest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// TestRateLimit: one request too many is a tool error that says how long to
// wait in tools/call, HTTP 429 with Retry-After elsewhere, and does nothing;
// after the wait there is room for one. It is each person's own.
func TestRateLimit(t *testing.T) {
	const burst = 3
	for _, v := range []mcp.Version{mcp.V20260728, mcp.V20250618} {
		w := newWorldLimited(t, access.RateLimit{PerSecond: 0.2, Burst: burst}) // one in 5 s
		c := w.as(w.token(t, demo.Owner, "inbox.read inbox.write", nil)).in(v)
		limited := func(t *testing.T, method string, params object, seconds int) {
			t.Helper()
			r := c.send(t, method, params)
			if method != "tools/call" {
				if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") != fmt.Sprint(seconds) || r.code() != http.StatusTooManyRequests {
					t.Errorf("%s: HTTP %d, Retry-After %q, %s", method, r.status, r.header.Get("Retry-After"), r.body)
				}
				return
			}
			a := c.callWith(t, params)
			if a.status != http.StatusOK || a.failure != "rate_limited" || a.text != fmt.Sprintf("rate_limited: Too many calls; nothing was done. Try again in %ds.", seconds) {
				t.Errorf("tools/call: HTTP %d %s", a.status, a.body)
			}
		}
		for n := range burst {
			if r := c.send(t, methods[n].name, methods[n].params); r.status != http.StatusOK || r.Error != nil || strings.Contains(r.body, "rate_limited") {
				t.Fatalf("request %d: HTTP %d %s", n, r.status, r.body)
			}
		}
		w.table.Reset()
		for _, m := range methods {
			limited(t, m.name, m.params, 5)
		}
		limited(t, "tools/call", object{"name": "secrets_create", "arguments": object{"name": "X", "value": "x"}}, 5)
		for _, call := range w.table.Calls() {
			if call.Method == storetest.Write {
				t.Errorf("a refused call wrote %v", call.Ops)
			}
		}
		w.clock.advance(2500 * time.Millisecond)
		limited(t, "tools/list", nil, 3) // 2.5 s, rounded up
		w.clock.advance(2500 * time.Millisecond)
		if r := c.send(t, "tools/list", nil); r.status != http.StatusOK {
			t.Errorf("after the wait: HTTP %d %s", r.status, r.body)
		}
		limited(t, "tools/list", nil, 5)
		// The same person by another token waits too; others do not, nor does ping.
		c.token = w.token(t, demo.Owner, "inbox.read", object{"client_id": "another-client"})
		limited(t, "tools/list", nil, 5)
		for _, p := range []access.Person{demo.Operator, demo.Other} {
			if r := w.as(w.token(t, p, "inbox.read", nil)).in(v).send(t, "tools/list", nil); r.status != http.StatusOK {
				t.Errorf("%v: HTTP %d %s", p, r.status, r.body)
			}
		}
		if r := c.in(mcp.V20250618).send(t, "ping", nil); r.status != http.StatusOK {
			t.Errorf("ping: HTTP %d %s", r.status, r.body)
		}
	}
}

// TestRateLimit_Order: who may not run a tool is told so, however hasty.
func TestRateLimit_Order(t *testing.T) {
	w := newWorldLimited(t, access.RateLimit{PerSecond: 0.2, Burst: 1})
	c := w.as(w.token(t, demo.Viewer, "inbox.read", nil))
	c.send(t, "tools/list", nil)
	if a := c.call(t, "secrets_list", nil); a.code() != mcp.CodeInvalidParams {
		t.Errorf("not permitted: HTTP %d %s", a.status, a.body)
	}
	owner := w.as(w.token(t, demo.Owner, "inbox.read", nil))
	owner.send(t, "tools/list", nil)
	challenged(t, owner.call(t, "agents_create", nil).reply, "inbox.write")
}
