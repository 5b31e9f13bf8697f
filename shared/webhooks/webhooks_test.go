package webhooks

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

const (
	mayHaveGot  = " The receiver may have got the request."
	nothingSent = " Nothing was sent."
	broken      = "The connection failed, or the answer was not a valid HTTP answer."
)

func TestSendRecordsWhatHappened(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Trace", "a")
		w.Header().Add("X-Trace", "b")
		w.Header().Set("Set-Cookie", "session=s3ss")
		w.Header()["Date"] = nil
		w.WriteHeader(http.StatusAccepted)
		io.WriteString(w, "got it")
	})
	ticks := []time.Time{clock, clock.Add(250 * time.Millisecond)}
	s := r.sender(Options{Now: func() time.Time { now := ticks[0]; ticks = ticks[1:]; return now }})
	req := request(r.URL + "/hook?k=v")
	req.Attempt = 3
	d := send(t, s, req)
	got := r.only(t)

	at := time.Date(2026, 12, 2, 10, 0, 0, 123e6, time.UTC)
	want := inbox.Delivery{
		ID: req.Body.DeliveryID, WebhookID: req.Webhook.ID, SystemEventID: req.Body.Event.ID, Attempt: 3, Status: inbox.DeliverySuccess,
		RequestHeaders: inbox.Object(fmt.Sprintf(`{"Content-Type":"application/json","User-Agent":"Kobana-Inbox-Webhooks","Webhook-Id":"%s","Webhook-Timestamp":"1796205600"}`, req.Body.Event.ID)),
		RequestBody: inbox.Object(fmt.Sprintf(`{"event":{"slug":"email.processed","id":"%s"},"delivery_id":"%s","delivered_at":"2026-12-02T10:00:00.123Z","workspace":{"id":"w"},"data":{"email":{"subject":"Olá <b>"}}}`,
			req.Body.Event.ID, req.Body.DeliveryID)),
		ResponseStatus:  new(int64(202)),
		ResponseHeaders: new(inbox.Object(`{"Content-Length":"6","Content-Type":"text/plain; charset=utf-8","X-Trace":"a, b"}`)),
		ResponseBody:    new("got it"), DurationMS: new(int64(250)), DeliveredAt: &at, CreatedAt: at, UpdatedAt: at.Add(250 * time.Millisecond),
	}
	if diff := cmp.Diff(show(want), show(d)); diff != "" {
		t.Error(diff)
	}
	if string(got.body) != string(d.RequestBody) {
		t.Errorf("received %s, recorded %s", got.body, d.RequestBody)
	}
	if got.header.Get("Content-Type") != "application/json" || got.header.Get("User-Agent") != "Kobana-Inbox-Webhooks" {
		t.Errorf("received header %v", got.header)
	}
}

func TestSendWithoutWorkspaceOrData(t *testing.T) {
	r := newReceiver(t, nil)
	req := request(r.URL)
	req.Body.Workspace, req.Body.Data = nil, nil
	d := send(t, r.sender(Options{}), req)
	if !strings.HasSuffix(string(d.RequestBody), `"workspace":{},"data":{}}`) {
		t.Errorf("body %s", d.RequestBody)
	}
}

func TestRequestsThatMakeNoDelivery(t *testing.T) {
	r := newReceiver(t, nil)
	for name, spoil := range map[string]func(*Request){
		"event id with a dot": func(r *Request) { r.Body.Event.ID = "a.b" },
		"no event id":         func(r *Request) { r.Body.Event.ID = "" },
		"no delivery id":      func(r *Request) { r.Body.DeliveryID = "" },
		"data is not JSON":    func(r *Request) { r.Body.Data = inbox.Object("{") },
	} {
		req := request(r.URL)
		spoil(&req)
		if d, err := r.sender(Options{}).Send(t.Context(), req); err == nil {
			t.Errorf("%s: %s", name, show(d))
		}
	}
	if len(r.seen) != 0 {
		t.Errorf("%d requests went out", len(r.seen))
	}
}

func TestOnly2xxIsSuccess(t *testing.T) {
	for _, code := range []int{200, 201, 204, 226, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
		d := send(t, r.sender(Options{}), request(r.URL))
		if *d.ResponseStatus != int64(code) || *d.ResponseBody != "" || (d.Error == nil) != (code < 300) ||
			(d.Status == inbox.DeliverySuccess) != (code < 300) || (d.Status == inbox.DeliveryFailed) != (code >= 300) {
			t.Errorf("%d: %s", code, show(d))
		}
		r.only(t)
	}
	d := send(t, New(Options{AllowLoopback: true}), request(rawReceiver(t, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxxx")))
	wantFailed(t, d, "The receiver answered 101.")
}

// Each delivery has a connection of its own, over HTTP/2 too.
func TestHTTP2AndNoReuse(t *testing.T) {
	connections := make(chan string, 10)
	r := startReceiver(t, func(_ http.ResponseWriter, req *http.Request) { connections <- req.RemoteAddr }, func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	})
	s := r.sender(Options{})
	for range 2 {
		if d := send(t, s, request(r.URL)); d.Status != inbox.DeliverySuccess {
			t.Fatal(show(d))
		}
	}
	if a, b := <-connections, <-connections; a == b || r.seen[0].proto != "HTTP/2.0" {
		t.Errorf("connections from %s and %s by %s", a, b, r.seen[0].proto)
	}
}

func TestUntrustedOrOldTLS(t *testing.T) {
	r := newReceiver(t, nil)
	other := New(Options{AllowLoopback: true})
	wantFailed(t, send(t, other, request(r.URL)), "The receiver's TLS certificate is expired, or not by an authority that is trusted."+nothingSent)

	trusted := r.sender(Options{Resolver: resolver(t, names{"other.localhost": {{"127.0.0.1"}}})})
	wantFailed(t, send(t, trusted, request(strings.Replace(r.URL, "127.0.0.1", "other.localhost", 1))), "The receiver's TLS certificate is for another host."+nothingSent)

	old := startReceiver(t, nil, func(s *httptest.Server) {
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
		s.StartTLS()
	})
	wantFailed(t, send(t, old.sender(Options{}), request(old.URL)), broken+nothingSent)
	if len(r.seen)+len(old.seen) != 0 {
		t.Error("a request went out")
	}
}

func TestReceiversThatCannotBeReached(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	s := New(Options{AllowLoopback: true, Resolver: resolver(t, names{"empty.example": {{}}})})
	for url, sentence := range map[string]string{
		"http://" + closed:        "The receiver refused the connection." + nothingSent,
		"https://unknown.example": "The webhook's host name could not be resolved." + nothingSent,
		"https://empty.example":   "The webhook's host name could not be resolved." + nothingSent,
	} {
		wantFailed(t, send(t, s, request(url)), sentence)
	}
	if d := send(t, s, request("https://unknown.example")); d.ResponseStatus != nil || d.ResponseHeaders != nil || d.ResponseBody != nil {
		t.Errorf("an answer is recorded: %s", show(d))
	}
}

func TestReceiversThatHang(t *testing.T) {
	const sentence = "The receiver did not answer within 1s."
	s := New(Options{AllowLoopback: true, Timeout: time.Second})
	hang := func(t *testing.T, answer string) (url string, hungUp chan bool) {
		hungUp = make(chan bool)
		return connReceiver(t, func(c net.Conn) {
			http.ReadRequest(bufio.NewReader(c))
			io.WriteString(c, answer)
			io.Copy(io.Discard, c)
			close(hungUp)
		}), hungUp
	}
	for name, answer := range map[string]string{"no answer": "", "half a header": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, hungUp := hang(t, answer)
			wantFailed(t, send(t, s, request(url)), sentence+mayHaveGot)
			<-hungUp
		})
	}
	t.Run("TLS handshake", func(t *testing.T) {
		t.Parallel()
		hungUp := make(chan bool)
		url := connReceiver(t, func(c net.Conn) {
			io.Copy(io.Discard, c)
			close(hungUp)
		})
		wantFailed(t, send(t, s, request(strings.Replace(url, "http:", "https:", 1))), sentence+nothingSent)
		<-hungUp // no connection is left behind
	})
	t.Run("half a body", func(t *testing.T) {
		t.Parallel()
		url, hungUp := hang(t, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
		if d := send(t, s, request(url)); d.Status != inbox.DeliverySuccess || *d.ResponseBody != "half" {
			t.Error(show(d))
		}
		<-hungUp
	})
}

func TestReceiversThatDropTheConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		r := startReceiver(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, func(s *httptest.Server) {
			s.EnableHTTP2 = http2
			s.StartTLS()
		})
		wantFailed(t, send(t, r.sender(Options{}), request(r.URL)), broken+mayHaveGot)
		r.only(t)
	}
}

func TestCallerStopsWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := connReceiver(t, func(c net.Conn) {
		c.Read(make([]byte, 1))
		cancel()
		io.Copy(io.Discard, c)
	})
	for _, sent := range []string{mayHaveGot, nothingSent} { // the second with ctx done from the start
		d, err := New(Options{AllowLoopback: true}).Send(ctx, request(url))
		if err != nil {
			t.Fatal(err)
		}
		wantFailed(t, d, "The delivery was cut off before the receiver answered."+sent)
	}
}

func TestReceiversThatLie(t *testing.T) {
	s := New(Options{AllowLoopback: true})
	for answer, body := range map[string]string{
		"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nshort":                                      "short",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nlonger":                                           "lo",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n":                                  "",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nFF":                        "hello",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot gzip \x1f\x8b":                           "not gzip \x1f\uFFFD",
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1<<20):                                         strings.Repeat("x", maxBody),
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("é", maxBody):                                       strings.Repeat("é", maxBody/2),
		"HTTP/1.1 200 OK\r\n\r\nx" + strings.Repeat("é", maxBody):                                      "x" + strings.Repeat("é", maxBody/2-1),
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("\xff", maxBody):                                    "\uFFFD",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n": "",
	} {
		d := send(t, s, request(rawReceiver(t, answer)))
		if d.Status != inbox.DeliverySuccess || d.ResponseBody == nil || *d.ResponseBody != body {
			t.Errorf("%.80q: status %s, body %.80s", answer, d.Status, show(d.ResponseBody))
		}
	}
	for _, answer := range []string{
		"", "HTTP/1.1 ", "SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeaderBytes) + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxHeaderBytes/4) + "\r\n",
		strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 1000)+"\r\n\r\n", 100) + "HTTP/1.1 200 OK\r\n\r\n",
	} {
		wantFailed(t, send(t, s, request(rawReceiver(t, answer))), broken+mayHaveGot)
	}
	endless := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, err := w.Write(make([]byte, 1024)); err == nil; _, err = w.Write(make([]byte, 1024)) {
		}
	})
	if d := send(t, endless.sender(Options{}), request(endless.URL)); d.Status != inbox.DeliverySuccess || *d.ResponseBody != strings.Repeat("\x00", maxBody) {
		t.Errorf("an endless body: %s with %d bytes", d.Status, len(*d.ResponseBody))
	}
}

func TestAnswerHeadersAreBounded(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprintf("X-%03d", i), strings.Repeat("é", 150))
		}
		w.Header().Set("A-"+strings.Repeat("x", maxFieldName), "long name")
		for _, name := range []string{"Set-Cookie", "Set-Cookie2", "Authorization", "Authentication-Info"} {
			w.Header().Set(name, "s3cret")
		}
	})
	d := send(t, r.sender(Options{}), request(r.URL))
	var kept map[string]string
	if err := json.Unmarshal(*d.ResponseHeaders, &kept); err != nil {
		t.Fatal(err)
	}
	if len(kept) != maxFields || len(kept["X-000"]) != maxFieldValue || strings.Contains(show(d), "s3cret") || strings.Contains(show(d), "long name") {
		t.Errorf("%d fields: %s", len(kept), *d.ResponseHeaders)
	}
}

// Deliveries do not meet each other in a sender that many use.
func TestConcurrentDeliveries(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) { io.WriteString(w, req.URL.Path) })
	s := r.sender(Options{})
	results := make(chan error, 16)
	for i := range 16 {
		go func() {
			path := fmt.Sprintf("/%d", i)
			d, err := s.Send(t.Context(), request(r.URL+path))
			if err == nil && *d.ResponseBody != path {
				err = fmt.Errorf("%s answered %s", path, *d.ResponseBody)
			}
			results <- err
		}()
	}
	for range 16 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}
