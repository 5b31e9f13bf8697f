// Package wire is what a well-behaved client sends, for all that plays one:
// the tests on the wire and the soak. It imports mcp for the revisions.
package wire

import (
	"encoding/base64"
	"maps"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Object is a JSON object.
type Object = map[string]any

// Request is the body of a request with the id 1, and its headers as lines
// "Name: value". The version "" names none. A client of 2026-07-28 can show
// forms, unless params have a _meta of their own.
func Request(v mcp.Version, token, method string, params Object) (body string, headers []string) {
	headers = []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}
	if token != "" {
		headers = append(headers, "Authorization: Bearer "+token)
	}
	if v.Modern() || v != "" && v != mcp.V20250326 && method != "initialize" {
		headers = append(headers, "MCP-Protocol-Version: "+string(v))
	}
	message := Object{"jsonrpc": "2.0", "id": 1, "method": method}
	if v.Modern() {
		all := Object{"_meta": Meta(Object{"elicitation": Object{"form": Object{}}})}
		maps.Copy(all, params)
		params = all
		headers = append(headers, "Mcp-Method: "+method)
		member := map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}[method]
		if subject, ok := params[member].(string); ok {
			headers = append(headers, "Mcp-Name: =?base64?"+base64.StdEncoding.EncodeToString([]byte(subject))+"?=")
		}
	}
	if len(params) > 0 {
		message["params"] = params
	}
	text, err := json.Marshal(message, json.Deterministic(true))
	if err != nil {
		panic(err) // params that are no JSON: the caller's code is wrong
	}
	return string(text), headers
}

// Meta is the _meta of a client of 2026-07-28 with these capabilities.
func Meta(capabilities Object) Object {
	return Object{
		"io.modelcontextprotocol/protocolVersion":    mcp.V20260728,
		"io.modelcontextprotocol/clientCapabilities": capabilities,
	}
}

// Header is lines "Name: value" as a header.
func Header(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}
