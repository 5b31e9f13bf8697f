package differential_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/universokobana/kobana-inbox-mcp/infra/conformance/fixtures"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// pageSize is that of both servers' lists.
const pageSize = 5

// oracle serves the fixtures with the official Go SDK, without sessions and
// with JSON answers, as the product does.
func oracle(t *testing.T, set *fixtures.Set) http.Handler {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "kobana-inbox-fixtures", Version: "1.0.0"}, &sdk.ServerOptions{
		PageSize: pageSize,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{},
			Completions: &sdk.CompletionCapabilities{},
		},
		CompletionHandler: func(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return answer[sdk.CompleteResult](set.Complete, r.Params)
		},
	})
	for _, v := range set.Tools {
		server.AddTool(decode[sdk.Tool](t, v), func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return answer[sdk.CallToolResult](set.Call, r.Params)
		})
	}
	read := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return answer[sdk.ReadResourceResult](set.Read, r.Params)
	}
	for _, v := range set.Resources {
		server.AddResource(decode[sdk.Resource](t, v), read)
	}
	for _, v := range set.ResourceTemplates {
		server.AddResourceTemplate(decode[sdk.ResourceTemplate](t, v), read)
	}
	for _, v := range set.Prompts {
		server.AddPrompt(decode[sdk.Prompt](t, v), func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return answer[sdk.GetPromptResult](set.Get, r.Params)
		})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// answer has a fixture answer the params of the SDK, and returns its answer as
// the SDK's.
func answer[Result, Params any](fixture func(Params) (*mcp.Result, error), params any) (*Result, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	var p Params
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	result, err := fixture(p)
	if e, ok := errors.AsType[*mcp.Error](err); ok {
		return nil, &jsonrpc.Error{Code: int64(e.Code), Message: e.Message, Data: json.RawMessage(e.Data)}
	}
	if err != nil {
		return nil, err
	}
	r := new(Result)
	return r, json.Unmarshal(result.Fields, r)
}

func decode[T any](t *testing.T, text []byte) *T {
	t.Helper()
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
