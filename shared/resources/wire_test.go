package resources

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp/mcptest"
)

// ask sends resources/read of uri as a client of v does.
func ask(t *testing.T, f *tools, v mcp.Version, uri string) mcptest.Answer {
	t.Helper()
	return mcptest.Ask(t, New(Options{Tools: f}).Methods(), &access.Caller{}, v, "resources/read", map[string]string{"uri": uri})
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
				data, err := json.Marshal(map[string]string{"uri": c.uri})
				if err != nil {
					t.Fatal(err)
				}
				want := &mcp.Error{Code: -32002, Message: "no such resource", Data: data}
				if v == mcp.V20260728 {
					want.Code = -32602
				}
				if diff := cmp.Diff(want, ask(t, &c.tools, v, c.uri).Error); diff != "" {
					t.Errorf("%s (-want +got):\n%s", v, diff)
				}
			}
		})
	}
}

func TestR1_11_01_OnTheWire(t *testing.T) {
	f := &tools{allowed: all, record: jsontext.Value(`{"data":[]}`)}
	for _, v := range mcp.Versions() {
		got := ask(t, f, v, "kobana://inbox/usage").Members(t)
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
