package local

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// families are those that a member may be kept from reading.
var families = []string{
	"models", "usage", "workspaces", "inboxes", "emails", "agents", "agent_runs", "workflow_runs", "webhooks", "system_events",
}

// TestR3_R5_R7_R9_WithoutPermission takes one family after the other from a
// viewer: its resources, the prompts that lean on its tools and its
// suggestions are gone, without a word on why.
func TestR3_R5_R7_R9_WithoutPermission(t *testing.T) {
	t.Parallel()
	config := testConfig(dataDir(t))
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			s, stop := serveOn(t, config)
			defer stop()
			owner, viewer := as("demo-owner").at(s), as("demo-viewer").at(s)
			ws := owner.where(t, "workspaces_list", "label", "Aurora")["id"].(string)
			_, err := s.data.directory.UpdateMember(t.Context(), demo.Viewer, access.WorkspaceID(ws), func(m *access.Membership) {
				m.Explicit = []string{}
				for _, f := range families {
					if f != family {
						m.Explicit = append(m.Explicit, f+":read")
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			denied := func(tools ...string) bool {
				return slices.ContainsFunc(tools, func(tool string) bool { return strings.HasPrefix(tool, family+"_") })
			}
			eachEra(t, func(t *testing.T, v mcp.Version) {
				viewer, owner := viewer.in(v), owner.in(v)
				resourcesWithout(t, viewer, owner, denied)
				promptsWithout(t, viewer, owner, denied)
				for _, a := range viewer.result(t, "tools/list", nil)["tools"].([]any) {
					if name := a.(object)["name"].(string); denied(name) {
						t.Errorf("%s is listed", name)
					}
				}
			})
		})
	}
}

func resourcesWithout(t *testing.T, viewer, owner client, denied func(...string) bool) {
	listed := string(viewer.send(t, "resources/list", nil).body) + string(viewer.send(t, "resources/templates/list", nil).body)
	for _, d := range documents {
		if strings.Contains(listed, `"`+d.uri+`"`) == denied(d.tool) {
			t.Errorf("%s: listed %v", d.uri, denied(d.tool))
		}
		uri, id := d.of(t, owner)
		if !denied(d.tool) {
			viewer.read(t, uri)
		} else if r := viewer.send(t, "resources/read", object{"uri": uri}); r.status != http.StatusOK || !sameJSON(t, missing(t, viewer.version, uri), r.body) {
			t.Errorf("%s: HTTP %d %s", uri, r.status, r.body)
		}
		if id == "" {
			continue
		}
		if values, _ := viewer.complete(t, "ref/resource", d.uri, "id", ""); (len(values) == 0) != denied(d.tool) {
			t.Errorf("%s is completed by %v", d.uri, values)
		}
	}
}

func promptsWithout(t *testing.T, viewer, owner client, denied func(...string) bool) {
	listed := string(viewer.send(t, "prompts/list", nil).body)
	for _, p := range leansOn {
		if strings.Contains(listed, `"`+p.prompt+`"`) == denied(p.tools...) {
			t.Errorf("%s: listed %v", p.prompt, denied(p.tools...))
		}
		args := object{"inbox_id": someID}
		if !denied(p.tools...) {
			viewer.prompt(t, p.prompt, args)
			continue
		}
		got := viewer.send(t, "prompts/get", object{"name": p.prompt, "arguments": args})
		want := owner.send(t, "prompts/get", object{"name": "no_such_prompt", "arguments": args})
		if string(got.body) != string(want.body) || got.status != want.status {
			t.Errorf("%s: HTTP %d %s\nwhat never existed: %s", p.prompt, got.status, got.body, want.body)
		}
	}
	for _, a := range []struct {
		prompt, argument string
		tools            []string
	}{
		{"inbox_overview", "inbox_id", append([]string{"inboxes_list"}, leansOn[1].tools...)},
		{"review_failed_runs", "agent_id", append([]string{"agents_list"}, leansOn[0].tools...)},
		{"usage_report", "month", leansOn[3].tools},
	} {
		if values, _ := viewer.complete(t, "ref/prompt", a.prompt, a.argument, ""); (len(values) == 0) != denied(a.tools...) {
			t.Errorf("%s of %s is completed by %v", a.argument, a.prompt, values)
		}
	}
}

// TestReadOnly: the operator's switch leaves all that reads, and nothing else.
func TestReadOnly(t *testing.T) {
	s := serve(t, func(c *Config) { c.ReadOnly = true })
	c := as("demo-owner").at(s)
	var names []string
	for _, tool := range c.tools(t) {
		names = append(names, tool.Name)
	}
	if want := slices.Sorted(slices.Values(readTools)); !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("tools: %v", names)
	}
	for _, tool := range as("demo-owner").tools(t) {
		if !tool.Annotations.ReadOnly {
			if r := c.call(t, tool.Name, nil); r.Error == nil || r.Error.Code != -32602 {
				t.Errorf("%s: %s", tool.Name, r.body)
			}
		}
	}
	for _, d := range documents {
		uri, _ := d.of(t, c)
		c.read(t, uri)
	}
}
