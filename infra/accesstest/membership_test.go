package accesstest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// refused checks that every method is refused for want of a membership, by a
// sentence and without a challenge, and that what clients begin with is not.
func refused(t *testing.T, c client, says string) {
	t.Helper()
	checkMayBegin(t, c)
	for _, m := range methods {
		if r := c.send(t, m.name, m.params); r.status != http.StatusForbidden || r.challenge != "" || r.code() != http.StatusForbidden || !strings.Contains(r.Error.Message, says) {
			t.Errorf("%s: HTTP %d, challenge %q, %s", m.name, r.status, r.challenge, r.body)
		}
	}
}

// TestWithoutMembership: a token that counts is not enough.
func TestWithoutMembership(t *testing.T) {
	w := newWorld(t)
	const all = "inbox.read inbox.write"
	suspended, twin := person("suspended"), access.Person{Issuer: otherIssuer, Subject: demo.Owner.Subject}
	w.join(t, access.Membership{Person: suspended, Workspace: w.aurora, Role: access.Owner, Suspended: true})
	for _, c := range []struct {
		name, token, header string
		says                string
	}{
		{"nobody", w.token(t, person("nobody"), all, nil), "", "You have no active membership"},
		{"suspended", w.token(t, suspended, all, nil), "", "You have no active membership"},
		{"suspended, by header", w.token(t, suspended, all, nil), string(w.aurora), "Your membership of this workspace is suspended"},
		{"suspended, by claim", w.token(t, suspended, all, object{"workspace_id": w.aurora}), "", "Your membership of this workspace is suspended"},
		{"same subject of another issuer", w.token(t, twin, all, nil), "", "You have no active membership"},
		{"organization that does not own the workspace", w.token(t, demo.Owner, all, object{"org_id": demo.Bosque}), "", "You have no active membership"},
		{"the same, by header", w.token(t, demo.Owner, all, object{"org_id": demo.Bosque}), string(w.aurora), "does not belong to the organization"},
		{"the same, by claim", w.token(t, demo.Owner, all, object{"org_id": demo.Bosque, "workspace_id": w.aurora}), "", "does not belong to the organization"},
		{"claim against header", w.token(t, demo.Owner, all, object{"workspace_id": w.aurora}), string(w.bosque), "names another workspace than the access token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEra(t, func(t *testing.T, v mcp.Version) {
				cl := w.as(c.token).in(v)
				if c.header != "" {
					cl = cl.inWorkspace(c.header)
				}
				refused(t, cl, c.says)
			})
		})
	}
}

// TestSeveralWorkspaces: requests work in the one that the claim or else the
// header names, or else in the oldest; workspaces_list shows those where its
// person may read them, and no others.
func TestSeveralWorkspaces(t *testing.T) {
	w := newWorld(t)
	ana := person("ana")
	w.join(t, access.Membership{Person: ana, Workspace: w.bosque, Role: access.Owner, CreatedAt: w.clock.now().Add(-2 * time.Hour)})
	w.join(t, access.Membership{Person: ana, Workspace: w.aurora, Role: access.Viewer, CreatedAt: w.clock.now().Add(-time.Hour)})
	const all = "inbox.read inbox.write"
	plain := w.as(w.token(t, ana, all, nil))
	for _, c := range []struct {
		name   string
		client client
		here   access.WorkspaceID
		shown  []access.WorkspaceID
	}{
		{"oldest", plain, w.bosque, []access.WorkspaceID{w.bosque, w.aurora}},
		{"header", plain.inWorkspace(string(w.aurora)), w.aurora, []access.WorkspaceID{w.bosque, w.aurora}},
		{"claim", w.as(w.token(t, ana, all, object{"workspace_id": w.aurora})), w.aurora, []access.WorkspaceID{w.bosque, w.aurora}},
		{"organization", w.as(w.token(t, ana, all, object{"org_id": demo.Aurora})), w.aurora, []access.WorkspaceID{w.aurora}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEra(t, func(t *testing.T, v mcp.Version) {
				cl := c.client.in(v)
				if got := cl.get(t, "workspaces_get", nil)["id"]; got != string(c.here) {
					t.Errorf("works in %v, not %v", got, c.here)
				}
				shown := []access.WorkspaceID{}
				for _, r := range cl.list(t, "workspaces_list", nil) {
					shown = append(shown, access.WorkspaceID(r["id"].(string)))
				}
				if !slices.Equal(shown, c.shown) {
					t.Errorf("shown %v, not %v", shown, c.shown)
				}
				for _, r := range append(cl.list(t, "inboxes_list", nil), cl.list(t, "emails_list", nil)...) {
					if r["workspace_id"] != string(c.here) {
						t.Errorf("a record of %v is shown", r["workspace_id"])
					}
				}
				writes := slices.Contains(cl.names(t, "tools/list", "tools", "name"), "inboxes_create")
				if writes != (c.here == w.bosque) {
					t.Errorf("in %v it may write: %v", c.here, writes)
				}
			})
		})
	}
	// The workspace that is asked for is judged by the membership there.
	update := func(c client, ws access.WorkspaceID) string {
		return c.call(t, "workspaces_update", object{"id": ws, "label": "Renamed"}).failure
	}
	for _, c := range []client{plain, plain.inWorkspace(string(w.aurora))} {
		if got := update(c, w.bosque); got != "" {
			t.Errorf("the owner of Bosque renames it: %s", got)
		}
		if got := update(c, w.aurora); got != string(inbox.CodeNotFound) {
			t.Errorf("the viewer of Aurora renames it: %q", got)
		}
	}
}

// TestChangesTakeEffect_Within30Seconds on every warm instance, and not before
// it asks anew.
func TestChangesTakeEffect_Within30Seconds(t *testing.T) {
	w := newWorld(t)
	ana := person("ana")
	w.join(t, access.Membership{Person: ana, Workspace: w.aurora, Role: access.Viewer})
	instances := []client{w.as(w.token(t, ana, "inbox.read inbox.write", nil))}
	instances = append(instances, instances[0].at(w.instance(t, access.RateLimit{PerSecond: rate.Inf})))
	sees := func(c client) string {
		r := c.send(t, "tools/list", nil)
		switch {
		case r.status != http.StatusOK:
			return "nothing"
		case strings.Contains(r.body, `"workspaces_update"`):
			return "owner"
		case strings.Contains(r.body, `"secrets_list"`):
			return "admin"
		}
		return "viewer"
	}
	was := "viewer"
	for _, step := range []struct {
		change func(*access.Membership)
		then   string
	}{
		{func(m *access.Membership) { m.Role = access.Owner }, "owner"},
		{func(m *access.Membership) { m.Role = access.Admin }, "admin"},
		{func(m *access.Membership) { m.Suspended = true }, "nothing"},
		{func(m *access.Membership) { m.Suspended = false }, "admin"},
	} {
		for _, c := range instances { // they ask, and remember
			if got := sees(c); got != was {
				t.Fatalf("at first: %s, not %s", got, was)
			}
		}
		w.change(t, ana, w.aurora, step.change)
		w.clock.advance(30*time.Second - time.Nanosecond)
		for n, c := range instances {
			if got := sees(c); got != was {
				t.Errorf("%s → %s, just before 30 s, instance %d: %s", was, step.then, n, got)
			}
		}
		w.clock.advance(time.Nanosecond)
		for n, c := range instances {
			if got := sees(c); got != step.then {
				t.Errorf("%s → %s, after 30 s, instance %d: %s", was, step.then, n, got)
			}
		}
		was = step.then
		w.clock.advance(30 * time.Second)
	}
}

// TestChangesTakeEffect_AtOnceForConfirmedCalls: who may not do it any more
// does not do it, though they were asked while they might, and though lists
// are still as they were.
func TestChangesTakeEffect_AtOnceForConfirmedCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*access.Membership)
		status int
	}{
		{"suspended", func(m *access.Membership) { m.Suspended = true }, http.StatusForbidden},
		{"role", func(m *access.Membership) { m.Role = access.Viewer }, http.StatusOK},
		{"permission", func(m *access.Membership) { m.Explicit = []string{"emails:read"} }, http.StatusOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWalk(t)
			ana := person("ana")
			w.join(t, access.Membership{Person: ana, Workspace: w.aurora, Role: access.Owner})
			cl := w.as(w.token(t, ana, "inbox.read inbox.write", nil))
			args := object{"id": w.theirs["emails"].id}
			asked := cl.call(t, "emails_delete", args)
			if !asked.asks {
				t.Fatal(asked.body)
			}
			w.change(t, ana, w.aurora, c.change)
			if r := cl.call(t, "emails_delete", args); !r.asks {
				t.Errorf("asking is by what is remembered: HTTP %d %s", r.status, r.body)
			}
			w.unspent(t, func() {
				r := cl.callWith(t, asked.yes("emails_delete", args))
				if r.status != c.status || r.Error == nil || c.status == http.StatusOK && r.Error.Message != `unknown tool "emails_delete"` {
					t.Errorf("confirmed: HTTP %d %s", r.status, r.body)
				}
			})
			w.owner.get(t, "emails_get", args) // still there
			if r := cl.call(t, "emails_delete", args); r.asks {
				t.Errorf("after it was found out: %s", r.body)
			}
		})
	}
}
