package access

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

func TestWorkspace(t *testing.T) {
	w := newWorld(t)
	header := func(ws string) []string { return []string{"Kobana-Workspace", ws} }
	for _, c := range []struct {
		name, token string
		headers     []string
		status      int
		want        string // workspace, or what the message says
	}{
		{"oldest active membership", "ana", nil, 200, "books"},
		{"oldest in the token's organization", "ana-agro", nil, 200, "farm"},
		{"claim", "ana-shop", nil, 200, "shop"},
		{"claim and equal header", "ana-shop", header("shop"), 200, "shop"},
		{"claim against header", "ana-shop", header("books"), 403, "another workspace than the access token"},
		{"header", "ana", header("shop"), 200, "shop"},
		{"empty header is none", "ana", header(""), 200, "books"},
		{"header is compared byte for byte", "ana", header("SHOP"), 403, "not a member"},
		{"two headers", "ana", append(header("shop"), header("books")...), 403, "not a member"},
		{"header of a workspace that is not hers", "bia", header("books"), 403, "not a member"},
		{"header of no workspace", "ana", header("nowhere"), 403, "not a member"},
		{"header outside the token's organization", "ana-acme", header("farm"), 403, "does not belong to the organization"},
		{"claim outside the token's organization", "ana-stolen", nil, 403, "does not belong to the organization"},
		{"suspended by header", "ana", header("attic"), 403, "suspended"},
		{"suspended by claim", "ana-attic", nil, 403, "suspended"},
		{"only membership is suspended", "caio", nil, 403, "no active membership"},
		{"no membership in the token's organization", "ana-void", nil, 403, "no active membership"},
		{"no membership", "dora", nil, 403, "no active membership"},
		{"case 22 same subject of another issuer", "eva", nil, 403, "no active membership"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.call(t, c.token, "tools/list", c.headers...)
			if got.status != c.status {
				t.Fatalf("got %d %s", got.status, got.body)
			}
			if c.status != 200 {
				if !strings.Contains(got.message, c.want) || got.challenge != "" {
					t.Errorf("got %q, challenge %q", got.message, got.challenge)
				}
				return
			}
			caller := got.caller
			if string(caller.WorkspaceID()) != c.want || caller.Workspace != caller.WorkspaceID() || caller.Organization != caller.Membership.Organization {
				t.Errorf("got %+v", caller)
			}
		})
	}
}

// A person without membership may begin, and no store is asked: the list of
// methods is the whole of what a token alone opens.
func TestMethodsWithoutMembership(t *testing.T) {
	w := newWorld(t)
	w.table.down.Store(true)
	for _, method := range []string{"ping", "initialize", "server/discover"} {
		if got := w.call(t, "dora", method); got.status != 200 {
			t.Errorf("%s: %d %s", method, got.status, got.body)
		}
	}
	if n := w.table.queries.Load(); n != 0 {
		t.Errorf("%d queries", n)
	}
}

func TestCallerSeesWhatTheTokenReaches(t *testing.T) {
	w := newWorld(t)
	for token, want := range map[string][]WorkspaceID{
		"ana":      {"books", "shop", "farm"},
		"ana-acme": {"books", "shop"},
		"ana-shop": {"books", "shop"},
		"bia":      {"farm"},
	} {
		var got []WorkspaceID
		for _, m := range w.call(t, token, "tools/list").caller.Memberships {
			got = append(got, m.Workspace)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", token, diff)
		}
	}
}

// workspaces_get and workspaces_update of another id are judged by the
// membership there.
func TestMembershipInAnotherWorkspace(t *testing.T) {
	w := newWorld(t)
	caller := w.call(t, "ana-acme", "tools/list").caller
	if !caller.May(WorkspacesWrite) {
		t.Fatal("the owner of books may not write it")
	}
	m, ok := caller.In("shop")
	if !ok || m.Permissions().Has(WorkspacesWrite) || !m.Permissions().Has(WorkspacesRead) {
		t.Errorf("shop: %v %v", m, ok)
	}
	for _, ws := range []WorkspaceID{"attic", "farm", "nowhere", ""} {
		if m, ok := caller.In(ws); ok {
			t.Errorf("%q: %v", ws, m)
		}
	}
}

func TestMembershipIsRememberedFor30Seconds(t *testing.T) {
	w := newWorld(t)
	suspend := func(m *Membership) { m.Suspended = true }
	w.call(t, "bia", "tools/list")
	if _, err := w.dir.UpdateMember(t.Context(), bia, "farm", suspend); err != nil {
		t.Fatal(err)
	}
	w.sleep(membershipTTL - time.Nanosecond)
	if got := w.call(t, "bia", "tools/list"); got.status != 200 {
		t.Errorf("remembered: %d", got.status)
	}
	if n := w.table.queries.Load(); n != 1 {
		t.Errorf("%d queries, want 1", n)
	}
	w.sleep(time.Nanosecond)
	if got := w.call(t, "bia", "tools/list"); got.status != 403 {
		t.Errorf("after 30 s: %d", got.status)
	}
	if _, err := w.dir.UpdateMember(t.Context(), bia, "farm", func(m *Membership) { m.Suspended = false }); err != nil {
		t.Fatal(err)
	}
	w.sleep(-time.Hour)
	if got := w.call(t, "bia", "tools/list"); got.status != 200 {
		t.Errorf("remembered from the future, after the clock was set back: %d", got.status)
	}
}

// A frozen function's monotonic clock stands still, so ages go by the wall
// clock.
func TestMembershipAgesByTheWallClock(t *testing.T) {
	w := newWorld(t)
	w.opts.Now = time.Now
	w.call(t, "bia", "tools/list")
	at := w.members.update(bia, func(r remembered) remembered { return r }).at
	if at.IsZero() || at != at.Round(0) {
		t.Errorf("remembered at %v", at)
	}
}

func TestConfirmedCallsArePastTheCaches(t *testing.T) {
	t.Run("membership", func(t *testing.T) {
		w := newWorld(t)
		w.call(t, "bia", "tools/list")
		if _, err := w.dir.UpdateMember(t.Context(), bia, "farm", func(m *Membership) { m.Role = Viewer }); err != nil {
			t.Fatal(err)
		}
		if c := w.call(t, "bia", "tools/list").caller; !c.May(EmailsWrite) {
			t.Error("the cache is not in use: the test shows nothing")
		}
		if c := w.call(t, "bia", "confirmed").caller; c.May(EmailsWrite) || !c.May(EmailsRead) {
			t.Errorf("stale permissions %v", c.Permissions)
		}
		if c := w.call(t, "bia", "tools/list").caller; c.May(EmailsWrite) {
			t.Error("what the confirmed call learned was not remembered")
		}
	})
	t.Run("token", func(t *testing.T) {
		w := newWorld(t)
		w.revoke("bia")
		if got := w.call(t, "bia", "tools/list"); got.status != 200 {
			t.Errorf("remembered: %d", got.status)
		}
		if got := w.call(t, "bia", "confirmed"); got.status != 401 || !strings.Contains(got.challenge, `error="invalid_token"`) {
			t.Errorf("revoked: %d %s", got.status, got.challenge)
		}
	})
	t.Run("needs the request's own credentials", func(t *testing.T) {
		w := newWorld(t)
		if c, err := w.Readmit(WithToken(t.Context(), tokens["ana"])); err == nil {
			t.Errorf("admitted %v", c)
		}
	})
}

func TestStoreDown(t *testing.T) {
	w := newWorld(t)
	w.table.down.Store(true)
	for range 2 { // a failure is not remembered as a person without membership
		got := w.call(t, "ana", "tools/list")
		if got.status != 503 || got.header.Get("Retry-After") != "5" || strings.Contains(got.body, "store:") {
			t.Errorf("got %d %v %s", got.status, got.header, got.body)
		}
	}
	w.table.down.Store(false)
	if got := w.call(t, "ana", "tools/list"); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
	w.sleep(membershipTTL)
	w.table.down.Store(true)
	if got := w.call(t, "ana", "tools/list"); got.status != 503 {
		t.Errorf("an old membership was used: %d", got.status)
	}
}

func TestAdmitWithoutAuthenticate(t *testing.T) {
	w := newWorld(t)
	_, err := w.Admit(t.Context(), "tools/list")
	if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != 401 {
		t.Errorf("got %v", err)
	}
}

// R18: the person is whoever the token says, whatever else the request claims.
func TestPersonComesFromTheToken_case_22(t *testing.T) {
	w := newWorld(t)
	got := w.call(t, "bia", "tools/list", "X-User", "ana", "Cookie", "token=ana", "Kobana-Person", "ana", "X-Forwarded-User", "ana")
	if got.caller.Person != bia || got.caller.WorkspaceID() != "farm" {
		t.Errorf("got %+v", got.caller)
	}
}

func TestTwoPeopleInParallel(t *testing.T) {
	w := newWorld(t)
	w.opts.Limit.PerSecond, w.opts.Limit.Burst = 1e6, 1e6
	want := map[string]string{
		"ana": fmt.Sprint(ana, "books"), "ana-agro": fmt.Sprint(ana, "farm"), "bia": fmt.Sprint(bia, "farm"),
	}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 30 {
				for token, want := range want {
					method := []string{"tools/list", "confirmed"}[(n+i)%2]
					got := w.call(t, token, method).caller
					if s := fmt.Sprint(got.Person, got.WorkspaceID()); s != want {
						t.Errorf("%s: got %s", token, s)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestNewGateChecksThePublicURL_12_07(t *testing.T) {
	for url, want := range map[string]string{
		"https://inbox.example.com":     "https://inbox.example.com",
		"https://Inbox.Example.com/":    "https://inbox.example.com",
		"https://inbox.example.com:444": "https://inbox.example.com:444",
		"http://localhost:8080":         "http://localhost:8080",
		"http://127.0.0.1:8080/":        "http://127.0.0.1:8080",
		"http://[::1]:8080":             "http://[::1]:8080",
		"http://inbox.example.com":      "",
		"https://inbox.example.com/mcp": "",
		"https://inbox.example.com/?a":  "",
		"https://inbox.example.com#a":   "",
		"https://me@inbox.example.com":  "",
		"https://ínbox.example.com":     "",
		"inbox.example.com":             "",
		"https://":                      "",
		"":                              "",
	} {
		g, err := NewGate(Options{PublicURL: url})
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was taken", url)
		case want != "" && err != nil:
			t.Errorf("%q: %v", url, err)
		case want != "" && g.opts.PublicURL != want:
			t.Errorf("%q: got %q", url, g.opts.PublicURL)
		}
	}
}

func FuzzBearer(f *testing.F) {
	for _, s := range []string{"Bearer abc", "bearer  a.b-c_~+/==", "Bearer", "Basic x", "Bearer a b", "Bearer a,Bearer b", "Bearer \x00"} {
		f.Add(s)
	}
	g, err := NewGate(Options{PublicURL: base})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, err := g.bearer([]string{header})
		if err != nil {
			if _, ok := errors.AsType[*mcp.Refusal](err); !ok || token != "" {
				t.Fatalf("%q: %q %v", header, token, err)
			}
			return
		}
		if !strings.HasSuffix(strings.TrimRight(header, " "), " "+token) || !strings.EqualFold(header[:6], "bearer") || strings.ContainsAny(token, " ,\"\r\n\x00") {
			t.Fatalf("%q gave %q", header, token)
		}
	})
}
