package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// owner is the person who makes all requests.
var owner = access.Person{Issuer: "https://login.example.com", Subject: "ana"}

// subjects are the records that requests are about.
type subjects struct {
	workspace             access.WorkspaceID
	email, agent, webhook inbox.ID
}

// furnish puts a workspace into a table: its owner, and one of each record.
func furnish(ctx context.Context, table store.Table, db *inboxstore.DB, owner access.Person) (r subjects, err error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	id := func() inbox.ID { return inbox.NewID(now) }
	r = subjects{access.WorkspaceID(id()), id(), id(), id()}
	directory := access.NewDirectory(table)
	box, text := id(), strings.Repeat("Please tell us where the order is, and when it will be here.\n", 20)
	return r, errors.Join(
		directory.CreateOrganization(ctx, access.Organization{ID: "aurora", Name: "Aurora Coffee", CreatedAt: now}),
		directory.AddMember(ctx, access.Membership{Person: owner, Organization: "aurora", Workspace: r.workspace, Role: access.Owner, CreatedAt: now}),
		db.Apply(ctx, r.workspace,
			inboxstore.Insert(inboxstore.Workspace{Organization: "aurora", Workspace: inbox.Workspace{
				ID: r.workspace, Label: "Aurora", Locale: inbox.English, CreatedAt: now, UpdatedAt: now,
			}})),
		db.Apply(ctx, r.workspace,
			inboxstore.Insert(inbox.Agent{
				ID: r.agent, WorkspaceID: r.workspace, Label: "Helpdesk", LLMModel: "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0",
				SystemMessage: "You answer customers of a coffee roaster. Be brief and kind. Refunds are decided by a person.", CreatedAt: now, UpdatedAt: now,
			}),
			inboxstore.Insert(inbox.Inbox{
				ID: box, WorkspaceID: r.workspace, AgentID: &r.agent, Label: "Support", Email: string(box) + "@inbox.example.com", Status: inbox.Active,
				CreatedAt: now, UpdatedAt: now,
			}),
			inboxstore.Insert(inbox.Webhook{
				ID: r.webhook, WorkspaceID: r.workspace, Status: inbox.Active, Label: "CRM", URL: "https://crm.example.com/hook", Auth: inbox.AuthNone,
				SubscribedEvents: []string{"*"}, CreatedAt: now, UpdatedAt: now,
			}),
			inboxstore.Signing(r.webhook, webhooks.NewSecret(), inbox.Credentials{}, now),
			inboxstore.Insert(email(r.workspace, r.email, box, now)),
			inboxstore.Content(r.email, inbox.EmailContent{
				Headers: []inbox.Header{{Name: "From", Value: "Ana <ana@example.com>"}, {Name: "Subject", Value: "Late delivery"}}, Text: &text,
			})),
	)
}

func email(ws access.WorkspaceID, id, box inbox.ID, at time.Time) inbox.Email {
	return inbox.Email{
		ID: id, WorkspaceID: ws, InboxID: box, MessageID: "<1@example.com>", Subject: new("Late delivery"), From: "ana@example.com", FromName: "Ana",
		To: []string{"support@inbox.example.com"}, Status: inbox.EmailProcessed, ReceivedAt: at, CreatedAt: at, UpdatedAt: at,
	}
}

// world is the whole product in this process, on an embedded store.
type world struct {
	subjects
	dir      string
	file     *bolt.DB
	table    store.Table
	db       *inboxstore.DB
	families map[string]http.Handler        // by family; "" is the router
	lambda   map[string]*lambdahttp.Handler // the same as functions
}

// key is for everything that is sealed here.
var key = bytes.Repeat([]byte{7}, 32)

// token is what requests carry.
const token = "bench"

// only is a verifier that knows one token.
type only struct{}

// Verify implements [access.Verifier].
func (only) Verify(_ context.Context, t string) (access.Token, error) {
	if t != token {
		return access.Token{}, access.ErrInvalidToken
	}
	return access.Token{Person: owner, Client: "bench", Scopes: access.ScopeWrite}, nil
}

// newWorld makes a world in a directory of its own, within dir. It does not wait
// for the disk.
func newWorld(ctx context.Context, dir string) (*world, error) {
	dir, err := os.MkdirTemp(dir, "world")
	if err != nil {
		return nil, err
	}
	file, err := bolt.Open(filepath.Join(dir, "inbox.db"), bolt.NoSync())
	if err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	w := &world{dir: dir, file: file, table: file.Table("data"), families: map[string]http.Handler{}, lambda: map[string]*lambdahttp.Handler{}}
	w.db = inboxstore.New(inboxstore.Options{
		Table: w.table, Log: quiet, Keys: func(context.Context) ([][]byte, error) { return [][]byte{key}, nil },
	})
	if w.subjects, err = furnish(ctx, w.table, w.db, owner); err != nil {
		return nil, fmt.Errorf("furnish the world: %w", err)
	}
	directory := access.NewDirectory(w.table)
	gate, err1 := access.NewGate(access.Options{
		Verifier: only{}, Directory: directory, PublicURL: "https://inbox.example.com",
		AuthorizationServers: []string{owner.Issuer}, Limit: access.RateLimit{PerSecond: 1e9, Burst: 1e9},
	})
	confirmer, err2 := confirm.New(confirm.Options{
		Audience: "https://inbox.example.com/mcp", Ledger: file.Table("confirmations"),
		Keys: confirm.StaticKeys(confirm.Key{ID: "bench", Secret: [32]byte(key)}),
	})
	t := telemetry.New(telemetry.Options{Function: "bench", Version: server.Version, Out: discard{}})
	o := server.Options{
		Service: actions.New(actions.Options{DB: w.db, Log: quiet}), Gate: gate, Organization: directory.Organization, Confirmer: confirmer,
		ConfirmAlso: []string{alsoConfirmed}, Log: t.Log(),
	}
	for _, name := range server.FamilyNames() {
		w.families[name] = server.Family(o, name)
	}
	w.families[""] = server.Router(o, maps.Clone(w.families))
	for name, h := range w.families {
		w.lambda[name] = lambdahttp.New(h, t.Log())
	}
	return w, errors.Join(err1, err2)
}

// Close ends the world.
func (w *world) Close() error { return errors.Join(w.file.Close(), os.RemoveAll(w.dir)) }

// discard is where log lines go, each written all the same.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// answer has the product answer a request, as a handler.
func (w *world) answer(ctx context.Context, r request) ([]byte, error) {
	out := &recorder{header: make(http.Header)}
	w.families[r.family()].ServeHTTP(out, r.http(ctx))
	return out.body.Bytes(), out.check(r)
}

// check refuses anything but a result.
func (o *recorder) check(r request) error {
	if o.status != http.StatusOK || bytes.Contains(o.body.Bytes(), []byte(`"error":`)) {
		return fmt.Errorf("%s: HTTP %d %.500s", r.name, o.status, o.body.Bytes())
	}
	return nil
}

// recorder is an [http.ResponseWriter] that keeps the answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
