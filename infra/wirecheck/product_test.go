package wirecheck_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestCheckDataSchemas asks the product for everything it offers, in every
// revision, and for much that it refuses. What is judged is every answer.
func TestCheckDataSchemas(t *testing.T) {
	url := product(t)
	for _, v := range append(mcp.Versions(), "") {
		t.Run("revision "+string(v), func(t *testing.T) {
			c := client{url: url, version: v, token: "demo-owner", results: map[string]int{}}
			c.handshake(t)
			c.resources(t)
			c.prompts(t)
			c.tools(t)
			c.writes(t)
			c.mistakes(t)
			t.Log("results:", c.results)
			if len(c.results) < 9 {
				t.Errorf("too few methods had a result to judge: %v", c.results)
			}
			for _, token := range []string{"demo-readonly", "demo-viewer", "demo-other"} {
				c.token = token
				c.resources(t)
				c.prompts(t)
				c.tools(t)
			}
		})
	}
	t.Run("batch", func(t *testing.T) {
		c := client{url: url, token: "demo-owner"}
		c.post(t, nil, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":"two","method":"tools/list"},`+
			`{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3,"method":"no/such"},7]`)
	})
}

func (c client) handshake(t *testing.T) {
	initialize := object{"protocolVersion": c.version, "capabilities": object{}, "clientInfo": object{"name": "wirecheck", "version": "1"}}
	for _, method := range []string{"initialize", "server/discover", "ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "no/such"} {
		c.call(t, method, initialize)
	}
	c.post(t, nil, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c client) resources(t *testing.T) {
	var listed struct {
		Resources []struct {
			URI string `json:"uri"`
		} `json:"resources"`
	}
	decode(t, c.call(t, "resources/list", nil), &listed)
	uris := []string{"kobana://inbox/no-such"}
	for _, r := range listed.Resources {
		uris = append(uris, r.URI)
	}
	var templates struct {
		Templates []struct {
			URI string `json:"uriTemplate"`
		} `json:"resourceTemplates"`
	}
	decode(t, c.call(t, "resources/templates/list", nil), &templates)
	for _, tpl := range templates.Templates {
		id := "01890000-0000-7000-8000-000000000000" // of nothing
		for _, id = range append(c.complete(t, object{"type": "ref/resource", "uri": tpl.URI}, "id"), id) {
			uris = append(uris, strings.Replace(tpl.URI, "{id}", id, 1))
		}
	}
	for _, uri := range uris {
		c.call(t, "resources/read", object{"uri": uri})
	}
}

func (c client) prompts(t *testing.T) {
	var listed struct {
		Prompts []struct {
			Name      string `json:"name"`
			Arguments []struct {
				Name string `json:"name"`
			} `json:"arguments"`
		} `json:"prompts"`
	}
	decode(t, c.call(t, "prompts/list", nil), &listed)
	for _, p := range listed.Prompts {
		arguments := object{}
		c.call(t, "prompts/get", object{"name": p.Name})
		for _, a := range p.Arguments {
			for _, value := range c.complete(t, object{"type": "ref/prompt", "name": p.Name}, a.Name) {
				arguments[a.Name] = value
			}
		}
		c.call(t, "prompts/get", object{"name": p.Name, "arguments": arguments})
	}
	c.call(t, "prompts/get", object{"name": "no_such"})
}

// complete returns at most three suggestions for an argument.
func (c client) complete(t *testing.T, ref object, argument string) []string {
	var got struct {
		Completion struct {
			Values []string `json:"values"`
		} `json:"completion"`
	}
	for _, name := range []string{"no_such", argument} {
		result := c.call(t, "completion/complete", object{"ref": ref, "argument": object{"name": name, "value": ""}})
		if name == argument {
			decode(t, result, &got)
		}
	}
	return got.Completion.Values[:min(3, len(got.Completion.Values))]
}

// tools calls every tool without arguments, and those that get a record for
// one of each list.
func (c client) tools(t *testing.T) {
	for _, name := range c.toolNames(t) {
		c.call(t, "tools/call", object{"name": name, "arguments": object{}})
		family, get := strings.CutSuffix(name, "_get")
		if get && family != "usage" {
			for _, id := range c.ids(t, family+"_list") {
				c.call(t, "tools/call", object{"name": name, "arguments": object{"id": id, "include_html": true}})
				c.call(t, "tools/call", object{"name": name, "arguments": object{"id": id}})
			}
		}
	}
	for _, arguments := range []any{object{}, object{"x": 1}, []any{}, nil, "text"} {
		c.call(t, "tools/call", object{"name": "emails_list", "arguments": arguments})
	}
	c.call(t, "tools/call", object{"name": "secrets_delete", "arguments": object{"id": "x"}})
	c.call(t, "tools/call", object{"name": "no_such"})
	c.call(t, "tools/list", object{"cursor": "no-such"})
}

func (c client) toolNames(t *testing.T) (names []string) {
	var listed struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	decode(t, c.call(t, "tools/list", nil), &listed)
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// ids returns those of the newest two records of a list, page by page.
func (c client) ids(t *testing.T, list string) (ids []string) {
	arguments := object{"limit": 1}
	if list == "webhooks_deliveries_list" {
		webhook := c.oldestWebhook(t)
		if webhook == "" {
			return nil
		}
		arguments["webhook_id"] = webhook
	}
	for range 2 {
		page := c.list(t, list, arguments)
		for _, record := range page.Data {
			ids = append(ids, record.ID)
		}
		if page.NextCursor == nil {
			break
		}
		arguments["cursor"] = *page.NextCursor
	}
	return ids
}

// oldestWebhook is one of the demo's, which has deliveries; "" when there is none.
func (c client) oldestWebhook(t *testing.T) (id string) {
	for _, webhook := range c.list(t, "webhooks_list", object{}).Data {
		id = webhook.ID
	}
	return id
}

// page is what a list tool answers.
type page struct {
	Data []struct {
		ID string `json:"id"`
	} `json:"data"`
	NextCursor *string `json:"next_cursor"`
}

func (c client) list(t *testing.T, tool string, arguments object) (p page) {
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	decode(t, c.call(t, "tools/call", object{"name": tool, "arguments": arguments}), &result)
	decode(t, []byte(result.Content[0].Text), &p)
	return p
}

// mistakes sends what no client should.
func (c client) mistakes(t *testing.T) {
	version := http.Header{}
	if c.version != "" {
		version.Set("MCP-Protocol-Version", string(c.version))
	}
	for _, body := range []string{
		``, `{bad`, `7`, `{}`, `[]`, `[{}]`, `{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, `{"jsonrpc":"2.0","id":true,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":7}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}`,
	} {
		c.post(t, version, body)
		c.post(t, http.Header{"Mcp-Protocol-Version": {"1900-01-01"}}, body)
	}
	c.token = "no-such"
	c.call(t, "tools/list", nil)
}
