package admin

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// office is a store with one organization, where a minute passes at each look
// at the clock.
type office struct {
	*Books
	t     *testing.T
	table *storetest.Fault
}

const issuer = "https://login.example.com"

func newOffice(t *testing.T) office {
	t.Helper()
	table := storetest.NewFault(storetest.Temp(t).Table("t"))
	clock := time.Date(2026, 12, 2, 9, 30, 0, 0, time.UTC)
	o := office{&Books{
		Directory: access.NewDirectory(table), DB: inboxstore.New(inboxstore.Options{Table: table}),
		Now: func() time.Time { clock = clock.Add(time.Minute); return clock },
	}, t, table}
	o.do("organizations", "create", "acme", "Acme Ltd.")
	return o
}

// run parses a command line and carries it out.
func (o office) run(args ...string) (string, error) {
	c, err := Parse(args)
	if err != nil {
		return "", err
	}
	out, err := c.Run(o.t.Context(), o.Books)
	return string(out), err
}

// do is a command that must succeed.
func (o office) do(args ...string) string {
	o.t.Helper()
	out, err := o.run(args...)
	if err != nil {
		o.t.Fatalf("%q: %v", args, err)
	}
	return out
}

// workspace makes one and returns its id.
func (o office) workspace(args ...string) string {
	o.t.Helper()
	out := o.do(append([]string{"workspaces", "create"}, args...)...)
	return strings.Fields(strings.Split(out, "\n")[1])[0]
}

func TestOrganizations(t *testing.T) {
	o := newOffice(t)
	if got, want := o.do("organizations", "create", "zeta", "Zeta"), "ID    NAME  CREATED\nzeta  Zeta  2026-12-02\n"; got != want {
		t.Errorf("got %q", got)
	}
	want := `{"id":"acme","name":"Acme Ltd.","created_at":"2026-12-02T09:31:00Z"}
{"id":"zeta","name":"Zeta","created_at":"2026-12-02T09:32:00Z"}
`
	if diff := cmp.Diff(want, o.do("organizations", "list", "-json")); diff != "" {
		t.Error(diff)
	}
}

func TestWorkspaces(t *testing.T) {
	o := newOffice(t)
	o.do("organizations", "create", "zeta", "Zeta")
	plain := o.workspace("acme", "Books", "books")
	full := o.workspace("zeta", "Depósito central", "deposito", "-locale", "pt-BR", "-cost-limit", "12.5", "-emails-limit=300",
		"-external-id", "4c3bd0f9-9a5f-4cf4-9f0e-9d3f6a2b7c10")
	want := []string{
		`{"id":"` + plain + `","external_id":"` + plain + `","organization_id":"acme","label":"Books","email_prefix":"books","locale":"en",` +
			`"monthly_cost_limit":null,"monthly_emails_limit":null,"created_at":"2026-12-02T09:33:00Z"}`,
		`{"id":"` + full + `","external_id":"4c3bd0f9-9a5f-4cf4-9f0e-9d3f6a2b7c10","organization_id":"zeta","label":"Depósito central",` +
			`"email_prefix":"deposito","locale":"pt-BR","monthly_cost_limit":12.5,"monthly_emails_limit":300,"created_at":"2026-12-02T09:34:00Z"}`,
	}
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", o.do("workspaces", "list", "--json")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1]+"\n", o.do("workspaces", "list", "-json", "-organization", "zeta")); diff != "" {
		t.Error(diff)
	}
}

// TestMembers: what the commands say is what the directory tells the server.
func TestMembers(t *testing.T) {
	o := newOffice(t)
	ws := o.workspace("acme", "Books", "books")
	ana := access.Person{Issuer: issuer, Subject: "ana"}
	now := func() access.Membership {
		ms, err := o.Directory.Memberships(t.Context(), ana)
		if err != nil || len(ms) != 1 {
			t.Fatal(ms, err)
		}
		return ms[0]
	}
	want := access.Membership{Person: ana, Organization: "acme", Workspace: access.WorkspaceID(ws), Role: access.Viewer, CreatedAt: o.now().Add(time.Minute)}
	for _, step := range []struct {
		args   []string
		change func()
		line   string // role, status and permissions shown
	}{
		{[]string{"add", ws, issuer, "ana", "viewer"}, func() {}, "viewer active 2026-12-02 of the role"},
		{[]string{"suspend", ws, issuer, "ana"}, func() { want.Suspended = true }, "viewer suspended 2026-12-02 of the role"},
		{[]string{"role", ws, issuer, "ana", "admin"}, func() { want.Role = access.Admin }, "admin suspended 2026-12-02 of the role"},
		{[]string{"reinstate", ws, issuer, "ana"}, func() { want.Suspended = false }, "admin active 2026-12-02 of the role"},
		{[]string{"role", "-permissions", "emails:read, usage:read", ws, issuer, "ana", "admin"},
			func() { want.Explicit = []string{"emails:read", "usage:read"} }, "admin active 2026-12-02 emails:read,usage:read"},
		{[]string{"role", ws, issuer, "ana", "admin", "-permissions", ""}, func() { want.Explicit = []string{} }, "admin active 2026-12-02 none"},
		{[]string{"role", ws, issuer, "ana", "owner"}, func() { want.Role, want.Explicit = access.Owner, nil }, "owner active 2026-12-02 of the role"},
	} {
		out := strings.Join(strings.Fields(o.do(append([]string{"members"}, step.args...)...)), " ")
		step.change()
		if diff := cmp.Diff(want, now()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", step.args, diff)
		}
		if full := ws + " " + issuer + " ana " + step.line; !strings.HasSuffix(out, full) {
			t.Errorf("%q: %q, want %q", step.args, out, full)
		}
	}
	o.do("members", "add", ws, issuer, "bia", "viewer", "-permissions", "emails:read")
	listed := o.do("members", "list", ws, "-json")
	if lines := strings.Split(listed, "\n"); len(lines) != 3 || !strings.Contains(lines[1], `"permissions":["emails:read"]`) {
		t.Errorf("got %s", listed)
	}
	if got := o.do("memberships", "list", issuer, "bia", "-json"); got != strings.SplitAfter(listed, "\n")[1] {
		t.Errorf("got %s", got)
	}
	if got := o.do("memberships", "list", issuer, "nobody"); got != "none\n" {
		t.Errorf("got %q", got)
	}
}

// TestByExternalID: a workspace is named as other systems do.
func TestByExternalID(t *testing.T) {
	o := newOffice(t)
	const external = "4c3bd0f9-9a5f-4cf4-9f0e-9d3f6a2b7c10"
	ws := o.workspace("acme", "Books", "books", "-external-id", external)
	o.do("members", "add", external, issuer, "ana", "viewer")
	if o.do("members", "list", external) != o.do("members", "list", ws) {
		t.Error("the external id names another workspace than the id")
	}
}

// TestRefusals: what cannot be done changes nothing, and says what is wrong.
func TestRefusals(t *testing.T) {
	o := newOffice(t)
	ws := o.workspace("acme", "Books", "books")
	o.do("members", "add", ws, issuer, "ana", "viewer")
	all := func() string {
		return o.do("organizations", "list") + o.do("workspaces", "list") + o.do("members", "list", ws)
	}
	before := all()
	for _, c := range []struct {
		says string
		args []string
	}{
		{`there is an organization "acme" already`, []string{"organizations", "create", "acme", "Other"}},
		{"the id of an organization must be text", []string{"organizations", "create", "", "Other"}},
		{"the id of an organization must be text", []string{"organizations", "create", " acme", "Other"}},
		{"the id of an organization must be text", []string{"organizations", "create", strings.Repeat("a", 513), "Other"}},
		{"the name of an organization must be one line", []string{"organizations", "create", "b", "Two\nlines"}},
		{"the name of an organization must be one line", []string{"organizations", "create", "b", "\xff"}},
		{`there is no organization "nobody"`, []string{"workspaces", "create", "nobody", "Books", "books"}},
		{"The label must be one line", []string{"workspaces", "create", "acme", " ", "books"}},
		{"The e-mail prefix must be", []string{"workspaces", "create", "acme", "Books", "Books!"}},
		{"The locale must be en or pt-BR", []string{"workspaces", "create", "acme", "Books", "b", "-locale", "fr"}},
		{"The monthly cost limit must be more than 0", []string{"workspaces", "create", "acme", "Books", "b", "-cost-limit", "-1"}},
		{"The monthly limit of e-mails must be more than 0", []string{"workspaces", "create", "acme", "Books", "b", "-emails-limit", "-1"}},
		{"The external_id must be a UUID", []string{"workspaces", "create", "acme", "Books", "b", "-external-id", "books"}},
		{"Another workspace has this external_id", []string{"workspaces", "create", "acme", "Books", "b", "-external-id", ws}},
		{`there is no workspace "books"`, []string{"members", "list", "books"}},
		{`there is no workspace "books"`, []string{"members", "add", "books", issuer, "bia", "viewer"}},
		{`there is no role "boss": it is one of viewer, operator, admin, owner`, []string{"members", "add", ws, issuer, "bia", "boss"}},
		{`there is no role "boss"`, []string{"members", "role", ws, issuer, "ana", "boss"}},
		{`unknown permission "emails:delete"`, []string{"members", "add", ws, issuer, "bia", "viewer", "-permissions", "emails:delete"}},
		{"the issuer must be text", []string{"members", "add", ws, "", "bia", "viewer"}},
		{"the subject must be text", []string{"members", "add", ws, issuer, "", "viewer"}},
		{"ana of https://login.example.com is a member already", []string{"members", "add", ws, issuer, "ana", "owner"}},
		{"ana of https://login.example.com/ is no member of this workspace", []string{"members", "suspend", ws, issuer + "/", "ana"}},
		{"bia of https://login.example.com is no member of this workspace", []string{"members", "role", ws, issuer, "bia", "owner"}},
	} {
		_, err := o.run(c.args...)
		if _, usage := errors.AsType[*UsageError](err); err == nil || usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.args, err, c.says)
		}
	}
	if diff := cmp.Diff(before, all()); diff != "" {
		t.Errorf("something changed:\n%s", diff)
	}
}

// TestStoreDown: the operator is told the cause.
func TestStoreDown(t *testing.T) {
	o := newOffice(t)
	o.table.Inject(storetest.Injection{})
	for _, args := range [][]string{
		{"organizations", "list"}, {"organizations", "create", "b", "B"}, {"workspaces", "list"},
		{"workspaces", "create", "acme", "Books", "books"}, {"members", "list", "x"}, {"memberships", "list", issuer, "ana"},
	} {
		if _, err := o.run(args...); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "injected") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestInboxReplies(t *testing.T) {
	o := newOffice(t)
	ws := o.workspace("acme", "Support", "acme")
	by := inbox.Actor{Workspace: access.WorkspaceID(ws), Person: access.Person{Issuer: issuer, Subject: "ana"}, Tool: "inboxes_create"}
	in, err := o.DB.CreateInbox(t.Context(), by, inbox.Inbox{Label: "Help", AttachmentsAllow: true})
	if err != nil {
		t.Fatal(err)
	}
	reply := func() string { return strings.Fields(strings.Split(o.do("inboxes", "list", ws), "\n")[1])[4] }
	if got := reply(); got != "off" {
		t.Errorf("a new inbox: %q", got)
	}
	for _, to := range []string{"on", "on", "off"} {
		if o.do("inboxes", "reply", ws, string(in.ID), to); reply() != to {
			t.Errorf("switched %s, it is %s", to, reply())
		}
	}
	if o.do("inboxes", "reply", ws, in.Email, "on"); reply() != "on" {
		t.Error("it is not known by its address")
	}
	o.do("inboxes", "reply", ws, in.Email, "off")
	for _, c := range [][3]string{{ws, "nobody@inbox.example", "on"}, {ws, string(in.ID), "yes"}, {ws, "nothing", "on"}, {"nowhere", string(in.ID), "on"}} {
		if out, err := o.run("inboxes", "reply", c[0], c[1], c[2]); err == nil {
			t.Errorf("%q: %s", c, out)
		}
	}
	if reply() != "off" {
		t.Error("a refused command switched it on")
	}
}
