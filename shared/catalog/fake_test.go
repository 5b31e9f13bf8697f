package catalog

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const (
	here  = access.WorkspaceID("0193864c-0000-7000-8000-000000000001")
	there = access.WorkspaceID("0193864c-0000-7000-8000-000000000002")
	id1   = "0193864c-1e00-7abc-8def-0123456789ab"
	id2   = "0193864c-1e00-7abc-8def-0123456789ac"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// fake is a service that records what it is asked and answers with its own
// records, or with err.
type fake struct {
	mu      sync.Mutex
	asked   []string // method and arguments
	err     error
	wait    bool // until the context ends
	email   inbox.Email
	content inbox.EmailContent
	run     inbox.AgentRun
	flow    inbox.WorkflowRun
	deliver inbox.Delivery
	event   inbox.SystemEvent
	inboxes []inbox.Inbox
	things  // what the writing tools find
	changes // what they made of it
}

func (f *fake) ask(ctx context.Context, method string, args ...any) error {
	for _, a := range args {
		method += fmt.Sprintf(" %v", a)
	}
	f.mu.Lock()
	f.asked = append(f.asked, method)
	f.mu.Unlock()
	if f.wait {
		<-ctx.Done()
		return fmt.Errorf("waiting: %w", ctx.Err())
	}
	return f.err
}

func one[T any](v T, err error) (inbox.Page[T], error) { return inbox.Page[T]{Data: []T{v}}, err }

func (f *fake) Workspaces(ctx context.Context, ids []access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Workspace], error) {
	return one(inbox.Workspace{}, f.ask(ctx, "Workspaces", ids, p))
}
func (f *fake) Workspace(ctx context.Context, ids []access.WorkspaceID, ref string) (inbox.Workspace, error) {
	return found(f, f.things.workspace, inbox.Workspace{ID: here}), f.ask(ctx, "Workspace", ids, ref)
}
func (f *fake) Inboxes(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Inbox], error) {
	return inbox.Page[inbox.Inbox]{Data: f.inboxes}, f.ask(ctx, "Inboxes", ws, p)
}
func (f *fake) Inbox(ctx context.Context, ws access.WorkspaceID, ref string) (inbox.Inbox, error) {
	plain := inbox.Inbox{ID: inbox.ID(ref), CreatedAt: noon.In(time.FixedZone("", -3*3600))}
	return found(f, f.things.inbox, plain), f.ask(ctx, "Inbox", ws, ref)
}
func (f *fake) Emails(ctx context.Context, ws access.WorkspaceID, q inbox.EmailFilter, p inbox.PageRequest) (inbox.Page[inbox.Email], error) {
	return one(f.email, f.ask(ctx, "Emails", ws, q, p))
}
func (f *fake) Email(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.Email, inbox.EmailContent, error) {
	return f.email, f.content, f.ask(ctx, "Email", ws, id)
}
func (f *fake) EmailLink(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.Link, error) {
	return inbox.Link{URL: "https://example.com/signed", ExpiresAt: noon}, f.ask(ctx, "EmailLink", ws, id)
}
func (f *fake) Agents(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Agent], error) {
	return one(inbox.Agent{}, f.ask(ctx, "Agents", ws, p))
}
func (f *fake) Agent(ctx context.Context, ws access.WorkspaceID, ref string) (inbox.Agent, error) {
	return found(f, f.things.agent, inbox.Agent{}), f.ask(ctx, "Agent", ws, ref)
}
func (f *fake) AgentRuns(ctx context.Context, ws access.WorkspaceID, q inbox.AgentRunFilter, p inbox.PageRequest) (inbox.Page[inbox.AgentRun], error) {
	return one(f.run, f.ask(ctx, "AgentRuns", ws, q, p))
}
func (f *fake) AgentRun(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.AgentRun, error) {
	return f.run, f.ask(ctx, "AgentRun", ws, id)
}
func (f *fake) WorkflowRuns(ctx context.Context, ws access.WorkspaceID, q inbox.WorkflowRunFilter, p inbox.PageRequest) (inbox.Page[inbox.WorkflowRun], error) {
	return one(f.flow, f.ask(ctx, "WorkflowRuns", ws, q, p))
}
func (f *fake) WorkflowRun(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.WorkflowRun, error) {
	return f.flow, f.ask(ctx, "WorkflowRun", ws, id)
}
func (f *fake) Webhooks(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Webhook], error) {
	return one(inbox.Webhook{}, f.ask(ctx, "Webhooks", ws, p))
}
func (f *fake) Webhook(ctx context.Context, ws access.WorkspaceID, ref string) (inbox.Webhook, error) {
	return found(f, f.things.webhook, inbox.Webhook{}), f.ask(ctx, "Webhook", ws, ref)
}
func (f *fake) Deliveries(ctx context.Context, ws access.WorkspaceID, webhook string, q inbox.DeliveryFilter, p inbox.PageRequest) (inbox.Page[inbox.Delivery], error) {
	return one(f.deliver, f.ask(ctx, "Deliveries", ws, webhook, q, p))
}
func (f *fake) Delivery(ctx context.Context, ws access.WorkspaceID, webhook string, id inbox.ID) (inbox.Delivery, error) {
	return f.deliver, f.ask(ctx, "Delivery", ws, webhook, id)
}
func (f *fake) SystemEvents(ctx context.Context, ws access.WorkspaceID, q inbox.SystemEventFilter, p inbox.PageRequest) (inbox.Page[inbox.SystemEvent], error) {
	return one(f.event, f.ask(ctx, "SystemEvents", ws, q, p))
}
func (f *fake) SystemEvent(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.SystemEvent, error) {
	return f.event, f.ask(ctx, "SystemEvent", ws, id)
}
func (f *fake) Secrets(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Secret], error) {
	return one(inbox.Secret{}, f.ask(ctx, "Secrets", ws, p))
}
func (f *fake) Models(ctx context.Context) ([]inbox.Model, error) {
	return nil, f.ask(ctx, "Models")
}
func (f *fake) Usage(ctx context.Context, ws access.WorkspaceID, from, to time.Time) (inbox.Usage, error) {
	return inbox.Usage{}, f.ask(ctx, "Usage", ws, from.Format(time.RFC3339), to.Format(time.RFC3339))
}
func (f *fake) RecentIDs(context.Context, access.WorkspaceID, inbox.Family, string, int) ([]string, bool, error) {
	panic("no tool needs it")
}

// member is a caller with a role in the workspace here, and others elsewhere.
func member(role access.Role, scopes access.Scopes, elsewhere ...access.Membership) *access.Caller {
	m := access.Membership{Workspace: here, Role: role}
	return &access.Caller{
		Token:       access.Token{Scopes: scopes},
		Membership:  m,
		Permissions: m.Permissions(),
		Memberships: append([]access.Membership{m}, elsewhere...),
	}
}

var owner = member(access.Owner, access.ScopeWrite)

// newTest makes a catalog over f with a fixed clock and nonce.
func newTest(f *fake, change ...func(*Options)) *Catalog {
	o := Options{Service: f, Now: func() time.Time { return noon }, Nonce: func() string { return "nonce" }}
	for _, c := range change {
		c(&o)
	}
	return New(o)
}

// result is a CallToolResult, and the code of its _meta.
type result struct {
	Content []struct {
		Type, Text  string
		Annotations struct{ Audience []string }
	}
	Structured jsontext.Value `json:"structuredContent"`
	IsError    bool           `json:"isError"`
	Code       string         `json:"-"`
}

// text is the first block's.
func (r result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// send runs a method as the server does: judge, then run.
func send(ctx context.Context, c *Catalog, caller *access.Caller, v mcp.Version, method, params string) (*mcp.Result, error) {
	if caller != nil {
		ctx = access.WithCaller(ctx, caller)
	}
	run, err := c.Methods()[method](ctx, &mcp.Request{Method: method, Params: jsontext.Value(params), Version: v})
	if err != nil {
		return nil, err
	}
	return run(ctx)
}

// call calls a tool, and fails the test unless there is a result.
func call(t testing.TB, c *Catalog, caller *access.Caller, name, args string) result {
	t.Helper()
	return callAt(t, c, caller, mcp.V20260728, name, args)
}

func callAt(t testing.TB, c *Catalog, caller *access.Caller, v mcp.Version, name, args string) (r result) {
	t.Helper()
	got, err := send(t.Context(), c, caller, v, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	decode(t, got.Fields, &r)
	var meta struct {
		Error struct{ Code string } `json:"br.com.kobana/error"`
	}
	if got.Meta != nil {
		decode(t, got.Meta, &meta)
	}
	r.Code = meta.Error.Code
	return r
}

func decode(t testing.TB, v jsontext.Value, into any) {
	t.Helper()
	if err := json.Unmarshal(v, into, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v in %s", err, v)
	}
}

// quoted is s as a JSON string.
func quoted(s string) string {
	b, _ := jsontext.AppendQuote(nil, s)
	return string(b)
}
