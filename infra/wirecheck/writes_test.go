package wirecheck_test

import (
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestCheckDataConfirmation goes through the question of a destructive tool
// with every answer, and answers it twice.
func TestCheckDataConfirmation(t *testing.T) {
	c := client{url: product(t), version: mcp.V20260728, token: "demo-owner"}
	for _, tool := range []string{"emails_delete", "webhooks_rotate_secret"} {
		call := c.destructive(t, tool)
		for _, a := range []struct {
			answer any
			runs   bool
		}{
			{object{"action": "decline"}, false},
			{object{"action": "cancel"}, false},
			{object{"action": "accept", "content": object{"confirm": false}}, false},
			{object{"action": "accept"}, false},
			{object{"action": "perhaps"}, false},
			{7, false},
			{object{"action": "accept", "content": object{"confirm": true}}, true},
		} {
			if ran := c.answer(t, call, a.answer); ran != a.runs {
				t.Errorf("%s, answered %v: it ran: %v", tool, a.answer, ran)
			}
		}
	}
}

// writes makes a record of every family, and begins every destructive call.
func (c client) writes(t *testing.T) {
	for tool, arguments := range map[string]object{
		"inboxes_create":  {"label": "Wirecheck", "allowed_recipients": []string{"a@b.example"}},
		"agents_create":   {"label": "Wirecheck", "llm_model": "bedrock/anthropic.claude-opus-4-5-20251101-v1:0", "system_message": "Be brief."},
		"webhooks_create": {"label": "Wirecheck", "url": "https://receiver.example/hook"},
		"secrets_create":  {"name": "WIRECHECK_" + strings.ReplaceAll(string(c.version), "-", "_"), "value": "s3cret"},
	} {
		c.call(t, "tools/call", object{"name": tool, "arguments": arguments})
	}
	for _, family := range []string{"workspaces", "inboxes", "agents", "webhooks"} {
		arguments := object{"id": c.ids(t, family+"_list")[0], "label": "Wirecheck " + string(c.version)}
		c.call(t, "tools/call", object{"name": family + "_update", "arguments": arguments})
	}
	for _, tool := range c.toolNames(t) {
		if call := c.destructive(t, tool); call != nil {
			c.call(t, "tools/call", call)
			if c.version.Modern() {
				c.answer(t, call, object{"action": "decline"})
			}
		}
	}
}

// destructive is a call of a destructive tool on the newest record of its
// family, nil when the tool is not one.
func (c client) destructive(t *testing.T, tool string) object {
	for _, action := range []string{"_delete", "_add_recipient", "_remove_recipient", "_reprocess", "_test", "_rotate_secret", "_replay"} {
		family, ok := strings.CutSuffix(tool, action)
		if !ok {
			continue
		}
		arguments := object{}
		switch family {
		case "webhooks_deliveries":
			arguments["webhook_id"] = c.oldestWebhook(t)
		case "inboxes":
			if strings.HasSuffix(action, "_recipient") {
				arguments["email"] = "billing@paper-mill.example"
			}
		}
		arguments["id"] = c.ids(t, family+"_list")[0]
		return object{"name": tool, "arguments": arguments}
	}
	return nil
}

// answer makes a call, answers what it asks, and reports whether it ran.
func (c client) answer(t *testing.T, call object, answer any) bool {
	var asked struct {
		Type     string         `json:"resultType"`
		Requests map[string]any `json:"inputRequests"`
		State    string         `json:"requestState"`
	}
	first := c.call(t, "tools/call", call)
	if first == nil {
		return false
	}
	decode(t, first, &asked)
	responses := object{}
	for key := range asked.Requests {
		responses[key] = answer
	}
	again := object{"inputResponses": responses, "requestState": asked.State}
	for name, value := range call {
		again[name] = value
	}
	var done struct {
		Type    string `json:"resultType"`
		IsError bool   `json:"isError"`
	}
	if result := c.call(t, "tools/call", again); result != nil {
		decode(t, result, &done)
	}
	c.call(t, "tools/call", again) // the same answer a second time
	return done.Type == "complete" && !done.IsError
}
