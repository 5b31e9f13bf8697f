package webhooks

import (
	"bufio"
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// TestMain gives the environment a proxy that no delivery may use.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		os.Setenv(name, "http://127.0.0.1:1")
	}
	os.Exit(m.Run())
}

var clock = time.Date(2026, 12, 2, 10, 0, 0, 123456789, time.UTC)

// received is a request as its receiver got it.
type received struct {
	header http.Header
	body   []byte
	proto  string
}

// receiver answers deliveries on loopback and keeps them.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen []received
}

// newReceiver starts one that answers by answer, 200 when that is nil.
func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	t.Helper()
	return startReceiver(t, answer, (*httptest.Server).StartTLS)
}

func startReceiver(t testing.TB, answer http.HandlerFunc, start func(*httptest.Server)) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.seen = append(r.seen, received{req.Header.Clone(), body, req.Proto})
		r.mu.Unlock()
		if answer != nil {
			answer(w, req)
		}
	}))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(r.Server)
	t.Cleanup(r.Close)
	return r
}

// only returns the one request that came.
func (r *receiver) only(t testing.TB) received {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) != 1 {
		t.Fatalf("the receiver got %d requests, want 1", len(r.seen))
	}
	return r.seen[0]
}

// sender is for loopback and trusts the receiver's certificate.
func (r *receiver) sender(o Options) *Sender {
	o.AllowLoopback = true
	if r.Server != nil && r.TLS != nil {
		o.RootCAs = r.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	}
	if o.Now == nil {
		o.Now = func() time.Time { return clock }
	}
	return New(o)
}

// rawReceiver answers each connection's request with bytes as they are, then
// closes the connection. It returns the URL.
func rawReceiver(t testing.TB, answer string) string {
	return connReceiver(t, func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err == nil {
			io.Copy(io.Discard, req.Body)
			io.WriteString(c, answer)
		}
	})
}

// connReceiver serves each connection by serve. It returns the URL.
func connReceiver(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// request is a delivery to url, signed with one new secret.
func request(url string) Request {
	return Request{
		Webhook: inbox.Webhook{ID: inbox.NewID(clock), URL: url, Auth: inbox.AuthNone},
		Secrets: []Secret{NewSecret()},
		Attempt: 1,
		Body: Envelope{
			Event:      Event{Slug: "email.processed", ID: inbox.NewID(clock)},
			DeliveryID: inbox.NewID(clock),
			Workspace:  inbox.Object(`{"id":"w"}`),
			Data:       inbox.Object(`{"email":{"subject":"Olá <b>"}}`),
		},
	}
}

func send(t testing.TB, s *Sender, r Request) inbox.Delivery {
	t.Helper()
	d, err := s.Send(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// wantFailed checks a failed delivery and its sentence.
func wantFailed(t testing.TB, d inbox.Delivery, sentence string) {
	t.Helper()
	if d.Status != inbox.DeliveryFailed || d.Error == nil || *d.Error != sentence {
		t.Errorf("status %s, error %s, want failed: %q", d.Status, show(d.Error), sentence)
	}
}

// show is the JSON of a value, for messages and searches.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// names is a DNS server's data: each look-up of a name, IPv4 and IPv6
// together, takes the next of its answers, and the last one again and again.
type names map[string][][]string

// resolver asks a real DNS server on loopback that knows only these names.
func resolver(t testing.TB, n names) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go serveDNS(pc, maps.Clone(n))
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func serveDNS(pc net.PacketConn, n names) {
	buf := make([]byte, 1500)
	asked := map[string]int{} // queries by name
	for {
		size, from, err := pc.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		name := strings.TrimSuffix(q.Name.String(), ".")
		answers, known := n[name]
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		if !known {
			m.RCode = dnsmessage.RCodeNameError
		} else {
			for _, a := range answers[min(asked[name]/2, len(answers)-1)] {
				if r, ok := record(q, netip.MustParseAddr(a)); ok {
					m.Answers = append(m.Answers, r)
				}
			}
			asked[name]++
		}
		if packed, err := m.Pack(); err == nil {
			pc.WriteTo(packed, from)
		}
	}
}

func record(q dnsmessage.Question, a netip.Addr) (dnsmessage.Resource, bool) {
	r := dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}}
	switch {
	case a.Is4() && q.Type == dnsmessage.TypeA:
		r.Body = &dnsmessage.AResource{A: a.As4()}
	case a.Is6() && q.Type == dnsmessage.TypeAAAA:
		r.Body = &dnsmessage.AAAAResource{AAAA: a.As16()}
	default:
		return r, false
	}
	return r, true
}

// fieldNames are the names in a recorded object of header fields.
func fieldNames(t testing.TB, o inbox.Object) []string {
	t.Helper()
	var m map[string]string
	if err := json.Unmarshal(o, &m); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(m))
}
