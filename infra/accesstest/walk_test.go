package accesstest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

// same checks that two answers are one and the same but for the value.
func same(t *testing.T, what string, foreign, never reply, value, instead string) {
	t.Helper()
	got, want := strings.ReplaceAll(foreign.body, value, instead), never.body
	if got != want || foreign.status != never.status || foreign.challenge != never.challenge {
		t.Errorf("%s: HTTP %d %s\nwhat never existed: HTTP %d %s", what, foreign.status, got, never.status, want)
	}
}

// TestWalk_IDs walks every tool and every argument that names a record, with a
// record of Aurora's by id and by external_id, beside other arguments that are
// mine, theirs or nobody's. The answer is that of what never existed, byte for
// byte but for the id; and the same call works for the owner.
func TestWalk_IDs(t *testing.T) {
	w := newWalk(t)
	eachEra(t, func(t *testing.T, v mcp.Version) {
		stranger := w.stranger.in(v)
		for _, tool := range tools() {
			for _, f := range tool.Input {
				family := of(tool, f.Name)
				if family == "" || f.Kind != catalog.UUID {
					continue
				}
				w.controls(t, tool, f.Name, v)
				for _, value := range []string{w.theirs[family].id, w.theirs[family].external} {
					if value == "" {
						continue
					}
					for _, beside := range []map[string]ref{w.mine, w.theirs, w.nobodys()} {
						args := filled(tool, beside)
						args[f.Name] = value
						instead := never(value)
						foreign := stranger.call(t, tool.Name, args)
						args[f.Name] = instead
						same(t, tool.Name+" "+f.Name, foreign.reply, stranger.call(t, tool.Name, args).reply, value, instead)
						want := string(inbox.CodeNotFound)
						if tool.Hints.Destructive && !v.Modern() {
							want = "confirmation_required" // nothing is looked up for who cannot be asked
						}
						if f.Required && foreign.failure != want {
							t.Errorf("%s of another's %s: %s", tool.Name, f.Name, foreign.body)
						}
					}
				}
			}
		}
	})
}

// controls checks that the walk does not fail for another reason: the owner
// reaches the record with the same arguments. Only what does not destroy is
// carried out, and that in the newest era only.
func (w *walk) controls(t *testing.T, tool *catalog.Tool, argument string, v mcp.Version) {
	t.Helper()
	if !v.Modern() {
		return
	}
	args := filled(tool, w.theirs)
	if _, ok := args["external_id"]; ok {
		t.Fatal("external ids are for other tests")
	}
	a := w.owner.call(t, tool.Name, args)
	if a.status != 200 || a.Error != nil || a.failed || a.asks != tool.Hints.Destructive {
		t.Errorf("control: %s with its own %s: HTTP %d %s", tool.Name, argument, a.status, a.body)
	}
}

// TestWalk_Names: what Aurora's records are called is free in Bosque, and finds
// nothing there.
func TestWalk_Names(t *testing.T) {
	w := newWalk(t)
	nothing := func(tool string, args object) string { return w.stranger.call(t, tool, args).text }
	sender := w.owner.list(t, "emails_list", nil)[0]["from"]
	if got := nothing("emails_list", object{"from": sender}); got != nothing("emails_list", object{"from": "never@example.com"}) {
		t.Errorf("by sender: %s", got)
	}
	slugs := map[any]bool{}
	for _, e := range w.owner.list(t, "system_events_list", object{"limit": 200}) {
		slugs[e["slug"]] = true
	}
	for _, e := range w.stranger.list(t, "system_events_list", object{"limit": 200}) {
		delete(slugs, e["slug"])
	}
	if len(slugs) == 0 {
		t.Fatal("Aurora has no kind of event of its own")
	}
	for slug := range slugs {
		if got := nothing("system_events_list", object{"slug": slug}); got != nothing("system_events_list", object{"slug": "never.happened"}) {
			t.Errorf("by slug %s: %s", slug, got)
		}
	}
	w.stranger.get(t, "secrets_create", object{"name": "SECOND", "value": "x"})
	for _, c := range []struct {
		family, tool string
		args         object
	}{
		{"inboxes", "inboxes_create", object{"label": "Copy"}},
		{"agents", "agents_create", object{"label": "Copy", "llm_model": "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0", "system_message": "x"}},
		{"webhooks", "webhooks_create", object{"label": "Copy", "url": nowhere}},
	} {
		c.args["external_id"] = w.theirs[c.family].external
		if got := w.stranger.get(t, c.tool, c.args); got["id"] == w.theirs[c.family].id || got["external_id"] != w.theirs[c.family].external {
			t.Errorf("%s with another's external_id: %v", c.tool, got)
		}
		c.args["label"] = "Copy of the copy"
		if a := w.stranger.call(t, c.tool, c.args); a.failure != string(inbox.CodeConflict) {
			t.Errorf("%s with its own external_id: %s", c.tool, a.body)
		}
	}
	// Addresses are one for the whole world. That one is taken says no more than
	// a letter to it would.
	taken := w.owner.list(t, "inboxes_list", nil)[0]["email"]
	own := w.stranger.list(t, "inboxes_list", nil)[0]["email"]
	if got := nothing("inboxes_create", object{"label": "Theirs", "email": taken}); got != nothing("inboxes_create", object{"label": "Theirs", "email": own}) {
		t.Errorf("by address: %s", got)
	}
}

// TestWalk_Cursors: a cursor of another workspace's list is no cursor.
func TestWalk_Cursors(t *testing.T) {
	w := newWalk(t)
	eachEra(t, func(t *testing.T, v mcp.Version) {
		for _, tool := range tools() {
			if !strings.HasSuffix(tool.Name, "_list") || tool.Name == "models_list" || tool.Name == "workspaces_list" {
				continue // these have one page
			}
			args := filled(tool, w.theirs)
			for filter := range args {
				if filter != "webhook_id" {
					delete(args, filter)
				}
			}
			args["limit"] = 1
			cursor, _ := w.owner.get(t, tool.Name, args)["next_cursor"].(string)
			if cursor == "" {
				t.Fatalf("%s has one page", tool.Name)
			}
			mine := filled(tool, w.mine)
			maps.DeleteFunc(mine, func(filter string, _ any) bool { return filter != "webhook_id" })
			mine["cursor"] = cursor
			foreign := w.stranger.in(v).call(t, tool.Name, mine)
			mine["cursor"] = "never"
			same(t, tool.Name, foreign.reply, w.stranger.in(v).call(t, tool.Name, mine).reply, cursor, "never")
			if foreign.failure != string(inbox.CodeInvalid) {
				t.Errorf("%s: %s", tool.Name, foreign.body)
			}
		}
	})
}

// TestWalk_Resources_R5: another's record is no resource.
func TestWalk_Resources_R5(t *testing.T) {
	w := newWalk(t)
	eachEra(t, func(t *testing.T, v mcp.Version) {
		for _, r := range resources.Table() {
			for _, value := range []string{w.theirs[string(r.Family)].id, w.theirs[string(r.Family)].external} {
				if !r.Template() || value == "" {
					continue
				}
				uri := func(id string) string { return strings.Replace(r.URI, resources.Placeholder, id, 1) }
				instead := never(value)
				foreign := w.stranger.in(v).send(t, "resources/read", object{"uri": uri(value)})
				same(t, r.URI, foreign, w.stranger.in(v).send(t, "resources/read", object{"uri": uri(instead)}), value, instead)
				if foreign.Error == nil {
					t.Errorf("%s: %s", r.URI, foreign.body)
				}
				if own := w.owner.in(v).send(t, "resources/read", object{"uri": uri(value)}); own.Error != nil {
					t.Errorf("control: %s: %s", r.URI, own.body)
				}
			}
		}
	})
}

// TestWalk_Prompts_R8: prompts do not look ids up.
func TestWalk_Prompts_R8(t *testing.T) {
	w := newWalk(t)
	eachEra(t, func(t *testing.T, v mcp.Version) {
		for _, p := range prompts.Table() {
			for _, a := range p.Arguments {
				if a.Family == "" {
					continue
				}
				value := w.theirs[string(a.Family)].id
				instead := never(value)
				get := func(id string) reply {
					return w.stranger.in(v).send(t, "prompts/get", object{"name": p.Name, "arguments": object{a.Name: id}})
				}
				same(t, p.Name, get(value), get(instead), value, instead)
			}
		}
	})
}

// TestWalk_Completion_R9: no suggestion comes from another workspace, however
// much of an id is typed.
func TestWalk_Completion_R9(t *testing.T) {
	w := newWalk(t)
	complete := func(c client, r object, argument string, f inbox.Family) {
		t.Helper()
		id := w.theirs[string(f)].id
		instead := never(id)
		for _, typed := range []int{13, 18, 23, 36} {
			foreign, nobodys := c.complete(t, r, argument, id[:typed]), c.complete(t, r, argument, instead[:typed])
			same(t, encode(t, r), foreign, nobodys, id[:typed], instead[:typed])
			if slices.Contains(foreign.values(t), id) {
				t.Errorf("%v: %s", r, foreign.body)
			}
		}
		if got := w.owner.complete(t, r, argument, id).values(t); len(got) != 1 || got[0] != id {
			t.Errorf("control: %v: %v", r, got)
		}
		if all := c.complete(t, r, argument, ""); strings.Contains(all.body, id) {
			t.Errorf("%v: %s", r, all.body)
		}
	}
	eachEra(t, func(t *testing.T, v mcp.Version) {
		for _, r := range resources.Table() {
			if r.Template() {
				complete(w.stranger.in(v), object{"type": "ref/resource", "uri": r.URI}, resources.Parameter, r.Family)
			}
		}
		for _, p := range prompts.Table() {
			for _, a := range p.Arguments {
				if a.Family != "" {
					complete(w.stranger.in(v), object{"type": "ref/prompt", "name": p.Name}, a.Name, a.Family)
				}
			}
		}
	})
}

// TestWalk_Unasked: nothing that the stranger is shown names anything of
// Aurora's.
func TestWalk_Unasked(t *testing.T) {
	w := newWalk(t)
	var shown strings.Builder
	for _, tool := range tools() {
		if tool.Hints.ReadOnly {
			args := filled(tool, w.mine)
			maps.DeleteFunc(args, func(name string, _ any) bool { return name != "id" && name != "webhook_id" })
			shown.WriteString(w.stranger.call(t, tool.Name, args).body)
		}
	}
	for _, m := range methods {
		shown.WriteString(w.stranger.send(t, m.name, m.params).body)
	}
	all := shown.String()
	for family, r := range w.theirs {
		if strings.Contains(all, r.id) || r.external != "" && strings.Contains(all, r.external) {
			t.Errorf("a record of %s is shown", family)
		}
		if own := w.mine[family].id; own != "" && !strings.Contains(all, own) {
			t.Errorf("control: its own %s is not shown", family)
		}
	}
	for _, word := range []string{"Aurora", "aurora", "Helpdesk", "ERP_TOKEN", "Invoice clerk", string(w.aurora)} {
		if strings.Contains(all, word) {
			t.Errorf("%q is shown", word)
		}
	}
}

// TestWalk_Workspace: another's workspace, by header or by claim, is one that
// never existed.
func TestWalk_Workspace(t *testing.T) {
	w := newWalk(t)
	none := never(string(w.aurora))
	eachEra(t, func(t *testing.T, v mcp.Version) {
		byClaim := func(ws string) client {
			return w.as(w.token(t, demo.Other, "inbox.read inbox.write", object{"workspace_id": ws})).in(v)
		}
		for _, m := range methods {
			same(t, m.name+" by header", w.stranger.in(v).inWorkspace(string(w.aurora)).send(t, m.name, m.params),
				w.stranger.in(v).inWorkspace(none).send(t, m.name, m.params), string(w.aurora), none)
			foreign := byClaim(string(w.aurora)).send(t, m.name, m.params)
			same(t, m.name+" by claim", foreign, byClaim(none).send(t, m.name, m.params), string(w.aurora), none)
			if foreign.status != 403 || foreign.challenge != "" {
				t.Errorf("%s: HTTP %d %s", m.name, foreign.status, foreign.body)
			}
		}
	})
}
