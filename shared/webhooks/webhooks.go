// Package webhooks tells a webhook's receiver of an event: one signed HTTPS
// POST, and a record of what happened. It guards the network it runs in
// against the URLs that people enter, and keeps credentials and signatures out
// of the record.
//
// It decides neither who is told nor when to try again, and stores nothing.
// It imports inbox, for the records, and untrusted and clip, for what an answer shows.
package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// DefaultTimeout bounds a delivery from looking up the name to reading the answer.
const DefaultTimeout = 10 * time.Second

// maxHeaderBytes is how many bytes of header fields a receiver may answer.
const maxHeaderBytes = 32 << 10

// Options configure a [Sender]; the zero value is right for the cloud.
type Options struct {
	AllowLoopback bool             // also send to this machine, at any port and without TLS: for the local server only
	LoopbackHint  string           // how the operator sets AllowLoopback, in a sentence for who is refused; "": where nobody can
	AllowHosts    []string         // the only hosts to send to, "*.example.com" for all below one; empty: any host
	Timeout       time.Duration    // of one delivery; 0: [DefaultTimeout]
	UserAgent     string           // "": Kobana-Inbox-Webhooks
	Now           func() time.Time // nil: time.Now
	Resolver      *net.Resolver    // nil: the system's
	RootCAs       *x509.CertPool   // nil: the system's
}

// Sender sends deliveries. It is safe for concurrent use.
type Sender struct {
	options Options
}

// New makes a Sender.
func New(o Options) *Sender {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, "Kobana-Inbox-Webhooks")
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Sender{options: o}
}

// transport is for one delivery: no connection outlives it or meets another
// tenant's. Proxy stays nil: a proxy would dial addresses that nobody judged.
func (s *Sender) transport() *http.Transport {
	dialer := &net.Dialer{Resolver: s.options.Resolver, Control: guard(s.options.AllowLoopback)}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.options.RootCAs},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// Request is one delivery to make.
type Request struct {
	Webhook     inbox.Webhook
	Credentials inbox.Credentials // for the webhook's Auth
	Secrets     []Secret          // those in force, newest first: two while a rotated one is still valid
	Attempt     int64             // 1 for the first
	Body        Envelope          // with a DeliveryID that was never used before
}

// Envelope is the body of a delivery. That of a stored delivery can be decoded
// into one to send it anew.
type Envelope struct {
	Event       Event        `json:"event"`
	DeliveryID  inbox.ID     `json:"delivery_id"`
	DeliveredAt time.Time    `json:"delivered_at"` // set on sending
	Workspace   inbox.Object `json:"workspace"`
	Data        inbox.Object `json:"data"`
}

// Event names the system event that a delivery tells of.
type Event struct {
	Slug string   `json:"slug"`
	ID   inbox.ID `json:"id"`
}

// Send makes one attempt: at most one request, no redirect followed. The
// delivery it returns is complete but for NextRetryAt: a success when the
// receiver answered 2xx, whatever became of the answer's body, and otherwise
// failed, with a sentence that says why and whether anything was sent. An
// error means that the request makes no delivery (no secret, an invalid id or
// body); nothing was sent then.
func (s *Sender) Send(ctx context.Context, r Request) (inbox.Delivery, error) {
	start := s.options.Now()
	at := start.UTC().Truncate(time.Millisecond)
	m, err := s.compose(r, at)
	if err != nil {
		return inbox.Delivery{}, fmt.Errorf("webhooks: %w", err)
	}
	d := inbox.Delivery{
		ID:             r.Body.DeliveryID,
		WebhookID:      r.Webhook.ID,
		SystemEventID:  r.Body.Event.ID,
		Attempt:        r.Attempt,
		Status:         inbox.DeliverySuccess,
		RequestHeaders: object(m.shown),
		RequestBody:    m.body,
		DeliveredAt:    &at,
		CreatedAt:      at,
	}
	if problem := s.deliver(ctx, r, m, &d); problem != "" {
		d.Status, d.Error = inbox.DeliveryFailed, &problem
	}
	end := s.options.Now()
	d.DurationMS = new(end.Sub(start).Milliseconds())
	d.UpdatedAt = end.UTC().Truncate(time.Millisecond)
	return d, nil
}

// message is what goes out, but for credentials.
type message struct {
	body       []byte
	shown      map[string]string // header fields that the record shows
	signatures signatures
}

// compose makes the message of a request sent at a time.
func (s *Sender) compose(r Request, at time.Time) (message, error) {
	id := r.Body.Event.ID
	if !id.Valid() || !r.Body.DeliveryID.Valid() {
		return message{}, fmt.Errorf("event %q or delivery %q is not an id", id, r.Body.DeliveryID)
	}
	e := r.Body
	e.DeliveredAt = at
	for _, o := range []*inbox.Object{&e.Workspace, &e.Data} {
		if *o == nil {
			*o = inbox.Object("{}")
		}
	}
	body, err := json.Marshal(e)
	if err != nil {
		return message{}, fmt.Errorf("body: %w", err)
	}
	sigs, err := sign(r.Secrets, string(id), at, body)
	if err != nil {
		return message{}, err
	}
	return message{body: body, signatures: sigs, shown: map[string]string{
		"Content-Type":  "application/json",
		"User-Agent":    s.options.UserAgent,
		headerID:        string(id),
		headerTimestamp: strconv.FormatInt(at.Unix(), 10),
	}}, nil
}

// post makes the HTTP request. It has no GetBody, so that HTTP/2 cannot send
// it twice.
func (m message) post(u *url.URL, r Request) *http.Request {
	req := &http.Request{
		Method:        http.MethodPost,
		URL:           u,
		Header:        http.Header{},
		Body:          io.NopCloser(bytes.NewReader(m.body)),
		ContentLength: int64(len(m.body)),
	}
	for name, value := range m.shown {
		req.Header.Set(name, value)
	}
	m.signatures.set(req.Header)
	if name, value, _ := carry(r.Webhook.Auth, r.Credentials); name != "" {
		req.Header.Set(name, value)
	}
	return req
}

// deliver posts the message and records the answer in d. It returns the
// problem, "" when the receiver answered 2xx.
func (s *Sender) deliver(ctx context.Context, r Request, m message, d *inbox.Delivery) (problem string) {
	const nothingSent = " Nothing was sent."
	u, err := s.parseURL(r.Webhook.URL)
	if err == nil {
		err = r.Credentials.Check(r.Webhook.Auth)
	}
	if bad, ok := errors.AsType[*inbox.Error](err); ok {
		return bad.Message + nothingSent
	}

	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Timeout, errTimeout)
	defer cancel()
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	transport := s.transport()
	defer transport.CloseIdleConnections()                          // ends a dial that is still under way, too
	resp, err := transport.RoundTrip(m.post(u, r).WithContext(ctx)) // which follows no redirects, unlike a client
	if err != nil {
		problem = s.explain(ctx, err)
		if connected.Load() {
			return problem + " The receiver may have got the request."
		}
		return problem + nothingSent
	}
	defer resp.Body.Close()
	_, _, secrets := carry(r.Webhook.Auth, r.Credentials)
	hide := newHider(append(secrets, m.signatures.values()...))
	d.ResponseStatus = new(int64(resp.StatusCode))
	d.ResponseHeaders = new(object(hide.header(resp.Header)))
	d.ResponseBody = new(hide.body(resp))
	switch c := resp.StatusCode; {
	case c >= 200 && c <= 299:
		return ""
	case c >= 300 && c <= 399:
		return fmt.Sprintf("The receiver answered %d: redirects are not followed.", c)
	default:
		return fmt.Sprintf("The receiver answered %d.", c)
	}
}
