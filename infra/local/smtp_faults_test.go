package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// faulty is a raw messages' store that breaks when told.
type faulty struct {
	store.Blobs
	mu   sync.Mutex
	puts int // that still succeed, -1: all
}

func (f *faulty) Put(ctx context.Context, key string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.puts == 0 {
		return store.ErrUnavailable
	}
	f.puts--
	return f.Blobs.Put(ctx, key, data)
}

func (f *faulty) allow(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.puts = n
}

// serveFaulty starts a server with such a store.
func serveFaulty(t *testing.T) (*Server, *faulty) {
	t.Helper()
	c := testConfig(dataDir(t))
	withSMTP(&c)
	s, err := Open(t.Context(), c, quiet())
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.data.db.Table("names").Get(t.Context(), store.Key{Partition: "table", Sort: "data"})
	if err != nil {
		t.Fatal(err)
	}
	faults := &faulty{Blobs: s.data.links.blobs, puts: -1}
	s.data.links.blobs = faults
	s.data.use(string(table.Value), quiet())
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, faults
}

// TestSMTP_Unavailable: what some inboxes cannot keep now comes again, and those
// that have it do not keep it twice. What succeeded is another message when it
// comes again.
func TestSMTP_Unavailable(t *testing.T) {
	s, faults := serveFaulty(t)
	raw := crlf(message("again"))
	send := func() error { return s.sendMail("eva@example.com", raw, support, pedidos, invoices) }
	faults.allow(0)
	if err := send(); code(err) != 451 || !strings.Contains(err.Error(), "4.3.0") {
		t.Errorf("nothing can be kept: %v", err)
	}
	for range 3 {
		faults.allow(1) // one of the inboxes that do not have it keeps it
		if err := send(); code(err) != 451 && code(err) != 0 {
			t.Errorf("%v", err)
		}
	}
	faults.allow(-1)
	want := func(n int) {
		t.Helper()
		if owner, other := subjects(t, s, "demo-owner")["again"], subjects(t, s, "demo-other")["again"]; owner != 2*n || other != n {
			t.Errorf("they have it %d and %d times", owner, other)
		}
	}
	want(1)
	if err := send(); err != nil {
		t.Error(err)
	}
	want(2)
}

// TestSMTP_UnavailableStore: an address that cannot be looked up now is asked
// for again, and none that does not exist.
func TestSMTP_UnavailableStore(t *testing.T) {
	s, err := Open(t.Context(), testConfig(dataDir(t)), quiet())
	if err != nil {
		t.Fatal(err)
	}
	_, l := listenToo(t, s)
	client := dial(t, l)
	if err := s.data.close(); err != nil {
		t.Fatal(err)
	}
	if err := client.Mail("eva@example.com"); err != nil {
		t.Fatal(err)
	}
	if err := client.Rcpt(support); code(err) != 451 {
		t.Errorf("%v", err)
	}
	if err := s.stopListening(); err != nil {
		t.Error(err)
	}
}

// TestSMTP_NoHeader: the line that tells who sent a message makes no mail of what
// is none, and is no header of its own before one that begins late.
func TestSMTP_NoHeader(t *testing.T) {
	t.Parallel()
	s := serve(t, withSMTP)
	c := as("demo-owner").at(s)
	kept := map[string]object{} // by raw message
	for _, raw := range []string{"Only a text.\n", "%PDF-1.7\n\nSubject: no\n", "\n", "\n\nSubject: late\n\nHello.\n", "\ufeffSubject: marked\n\nHello.\n"} {
		if err := s.sendMail("", crlf(raw), support); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
	}
	for _, e := range c.list(t, "emails_list", object{"limit": 5}) {
		link := get[struct{ URL string }](t, c, "emails_get_eml", object{"id": e["id"]}).URL
		_, raw := exchange(t, http.MethodGet, link, "")
		kept[string(raw)] = e
	}
	for raw, want := range map[string]struct{ status, subject string }{
		"Only a text.\n":            {"failed", "<nil>"},
		"%PDF-1.7\n\nSubject: no\n": {"failed", "<nil>"},
		"\n":                        {"failed", "<nil>"},
		"Return-Path: <>\nSubject: late\n\nHello.\n":   {"approved", "late"},
		"Return-Path: <>\nSubject: marked\n\nHello.\n": {"approved", "marked"},
	} {
		if e := kept[crlf(raw)]; e["status"] != want.status || fmt.Sprint(e["subject"]) != want.subject {
			t.Errorf("%q: %v", raw, e)
		}
	}
}

// TestSMTP_UnfinishedAreFew: clients that never come back take no memory.
func TestSMTP_UnfinishedAreFew(t *testing.T) {
	s := newSMTPServer(nil, quiet())
	for i := range 2 * maxUnfinished {
		digest := [32]byte{byte(i), byte(i >> 8)}
		id := s.transaction(digest)
		s.finish(digest, id, false)
		if again := s.transaction(digest); again != id {
			t.Fatalf("%s is %s the next time", id, again)
		}
	}
	if len(s.unfinished) != maxUnfinished {
		t.Errorf("%d", len(s.unfinished))
	}
}

// TestSMTP_Stop: what was begun comes to its end, with what the client is told
// of it, and who only sits there keeps nobody from stopping.
func TestSMTP_Stop(t *testing.T) {
	t.Parallel()
	c := testConfig(dataDir(t))
	withSMTP(&c)
	s, stop := serveOn(t, c)
	mail, l := listenToo(t, s)
	for _, l := range []net.Listener{l, s.mail} {
		silent, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
	}
	idle, late, busy := dial(t, l), dial(t, l), dial(t, l)
	if err := errors.Join(busy.Mail("eva@example.com"), busy.Rcpt(support)); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error)
	go func() { stopped <- mail.Shutdown(t.Context()) }()
	for { // until it is stopping
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
	}
	if err := late.Mail("eva@example.com"); code(err) != 421 {
		t.Errorf("what is begun now: %v", err)
	}
	if err := finish(busy, crlf(message("the last one"))); err != nil {
		t.Errorf("what was begun: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := idle.Noop(); err == nil {
		t.Error("a connection is open still")
	}
	if got := subjects(t, s, "demo-owner"); got["the last one"] != 1 {
		t.Errorf("%v", got)
	}
	stop()
}

// listenToo serves SMTP for a server once more, for the test to change or to
// stop.
func listenToo(t *testing.T, s *Server, change ...func(*smtpServer)) (*smtpServer, net.Listener) {
	t.Helper()
	mail := newSMTPServer(s.data, quiet())
	for _, f := range change {
		f(mail)
	}
	l, err := listenOn(0, "")
	if err != nil {
		t.Fatal(err)
	}
	go mail.Serve(l)
	t.Cleanup(func() { mail.Close() })
	return mail, l
}
