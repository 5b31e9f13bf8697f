package access

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const base = "https://inbox.example.com"

// The people and workspaces of the tests. Ana owns the books since 2024 and
// views the shop since 2025; Bia, of another organization, operates the farm;
// Caio's only membership is suspended.
var (
	ana  = Person{"https://issuer.example", "ana"}
	bia  = Person{"https://issuer.example", "bia"}
	caio = Person{"https://issuer.example", "caio"}
	dora = Person{"https://issuer.example", "dora"}
	// eva has ana's subject at another issuer.
	eva = Person{"https://other.example", "ana"}
)

var memberships = []Membership{
	{Person: ana, Organization: "acme", Workspace: "shop", Role: Viewer, CreatedAt: year(2025)},
	{Person: ana, Organization: "acme", Workspace: "books", Role: Owner, CreatedAt: year(2024)},
	{Person: ana, Organization: "agro", Workspace: "farm", Role: Viewer, CreatedAt: year(2026)},
	{Person: ana, Organization: "acme", Workspace: "attic", Role: Owner, CreatedAt: year(2020), Suspended: true},
	{Person: bia, Organization: "agro", Workspace: "farm", Role: Operator, CreatedAt: year(2024)},
	{Person: caio, Organization: "acme", Workspace: "books", Role: Admin, CreatedAt: year(2024), Suspended: true},
}

func year(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }

const rw = ScopeRead | ScopeWrite

var tokens = map[string]Token{
	"ana":          {Person: ana, Client: "c1", Scopes: rw},
	"ana-read":     {Person: ana, Scopes: ScopeRead},
	"ana-write":    {Person: ana, Scopes: ScopeWrite},
	"ana-scopless": {Person: ana},
	"ana-acme":     {Person: ana, Organization: "acme", Scopes: rw},
	"ana-agro":     {Person: ana, Organization: "agro", Scopes: rw},
	"ana-void":     {Person: ana, Organization: "void", Scopes: rw},
	"ana-shop":     {Person: ana, Organization: "acme", Workspace: "shop", Scopes: rw},
	"ana-attic":    {Person: ana, Workspace: "attic", Scopes: rw},
	"ana-stolen":   {Person: ana, Organization: "acme", Workspace: "farm", Scopes: rw},
	"bia":          {Person: bia, Scopes: rw},
	"caio":         {Person: caio, Scopes: rw},
	"dora":         {Person: dora, Scopes: rw},
	"eva":          {Person: eva, Scopes: rw},
	"nobody":       {Scopes: rw},
}

// verifier knows the tokens above. Like one that introspects, it remembers its
// answers: only VerifyFresh sees what was revoked meanwhile.
type verifier struct {
	mu      sync.Mutex
	revoked map[string]bool
	fails   error
}

func (v *verifier) Verify(_ context.Context, token string) (Token, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.fails != nil {
		return Token{}, v.fails
	}
	t, ok := tokens[token]
	if !ok {
		return Token{}, ErrInvalidToken
	}
	return t, nil
}

func (v *verifier) VerifyFresh(ctx context.Context, token string) (Token, error) {
	v.mu.Lock()
	revoked := v.revoked[token]
	v.mu.Unlock()
	if revoked {
		return Token{}, ErrInvalidToken
	}
	return v.Verify(ctx, token)
}

func (v *verifier) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.fails = err
}

func (v *verifier) revoke(token string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.revoked[token] = true
}

// world is a gate on a real server, with a clock that stands still.
type world struct {
	*Gate
	*verifier
	table *countedTable
	dir   *Directory
	url   string
	mu    sync.Mutex
	now   time.Time
}

func (w *world) sleep(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{verifier: &verifier{revoked: map[string]bool{}}, table: newTable(t), now: year(2027)}
	w.dir = NewDirectory(w.table)
	for _, id := range []OrganizationID{"acme", "agro"} {
		if err := w.dir.CreateOrganization(t.Context(), Organization{ID: id, Name: strings.ToUpper(string(id)), CreatedAt: year(2020)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range memberships {
		if err := w.dir.AddMember(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	gate, err := NewGate(Options{
		Verifier: w.verifier, Directory: w.dir, PublicURL: base,
		AuthorizationServers: []string{"https://issuer.example"}, ResourceName: "Kobana Inbox",
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.now
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Gate = gate
	mux := http.NewServeMux()
	mux.Handle("POST /mcp/as/{method...}", w.method(func(r *http.Request) string { return r.PathValue("method") }))
	gate.Mount(mux)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	w.url = s.URL
	return w
}

// method calls the gate in the order that mcp.Server does, and answers with
// the caller. The tests' method is in the path: "write" is a tool that needs
// inbox.write, "confirmed" one that reads the membership anew.
func (w *world) method(name func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		c, err := w.serve(r, name(r))
		if err == nil {
			json.MarshalWrite(rw, c)
			return
		}
		refusal, ok := errors.AsType[*mcp.Refusal](err)
		if !ok {
			http.Error(rw, err.Error(), http.StatusInternalServerError)
			return
		}
		for k, v := range refusal.Header {
			rw.Header()[k] = v
		}
		rw.WriteHeader(refusal.Status)
		json.MarshalWrite(rw, map[string]any{"code": refusal.Err.Code, "message": refusal.Err.Message})
	})
}

func (w *world) serve(r *http.Request, method string) (*Caller, error) {
	ctx, err := w.Authenticate(r)
	if err != nil || method == "ping" {
		return nil, err
	}
	if ctx, err = w.Admit(ctx, method); err != nil {
		return nil, err
	}
	if err := w.Gate.Limit(ctx, method); err != nil {
		return nil, err
	}
	c, _ := CallerFrom(ctx)
	switch method {
	case "write":
		err = w.RequireScope(c, ScopeWrite)
	case "confirmed":
		c, err = w.Readmit(ctx)
	}
	return c, err
}

// answer is what came back over the wire.
type answer struct {
	status    int
	header    http.Header
	challenge string
	body      string
	message   string
	caller    Caller
}

// send posts to a path with headers given as name, value, name, value.
func (w *world) send(t *testing.T, method, path string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status: resp.StatusCode, header: resp.Header, challenge: resp.Header.Get("WWW-Authenticate"), body: string(body)}
	if a.status == http.StatusOK {
		json.Unmarshal(body, &a.caller)
		return a
	}
	var refused struct{ Message string }
	json.Unmarshal(body, &refused, json.MatchCaseInsensitiveNames(true))
	a.message = refused.Message
	return a
}

// call posts method as the holder of token.
func (w *world) call(t *testing.T, token, method string, headers ...string) answer {
	t.Helper()
	return w.send(t, "POST", "/mcp/as/"+method, append(headers, "Authorization", "Bearer "+token)...)
}
