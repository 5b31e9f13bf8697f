package wirecheck

import (
	"net/http"
	"strings"
	"testing"
)

// TestCheckDataFaults shows that each kind of fault is found, and that what is
// right is not.
func TestCheckDataFaults(t *testing.T) {
	Need(t)
	schemas, err := load()
	if err != nil {
		t.Fatal(err)
	}
	const (
		meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		call    = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",` + meta + `}}`
		list    = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
		oldCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`
		oldList = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		ping    = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		begin   = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	)
	for _, c := range []struct {
		name, version, sent, answer, fault string // fault "": none
	}{
		{"a list", "2026-07-28", list, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}}`, ""},
		{"no caching hints", "2026-07-28", list, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[]}}`, "ttlMs"},
		{"no resultType", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, "resultType"},
		{"null for an array", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":null}}`, "content"},
		{"a member too many", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[],"ttlMs":0}}`, "ttlMs"},
		{"asked", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`, ""},
		{"asked nothing", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}`, "asks nothing"},
		{"asked with hints", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","ttlMs":0}}`, "ttlMs"},
		{"a nested form", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"b":{"type":"object"}}}}}}}}`, "inputRequests"},
		{"a capability as a list", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":["elicitation"]}}}`, "requiredCapabilities"},
		{"a code of the other era", "2026-07-28", call, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"m"}}`, "-32002"},
		{"another id", "2026-07-28", list, `{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"m"}}`, "the id"},
		{"no id", "2026-07-28", list, `{"jsonrpc":"2.0","error":{"code":-32602,"message":"m"}}`, "the id"},
		{"result and error", "2026-07-28", list, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}`, "both"},
		{"an old list", "2025-11-25", oldList, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, ""},
		{"a leak", "2025-11-25", oldList, `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"resultType":"complete"}}`, "resultType"},
		{"a leak in _meta", "2025-11-25", oldList, `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}}}}`, "serverInfo"},
		{"own _meta", "2025-11-25", oldCall, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true,"_meta":{"br.com.kobana/error":{"code":"x"}}}}`, ""},
		{"asked in 2025", "2025-06-18", oldCall, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s"}}`, "requestState"},
		{"structured too early", "2025-03-26", oldCall, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}`, "structuredContent"},
		{"structured", "2025-06-18", oldCall, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}`, ""},
		{"a block too new", "2025-03-26", oldCall, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"resource_link","uri":"x://y","name":"n"}]}}`, "content"},
		{"modern code", "2025-06-18", oldCall, `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"m"}}`, "-32021"},
		{"a ping with more", "2025-06-18", ping, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`, "ping"},
		{"an unreadable id", "2025-06-18", `{bad`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`, ""},
		{"initialize", "", begin, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"n","version":"1"}}}`, ""},
		{"initialize without a name", "", begin, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"version":"1"}}}`, "name"},
		{"a result for nothing", "2025-06-18", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, "not"},
		{"a batch", "", `[` + ping + `]`, `[{"jsonrpc":"2.0","id":1,"result":{}}]`, ""},
		{"a fault in a batch", "", `[` + ping + `]`, `[{"jsonrpc":"2.0","id":1,"result":{"x":1}}]`, "ping"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := http.Header{}
			if c.version != "" {
				header.Set("MCP-Protocol-Version", c.version)
			}
			faults := schemas.faults(header, []byte(c.sent), answer{
				http.StatusOK, http.Header{"Content-Type": {"application/json"}}, []byte(c.answer)})
			if c.fault == "" && len(faults) > 0 {
				t.Errorf("found %v in what is right", faults)
			}
			if c.fault != "" && (len(faults) == 0 || !strings.Contains(faults[0].Error(), c.fault)) {
				t.Errorf("found %v, want one of %s", faults, c.fault)
			}
		})
	}
}
