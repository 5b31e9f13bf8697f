package catalog

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

var updateGolden = flag.Bool("update", false, "rewrite the golden files in testdata")

func listFor(t testing.TB, c *Catalog, caller *access.Caller, v mcp.Version) *mcp.Result {
	t.Helper()
	r, err := send(t.Context(), c, caller, v, "tools/list", "{}")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names are the tools that a list shows.
func names(t testing.TB, r *mcp.Result) (names []string) {
	t.Helper()
	var l struct{ Tools []struct{ Name string } }
	decode(t, r.Fields, &l)
	if l.Tools == nil {
		t.Errorf("tools is null in %s", r.Fields)
	}
	for _, tool := range l.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// The list is what clients' models read: a change to it must be seen. Run with
// -update to accept one.
func TestListGolden(t *testing.T) {
	for _, v := range []mcp.Version{mcp.V20260728, mcp.V20250326} {
		got := listFor(t, newTest(&fake{}), owner, v).Fields.Clone()
		if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("tools-%s.json", v), string(got)+"\n")
	}
}

// golden compares with a file in testdata, or rewrites it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *updateGolden {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

func TestList_5_02_and_11_03(t *testing.T) {
	for _, v := range mcp.Versions() {
		a := listFor(t, newTest(&fake{}), owner, v)
		b := listFor(t, newTest(&fake{}), owner, v)
		if !bytes.Equal(a.Fields, b.Fields) {
			t.Errorf("5.02 %s: two lists differ", v)
		}
		if a.Cache == nil || a.Cache.Public || a.Cache.TTL.Seconds() != 30 {
			t.Errorf("11.03 %s: cache %+v, want private for 30 s", v, a.Cache)
		}
	}
	if _, err := send(t.Context(), newTest(&fake{}), owner, mcp.V20260728, "tools/list", `{"cursor":"zz"}`); err == nil {
		t.Error("10.02 a garbled cursor was taken")
	}
}

// Case 21: tool definitions ate the context. All 42 tools are to stay under
// 40 KB, and take 30; those that only read take 13.
func TestListBudget_case_21(t *testing.T) {
	for readOnly, budget := range map[bool]int{false: 30_000, true: 13_000} {
		c := newTest(&fake{}, func(o *Options) { o.ReadOnly = readOnly })
		for _, v := range mcp.Versions() {
			if n := len(listFor(t, c, owner, v).Fields); n > budget {
				t.Errorf("%s: tools/list has %d bytes, want at most %d", v, n, budget)
			}
		}
	}
}

var allReading = []string{
	"models_list", "usage_get", "workspaces_list", "workspaces_get", "inboxes_list", "inboxes_get",
	"emails_list", "emails_get", "emails_get_eml", "agents_list", "agents_get", "agent_runs_list", "agent_runs_get",
	"workflow_runs_list", "workflow_runs_get", "webhooks_list", "webhooks_get",
	"webhooks_deliveries_list", "webhooks_deliveries_get", "system_events_list", "system_events_get", "secrets_list",
}

// allTools42 are the tools, in the order listed.
var allTools42 = []string{
	"models_list", "usage_get", "workspaces_list", "workspaces_get", "workspaces_update",
	"inboxes_list", "inboxes_get", "inboxes_create", "inboxes_update", "inboxes_delete", "inboxes_add_recipient", "inboxes_remove_recipient",
	"emails_list", "emails_get", "emails_get_eml", "emails_reprocess", "emails_delete",
	"agents_list", "agents_get", "agents_create", "agents_update", "agents_delete", "agent_runs_list", "agent_runs_get",
	"workflow_runs_list", "workflow_runs_get",
	"webhooks_list", "webhooks_get", "webhooks_create", "webhooks_update", "webhooks_delete", "webhooks_test", "webhooks_rotate_secret",
	"webhooks_deliveries_list", "webhooks_deliveries_get", "webhooks_deliveries_replay", "system_events_list", "system_events_get",
	"secrets_list", "secrets_create", "secrets_update", "secrets_delete",
}

func TestToolDefinitions(t *testing.T) {
	c := New(Options{}) // no more than the 64 bits of a set
	if diff := cmp.Diff(allTools42, names(t, listFor(t, c, owner, mcp.V20260728))); diff != "" || len(allTools42) != 42 {
		t.Error(diff)
	}
	seen := map[string]bool{}
	for _, tool := range c.Tools() {
		if !regexp.MustCompile(`^[a-z_]{1,64}$`).MatchString(tool.Name) || seen[tool.Name] {
			t.Errorf("5.03 name %q", tool.Name)
		}
		seen[tool.Name] = true
		if tool.Title == "" || tool.Description == "" || (tool.Run == nil) == tool.Hints.ReadOnly || (tool.Plan == nil) != tool.Hints.ReadOnly {
			t.Errorf("%s is incomplete", tool.Name)
		}
		if asks := tool.Action.EN != "" && tool.Action.PT != ""; asks == tool.Hints.ReadOnly {
			t.Errorf("%s asks: %v", tool.Name, asks)
		}
		resolve(t, tool.Input) // 5.08 the schema is valid
		var entry struct {
			InputSchema struct {
				Type                 string
				AdditionalProperties *bool
			}
			OutputSchema jsontext.Value
			Annotations  map[string]bool
		}
		decode(t, tool.entry(true), &entry)
		if s := entry.InputSchema; s.Type != "object" || s.AdditionalProperties == nil || *s.AdditionalProperties {
			t.Errorf("5.04 %s: %+v", tool.Name, entry.InputSchema)
		}
		if entry.OutputSchema != nil {
			t.Errorf("%s has an outputSchema", tool.Name)
		}
		// 5.07, case 20: all four, and a tool that reads is never badged as destructive.
		want := map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
		if diff := cmp.Diff(want, entry.Annotations); diff != "" && tool.Hints.ReadOnly || len(entry.Annotations) != 4 {
			t.Errorf("5.07 %s: %s", tool.Name, diff)
		}
		if tool.Hints.ReadOnly && tool.Hints.Destructive {
			t.Errorf("%s reads and destroys", tool.Name)
		}
	}
}

// 5.06: 2025-03-26 knows no title beside the name, but one among annotations.
func TestListTitle_5_06(t *testing.T) {
	tool := New(Options{}).byName["models_list"]
	for titled, want := range map[bool]string{
		true:  `{"name":"models_list","title":"List models","description":` + quoted(tool.Description) + `,"inputSchema":{"type":"object","properties":{},"additionalProperties":false},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`,
		false: `{"name":"models_list","description":` + quoted(tool.Description) + `,"inputSchema":{"type":"object","properties":{},"additionalProperties":false},"annotations":{"title":"List models","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`,
	} {
		if diff := cmp.Diff(want, string(tool.entry(titled))); diff != "" {
			t.Error(diff)
		}
	}
}

// A caller is shown what they may run with this token (checklist 5.01, 12.20).
func TestListIsTheCallers_5_01(t *testing.T) {
	explicit := member(access.Viewer, access.ScopeRead)
	explicit.Membership.Explicit = []string{"emails:read"}
	explicit.Permissions = explicit.Membership.Permissions()
	explicit.Memberships = []access.Membership{explicit.Membership}
	suspended := member(access.Owner, access.ScopeWrite)
	suspended.Permissions, suspended.Memberships = 0, nil
	without := func(list []string, name ...string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return slices.Contains(name, n) })
	}
	writesAsOperator := slices.DeleteFunc(slices.Clone(allTools42), func(n string) bool {
		writes := !slices.Contains(allReading, n) && !strings.HasPrefix(n, "emails_") && !strings.HasPrefix(n, "webhooks_")
		return writes || n == "secrets_list"
	})

	all := newTest(&fake{})
	onlyReading := newTest(&fake{}, func(o *Options) { o.ReadOnly = true })
	for _, test := range []struct {
		who    string
		tools  *Catalog
		caller *access.Caller
		want   []string
	}{
		{"owner", all, owner, allTools42},
		{"admin", all, member(access.Admin, access.ScopeWrite), without(allTools42, "workspaces_update")},
		{"operator", all, member(access.Operator, access.ScopeWrite), writesAsOperator},
		{"viewer", all, member(access.Viewer, access.ScopeWrite), without(allReading, "secrets_list")},
		{"read-only token (case 16, R18)", all, member(access.Owner, access.ScopeRead), allReading},
		{"operator with a read-only token", all, member(access.Operator, access.ScopeRead), without(allReading, "secrets_list")},
		{"explicit permission", all, explicit, []string{"emails_list", "emails_get", "emails_get_eml"}},
		{"no permission", all, suspended, nil},
		{"no scope", all, member(access.Owner, 0), nil},
		{"owner, READ_ONLY", onlyReading, owner, allReading},
		{"operator, READ_ONLY", onlyReading, member(access.Operator, access.ScopeWrite), without(allReading, "secrets_list")},
	} {
		c := test.tools
		got := names(t, listFor(t, c, test.caller, mcp.V20260728))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.who, diff)
		}
		for _, name := range append(slices.Clone(allTools42), "nope") {
			if may := c.May(test.caller, name); may != slices.Contains(test.want, name) {
				t.Errorf("%s: May(%s) is %v, unlike the list", test.who, name, may)
			}
		}
	}
	if _, err := send(t.Context(), all, nil, mcp.V20260728, "tools/list", "{}"); err == nil {
		t.Error("listed for nobody")
	}
}

// workspaces:read is judged in each of the caller's workspaces: a person who
// has it only elsewhere may still list and get that one.
func TestListWorkspacesToolsAnywhere(t *testing.T) {
	caller := member("guest", access.ScopeRead, access.Membership{Workspace: there, Role: access.Viewer})
	got := names(t, listFor(t, newTest(&fake{}), caller, mcp.V20260728))
	if diff := cmp.Diff([]string{"workspaces_list", "workspaces_get"}, got); diff != "" {
		t.Error(diff)
	}
}

// Lists are kept for the sets of tools seen, up to a bound, and are safe for
// many at once.
func TestListsAreBounded(t *testing.T) {
	c := newTest(&fake{})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for set := range uint64(3 * maxLists) {
				c.lists.of(c.tools, set, mcp.Versions()[worker])
			}
		})
	}
	wg.Wait()
	if n := len(c.lists.kept); n > maxLists {
		t.Errorf("%d lists kept, want at most %d", n, maxLists)
	}
	if c.lists.of(c.tools, 1, mcp.V20260728) != c.lists.of(c.tools, 1, mcp.V20251125) {
		t.Error("the same list was marshalled twice")
	}
}
