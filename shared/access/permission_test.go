package access

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// Every role against every permission: 1 is allowed.
func TestRoles(t *testing.T) {
	roles := []Role{Viewer, Operator, Admin, Owner, "boss", ""}
	table := map[Permission]string{
		ModelsRead:       "1 1 1 1 0 0",
		UsageRead:        "1 1 1 1 0 0",
		WorkspacesRead:   "1 1 1 1 0 0",
		WorkspacesWrite:  "0 0 0 1 0 0",
		InboxesRead:      "1 1 1 1 0 0",
		InboxesWrite:     "0 0 1 1 0 0",
		EmailsRead:       "1 1 1 1 0 0",
		EmailsWrite:      "0 1 1 1 0 0",
		AgentsRead:       "1 1 1 1 0 0",
		AgentsWrite:      "0 0 1 1 0 0",
		AgentRunsRead:    "1 1 1 1 0 0",
		WorkflowRunsRead: "1 1 1 1 0 0",
		WebhooksRead:     "1 1 1 1 0 0",
		WebhooksWrite:    "0 1 1 1 0 0",
		SystemEventsRead: "1 1 1 1 0 0",
		SecretsRead:      "0 0 1 1 0 0",
		SecretsWrite:     "0 0 1 1 0 0",
	}
	if len(table) != int(permissionCount) {
		t.Fatalf("%d of %d permissions", len(table), permissionCount)
	}
	for p, row := range table {
		for i, cell := range strings.Fields(row) {
			m := Membership{Role: roles[i]}
			if got := m.Permissions().Has(p); got != (cell == "1") {
				t.Errorf("%q, %s: got %v", roles[i], p, got)
			}
			m.Suspended = true
			if m.Permissions().Has(p) {
				t.Errorf("suspended %q may %s", roles[i], p)
			}
		}
	}
}

func TestPermissionNames(t *testing.T) {
	seen := map[string]bool{}
	for p := range permissionCount {
		name := p.String()
		if seen[name] || !strings.HasSuffix(name, ":read") && !strings.HasSuffix(name, ":write") {
			t.Errorf("%d is %q", p, name)
		}
		seen[name] = true
		if got := parsePermissions([]string{name, "unknown"}); got != permissionSet(p) {
			t.Errorf("%q: %b", name, got)
		}
	}
}

func TestExplicitPermissionsReplaceTheRole(t *testing.T) {
	for _, c := range []struct {
		explicit []string
		stored   string
		want     Permissions
	}{
		{nil, `"role":"viewer","suspended"`, Viewer.Permissions()},
		{[]string{}, `"permissions":[]`, 0},
		{[]string{"secrets:read", "unknown"}, `"permissions":["secrets:read","unknown"]`, permissionSet(SecretsRead)},
	} {
		stored, err := json.Marshal(Membership{Role: Viewer, Explicit: c.explicit})
		if err != nil {
			t.Fatal(err)
		}
		var m Membership
		if err := json.Unmarshal(stored, &m); err != nil {
			t.Fatal(err)
		}
		if m.Permissions() != c.want || !strings.Contains(string(stored), c.stored) {
			t.Errorf("%v: got %b from %s", c.explicit, m.Permissions(), stored)
		}
	}
}

func TestScopeSets_12_14(t *testing.T) {
	for _, c := range []struct {
		list   string
		need   Scopes
		want   bool
		string string
	}{
		{"", ScopeRead, false, ""},
		{"inbox.read", ScopeRead, true, "inbox.read"},
		{"inbox.read", ScopeWrite, false, "inbox.read"},
		{"inbox.write", ScopeRead, true, "inbox.write"},
		{"inbox.write", rw, true, "inbox.write"},
		{"openid  inbox.write\tinbox.read", rw, true, "inbox.read inbox.write"},
		{"INBOX.READ inbox inbox.read.all", ScopeRead, false, ""},
	} {
		s := ParseScopes(c.list)
		if s.Allow(c.need) != c.want || s.String() != c.string {
			t.Errorf("%q: %v, allows %v: %v", c.list, s, c.need, s.Allow(c.need))
		}
	}
}
