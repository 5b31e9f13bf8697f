package local

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// authorized adds a token to every request.
type authorized struct{ token string }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return http.DefaultTransport.RoundTrip(r)
}

// connect opens a session of the official Go SDK with the shared server, in
// one revision.
func connect(t *testing.T, token string, v mcp.Version) *sdk.ClientSession {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	transport := &sdk.StreamableClientTransport{Endpoint: shared.URL + "/mcp", HTTPClient: &http.Client{Transport: authorized{token}}}
	session, err := c.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: string(v)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if got := session.InitializeResult().ProtocolVersion; got != string(v) {
		t.Fatalf("the session is in %s", got)
	}
	return session
}

// TestSDK_Resources: the SDK lists and reads every resource, and gets what
// plain HTTP gets.
func TestSDK_Resources(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		session, plain := connect(t, "demo-readonly", v), as("demo-readonly")
		if caps := session.InitializeResult().Capabilities; caps.Resources == nil || caps.Resources.Subscribe || caps.Resources.ListChanged {
			t.Errorf("%+v", caps)
		}
		var listed []string
		for r, err := range session.Resources(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, r.URI)
		}
		for r, err := range session.ResourceTemplates(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, r.URITemplate)
		}
		var want []string
		for _, d := range documents {
			want = append(want, d.uri)
			uri, _ := d.of(t, plain)
			r, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err != nil {
				t.Errorf("%s: %v", uri, err)
				continue
			}
			c := r.Contents[0]
			if len(r.Contents) != 1 || c.URI != uri || c.MIMEType != "application/json" || stable(c.Text) != stable(plain.read(t, uri)) {
				t.Errorf("%s: %+v", uri, c)
			}
		}
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, uri := range []string{"kobana://inbox/nothing", "kobana://inbox/emails/" + someID} {
			_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			wire, _ := errors.AsType[*jsonrpc.Error](err)
			code := int64(-32002)
			if v.Modern() {
				code = -32602
			}
			if wire == nil || wire.Code != code || !strings.Contains(string(wire.Data), uri) {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
}

// TestSDK_Prompts gets every prompt, and completes every argument of prompts
// and templates.
func TestSDK_Prompts_Completion(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		session, plain := connect(t, "demo-owner", v), as("demo-owner")
		inboxID := plain.id(t, "inboxes_list", nil)
		var names []string
		for p, err := range session.Prompts(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, p.Name)
			args := map[string]string{}
			for _, a := range p.Arguments {
				ref := &sdk.CompleteReference{Type: "ref/prompt", Name: p.Name}
				c, err := session.Complete(t.Context(), &sdk.CompleteParams{Ref: ref, Argument: sdk.CompleteParamsArgument{Name: a.Name}})
				if err != nil {
					t.Fatal(err)
				}
				want, _ := plain.complete(t, "ref/prompt", p.Name, a.Name, "")
				if !slices.Equal(c.Completion.Values, want) || c.Completion.HasMore {
					t.Errorf("%s of %s: %+v", a.Name, p.Name, c.Completion)
				}
				if a.Required {
					args[a.Name] = inboxID
				}
			}
			r, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			text, ok := r.Messages[0].Content.(*sdk.TextContent)
			if len(r.Messages) != 1 || r.Messages[0].Role != "user" || !ok || text.Text != plain.prompt(t, p.Name, object{"inbox_id": inboxID}) {
				t.Errorf("%s: %+v", p.Name, r.Messages)
			}
		}
		if !slices.Equal(names, []string{"review_failed_runs", "inbox_overview", "webhook_health", "usage_report"}) {
			t.Errorf("prompts: %v", names)
		}
		for _, d := range documents {
			if d.list == "" {
				continue
			}
			id := plain.id(t, d.list, nil)
			c, err := session.Complete(t.Context(), &sdk.CompleteParams{
				Ref: &sdk.CompleteReference{Type: "ref/resource", URI: d.uri}, Argument: sdk.CompleteParamsArgument{Name: "id", Value: id}})
			if err != nil || !slices.Equal(c.Completion.Values, []string{id}) {
				t.Errorf("%s: %+v, %v", d.uri, c, err)
			}
		}
		if _, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "inbox_overview"}); err == nil || !strings.Contains(err.Error(), "inbox_id") {
			t.Errorf("without its argument: %v", err)
		}
	})
}

// TestSDK_Tools calls every tool that reads.
func TestSDK_Tools(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		session, plain := connect(t, "demo-owner", v), as("demo-owner")
		var names []string
		for tool, err := range session.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if !tool.Annotations.ReadOnlyHint {
				continue
			}
			names = append(names, tool.Name)
			args := argsFor(t, plain, tool.Name)
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: args})
			if err != nil {
				t.Errorf("%s: %v", tool.Name, err)
				continue
			}
			text, ok := r.Content[0].(*sdk.TextContent)
			if len(r.Content) != 1 || r.IsError || !ok || stable(text.Text) != stable(plain.call(t, tool.Name, args).text) {
				t.Errorf("%s: %+v", tool.Name, r.Content)
			}
			if v != mcp.V20250326 && !sameJSON(t, text.Text, jsontext.Value(marshal(t, r.StructuredContent))) {
				t.Errorf("%s: structured %v", tool.Name, r.StructuredContent)
			}
		}
		if !slices.Equal(names, readTools) {
			t.Errorf("%v", names)
		}
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "emails_get", Arguments: object{"id": someID}})
		if err != nil || !r.IsError || r.Content[0].(*sdk.TextContent).Text != "not_found: id: There is no such e-mail in this workspace." {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); err == nil {
			t.Error("an unknown tool is no error")
		}
	})
}

// TestSDK_Pages goes through the e-mails two by two.
func TestSDK_Pages(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		session := connect(t, "demo-viewer", v)
		var subjects []any
		args := object{"limit": 2}
		for {
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "emails_list", Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			p := decode[page](t, jsontext.Value(r.Content[0].(*sdk.TextContent).Text))
			for _, e := range p.Data {
				subjects = append(subjects, e["subject"])
			}
			if p.NextCursor == nil {
				break
			}
			if len(p.Data) != 2 {
				t.Fatalf("a page of %d", len(p.Data))
			}
			args["cursor"] = *p.NextCursor
		}
		want := []any{
			"Re: Order 48213 has not arrived", "Order 48213 has not arrived", "応募 / Application: warehouse lead",
			"Your statement for November", nil, "Re: Wrong grind size", "Fatura 2026/0881 – vencimento dia 10",
			"Wrong grind size", "This week in coffee", "Refund for the August deposit",
		}
		if diff := cmp.Diff(want, subjects); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestSDK_BadToken(t *testing.T) {
	for _, v := range mcp.Versions() {
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		transport := &sdk.StreamableClientTransport{Endpoint: shared.URL + "/mcp", HTTPClient: &http.Client{Transport: authorized{"nobody"}}, MaxRetries: -1}
		if session, err := c.Connect(t.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: string(v)}); err == nil {
			session.Close()
			t.Errorf("%s: connected", v)
		} else if !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("%s: %v", v, err)
		}
	}
}
