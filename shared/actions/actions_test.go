package actions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// world is the whole inbox on an embedded store, with one workspace, one inbox
// and a receiver of deliveries.
type world struct {
	*Service
	now   time.Time
	table *storetest.Fault
	blobs store.Blobs
	raws  string // the directory of raw messages
	ws    access.WorkspaceID
	box   inbox.Inbox
	to    *receiver
	logs  bytes.Buffer
	yes   int // confirmations so far
}

// newWorld makes a world whose pipeline and sender have the options.
func newWorld(t testing.TB, p pipeline.Options, o webhooks.Options) *world {
	t.Helper()
	w := &world{table: storetest.NewFault(storetest.Temp(t).Table("data")), raws: t.TempDir(), now: noon, to: newReceiver(t)}
	blobs, err := files.Open(w.raws)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	w.blobs = blobs
	now := func() time.Time { return w.now }
	log := slog.New(slog.NewTextHandler(&w.logs, nil))
	o.Now, p.Now, p.Log = now, now, log
	db := inboxstore.New(inboxstore.Options{
		Table: w.table, Blobs: blobs, Now: now, Log: log, CheckURL: func(string) error { return nil },
		Keys: func(context.Context) ([][]byte, error) { return [][]byte{make([]byte, 32)}, nil },
	})
	w.Service = New(Options{DB: db, Blobs: blobs, Pipeline: pipeline.New(p), Sender: webhooks.New(o), Log: log, Now: now})
	w.ws = w.workspace(t, "Aurora")
	w.box = inbox.Inbox{
		ID: inbox.NewID(noon), WorkspaceID: w.ws, Label: "Support", Email: "support@inbox.example", Status: inbox.Active,
		AttachmentsAllow: true, AttachmentsMaxFileNumber: 10, AttachmentsMaxFileSize: 1 << 20, AttachmentsMaxTotalSize: 1 << 20,
	}
	w.apply(t, inboxstore.Insert(w.box))
	return w
}

// local is a world that may send to this machine.
func local(t testing.TB) *world {
	t.Helper()
	return newWorld(t, pipeline.Options{}, webhooks.Options{AllowLoopback: true})
}

func (w *world) workspace(t testing.TB, label string) access.WorkspaceID {
	t.Helper()
	id := access.WorkspaceID(inbox.NewID(noon))
	record := inboxstore.Workspace{Workspace: inbox.Workspace{ID: id, ExternalID: new(string(id)), Label: label}}
	if err := w.Apply(t.Context(), id, inboxstore.Insert(record)); err != nil {
		t.Fatal(err)
	}
	return id
}

func (w *world) apply(t testing.TB, changes ...inboxstore.Change) {
	t.Helper()
	if err := w.Apply(t.Context(), w.ws, changes...); err != nil {
		t.Fatal(err)
	}
}

// by is a person who just said yes to the tool.
func (w *world) by(tool string) inbox.Actor {
	w.yes++
	return inbox.Actor{
		Workspace: w.ws, Person: access.Person{Issuer: "test", Subject: "ana"}, Tool: tool, Confirmation: fmt.Sprint("yes-", w.yes),
	}
}

// webhook makes one that delivers to url.
func (w *world) webhook(t testing.TB, url string, change ...func(*inbox.Webhook)) (inbox.Webhook, webhooks.Secret) {
	t.Helper()
	draft := inbox.Webhook{Label: "ERP", URL: url}
	for _, c := range change {
		c(&draft)
	}
	by := w.by("webhooks_create")
	by.Confirmation = ""
	hook, secret, err := w.CreateWebhook(t.Context(), by, draft, inbox.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	return hook, webhooks.Secret(secret)
}

// receive takes in a message for the inbox.
func (w *world) receive(t testing.TB, raw string) inbox.Email {
	t.Helper()
	in := intake.New(intake.Options{DB: w.DB, Pipeline: w.opts.Pipeline, Log: w.opts.Log, Now: w.opts.Now})
	email, err := in.Receive(t.Context(), intake.Delivery{Inbox: w.box, Raw: []byte(raw)})
	if err != nil {
		t.Fatal(err)
	}
	stored, _, err := w.Email(t.Context(), w.ws, email.ID)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// outcomes are those of the events with that slug, oldest first, and what the
// events say they are about.
func (w *world) outcomes(t testing.TB, slug string) []inbox.Outcome {
	t.Helper()
	page, err := w.SystemEvents(t.Context(), w.ws, inbox.SystemEventFilter{Slug: slug}, inbox.PageRequest{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	// Events of one millisecond, as the clock stands still, have no order.
	started, ended := []inbox.Outcome{}, []inbox.Outcome{}
	for _, e := range page.Data {
		var p struct {
			Outcome inbox.Outcome `json:"outcome"`
		}
		if err := json.Unmarshal(e.Payload, &p); err != nil {
			t.Fatal(err)
		}
		if p.Outcome == inbox.OutcomeStarted {
			started = append(started, p.Outcome)
		} else {
			ended = append(ended, p.Outcome)
		}
	}
	slices.Sort(ended)
	return append(started, ended...)
}

// wantOutcomes fails unless the events with that slug have these outcomes.
func (w *world) wantOutcomes(t testing.TB, slug string, want ...inbox.Outcome) {
	t.Helper()
	if got := w.outcomes(t, slug); !slices.Equal(got, want) {
		t.Errorf("%s events: %q, want %q", slug, got, want)
	}
}

// deliveries lists those of a webhook.
func (w *world) deliveries(t testing.TB, hook inbox.Webhook) []inbox.Delivery {
	t.Helper()
	page, err := w.Deliveries(t.Context(), w.ws, string(hook.ID), inbox.DeliveryFilter{}, inbox.PageRequest{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	return page.Data
}

// failures counts the webhook's failures in a row.
func (w *world) failures(t testing.TB, hook inbox.Webhook) int64 {
	t.Helper()
	now, err := w.Webhook(t.Context(), w.ws, string(hook.ID))
	if err != nil {
		t.Fatal(err)
	}
	return now.ConsecutiveFailures
}

// wantError fails unless err is one for the caller, of that code.
func wantError(t testing.TB, err error, code inbox.Code) {
	t.Helper()
	if inbox.CodeOf(err) != code {
		t.Errorf("error = %v, want %s", err, code)
	}
}

// request is a delivery as its receiver got it.
type request struct {
	header http.Header
	body   []byte
}

// receiver answers deliveries on this machine and keeps them.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	seen   []request
	status int                 // of its answers; 0 is 200
	during func(*http.Request) // what it does before it answers
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.seen = append(r.seen, request{req.Header.Clone(), body})
		r.mu.Unlock()
		if r.during != nil {
			r.during(req)
		}
		rw.WriteHeader(cmp.Or(r.status, http.StatusOK))
	}))
	t.Cleanup(r.Close)
	return r
}

// got are the requests so far.
func (r *receiver) got() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen)
}

func (r *receiver) want(t testing.TB, n int) {
	t.Helper()
	if got := len(r.got()); got != n {
		t.Errorf("the receiver got %d requests, want %d", got, n)
	}
}

// eml is the file of a raw message.
func (w *world) eml(e inbox.Email) string { return filepath.Join(w.raws, e.RawS3Key) }
