package prompts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp/mcptest"
)

func TestR7_R8_OnTheWire(t *testing.T) {
	for _, v := range mcp.Versions() {
		t.Run(string(v), func(t *testing.T) {
			ask := func(method string, params map[string]any) mcptest.Answer {
				return mcptest.Ask(t, New(Options{Tools: tools(all), Now: now}).Methods(), &access.Caller{}, v, method, params)
			}
			list := ask("prompts/list", map[string]any{}).Members(t)
			offered, _ := list["prompts"].([]any)
			if len(offered) != len(table) {
				t.Errorf("%d prompts listed, want %d", len(offered), len(table))
			}
			titles := 8 // of four prompts and four arguments
			if v == mcp.V20250326 {
				titles = 0
			}
			if got := strings.Count(fmt.Sprint(offered), "title:"); got != titles {
				t.Errorf("8.01 %d titles listed, want %d: %v", got, titles, offered)
			}
			delete(list, "prompts")
			want := map[string]any{}
			if v.Modern() {
				want = map[string]any{"resultType": "complete", "ttlMs": 30000.0, "cacheScope": "private"}
			}
			if diff := cmp.Diff(want, list); diff != "" {
				t.Errorf("11.01 prompts/list (-want +got):\n%s", diff)
			}

			got := ask("prompts/get", map[string]any{"name": "usage_report"}).Members(t)
			if messages, _ := got["messages"].([]any); len(messages) != 1 {
				t.Errorf("8.02 messages: %v", got)
			}
			delete(got, "messages")
			want = map[string]any{"description": "What the workspace processed and spent in a month, by model."}
			if v.Modern() {
				want["resultType"] = "complete"
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("8.07 prompts/get (-want +got):\n%s", diff)
			}

			for name, message := range map[string]string{"nope": "no such prompt", "inbox_overview": `argument "inbox_id" is required`} {
				want := &mcp.Error{Code: -32602, Message: message}
				if diff := cmp.Diff(want, ask("prompts/get", map[string]any{"name": name}).Error); diff != "" {
					t.Errorf("8.03 %s (-want +got):\n%s", name, diff)
				}
			}
			for _, cursor := range []string{"", "zz"} {
				if got := ask("prompts/list", map[string]any{"cursor": cursor}); got.Error == nil || got.Error.Code != -32602 {
					t.Errorf("10.02 cursor %q: %v", cursor, got)
				}
			}
		})
	}
}
