package accesstest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

// tools are all there are, as the catalog declares them.
func tools() []*catalog.Tool { return catalog.New(catalog.Options{}).Tools() }

// member is a person by what they may do: in Aurora, where their requests
// work, and perhaps in Bosque too.
type member struct {
	name   string
	aurora access.Membership
	bosque *access.Membership
	scopes []string // of their tokens
}

// members are one of each role, of a few sets of explicit permissions, of each
// single permission, and of two workspaces.
func members() []member {
	owner, viewer := access.Membership{Role: access.Owner}, access.Membership{Role: access.Viewer}
	explicit := func(list ...string) access.Membership {
		return access.Membership{Role: access.Owner, Explicit: append([]string{}, list...)}
	}
	suspended := access.Membership{Role: access.Owner, Suspended: true}
	all := []string{"inbox.read", "inbox.write", "inbox.read inbox.write", "openid inbox.read email"}
	list := []member{
		{"role viewer", viewer, nil, all},
		{"role operator", access.Membership{Role: access.Operator}, nil, all},
		{"role admin", access.Membership{Role: access.Admin}, nil, all},
		{"role owner", owner, nil, all},
		{"nothing", explicit(), nil, all[2:3]},
		{"secrets and no more", explicit("secrets:read", "secrets:write"), nil, all[:3]},
		{"viewer here owner there", viewer, &owner, all[:3]},
		{"owner here viewer there", owner, &viewer, all[:3]},
		{"nothing here owner there", explicit(), &owner, all[:3]},
		{"suspended there", viewer, &suspended, all[2:3]},
	}
	seen := map[string]bool{}
	for _, t := range tools() {
		if p := t.Permission.String(); !seen[p] {
			seen[p] = true
			list = append(list, member{"only " + p, explicit(p), nil, all[2:3]})
		}
	}
	return list
}

// join makes the member a person of the world.
func (m member) join(t *testing.T, w *world) access.Person {
	t.Helper()
	p := person(m.name)
	here := m.aurora
	here.Person, here.Workspace, here.CreatedAt = p, w.aurora, w.clock.now().Add(-time.Hour) // the older one
	w.join(t, here)
	if m.bosque != nil {
		there := *m.bosque
		there.Person, there.Workspace = p, w.bosque
		w.join(t, there)
	}
	return p
}

// permitted reports whether the member has a tool's permission: in
// the workspace of the request, or, of a tool of workspaces, in any.
func (m member) permitted(t *catalog.Tool) bool {
	return m.aurora.Permissions().Has(t.Permission) || t.Anywhere && m.bosque != nil && m.bosque.Permissions().Has(t.Permission)
}

// grant is one member with a token of one scope.
type grant struct {
	member
	client
	scope access.Scopes
}

// eachGrant runs a test for every member with each of their tokens, and for those
// who have several in both eras.
func eachGrant(t *testing.T, test func(t *testing.T, w *world, g grant)) {
	w := newWorld(t)
	for _, m := range members() {
		p := m.join(t, w)
		for _, scope := range m.scopes {
			t.Run(fmt.Sprintf("%s/%s", m.name, scope), func(t *testing.T) {
				c := w.as(w.token(t, p, scope, nil))
				g := grant{m, c, access.ParseScopes(scope)}
				if len(m.scopes) == 1 { // the roles show that the eras agree
					test(t, w, g)
					return
				}
				eachEra(t, func(t *testing.T, v mcp.Version) { g.client = c.in(v); test(t, w, g) })
			})
		}
	}
}

// may reports whether the grant lets the named tool run: by permission and by
// scope.
func (g grant) may(name string) bool {
	i := slices.IndexFunc(tools(), func(t *catalog.Tool) bool { return t.Name == name })
	t := tools()[i]
	return g.permitted(t) && g.scope.Allow(t.Scope())
}

// challenged checks that a reply asks for the scope.
func challenged(t *testing.T, r reply, scope string) {
	t.Helper()
	want := `Bearer error="insufficient_scope", error_description="The access token lacks the scope that this request needs, so nothing was done. ` +
		`Sign in again and grant: ` + scope + `.", scope="` + scope + `", resource_metadata="` + publicURL + `/.well-known/oauth-protected-resource/mcp"`
	if r.status != http.StatusForbidden || r.challenge != want || r.code() != http.StatusForbidden {
		t.Errorf("HTTP %d, challenge %s\n%s", r.status, r.challenge, r.body)
	}
}

// TestTools_PermissionOfTheFamily: what a tool needs follows from its name and
// its hints.
func TestTools_PermissionOfTheFamily(t *testing.T) {
	for _, tool := range tools() {
		family := of(tool, "id")
		if family == "webhooks_deliveries" {
			family = "webhooks"
		}
		kind, scope := ":write", access.ScopeWrite
		if tool.Hints.ReadOnly {
			kind, scope = ":read", access.ScopeRead
		}
		if tool.Permission.String() != family+kind || tool.Scope() != scope || tool.Anywhere != (family == "workspaces") {
			t.Errorf("%s needs %s and %s, anywhere %v", tool.Name, tool.Permission, tool.Scope(), tool.Anywhere)
		}
	}
}

// TestMatrix_Tools: permission first, then scope; what may not be run is not
// listed.
func TestMatrix_Tools(t *testing.T) {
	eachGrant(t, func(t *testing.T, _ *world, g grant) {
		never := g.call(t, "no_such_tool", nil)
		listed := []string{}
		for _, tool := range tools() {
			a := g.call(t, tool.Name, nil)
			switch {
			case !g.permitted(tool):
				if a.code() != mcp.CodeInvalidParams || a.status != never.status || strings.ReplaceAll(a.body, tool.Name, "no_such_tool") != never.body {
					t.Errorf("%s is not permitted: HTTP %d %s\nwhat never existed: %s", tool.Name, a.status, a.body, never.body)
				}
			case !g.scope.Allow(tool.Scope()):
				challenged(t, a.reply, tool.Scope().String())
			default:
				listed = append(listed, tool.Name)
				// Without arguments it answers, or says which are missing: it was let in.
				// A tool of workspaces looks in those where it may.
				elsewhere := tool.Anywhere && a.failure == string(inbox.CodeNotFound)
				if a.status != http.StatusOK || a.Error != nil || a.failed && a.failure != string(inbox.CodeInvalid) && !elsewhere {
					t.Errorf("%s may be run: HTTP %d %s", tool.Name, a.status, a.body)
				}
			}
		}
		if diff := cmp.Diff(listed, g.names(t, "tools/list", "tools", "name")); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
	})
}

// TestMatrix_Resources_R3_R5_R18: a resource is listed and read if the tool
// that reads it may be run, and else there is no such thing.
func TestMatrix_Resources_R3_R5_R18(t *testing.T) {
	eachGrant(t, func(t *testing.T, w *world, g grant) {
		never := g.send(t, "resources/read", object{"uri": "kobana://inbox/nothing"})
		var fixed, templates = []string{}, []string{}
		for _, r := range resources.Table() {
			id := newest(t, w, r.Family)
			if r.Family == resources.Workspaces && !g.aurora.Permissions().Has(access.WorkspacesRead) {
				id = string(w.bosque) // where it may be read, if anywhere
			}
			uri := strings.Replace(r.URI, resources.Placeholder, id, 1)
			got := g.send(t, "resources/read", object{"uri": uri})
			if !g.may(r.Tool) {
				if got.status != never.status || got.code() == 0 || strings.ReplaceAll(got.body, uri, "kobana://inbox/nothing") != never.body {
					t.Errorf("%s may not be read: HTTP %d %s\nwhat never existed: %s", uri, got.status, got.body, never.body)
				}
				continue
			}
			if into := &fixed; got.status != http.StatusOK || got.Error != nil {
				t.Errorf("%s may be read: HTTP %d %s", uri, got.status, got.body)
			} else {
				if r.Template() {
					into = &templates
				}
				*into = append(*into, r.URI)
			}
		}
		if diff := cmp.Diff(fixed, g.names(t, "resources/list", "resources", "uri")); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(templates, g.names(t, "resources/templates/list", "resourceTemplates", "uriTemplate")); diff != "" {
			t.Errorf("templates (-want +got):\n%s", diff)
		}
	})
}

// newest is the id of the newest record of a family in Aurora.
func newest(t *testing.T, w *world, f inbox.Family) string {
	t.Helper()
	switch f {
	case "":
		return ""
	case resources.Workspaces:
		return string(w.aurora)
	}
	ids, _, err := w.service.RecentIDs(t.Context(), w.aurora, f, "", 1)
	if err != nil || len(ids) != 1 {
		t.Fatal(f, ids, err)
	}
	return ids[0]
}

// TestMatrix_Prompts_R7_R18: a prompt is offered if all tools it leans on may
// be run, and else there is no such thing.
func TestMatrix_Prompts_R7_R18(t *testing.T) {
	eachGrant(t, func(t *testing.T, w *world, g grant) {
		args := object{"inbox_id": newest(t, w, inbox.Inboxes)}
		never := g.send(t, "prompts/get", object{"name": "no_such_prompt", "arguments": args})
		offered := []string{}
		for _, p := range prompts.Table() {
			got := g.send(t, "prompts/get", object{"name": p.Name, "arguments": args})
			if slices.ContainsFunc(p.Tools, func(tool string) bool { return !g.may(tool) }) {
				if got.status != never.status || got.code() != mcp.CodeInvalidParams || strings.ReplaceAll(got.body, p.Name, "no_such_prompt") != never.body {
					t.Errorf("%s is not offered: HTTP %d %s\nwhat never existed: %s", p.Name, got.status, got.body, never.body)
				}
				continue
			}
			offered = append(offered, p.Name)
			if got.status != http.StatusOK || got.Error != nil {
				t.Errorf("%s is offered: HTTP %d %s", p.Name, got.status, got.body)
			}
		}
		if diff := cmp.Diff(offered, g.names(t, "prompts/list", "prompts", "name")); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
	})
}

// TestMatrix_Completion_R9: ids are suggested to who may list them and run what
// they are for.
func TestMatrix_Completion_R9(t *testing.T) {
	eachGrant(t, func(t *testing.T, _ *world, g grant) {
		check := func(ref object, argument string, tools ...string) {
			t.Helper()
			may := !slices.ContainsFunc(tools, func(tool string) bool { return !g.may(tool) })
			if values := g.complete(t, ref, argument, "").values(t); len(values) > 0 != may {
				t.Errorf("%v of %v: %d values, may %v", argument, ref, len(values), may)
			}
		}
		for _, r := range resources.Table() {
			if r.Template() {
				check(object{"type": "ref/resource", "uri": r.URI}, resources.Parameter, r.Tool, string(r.Family)+"_list")
			}
		}
		for _, p := range prompts.Table() {
			for _, a := range p.Arguments {
				needed := p.Tools
				if a.Family != "" {
					needed = append(slices.Clone(needed), string(a.Family)+"_list")
				}
				if a.Kind != catalog.Date {
					check(object{"type": "ref/prompt", "name": p.Name}, a.Name, needed...)
				}
			}
		}
	})
}

// TestMatrix_WithoutScope: a token without any scope of this product may begin
// and no more, and is told which scope to ask for (case 17).
func TestMatrix_WithoutScope(t *testing.T) {
	w := newWorld(t)
	for _, scope := range []string{"", "openid email", "inbox.readonly INBOX.READ inbox.*"} {
		eachEra(t, func(t *testing.T, v mcp.Version) {
			c := w.as(w.token(t, demo.Owner, scope, nil)).in(v)
			checkMayBegin(t, c)
			for _, method := range methods {
				challenged(t, c.send(t, method.name, method.params), "inbox.read")
			}
			for _, tool := range tools() {
				challenged(t, c.call(t, tool.Name, nil).reply, "inbox.read")
			}
		})
	}
}

// methods are those that need a membership and a scope, with params.
var methods = []struct {
	name   string
	params object
}{
	{"tools/list", nil},
	{"tools/call", object{"name": "models_list"}},
	{"resources/list", nil},
	{"resources/templates/list", nil},
	{"resources/read", object{"uri": "kobana://inbox/models"}},
	{"prompts/list", nil},
	{"prompts/get", object{"name": "webhook_health"}},
	{"completion/complete", object{"ref": object{"type": "ref/prompt", "name": "usage_report"}, "argument": object{"name": "month", "value": ""}}},
}

// checkMayBegin checks what a token alone opens.
func checkMayBegin(t *testing.T, c client) {
	t.Helper()
	begins := map[string]object{"server/discover": nil}
	if !c.version.Modern() {
		begins = map[string]object{"ping": nil, "initialize": {"protocolVersion": c.version, "capabilities": object{}, "clientInfo": object{"name": "t", "version": "1"}}}
	}
	for method, params := range begins {
		if r := c.send(t, method, params); r.status != http.StatusOK || r.Error != nil {
			t.Errorf("%s: HTTP %d %s", method, r.status, r.body)
		}
	}
}
