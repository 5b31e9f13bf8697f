package e2e

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// broken puts a fault between the router and the families of a lane of the
// test's own, and counts the calls that the router makes.
func (s *Stack) broken(t *testing.T, f func(n int64, call func() ([]byte, error)) ([]byte, error)) (l *lane, calls *atomic.Int64) {
	t.Helper()
	l, calls = s.with(t), new(atomic.Int64)
	l.fault.Store(new(fault(func(call func() ([]byte, error)) ([]byte, error) { return f(calls.Add(1), call) })))
	return l, calls
}

// create is a call that has an effect, and asks nobody: an inbox with a label
// that no other has.
func create() (call object, label string) {
	label = rand.Text()
	return object{"name": "inboxes_create", "arguments": object{"label": label}}, label
}

// effects counts the inboxes with a label.
func effects(t *testing.T, c client, label string) (n int) {
	t.Helper()
	for _, r := range c.list(t, "inboxes_list", object{"limit": 200}) {
		if r["label"] == label {
			n++
		}
	}
	return n
}

// TestRouter_one_attempt: an answer that is lost after the call took effect is
// told as lost, and the call is not made again.
func TestRouter_one_attempt(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	drop := func(_ int64, call func() ([]byte, error)) ([]byte, error) {
		if _, err := call(); err != nil {
			t.Error(err)
		}
		return nil, errors.New("dropped")
	}
	l, calls := s.broken(t, drop)
	call, label := create()
	a := c.at(l).with("Origin: https://app.example.com").send(t, "tools/call", call)
	if origin := a.Header.Get("Access-Control-Allow-Origin"); origin != "https://app.example.com" {
		t.Errorf("a browser cannot read the fault: %q", origin)
	}
	if a.StatusCode != http.StatusBadGateway || string(a.ID) != "1" || a.Error == nil || a.Error.Code != mcp.CodeInternal || !strings.Contains(a.Error.Message, "not known") {
		t.Errorf("HTTP %d %s", a.StatusCode, a.body)
	}
	if n := effects(t, c, label); n != 1 || calls.Load() != 1 {
		t.Errorf("%d effects of %d calls", n, calls.Load())
	}

	id := newInbox(t, c)
	asked := ask(t, c, "inboxes_delete", object{"id": id})
	confirmed := object{"name": "inboxes_delete", "arguments": object{"id": id}}
	for name, value := range answered(asked, yes) {
		confirmed[name] = value
	}
	if a := c.at(l).send(t, "tools/call", confirmed); a.StatusCode != http.StatusBadGateway || calls.Load() != 2 {
		t.Errorf("a confirmed call: HTTP %d %s, %d calls", a.StatusCode, a.body, calls.Load())
	}
	if n := events(t, c, "inbox.deleted", id); n != 1 {
		t.Errorf("%d effects", n)
	}
	if o := c.call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "confirmation_replayed" {
		t.Errorf("the same again, whose answer arrives: %+v", o)
	}
}

// TestRouter_throttled: a call that never began may be made again.
func TestRouter_throttled(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	l, calls := s.broken(t, func(n int64, call func() ([]byte, error)) ([]byte, error) {
		if n < 3 {
			return nil, lambdatest.ErrThrottled
		}
		return call()
	})
	call, label := create()
	a := c.at(l).send(t, "tools/call", call)
	if n := effects(t, c, label); a.StatusCode != http.StatusOK || n != 1 || calls.Load() != 3 {
		t.Errorf("HTTP %d %s: %d effects of %d calls", a.StatusCode, a.body, n, calls.Load())
	}

	l, calls = s.broken(t, func(int64, func() ([]byte, error)) ([]byte, error) { return nil, lambdatest.ErrThrottled })
	call, label = create()
	a = c.at(l).send(t, "tools/call", call)
	if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" || string(a.ID) != "1" || !strings.Contains(a.Error.Message, "nothing was done") {
		t.Errorf("HTTP %d %v %s", a.StatusCode, a.Header, a.body)
	}
	if n := effects(t, c, label); n != 0 || calls.Load() != 4 {
		t.Errorf("%d effects of %d calls", n, calls.Load())
	}
}

// TestRouter_family_ended: a family whose process ended is told as an error
// with the caller's id; the next call finds a new process.
func TestRouter_family_ended(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	l := s.with(t)
	c.at(l).result(t, "tools/list", nil)
	l.instances["tools"].signal(t, syscall.SIGKILL)
	a := c.at(l).send(t, "tools/list", nil)
	if a.StatusCode != http.StatusBadGateway && a.StatusCode != http.StatusOK || string(a.ID) != "1" {
		t.Errorf("HTTP %d %s", a.StatusCode, a.body)
	}
	if a := c.at(l).send(t, "tools/list", nil); a.StatusCode != http.StatusOK {
		t.Errorf("then: HTTP %d %s", a.StatusCode, a.body)
	}
}

// TestRouter_line: what the router hands on leaves a line in both logs, with the
// gateway's id in common.
func TestRouter_line(t *testing.T) {
	s := use(t)
	l := s.with(t)
	s.owner(t).at(l).result(t, "tools/call", object{"name": "models_list", "arguments": object{}})
	var ids []any
	for name, outcome := range map[string]string{"router": "forwarded", "tools": "ok"} {
		var request object
		waitFor(t, func() bool {
			for _, line := range l.instances[name].lines(t) {
				if o := decode[object](t, []byte(line)); o["message"] == "request" {
					request = o
				}
			}
			return request != nil
		})
		if request["method"] != "tools/call" || request["subject"] != "models_list" || request["outcome"] != outcome || request["status"] != 200.0 {
			t.Errorf("%s: %v", name, request)
		}
		ids = append(ids, request["gateway_request_id"])
	}
	if ids[0] == nil || ids[0] != ids[1] {
		t.Error(ids)
	}
}
