package wire_test

import (
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

func TestRequest(t *testing.T) {
	const always = "Content-Type: application/json|Accept: application/json, text/event-stream"
	meta := `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for name, c := range map[string]struct {
		version       mcp.Version
		token, method string
		params        wire.Object
		body, headers string // headers beside those that are always there
	}{
		"of 2026": {mcp.V20260728, "t", "resources/read", wire.Object{"uri": "a"},
			`{"id":1,"jsonrpc":"2.0","method":"resources/read","params":{` + meta + `,"uri":"a"}}`,
			"|Authorization: Bearer t|MCP-Protocol-Version: 2026-07-28|Mcp-Method: resources/read|Mcp-Name: =?base64?YQ==?="},
		"with a _meta of its own": {mcp.V20260728, "", "tools/list", wire.Object{"_meta": wire.Object{}},
			`{"id":1,"jsonrpc":"2.0","method":"tools/list","params":{"_meta":{}}}`,
			"|MCP-Protocol-Version: 2026-07-28|Mcp-Method: tools/list"},
		"of 2025":    {mcp.V20250618, "t", "ping", nil, `{"id":1,"jsonrpc":"2.0","method":"ping"}`, "|Authorization: Bearer t|MCP-Protocol-Version: 2025-06-18"},
		"the first":  {mcp.V20250618, "", "initialize", nil, `{"id":1,"jsonrpc":"2.0","method":"initialize"}`, ""},
		"the oldest": {mcp.V20250326, "", "ping", wire.Object{}, `{"id":1,"jsonrpc":"2.0","method":"ping"}`, ""},
		"of none":    {"", "", "ping", nil, `{"id":1,"jsonrpc":"2.0","method":"ping"}`, ""},
	} {
		body, headers := wire.Request(c.version, c.token, c.method, c.params)
		if got := strings.Join(headers, "|"); body != c.body || got != always+c.headers {
			t.Errorf("%s: %s\n%s", name, body, got)
		}
	}
	if h := wire.Header("A: 1", "a: 2", "B: c: d"); len(h) != 2 || len(h["A"]) != 2 || h.Get("b") != "c: d" {
		t.Error(h)
	}
}
