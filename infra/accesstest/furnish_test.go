package accesstest

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// walk is a world where a stranger, who may do everything in Bosque, knows all
// that there is to know of Aurora.
type walk struct {
	*world
	owner, stranger client
	theirs          map[string]ref // records of Aurora, by argument or family
	mine            map[string]ref // records of Bosque, of the same families
}

// ref is how a record is named.
type ref struct{ id, external string }

func newWalk(t *testing.T) *walk {
	w := &walk{world: newWorld(t)}
	const all = "inbox.read inbox.write"
	w.owner = w.as(w.token(t, demo.Owner, all, nil))
	w.stranger = w.as(w.token(t, demo.Other, all, nil))
	w.furnish(t)
	w.theirs, w.mine = records(t, w.owner), records(t, w.stranger)
	return w
}

// furnish gives Bosque what the demo does not: something of every family, and
// a second secret to Aurora, for a second page.
func (w *walk) furnish(t *testing.T) {
	t.Helper()
	model := w.stranger.list(t, "models_list", nil)[0]["id"]
	w.stranger.get(t, "agents_create", object{"label": "Mine", "llm_model": model, "system_message": "Be kind."})
	w.stranger.get(t, "secrets_create", object{"name": "MINE", "value": "mine"})
	hook := w.stranger.get(t, "webhooks_create", object{"label": "Mine", "url": nowhere})["id"]
	w.stranger.confirmed(t, "webhooks_test", object{"id": hook})
	w.owner.get(t, "secrets_create", object{"name": "SECOND", "value": "second"})
	for _, in := range w.owner.list(t, "inboxes_list", nil) {
		w.owner.confirmed(t, "inboxes_add_recipient", object{"id": in["id"], "email": "old@example.com"})
	}
}

// nowhere is the URL of a webhook that nobody answers.
const nowhere = "http://127.0.0.1:1/in"

// records are one of each family that the client can list.
func records(t *testing.T, c client) map[string]ref {
	t.Helper()
	found := map[string]ref{}
	for _, tool := range tools() {
		family, ok := strings.CutSuffix(tool.Name, "_list")
		if !ok || family == "models" || family == "webhooks_deliveries" {
			continue
		}
		for _, r := range c.list(t, tool.Name, nil) {
			external, _ := r["external_id"].(string)
			found[family] = ref{r["id"].(string), external}
		}
	}
	hook := c.list(t, "webhooks_list", nil)[len(c.list(t, "webhooks_list", nil))-1]["id"]
	for _, r := range c.list(t, "webhooks_deliveries_list", object{"webhook_id": hook}) {
		found["webhooks_deliveries"] = ref{id: r["id"].(string)}
	}
	return found
}

// of says of which family the record is that an argument of a tool names.
func of(tool *catalog.Tool, argument string) string {
	switch argument {
	case "id":
		family := tool.Name[:strings.LastIndexByte(tool.Name, '_')]
		for _, f := range []string{"webhooks_deliveries", "emails", "inboxes", "webhooks"} {
			if strings.HasPrefix(family, f) {
				return f
			}
		}
		return family
	case "inbox_id":
		return "inboxes"
	case "agent_id":
		return "agents"
	case "email_id":
		return "emails"
	case "webhook_id":
		return "webhooks"
	}
	return "" // external_id names none that exists
}

// filled are valid arguments of a tool, each id taken from the records.
func filled(tool *catalog.Tool, from map[string]ref) object {
	args := object{}
	for _, f := range tool.Input {
		switch family := of(tool, f.Name); {
		case family != "" && f.Kind == catalog.UUID:
			args[f.Name] = from[family].id
		case f.Name == "label":
			args["label"] = "Changed"
		case f.Name == "email" && f.Required:
			args["email"] = "new@example.com"
			if strings.HasSuffix(tool.Name, "_remove_recipient") {
				args["email"] = "old@example.com"
			}
		case f.Name == "name":
			args["name"] = "NEW"
		case f.Name == "value":
			args["value"] = "new"
		case f.Name == "url":
			args["url"] = nowhere
		case f.Name == "system_message" && f.Required:
			args["system_message"] = "Be kind."
		case f.Name == "llm_model" && f.Required:
			args["llm_model"] = "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0"
		}
	}
	return args
}

// never is an id that no record has, made for the same time as id: v7 for v7.
func never(id string) string {
	if at := inbox.ID(id).Time(); !at.IsZero() {
		return string(inbox.NewID(at))
	}
	return uuid.NewString()
}

// nobodys are records that never existed, of every family.
func (w *walk) nobodys() map[string]ref {
	nobodys := map[string]ref{}
	for family, r := range w.theirs {
		nobodys[family] = ref{never(r.id), uuid.NewString()}
	}
	return nobodys
}
