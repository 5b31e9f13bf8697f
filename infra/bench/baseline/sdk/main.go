// Command sdk serves the product's definitions by the official Go SDK, as its
// documentation has it: stateless, with JSON answers. The file that
// DEFINITIONS names has the lists and what the methods answer, so that both
// servers say the same.
//
// In Lambda it is a function, by the usual adapter; where there is a PORT, a
// server at it; elsewhere it measures itself (meter.go).
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// definitions are the results of the product's lists, and of one call of each
// other method.
type definitions struct {
	Tools             []*mcp.Tool
	Resources         []*mcp.Resource
	ResourceTemplates []*mcp.ResourceTemplate
	Prompts           []*mcp.Prompt

	Record     json.RawMessage // of tools/call and resources/read
	Prompt     *mcp.GetPromptResult
	Completion []string
}

func main() {
	text, err := os.ReadFile(os.Getenv("DEFINITIONS"))
	if err != nil {
		log.Fatal(err)
	}
	var d definitions
	if err := json.Unmarshal(text, &d); err != nil {
		log.Fatal(err)
	}
	server := d.server()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	if port := os.Getenv("PORT"); port != "" {
		log.Fatal(http.ListenAndServe("127.0.0.1:"+port, handler))
	}
	function := lambda.NewHandler(httpadapter.NewV2(handler).ProxyWithContext)
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		meter(handler, function)
		return
	}
	lambda.Start(function)
}

func (d *definitions) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "kobana-inbox", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{},
			Prompts: &mcp.PromptCapabilities{}, Completions: &mcp.CompletionCapabilities{},
		},
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: d.Completion}}, nil
		},
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: r.Params.URI, MIMEType: "application/json", Text: string(d.Record)},
		}}, nil
	}
	for _, t := range d.Tools {
		mcp.AddTool(s, t, func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, any, error) {
			return nil, d.Record, nil
		})
	}
	for _, r := range d.Resources {
		s.AddResource(r, read)
	}
	for _, t := range d.ResourceTemplates {
		s.AddResourceTemplate(t, read)
	}
	for _, p := range d.Prompts {
		s.AddPrompt(p, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return d.Prompt, nil })
	}
	return s
}
