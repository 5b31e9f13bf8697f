package worker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// priced is a model of the catalogue that costs: USD 3 and 15 for a million
// tokens in and out.
const priced = "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0"

const message = "Message-ID: <1@sender.example>\r\nFrom: Ana <ana@sender.example>\r\nTo: support@inbox.example\r\n" +
	"Subject: Hello\r\n\r\nGood morning.\r\n"

// world is an inbox on an embedded store, with an agent that reads its mail.
type world struct {
	*Worker
	db     *inboxstore.DB
	table  *storetest.Fault
	ws     access.WorkspaceID
	agent  inbox.Agent
	box    inbox.Inbox
	logs   bytes.Buffer
	mu     sync.Mutex
	clock  time.Time
	answer func(context.Context, model.Request) (model.Answer, error)
	asked  int
}

// Answer is the world's model.
func (w *world) Answer(ctx context.Context, r model.Request) (model.Answer, error) {
	w.mu.Lock()
	w.asked++
	w.mu.Unlock()
	return w.answer(ctx, r)
}

// now is a little later each time, so that events are in order.
func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(time.Microsecond)
	return w.clock
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

func newWorld(t testing.TB, change ...func(*Options)) *world {
	t.Helper()
	w := &world{table: storetest.NewFault(dynamotest.Open(t)), clock: noon, ws: access.WorkspaceID(inbox.NewID(noon))}
	w.answer = func(context.Context, model.Request) (model.Answer, error) {
		return model.Answer{Text: "Answered.", Tokens: model.Tokens{InputTokens: 1000, OutputTokens: 100}}, nil
	}
	blobs, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	log := slog.New(slog.NewTextHandler(&w.logs, nil))
	w.db = inboxstore.New(inboxstore.Options{
		Table: w.table, Blobs: blobs, Now: w.now, Log: log, CheckURL: func(string) error { return nil },
		Keys: func(context.Context) ([][]byte, error) { return [][]byte{make([]byte, 32)}, nil },
	})
	o := Options{
		DB: w.db, Models: w, Log: log, Now: w.now, Jitter: func() float64 { return 0.5 },
		Sender: webhooks.New(webhooks.Options{AllowLoopback: true, Now: w.now, Timeout: time.Second}),
	}
	for _, c := range change {
		c(&o)
	}
	w.Worker = New(o)
	w.agent = inbox.Agent{ID: inbox.NewID(noon), WorkspaceID: w.ws, ExternalID: new("agent"), Label: "Helpdesk", LLMModel: priced, SystemMessage: "Be kind."}
	w.box = inbox.Inbox{
		ID: inbox.NewID(noon), WorkspaceID: w.ws, AgentID: &w.agent.ID, Label: "Support", Email: "support@inbox.example", Status: inbox.Active,
		AttachmentsAllow: true, Reply: inbox.Off,
	}
	workspace := inboxstore.Workspace{Workspace: inbox.Workspace{ID: w.ws, ExternalID: new(string(w.ws)), Label: "Aurora"}, Organization: "aurora"}
	w.apply(t, inboxstore.Insert(workspace), inboxstore.Insert(w.agent), inboxstore.Insert(w.box))
	return w
}

func (w *world) apply(t testing.TB, changes ...inboxstore.Change) {
	t.Helper()
	if err := w.db.Apply(t.Context(), w.ws, changes...); err != nil {
		t.Fatal(err)
	}
}

// receive takes in a message for the inbox.
func (w *world) receive(t testing.TB, raw string) inbox.Email {
	t.Helper()
	in := intake.New(intake.Options{DB: w.db, Log: w.opts.Log, Now: w.now})
	email, err := in.Receive(t.Context(), intake.Delivery{Inbox: w.box, Raw: []byte(raw), EnvelopeFrom: "ana@sender.example"})
	if err != nil {
		t.Fatal(err)
	}
	return email
}

// work sweeps until nothing is due, and returns the errors of the sweeps.
func (w *world) work(t testing.TB) {
	t.Helper()
	for range 100 {
		jobs, err := w.db.DueJobs(t.Context(), 1)
		if err == nil && len(jobs) == 0 {
			return
		}
		if err := w.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("there is always something due")
}

// left are the jobs that are left, due or not.
func (w *world) left(t testing.TB) []inboxstore.DueJob {
	t.Helper()
	jobs, err := w.db.At(func() time.Time { return noon.AddDate(1, 0, 0) }).DueJobs(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func must[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (w *world) email(t testing.TB, id inbox.ID) inbox.Email {
	t.Helper()
	return must[inboxstore.Stored[inbox.Email]](t)(inboxstore.Get[inbox.Email](t.Context(), w.db, w.ws, string(id))).Record
}

// runs are the agent runs of an e-mail, or of all.
func (w *world) runs(t testing.TB, email inbox.ID) []inbox.AgentRun {
	t.Helper()
	return must[inbox.Page[inbox.AgentRun]](t)(w.db.AgentRuns(t.Context(), w.ws, inbox.AgentRunFilter{Email: email}, inbox.PageRequest{Limit: 200})).Data
}

func (w *world) workflow(t testing.TB, email inbox.ID) inbox.WorkflowRun {
	t.Helper()
	page := must[inbox.Page[inbox.WorkflowRun]](t)(w.db.WorkflowRuns(t.Context(), w.ws, inbox.WorkflowRunFilter{Email: email}, inbox.PageRequest{}))
	if len(page.Data) != 1 {
		t.Fatalf("%d workflow runs, want 1", len(page.Data))
	}
	return page.Data[0]
}

// slugs are those of the events of an e-mail, oldest first.
func (w *world) slugs(t testing.TB, email inbox.ID) (slugs []string) {
	t.Helper()
	page := must[inbox.Page[inbox.SystemEvent]](t)(w.db.SystemEvents(t.Context(), w.ws, inbox.SystemEventFilter{Email: email}, inbox.PageRequest{}))
	for _, e := range slices.Backward(page.Data) {
		slugs = append(slugs, e.Slug)
	}
	return slugs
}

func (w *world) usage(t testing.TB) inbox.Usage {
	t.Helper()
	return must[inbox.Usage](t)(w.db.Usage(t.Context(), w.ws, noon, noon))
}

// hook makes a webhook that delivers to url, with its secret.
func (w *world) hook(t testing.TB, url string, change ...func(*inbox.Webhook)) (inbox.Webhook, webhooks.Secret) {
	t.Helper()
	draft := inbox.Webhook{Label: "ERP", URL: url}
	for _, c := range change {
		c(&draft)
	}
	by := inbox.Actor{Workspace: w.ws, Person: access.Person{Issuer: "test", Subject: "ana"}, Tool: "webhooks_create"}
	hook, secret, err := w.db.CreateWebhook(t.Context(), by, draft, inbox.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
	return hook, webhooks.Secret(secret)
}

func (w *world) webhook(t testing.TB, hook inbox.Webhook) inbox.Webhook {
	t.Helper()
	return must[inbox.Webhook](t)(w.db.Webhook(t.Context(), w.ws, string(hook.ID)))
}

// deliveries are those of a webhook, oldest first.
func (w *world) deliveries(t testing.TB, hook inbox.Webhook) []inbox.Delivery {
	t.Helper()
	page := must[inbox.Page[inbox.Delivery]](t)(w.db.Deliveries(t.Context(), w.ws, string(hook.ID), inbox.DeliveryFilter{}, inbox.PageRequest{Limit: 200}))
	slices.Reverse(page.Data)
	return page.Data
}

// receiver is somebody's server that is told of events.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []*http.Request
	body [][]byte
}

func newReceiver(t testing.TB, answer http.HandlerFunc) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.got, r.body = append(r.got, req), append(r.body, body)
		r.mu.Unlock()
		if answer != nil {
			answer(rw, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// status is a receiver's answer.
func status(code int) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(code); fmt.Fprint(rw, "no") }
}
