package inboxstore

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// world is a DB on an embedded table, at a time of its own, that counts what
// the table is asked.
type world struct {
	*DB
	table   *storetest.Fault
	witness *witness
	blobs   *faultyBlobs
	now     time.Time
}

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func newWorld(t testing.TB, options ...func(*Options)) *world {
	t.Helper()
	blobs, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	w := &world{witness: &witness{Table: dynamotest.Open(t), keys: map[store.Key]bool{}}, blobs: &faultyBlobs{Blobs: blobs}, now: noon}
	w.table = storetest.NewFault(w.witness)
	o := Options{Table: w.table, Blobs: w.blobs, Now: func() time.Time { return w.now }, Keys: staticKeys(testKey), Log: slog.New(slog.DiscardHandler)}
	for _, option := range options {
		option(&o)
	}
	w.DB = New(o)
	return w
}

var testKey = bytes.Repeat([]byte{7}, 32)

func staticKeys(keys ...[]byte) func(context.Context) ([][]byte, error) {
	return func(context.Context) ([][]byte, error) { return keys, nil }
}

// faultyBlobs cannot be reached while it is down.
type faultyBlobs struct {
	store.Blobs
	down bool
}

func (b *faultyBlobs) Delete(ctx context.Context, key string) error {
	if b.down {
		return store.ErrUnavailable
	}
	return b.Blobs.Delete(ctx, key)
}

// apply makes changes that must succeed.
func (w *world) apply(t testing.TB, ws access.WorkspaceID, changes ...Change) {
	t.Helper()
	if err := w.Apply(t.Context(), ws, changes...); err != nil {
		t.Fatal(err)
	}
}

// calls says how many reads the table was asked for since the last time.
func (w *world) calls() (gets, queries int) {
	for _, c := range w.table.Calls() {
		switch c.Method {
		case storetest.Get:
			gets++
		case storetest.Query:
			queries++
		}
	}
	w.table.Reset()
	return gets, queries
}

// wantCalls fails unless the table was asked for exactly these reads.
func (w *world) wantCalls(t *testing.T, what string, gets, queries int) {
	t.Helper()
	if g, q := w.calls(); g != gets || q != queries {
		t.Errorf("%s: %d gets and %d queries, want %d and %d", what, g, q, gets, queries)
	}
}

// must returns v, and fails when there is an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantError fails unless err is for the caller, with that code and field.
func wantError(t *testing.T, err error, code inbox.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*inbox.Error](err)
	if !ok || e.Code != code || e.Field != field || e.Message == "" {
		t.Errorf("error = %v, want code %q, field %q and a sentence", err, code, field)
	}
}

// diff compares records by what they mean: JSON objects without regard to
// space, nil lists as empty ones.
func diff(want, got any) string {
	return cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b inbox.Object) bool {
		return jsonText(a) == jsonText(b)
	}))
}

func jsonText(o inbox.Object) string {
	if len(o) == 0 {
		return "{}"
	}
	o = o.Clone()
	o.Canonicalize()
	return string(o)
}

// newWorkspace puts a workspace into the world and returns its id.
func (w *world) newWorkspace(t testing.TB, change ...func(*Workspace)) access.WorkspaceID {
	t.Helper()
	r := Workspace{
		Workspace:    inbox.Workspace{ID: access.WorkspaceID(inbox.NewID(w.now)), Label: "Acme", Locale: inbox.English, CreatedAt: w.now, UpdatedAt: w.now},
		Organization: "org-1",
	}
	for _, c := range change {
		c(&r)
	}
	w.apply(t, r.ID, Insert(r))
	return r.ID
}

func anInbox(ws access.WorkspaceID) inbox.Inbox {
	id := inbox.NewID(noon)
	return inbox.Inbox{ID: id, WorkspaceID: ws, Label: "Support", Email: string(id) + "@inbox.example", Status: inbox.Active, CreatedAt: noon, UpdatedAt: noon}
}

func anAgent(ws access.WorkspaceID) inbox.Agent {
	return inbox.Agent{ID: inbox.NewID(noon), WorkspaceID: ws, Label: "Clerk", LLMModel: "rules/demo", SystemMessage: "Be kind.", CreatedAt: noon, UpdatedAt: noon}
}

func aWebhook(ws access.WorkspaceID) inbox.Webhook {
	return inbox.Webhook{ID: inbox.NewID(noon), WorkspaceID: ws, Label: "CRM", URL: "https://crm.example/hook", Status: inbox.Active, Auth: inbox.AuthNone, SubscribedEvents: []string{"*"}, CreatedAt: noon, UpdatedAt: noon}
}

func anEmail(ws access.WorkspaceID, box inbox.ID, at time.Time) inbox.Email {
	return inbox.Email{
		ID: inbox.NewID(at), WorkspaceID: ws, InboxID: box, MessageID: "m@example", From: "ana@example.com", Status: inbox.EmailReceived,
		Subject: new("Olá"), To: []string{"in@inbox.example"}, ReceivedAt: at, CreatedAt: at, UpdatedAt: at,
	}
}

func aRun(e inbox.Email, agent inbox.ID, at time.Time) inbox.AgentRun {
	return inbox.AgentRun{
		ID: inbox.NewID(at), WorkspaceID: e.WorkspaceID, InboxID: e.InboxID, AgentID: agent, EmailID: e.ID,
		LLMModel: "rules/demo", Status: inbox.RunSuccess, CreatedAt: at, UpdatedAt: at,
	}
}

func aDelivery(webhook inbox.ID, at time.Time) inbox.Delivery {
	return inbox.Delivery{ID: inbox.NewID(at), WebhookID: webhook, SystemEventID: inbox.NewID(at), Attempt: 1, Status: inbox.DeliverySuccess, CreatedAt: at, UpdatedAt: at}
}

func anEvent(ws access.WorkspaceID, slug string, at time.Time) inbox.SystemEvent {
	return inbox.SystemEvent{ID: inbox.NewID(at), WorkspaceID: ws, Slug: slug, Payload: inbox.Object(`{"n":1}`), CreatedAt: at, UpdatedAt: at}
}

// allJSON is how an answer reads, errors included.
func allJSON(t *testing.T, v any, err error) string {
	t.Helper()
	if err != nil {
		e, ok := errors.AsType[*inbox.Error](err)
		if !ok {
			t.Fatalf("not an error for the caller: %v", err)
		}
		return string(must[[]byte](t)(json.Marshal(map[string]any{"code": e.Code, "field": e.Field, "message": e.Error()}, json.Deterministic(true))))
	}
	return string(must[[]byte](t)(json.Marshal(v)))
}
