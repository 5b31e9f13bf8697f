package accesstest

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/oauth"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

const (
	publicURL = "https://inbox.example.com"
	resource  = publicURL + "/mcp"
	page      = "https://app.example.com" // an origin whose pages may call
)

// world is the whole product on the store of the demo, with its own time.
type world struct {
	clock     *clock
	issuers   issuers
	table     *storetest.Fault
	directory *access.Directory
	service   *actions.Service
	ledger    *storetest.Fault
	options   server.Options
	handler   http.Handler
	aurora    access.WorkspaceID
	bosque    access.WorkspaceID
}

// newWorld makes a world that counts no requests.
func newWorld(t *testing.T) *world { return newWorldLimited(t, access.RateLimit{PerSecond: rate.Inf}) }

func newWorldLimited(t *testing.T, limit access.RateLimit) *world {
	t.Helper()
	db := storetest.Temp(t)
	w := &world{clock: &clock{}, issuers: newIssuers(t), table: storetest.NewFault(db.Table("data")), ledger: storetest.NewFault(db.Table("ledger"))}
	w.clock.nanos.Store(time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC).UnixNano())
	log := slog.New(slog.DiscardHandler)
	blobs, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.directory = access.NewDirectory(w.table)
	sender := webhooks.New(webhooks.Options{AllowLoopback: true, Now: w.clock.now})
	records := inboxstore.New(inboxstore.Options{
		Table: w.table, Blobs: blobs, Links: link, CheckURL: sender.CheckURL, Now: w.clock.now, Log: log,
		Keys: func(context.Context) ([][]byte, error) { return [][]byte{make([]byte, 32)}, nil },
	})
	w.service = actions.New(actions.Options{DB: records, Blobs: blobs, Sender: sender, Log: log, Now: w.clock.now})
	seeder := demo.Seeder{Directory: w.directory, DB: records, Log: log, Now: w.clock.now()}
	if err := seeder.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.aurora, w.bosque = w.workspaceOf(t, demo.Owner), w.workspaceOf(t, demo.Other)
	w.options = server.Options{
		Service: w.service, Organization: w.directory.Organization, AuditKey: func(context.Context) ([]byte, error) { return make([]byte, 32), nil }, CheckURL: sender.CheckURL,
		AllowOrigin: func(origin string) bool { return origin == page }, Now: w.clock.now, Log: log,
	}
	w.handler = w.instance(t, limit)
	return w
}

// instance is one more process that serves the same store: the families and
// their router, as in the cloud, with memories of their own.
func (w *world) instance(t *testing.T, limit access.RateLimit) http.Handler {
	t.Helper()
	verifier, err := oauth.NewJWT(oauth.Options{
		Issuers:  []oauth.Issuer{{URL: issuer, KeysURL: issuer + "/keys"}, {URL: otherIssuer, KeysURL: otherIssuer + "/keys"}},
		Audience: resource, Transport: w.issuers, Now: w.clock.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	o := w.options
	if o.Gate, err = access.NewGate(access.Options{
		Verifier: verifier, Directory: w.directory, PublicURL: publicURL,
		AuthorizationServers: []string{issuer, otherIssuer}, Limit: limit, Now: w.clock.now,
	}); err != nil {
		t.Fatal(err)
	}
	if o.Confirmer, err = confirm.New(confirm.Options{
		Audience: resource, Ledger: w.ledger, Now: w.clock.now,
		Keys: confirm.StaticKeys(confirm.Key{ID: "k", Secret: [32]byte{1}}),
	}); err != nil {
		t.Fatal(err)
	}
	families := map[string]http.Handler{}
	mux := http.NewServeMux()
	for _, name := range server.FamilyNames() {
		families[name] = server.Family(o, name)
		mux.Handle("/mcp/"+name, families[name])
	}
	mux.Handle("/", server.Router(o, families))
	return mux
}

// workspaceOf is the person's only workspace.
func (w *world) workspaceOf(t *testing.T, p access.Person) access.WorkspaceID {
	t.Helper()
	ms, err := w.directory.Memberships(t.Context(), p)
	if err != nil || len(ms) != 1 {
		t.Fatal(ms, err)
	}
	return ms[0].Workspace
}

// join makes a person a member of a workspace.
func (w *world) join(t *testing.T, m access.Membership) {
	t.Helper()
	m.Organization = demo.Aurora
	if m.Workspace == w.bosque {
		m.Organization = demo.Bosque
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = w.clock.now()
	}
	if err := w.directory.AddMember(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

// change changes the person's membership of a workspace.
func (w *world) change(t *testing.T, p access.Person, ws access.WorkspaceID, change func(*access.Membership)) {
	t.Helper()
	if _, err := w.directory.UpdateMember(t.Context(), p, ws, change); err != nil {
		t.Fatal(err)
	}
}

// person is somebody of the demo's issuer.
func person(name string) access.Person {
	return access.Person{Issuer: issuer, Subject: strings.ReplaceAll(name, " ", "-")}
}

// link is a download link of a raw message.
func link(_ context.Context, key string) (inbox.Link, error) {
	return inbox.Link{URL: "https://raw.example.com/" + key, ExpiresAt: time.Date(2026, 12, 2, 13, 0, 0, 0, time.UTC)}, nil
}
