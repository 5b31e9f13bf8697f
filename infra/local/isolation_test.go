package local

import (
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestIsolation walks every tool, and every argument of theirs that is an id,
// with ids of another workspace. The answer is that of what never existed,
// byte for byte but for the id, and nothing happens. (Resources:
// TestR5_SameAnswer.)
func TestIsolation(t *testing.T) {
	t.Parallel()
	defer unchanged(t, shared)()
	eachEra(t, func(t *testing.T, v mcp.Version) {
		for _, who := range []struct{ me, them string }{{"demo-owner", "demo-other"}, {"demo-other", "demo-owner"}} {
			me, them := as(who.me).in(v), as(who.them).in(v)
			mine, theirs := idsOf(t, me), idsOf(t, them)
			for _, tool := range me.tools(t) {
				if tool.Annotations.Destructive && !v.Modern() {
					continue // refused, whatever it names (R16), and that is in the event log
				}
				for name, of := range tool.InputSchema.Properties {
					if of.Format != "uuid" || name == "external_id" {
						continue
					}
					args := tool.InputSchema.sample()
					if _, ok := args["webhook_id"]; ok && mine["webhooks"] != "" {
						args["webhook_id"] = mine["webhooks"]
					}
					args[name] = someID
					never := me.call(t, tool.Name, args)
					for _, id := range theirs {
						args[name] = id
						foreign := me.call(t, tool.Name, args)
						if got := strings.ReplaceAll(string(foreign.body), id, someID); got != string(never.body) || foreign.status != never.status {
							t.Errorf("%s calls %s with %s of %s: %s\nwhat never existed: %s", who.me, tool.Name, name, who.them, got, never.body)
						}
						if !strings.HasSuffix(tool.Name, "_list") && foreign.Result != nil && foreign.code == "" {
							t.Errorf("%s calls %s with %s of %s: %s", who.me, tool.Name, name, who.them, foreign.body)
						}
					}
				}
			}
			shownIDs(t, me, theirs)
		}
	})
}

// TestIsolation_NotFound is what README.md says that somebody of another
// organization sees of an e-mail.
func TestIsolation_NotFound(t *testing.T) {
	eachEra(t, func(t *testing.T, v mcp.Version) {
		id, other := as("demo-owner").id(t, "emails_list", nil), as("demo-other").in(v)
		if a := other.call(t, "emails_get", object{"id": id}); !a.failed || a.code != "not_found" {
			t.Errorf("emails_get: %s", a.body)
		}
		uri := "kobana://inbox/emails/" + id
		if r := other.send(t, "resources/read", object{"uri": uri}); !sameJSON(t, missing(t, v, uri), r.body) {
			t.Errorf("%s: %s", uri, r.body)
		}
	})
}

// idsOf is one id of each family of the client's workspace.
func idsOf(t *testing.T, c client) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, tool := range readTools {
		if family, ok := strings.CutSuffix(tool, "_list"); ok && tool != "models_list" && tool != "webhooks_deliveries_list" {
			if records := c.list(t, tool, nil); len(records) > 0 {
				ids[family] = records[0]["id"].(string)
			}
		}
	}
	if webhook := ids["webhooks"]; webhook != "" {
		ids["webhooks_deliveries"] = c.id(t, "webhooks_deliveries_list", object{"webhook_id": webhook})
	}
	return ids
}

// shownIDs looks for foreign ids in all that the client is shown unasked.
func shownIDs(t *testing.T, c client, theirs map[string]string) {
	var shown strings.Builder
	for _, tool := range readTools {
		if strings.HasSuffix(tool, "_list") && !strings.Contains(tool, "deliveries") {
			shown.WriteString(c.call(t, tool, nil).text)
		}
	}
	for _, a := range identified() {
		for _, id := range theirs {
			values, _ := c.complete(t, a.kind, a.ref, a.argument, id[:18])
			shown.WriteString(strings.Join(values, " "))
		}
	}
	for _, id := range theirs {
		if strings.Contains(shown.String(), id) {
			t.Errorf("%s is shown %s of another workspace", c.token, id)
		}
	}
}

// TestIsolation_Cursors: the cursor of another workspace's list is no cursor.
func TestIsolation_Cursors(t *testing.T) {
	owner, other := as("demo-owner"), as("demo-other")
	lists := []string{"emails_list", "workflow_runs_list", "system_events_list", "inboxes_list", "agents_list", "webhooks_list", "agent_runs_list"}
	for _, tool := range lists {
		next := get[page](t, owner, tool, object{"limit": 1}).NextCursor
		if next == nil {
			t.Fatalf("%s has one page", tool)
		}
		if a := owner.call(t, tool, object{"cursor": *next}); a.failed {
			t.Errorf("%s refuses its own cursor: %s", tool, a.text)
		}
		foreign, never := other.call(t, tool, object{"cursor": *next}), other.call(t, tool, object{"cursor": "never"})
		if foreign.code != "invalid_arguments" || string(foreign.body) != string(never.body) {
			t.Errorf("%s with a foreign cursor: %s\nwith none: %s", tool, foreign.body, never.body)
		}
		for _, elsewhere := range lists {
			if a := owner.call(t, elsewhere, object{"cursor": *next}); elsewhere != tool && a.code != "invalid_arguments" {
				t.Errorf("%s takes a cursor of %s: %s", elsewhere, tool, a.text)
			}
		}
	}
}

// TestIsolation_WorkspaceHeader: naming another's workspace does not open it.
func TestIsolation_WorkspaceHeader(t *testing.T) {
	owner, other := as("demo-owner"), as("demo-other")
	theirs := owner.id(t, "workspaces_list", nil)
	for _, ws := range []string{theirs, someID, "aurora", "", "x, y"} {
		for _, method := range []string{"tools/list", "resources/list", "prompts/list"} {
			r := other.with("Kobana-Workspace: "+ws).send(t, method, nil)
			if want := map[bool]int{true: 200, false: 403}[ws == ""]; r.status != want {
				t.Errorf("%s in %q: HTTP %d %s", method, ws, r.status, r.body)
			}
		}
	}
	if r := owner.with("Kobana-Workspace: "+theirs).send(t, "tools/list", nil); r.status != 200 {
		t.Errorf("its own: HTTP %d %s", r.status, r.body)
	}
}
