package prompts

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// post sends a request to a server as a client of v does, and returns the
// members of its answer that do not depend on the server.
func post(t *testing.T, v mcp.Version, method string, params map[string]any) map[string]any {
	t.Helper()
	s := mcp.New(mcp.Options{
		Info:    mcp.Implementation{Name: "test", Version: "1"},
		Methods: New(Options{Tools: tools(all), Now: now}).Methods(),
		Admit: func(ctx context.Context, _ string) (context.Context, error) {
			return access.WithCaller(ctx, &access.Caller{}), nil
		},
	})
	name, _ := params["name"].(string)
	if v.Modern() {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    v,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(string(body)))
	r.Header = http.Header{"Mcp-Protocol-Version": {string(v)}, "Mcp-Method": {method}, "Mcp-Name": {name}}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("HTTP %d: %v\n%s", w.Code, err, w.Body)
	}
	delete(got, "jsonrpc")
	delete(got, "id")
	if result, ok := got["result"].(map[string]any); ok {
		delete(result, "_meta")
	}
	return got
}

func TestR7_R8_OnTheWire(t *testing.T) {
	for _, v := range mcp.Versions() {
		t.Run(string(v), func(t *testing.T) {
			list, _ := post(t, v, "prompts/list", map[string]any{})["result"].(map[string]any)
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

			got, _ := post(t, v, "prompts/get", map[string]any{"name": "usage_report"})["result"].(map[string]any)
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
				want := map[string]any{"error": map[string]any{"code": -32602.0, "message": message}}
				if diff := cmp.Diff(want, post(t, v, "prompts/get", map[string]any{"name": name})); diff != "" {
					t.Errorf("8.03 %s (-want +got):\n%s", name, diff)
				}
			}
			for _, cursor := range []string{"", "zz"} {
				got := post(t, v, "prompts/list", map[string]any{"cursor": cursor})
				if e, _ := got["error"].(map[string]any); e["code"] != -32602.0 {
					t.Errorf("10.02 cursor %q: %v", cursor, got)
				}
			}
		})
	}
}
