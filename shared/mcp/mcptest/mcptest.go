// Package mcptest asks methods on the wire, as a client of a revision does: for
// the tests of the packages that have methods.
//
// It may import mcp and access.
package mcptest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Answer is what a client gets: a result or an error.
type Answer struct {
	Result jsontext.Value // nil for an error
	Error  *mcp.Error     // nil for a result
}

// Members are those of a result, without _meta, which is the server's.
func (a Answer) Members(t testing.TB) map[string]any {
	t.Helper()
	if a.Error != nil {
		t.Fatal(a.Error)
	}
	var members map[string]any
	if err := json.Unmarshal(a.Result, &members); err != nil {
		t.Fatalf("%v\n%s", err, a.Result)
	}
	delete(members, "_meta")
	return members
}

// Ask has a server of the methods answer one request of the caller, whose params
// are an object: anything that is encoded as one, such as a [jsontext.Value].
func Ask(t testing.TB, methods map[string]mcp.Method, caller *access.Caller, v mcp.Version, method string, params any) Answer {
	t.Helper()
	s := mcp.New(mcp.Options{
		Info:    mcp.Implementation{Name: "test", Version: "1"},
		Methods: methods,
		Admit: func(ctx context.Context, _ string) (context.Context, error) {
			return access.WithCaller(ctx, caller), nil
		},
	})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, request(t, v, method, params))
	var got struct {
		Result jsontext.Value `json:"result"`
		Error  *struct {
			Code    int            `json:"code"`
			Message string         `json:"message"`
			Data    jsontext.Value `json:"data"`
		} `json:"error"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("HTTP %d: %v\n%s", w.Code, err, w.Body)
	}
	if (got.Result == nil) == (got.Error == nil) {
		t.Fatalf("HTTP %d: neither a result nor an error, or both\n%s", w.Code, w.Body)
	}
	return Answer{got.Result, (*mcp.Error)(got.Error)}
}

func request(t testing.TB, v mcp.Version, method string, params any) *http.Request {
	t.Helper()
	var members map[string]jsontext.Value
	encoded, err := json.Marshal(params)
	if err == nil {
		err = json.Unmarshal(encoded, &members)
	}
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Mcp-Protocol-Version": {string(v)}}
	if v.Modern() {
		members["_meta"] = jsontext.Value(fmt.Sprintf(
			`{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}`, v))
		header.Set("Mcp-Method", method)
		if named := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[method]; named != "" {
			var name string
			json.Unmarshal(members[named], &name) // "" for one that is no text
			header.Set("Mcp-Name", "=?base64?"+base64.StdEncoding.EncodeToString([]byte(name))+"?=")
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": members})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(string(body)))
	r.Header = header
	return r
}
