package resources

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// response is an answer as a client reads it.
type response struct {
	Result jsontext.Value `json:"result"`
	Error  struct {
		Code    int               `json:"code"`
		Message string            `json:"message"`
		Data    map[string]string `json:"data"`
	} `json:"error"`
}

// post sends resources/read of uri to a server as a client of v does.
func post(t *testing.T, f *tools, v mcp.Version, uri string) response {
	t.Helper()
	s := mcp.New(mcp.Options{
		Info:    mcp.Implementation{Name: "test", Version: "1"},
		Methods: New(Options{Tools: f}).Methods(),
		Admit: func(ctx context.Context, _ string) (context.Context, error) {
			return access.WithCaller(ctx, &access.Caller{}), nil
		},
	})
	params := map[string]any{"uri": uri}
	if v.Modern() {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    v,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(string(body)))
	r.Header.Set("MCP-Protocol-Version", string(v))
	if v.Modern() {
		r.Header.Set("Mcp-Method", "resources/read")
		r.Header.Set("Mcp-Name", uri)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var got response
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("HTTP %d: %v\n%s", w.Code, err, w.Body)
	}
	return got
}

func TestR5_NotFound(t *testing.T) {
	uri := "kobana://inbox/emails/" + id
	for name, c := range map[string]struct {
		tools tools
		uri   string
	}{
		"7.06 7.07 unknown URI":     {tools{allowed: all}, `kobana://inbox/"/` + id},
		"7.06 7.07 no such record":  {tools{allowed: all, err: inbox.Errorf(inbox.CodeNotFound, "id", "No such e-mail.")}, uri},
		"an id that no record has":  {tools{allowed: all, err: inbox.Errorf(inbox.CodeInvalid, "id", "Not an id.")}, uri},
		"7.10 may not run the tool": {tools{allowed: none}, uri},
		"empty":                     {tools{allowed: all}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range mcp.Versions() {
				var want response
				want.Error.Code, want.Error.Message = -32002, "no such resource"
				want.Error.Data = map[string]string{"uri": c.uri}
				if v == mcp.V20260728 {
					want.Error.Code = -32602
				}
				if diff := cmp.Diff(want, post(t, &c.tools, v, c.uri)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v, diff)
				}
			}
		})
	}
}

func TestR1_11_01_OnTheWire(t *testing.T) {
	f := &tools{allowed: all, record: jsontext.Value(`{"data":[]}`)}
	for _, v := range mcp.Versions() {
		var got map[string]any
		if err := json.Unmarshal(post(t, f, v, "kobana://inbox/usage").Result, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "_meta")
		want := map[string]any{"contents": []any{
			map[string]any{"uri": "kobana://inbox/usage", "mimeType": "application/json", "text": `{"data":[]}`},
		}}
		if v == mcp.V20260728 {
			want["resultType"], want["ttlMs"], want["cacheScope"] = "complete", 0.0, "private"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
	}
}
