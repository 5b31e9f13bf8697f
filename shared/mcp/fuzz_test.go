package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var integer = regexp.MustCompile(`^-?[0-9]+$`)

// FuzzEnvelope sends hostile bodies and headers. Whatever comes, the answer is
// valid JSON-RPC or an empty 202, it has the request's id byte for byte, and a
// router answers a single message as a server of everything does.
func FuzzEnvelope(f *testing.F) {
	for _, r := range []*http.Request{
		modern("tools/list", ""), modern("server/discover", ""), modern("ping", ""), tool("ok"), tool("ask"), tool("missing"), tool("capability"),
		modern("resources/read", `"uri":"x://é"`, "Mcp-Name: =?base64?eDovL8Op?="), modern("prompts/get", `"name":"p"`, "Mcp-Name: é"),
		legacy("", "initialize", `"protocolVersion":"2025-06-18","clientInfo":{"name":"a"}`), legacy("2025-11-25", "ping", ""), legacyTool("missing"),
		legacy("2025-03-26", "tools/list", `"cursor":"`+secondPage+`"`), legacy("2099-01-01", "tools/call", `"name":[]`), post(notification),
		post(array(rpc("1", "ping", ""), notification, callTool(`"2"`, "ok"), `7`)), post(`[]`), post(`{"jsonrpc":"2.0","id":1.0,"method":"ping"}`),
		post(`{"jsonrpc":"2.0","id":1,"id":1}`), post("{\"\xff\":1}"), post(strings.Repeat("[", 200)), post(`{"jsonrpc":"2.0","id":1,"result":{}}`),
	} {
		body, _ := io.ReadAll(r.Body)
		f.Add(body, r.Header.Get("MCP-Protocol-Version"), r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name"))
	}
	whole, split := fixture(), router()
	f.Fuzz(func(t *testing.T, body []byte, version, method, name string) {
		request := func() *http.Request {
			r := httptest.NewRequest("POST", "/mcp", strings.NewReader(string(body)))
			for header, value := range map[string]string{"MCP-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
				if value != "" {
					r.Header.Set(header, value)
				}
			}
			return r
		}
		if kind(body) == '[' {
			checkBatch(t, send(t, split, request()))
			return
		}
		a, b := send(t, whole, request()), send(t, split, request())
		if a.status != b.status || string(a.body) != string(b.body) {
			t.Errorf("a server of everything: %d %s\nthrough a router: %d %s", a.status, a.body, b.status, b.body)
		}
		checkSingle(t, body, a)
	})
}

func kind(body []byte) jsontext.Kind { return jsontext.Value(body).Kind() }

func checkSingle(t *testing.T, body []byte, a *reply) {
	var m struct {
		ID     jsontext.Value `json:"id"`
		Method jsontext.Value `json:"method"`
	}
	err := json.Unmarshal(body, &m)
	wantID := ""
	if id := string(m.ID); err == nil && kind(body) == '{' && (m.ID.Kind() == '"' || integer.MatchString(id)) {
		wantID = id
	}
	switch {
	case a.status == http.StatusAccepted:
		if m.ID != nil || len(a.body) != 0 {
			t.Errorf("202 for %s: %s", body, a.body)
		}
	case wantID == "" && (string(a.json.ID) == "null" || a.json.ID == nil) && a.code() != 0:
	case wantID != string(a.json.ID) && a.code() != -32700: // -32700 may also be its depth
		t.Errorf("id %s came back as %s: %s", m.ID, a.json.ID, a.body)
	}
}

func checkBatch(t *testing.T, a *reply) {
	if a.status == http.StatusAccepted && len(a.body) == 0 {
		return
	}
	if kind(a.body) != '[' {
		return // refused whole; send has looked at it
	}
	var items []struct {
		JSONRPC string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(a.body, &items, json.RejectUnknownMembers(true)); err != nil || len(items) == 0 || len(items) > 20 {
		t.Fatalf("%s: %v", a.body, err)
	}
	for _, i := range items {
		if i.JSONRPC != "2.0" || i.ID == nil || (i.Result == nil) == (i.Error == nil) {
			t.Errorf("%s", a.body)
		}
	}
}
