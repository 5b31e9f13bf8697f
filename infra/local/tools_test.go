package local

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// readTools are the tools that only read.
var readTools = []string{
	"models_list", "usage_get", "workspaces_list", "workspaces_get", "inboxes_list", "inboxes_get",
	"emails_list", "emails_get", "emails_get_eml", "agents_list", "agents_get", "agent_runs_list", "agent_runs_get",
	"workflow_runs_list", "workflow_runs_get", "webhooks_list", "webhooks_get", "webhooks_deliveries_list",
	"webhooks_deliveries_get", "system_events_list", "system_events_get", "secrets_list",
}

// tool is a tool as tools/list shows it.
type tool struct {
	Name        string
	Title       string
	Description string
	InputSchema schema
	Annotations struct {
		Title       string
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
	}
}

type schema struct {
	Type       any
	Properties map[string]*schema
	Required   []string
	Items      *schema
	Format     string
	Enum       []any
	MaxLength  int `json:"maxLength"`
	Maximum    int
}

// tools are those that the client is shown.
func (c client) tools(t *testing.T) []tool {
	t.Helper()
	return decode[struct{ Tools []tool }](t, c.send(t, "tools/list", nil).Result).Tools
}

func (c client) toolNames(t *testing.T, reads bool) (names []string) {
	t.Helper()
	for _, tool := range c.tools(t) {
		if tool.Annotations.ReadOnly == reads {
			names = append(names, tool.Name)
		}
	}
	return names
}

func TestToolsList_ByRole(t *testing.T) {
	withoutSecrets := slices.DeleteFunc(slices.Clone(readTools), func(n string) bool { return n == "secrets_list" })
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		for token, want := range map[string][]string{
			"demo-owner": readTools, "demo-readonly": readTools, "demo-other": readTools,
			"demo-operator": withoutSecrets, "demo-viewer": withoutSecrets,
		} {
			if diff := cmp.Diff(want, as(token).in(v).toolNames(t, true)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", token, diff)
			}
		}
		for _, token := range []string{"demo-viewer", "demo-readonly"} {
			if got := as(token).in(v).toolNames(t, false); len(got) > 0 {
				t.Errorf("%s is shown tools that write: %v", token, got)
			}
		}
		for _, name := range as("demo-operator").in(v).toolNames(t, false) {
			if !strings.HasPrefix(name, "emails_") && !strings.HasPrefix(name, "webhooks_") {
				t.Errorf("demo-operator is shown %s", name)
			}
		}
	})
}

// TestCase20_AllFourHints, and case 21: the list for a full token stays small.
func TestCase20_Case21_Definitions(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-owner").in(v)
		r := c.send(t, "tools/list", nil)
		if len(r.body) > 40_000 {
			t.Errorf("the list has %d bytes", len(r.body))
		}
		for _, tool := range decode[object](t, r.Result)["tools"].([]any) {
			tool := tool.(object)
			a := tool["annotations"].(object)
			for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				if _, ok := a[hint].(bool); !ok {
					t.Errorf("%v: %s is %v", tool["name"], hint, a[hint])
				}
			}
			title := tool["title"]
			if v == mcp.V20250326 {
				title = a["title"]
			}
			schema := tool["inputSchema"].(object)
			if title == nil || tool["description"] == "" || schema["type"] != "object" || schema["additionalProperties"] != false {
				t.Errorf("%v", tool)
			}
			if name := tool["name"].(string); slices.Contains(readTools, name) && (a["readOnlyHint"] != true || a["destructiveHint"] != false) {
				t.Errorf("%s only reads, and is shown as %v", name, a)
			}
		}
	})
}

// TestCase16_OneActionPerTool: whoever only reads has every read tool, and no
// tool of theirs writes: without the scope it is refused with a challenge.
func TestCase16_OneActionPerTool(t *testing.T) {
	writes := as("demo-owner").toolNames(t, false)
	if len(writes) != 20 {
		t.Errorf("%d tools write: %v", len(writes), writes)
	}
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-readonly").in(v)
		for _, name := range writes {
			r := c.call(t, name, nil)
			want := `Bearer error="insufficient_scope", error_description="`
			got := r.header.Get("WWW-Authenticate")
			if r.status != http.StatusForbidden || !strings.HasPrefix(got, want) || !has(got, `scope="inbox.write"`,
				`resource_metadata="`+shared.URL+`/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("%s: HTTP %d, %s\n%s", name, r.status, got, r.body)
			}
			viewer := as("demo-viewer").in(v).call(t, name, nil)
			never := as("demo-viewer").in(v).call(t, "no_such_tool", nil)
			if got := strings.ReplaceAll(string(viewer.body), name, "no_such_tool"); got != string(never.body) || viewer.Error.Code != -32602 {
				t.Errorf("%s for a viewer: %s\nwhat never existed: %s", name, viewer.body, never.body)
			}
		}
	})
}

// argsFor are arguments of a read tool that lead to real data.
func argsFor(t *testing.T, c client, tool string) object {
	t.Helper()
	switch tool {
	case "webhooks_deliveries_list":
		return object{"webhook_id": c.id(t, "webhooks_list", nil)}
	case "webhooks_deliveries_get":
		webhook := c.id(t, "webhooks_list", nil)
		return object{"webhook_id": webhook, "id": c.id(t, "webhooks_deliveries_list", object{"webhook_id": webhook})}
	case "emails_get_eml":
		return object{"id": c.id(t, "emails_list", nil)}
	}
	if family, ok := strings.CutSuffix(tool, "_get"); ok && tool != "usage_get" {
		return object{"id": c.id(t, family+"_list", nil)}
	}
	return object{}
}

// TestReadTools calls every read tool with real data.
func TestReadTools(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-readonly").in(v)
		for _, tool := range readTools {
			args := argsFor(t, c, tool)
			a := c.call(t, tool, args)
			if a.status != http.StatusOK || a.failed || a.blocks != 1 {
				t.Errorf("%s %v: HTTP %d\n%s", tool, args, a.status, a.body)
				continue
			}
			switch {
			case v == mcp.V20250326 && a.structured != nil:
				t.Errorf("%s has structuredContent", tool)
			case v != mcp.V20250326 && !sameJSON(t, a.text, a.structured):
				t.Errorf("%s: structuredContent is %s\nthe text %s", tool, a.structured, a.text)
			}
			record := decode[object](t, jsontext.Value(a.text))
			if data, ok := record["data"].([]any); ok && len(data) == 0 || strings.HasSuffix(tool, "_list") != ok {
				t.Errorf("%s: %s", tool, a.text)
			}
			if id := args["id"]; id != nil && tool != "emails_get_eml" && record["id"] != id {
				t.Errorf("%s %v is %v", tool, args, record["id"])
			}
		}
	})
}

// TestPages walks every list two by two: nothing is left out or shown twice.
func TestPages(t *testing.T) {
	c := as("demo-owner")
	for _, tool := range readTools {
		if !strings.HasSuffix(tool, "_list") || tool == "models_list" {
			continue
		}
		args := argsFor(t, c, tool)
		whole := c.list(t, tool, args)
		var walked []object
		args["limit"] = 2
		for pages := 0; ; pages++ {
			p := get[page](t, c, tool, args)
			walked = append(walked, p.Data...)
			if len(p.Data) > 2 || pages > len(whole) {
				t.Fatalf("%s: page %d has %d records", tool, pages, len(p.Data))
			}
			if p.NextCursor == nil {
				break
			}
			args["cursor"] = *p.NextCursor
		}
		if diff := cmp.Diff(stable(marshal(t, whole)), stable(marshal(t, walked))); diff != "" {
			t.Errorf("%s (-whole +in pages):\n%s", tool, diff)
		}
		newestFirst := slices.IsSortedFunc(whole, func(a, b object) int { return strings.Compare(b["id"].(string), a["id"].(string)) })
		if !newestFirst {
			t.Errorf("%s is not newest first", tool)
		}
	}
}

func TestFilters(t *testing.T) {
	c := as("demo-owner")
	support := c.where(t, "inboxes_list", "label", "Support")["id"]
	clerk := c.where(t, "agents_list", "label", "Invoice clerk")["id"]
	failed := c.where(t, "agent_runs_list", "status", "failed")["email_id"]
	crm := c.where(t, "webhooks_list", "label", "CRM")["id"]
	erp := c.where(t, "webhooks_list", "label", "ERP")["id"]
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	at := time.Now().UTC().AddDate(0, 0, -8).Format(time.RFC3339)
	for _, f := range []struct {
		tool string
		args object
		want int
	}{
		{"emails_list", nil, 10},
		{"emails_list", object{"inbox_id": support}, 7},
		{"emails_list", object{"inbox_id": strings.ToUpper(support.(string))}, 7},
		{"emails_list", object{"status": "processed"}, 4},
		{"emails_list", object{"status": "failed"}, 4},
		{"emails_list", object{"status": "approved"}, 0},
		{"emails_list", object{"status": "rejected"}, 2},
		{"emails_list", object{"from": "MARTA.FERREIRA@cafedoporto.example"}, 2},
		{"emails_list", object{"from": "billing@paper-mill.example", "status": "processed"}, 0},
		{"emails_list", object{"since": day(8)}, 8},
		{"emails_list", object{"until": day(8)}, 2},
		{"emails_list", object{"since": at}, 8},
		{"emails_list", object{"until": at}, 2},
		{"emails_list", object{"since": day(13), "until": day(8)}, 1},
		{"agent_runs_list", nil, 7},
		{"agent_runs_list", object{"status": "failed"}, 3},
		{"agent_runs_list", object{"agent_id": clerk}, 2},
		{"agent_runs_list", object{"inbox_id": support, "status": "failed"}, 2},
		{"agent_runs_list", object{"email_id": failed}, 1},
		{"agent_runs_list", object{"since": day(3)}, 3},
		{"workflow_runs_list", nil, 10},
		{"workflow_runs_list", object{"email_id": failed}, 1},
		{"webhooks_deliveries_list", object{"webhook_id": crm}, 20},
		{"webhooks_deliveries_list", object{"webhook_id": crm, "status": "failed"}, 14},
		{"webhooks_deliveries_list", object{"webhook_id": crm, "status": "success"}, 6},
		{"webhooks_deliveries_list", object{"webhook_id": erp, "status": "success"}, 4},
		{"system_events_list", nil, 34},
		{"system_events_list", object{"slug": "email.processed"}, 4},
		{"system_events_list", object{"slug": "email.failed"}, 4},
		{"system_events_list", object{"email_id": failed}, 4},
		{"secrets_list", nil, 1},
	} {
		if got := len(c.list(t, f.tool, f.args)); got != f.want {
			t.Errorf("%s %v has %d records, not %d", f.tool, f.args, got, f.want)
		}
	}
	usage := get[object](t, c, "usage_get", object{"month": "2025-02"})
	want := object{"from": "2025-02-01", "to": "2025-02-28", "total": usage["total"], "by_model": []any{}, "by_day": []any{}}
	if diff := cmp.Diff(want, usage); diff != "" || usage["total"].(object)["emails"] != 0.0 {
		t.Errorf("usage of an empty month: %v\n(-want +got):\n%s", usage, diff)
	}
}
