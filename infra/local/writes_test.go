package local

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// confirmed calls a destructive tool and says yes to its question.
func (c client) confirmed(t *testing.T, tool string, args object) answer {
	t.Helper()
	params := c.asked(t, tool, args)
	a := c.answered(t, params)
	again := c.answered(t, params)
	if again.code != "confirmation_replayed" {
		t.Errorf("%s again: %s", tool, again.body)
	}
	return a
}

// asked calls a destructive tool, which must ask, and returns the params of
// the same call with a yes.
func (c client) asked(t *testing.T, tool string, args object) object {
	t.Helper()
	params := object{"name": tool, "arguments": args}
	asked := decode[struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]any
	}](t, c.send(t, "tools/call", params).Result)
	if asked.ResultType != "input_required" || len(asked.InputRequests) != 1 {
		t.Fatalf("%s does not ask: %+v", tool, asked)
	}
	answers := object{}
	for key := range asked.InputRequests {
		answers[key] = object{"action": "accept", "content": object{"confirm": true}}
	}
	with := maps.Clone(params)
	with["requestState"], with["inputResponses"] = asked.RequestState, answers
	return with
}

func (c client) answered(t *testing.T, params object) answer {
	t.Helper()
	r := c.send(t, "tools/call", params)
	a := decode[struct {
		Content []struct{ Text string }
		IsError bool `json:"isError"`
		Meta    struct {
			Error struct{ Code string } `json:"br.com.kobana/error"`
		} `json:"_meta"`
	}](t, r.Result)
	if len(a.Content) == 0 {
		t.Fatalf("HTTP %d %s", r.status, r.body)
	}
	return answer{reply: r, failed: a.IsError, code: a.Meta.Error.Code, text: a.Content[0].Text, blocks: len(a.Content)}
}

// TestDemo_CanBeWritten: every writing tool works on what the demo seeds, and
// on what the tools made.
func TestDemo_CanBeWritten(t *testing.T) {
	var received atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Webhook-Signature") != "" {
			received.Add(1)
		}
	}))
	t.Cleanup(receiver.Close)
	s := serve(t, func(c *Config) { c.WebhookAllowLoopback = true })
	c := as("demo-owner").at(s)
	demo := func(tool, label string) object { return c.where(t, tool, "label", label) }
	support, helpdesk, erp := demo("inboxes_list", "Support")["id"], demo("agents_list", "Helpdesk")["id"], demo("webhooks_list", "ERP")["id"]
	emails := c.list(t, "emails_list", nil)
	delivery := c.id(t, "webhooks_deliveries_list", object{"webhook_id": erp})

	made := map[string]any{}
	write := func(tool string, args object) {
		t.Helper()
		made[tool] = get[object](t, c, tool, args)["id"]
	}
	write("workspaces_update", object{"id": c.id(t, "workspaces_list", nil), "label": "Aurora II"})
	write("agents_create", object{"label": "New", "llm_model": get[page](t, c, "models_list", nil).Data[0]["id"], "system_message": "Be kind."})
	write("agents_update", object{"id": helpdesk, "label": "Helpdesk II"})
	write("inboxes_create", object{"label": "New", "agent_id": made["agents_create"]})
	write("inboxes_update", object{"id": support, "label": "Support II"})
	write("secrets_create", object{"name": "NEW", "value": "kept-secret"})
	write("secrets_update", object{"id": c.where(t, "secrets_list", "name", "ERP_TOKEN")["id"], "value": "kept-secret"})
	write("webhooks_create", object{"label": "New", "url": receiver.URL + "/new"})
	write("webhooks_update", object{"id": erp, "url": receiver.URL + "/erp"})

	for _, w := range []struct {
		tool string
		args object
	}{
		{"webhooks_test", object{"id": erp}},
		{"webhooks_rotate_secret", object{"id": erp}},
		{"webhooks_deliveries_replay", object{"webhook_id": erp, "id": delivery}},
		{"inboxes_add_recipient", object{"id": support, "email": "ann@example.com"}},
		{"inboxes_remove_recipient", object{"id": support, "email": "ann@example.com"}},
		{"emails_reprocess", object{"id": emails[0]["id"]}},
		{"emails_delete", object{"id": emails[0]["id"]}},
		{"secrets_delete", object{"id": made["secrets_create"]}},
		{"webhooks_delete", object{"id": made["webhooks_create"]}},
		{"webhooks_delete", object{"id": erp}},
		{"agents_delete", object{"id": helpdesk}},
		{"inboxes_delete", object{"id": support}},
	} {
		for _, v := range mcp.Versions()[1:] {
			if a := c.in(v).call(t, w.tool, w.args); a.code != "confirmation_required" || !strings.HasPrefix(a.text, "confirmation_required") {
				t.Errorf("%s in %s: %s", w.tool, v, a.body)
			}
		}
		if a := c.confirmed(t, w.tool, w.args); a.failed {
			t.Errorf("%s: %s", w.tool, a.text)
		} else if w.tool == "webhooks_test" || w.tool == "webhooks_deliveries_replay" {
			if d := decode[object](t, jsontext.Value(a.text)); d["status"] != "success" {
				t.Errorf("%s: %v", w.tool, d)
			}
		}
	}
	if n := received.Load(); n != 2 {
		t.Errorf("%d signed deliveries arrived", n)
	}
}

// TestLinks_OfADeletedEmail: with the e-mail its raw message goes, and links
// that were given out before lead nowhere.
func TestLinks_OfADeletedEmail(t *testing.T) {
	s := serve(t)
	c := as("demo-owner").at(s)
	id := c.id(t, "emails_list", nil)
	uri := "kobana://inbox/emails/" + id
	link := get[struct{ URL string }](t, c, "emails_get_eml", object{"id": id}).URL
	if a := c.confirmed(t, "emails_delete", object{"id": id}); a.failed {
		t.Fatal(a.text)
	}
	if resp, body := exchange(t, http.MethodGet, link, ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the link: HTTP %d %s", resp.StatusCode, body)
	}
	for _, gone := range []string{uri, uri + "/eml"} {
		if r := c.send(t, "resources/read", object{"uri": gone}); !sameJSON(t, missing(t, c.version, gone), r.body) {
			t.Errorf("%s: %s", gone, r.body)
		}
	}
	if values, _ := c.complete(t, "ref/resource", "kobana://inbox/emails/{id}", "id", id); len(values) > 0 {
		t.Errorf("it is suggested: %v", values)
	}
}

// TestR4_SecretEvents: the event log has of what is done to a secret only
// tool, person and outcome: neither name nor value nor id.
func TestR4_SecretEvents(t *testing.T) {
	s := serve(t)
	c := as("demo-owner").at(s)
	secret := get[object](t, c, "secrets_create", object{"name": "KEPT_NAME", "value": "kept-value", "description": "kept-description"})
	get[object](t, c, "secrets_update", object{"id": secret["id"], "value": "kept-value-2"})
	c.confirmed(t, "secrets_delete", object{"id": secret["id"]})
	found := 0
	for _, e := range c.list(t, "system_events_list", nil) {
		payload := e["payload"].(object)
		if tool, _ := payload["tool"].(string); !strings.HasPrefix(tool, "secrets_") {
			continue
		}
		found++
		text := c.read(t, "kobana://inbox/system-events/"+e["id"].(string))
		value := base64.StdEncoding.EncodeToString([]byte("kept-value"))
		for _, kept := range []string{"KEPT", "kept", secret["id"].(string), value} {
			if strings.Contains(text, kept) {
				t.Errorf("an event has %s: %s", kept, text)
			}
		}
		for name := range payload {
			if name != "tool" && name != "person" && name != "outcome" {
				t.Errorf("an event has %s: %s", name, text)
			}
		}
	}
	if found < 3 {
		t.Errorf("%d events of secrets", found)
	}
}

// TestWebhookOnThisMachine: who is refused one learns how to have it.
func TestWebhookOnThisMachine(t *testing.T) {
	for _, tool := range []struct {
		name string
		args object
	}{
		{"webhooks_create", object{"label": "Here", "url": "http://127.0.0.1:8080/"}},
		{"webhooks_update", object{"id": as("demo-owner").at(shared).id(t, "webhooks_list", nil), "url": "http://localhost:8080/"}},
	} {
		if a := as("demo-owner").at(shared).call(t, tool.name, tool.args); !a.failed || a.code != "invalid_arguments" || !strings.Contains(a.text, "WEBHOOK_ALLOW_LOOPBACK=1") {
			t.Errorf("%s: %s", tool.name, a.text)
		}
	}
}
