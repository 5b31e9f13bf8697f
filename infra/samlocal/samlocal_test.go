package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestSAMLocal sends one request of each method and era through sam local,
// which check.sh starts. Each takes the way that it takes in the cloud: by the
// API to the router, by the Lambda API to its family, or to a family at once.
func TestSAMLocal(t *testing.T) {
	s := connect(t)
	inbox := s.firstInbox(t)
	calls := []struct {
		method string
		params object
		member string // of the result
	}{
		{"tools/list", nil, "tools"},
		{"tools/call", object{"name": "inboxes_get", "arguments": object{"id": inbox}}, "content"},
		{"resources/list", nil, "resources"},
		{"resources/templates/list", nil, "resourceTemplates"},
		{"resources/read", object{"uri": "kobana://inbox/inboxes/" + inbox}, "contents"},
		{"prompts/list", nil, "prompts"},
		{"prompts/get", object{"name": "inbox_overview", "arguments": object{"inbox_id": inbox}}, "messages"},
		{"completion/complete", object{
			"ref": object{"type": "ref/prompt", "name": "inbox_overview"}, "argument": object{"name": "inbox_id", "value": inbox[:4]}}, "completion"},
	}
	for _, version := range mcp.Versions() {
		for _, c := range calls {
			t.Run(string(version)+" "+c.method, func(t *testing.T) {
				s.result(t, "/mcp", version, c.method, c.params, c.member)
			})
			t.Run(string(version)+" "+c.method+" at its family", func(t *testing.T) {
				s.result(t, "/mcp/"+string(mcp.FamilyOf(c.method)), version, c.method, c.params, c.member)
			})
		}
		if version.Modern() {
			t.Run(string(version)+" server/discover", func(t *testing.T) {
				s.result(t, "/mcp", version, "server/discover", nil, "supportedVersions")
			})
			continue
		}
		t.Run(string(version)+" initialize", func(t *testing.T) {
			s.result(t, "/mcp", "", "initialize", object{
				"protocolVersion": version, "capabilities": object{}, "clientInfo": object{"name": "check", "version": "1"}}, "serverInfo")
		})
		t.Run(string(version)+" ping", func(t *testing.T) { s.result(t, "/mcp", version, "ping", nil, "") })
		t.Run(string(version)+" notifications/initialized", func(t *testing.T) {
			status, _, body := s.post(t, "/mcp", version, "notifications/initialized", object{}, false)
			if status != http.StatusAccepted || len(body) > 0 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
}

// R12, R13, R15: the question, the yes, and the same yes again.
func TestSAMLocalConfirms(t *testing.T) {
	s := connect(t)
	params := object{"name": "inboxes_add_recipient", "arguments": object{"id": s.firstInbox(t), "email": "someone@example.com"}}
	asked := s.result(t, "/mcp", mcp.V20260728, "tools/call", params, "requestState")
	answers := object{}
	for key := range asked["inputRequests"].(object) {
		answers[key] = object{"action": "accept", "content": object{"confirm": true}}
	}
	params["requestState"], params["inputResponses"] = asked["requestState"], answers
	if done := s.result(t, "/mcp", mcp.V20260728, "tools/call", params, "content"); done["isError"] == true {
		t.Errorf("not done: %v", done)
	}
	again := s.result(t, "/mcp", mcp.V20260728, "tools/call", params, "content")
	if text := again["content"].([]any)[0].(object)["text"].(string); !strings.HasPrefix(text, "confirmation_replayed:") {
		t.Errorf("done again: %v", again)
	}
}

// Cases 1, 13, 17: what a client finds that is not signed in.
func TestSAMLocalWithoutToken(t *testing.T) {
	s := connect(t)
	s.token = ""
	status, header, _ := s.post(t, "/mcp", "", "tools/list", object{}, true)
	challenge := header.Get("WWW-Authenticate")
	if status != http.StatusUnauthorized || !strings.Contains(challenge, `resource_metadata="`+s.url+`/.well-known/oauth-protected-resource/mcp"`) {
		t.Errorf("%d %s", status, challenge)
	}
	for path, want := range map[string]string{
		"/.well-known/oauth-protected-resource/mcp": `"resource":"` + s.url + `/mcp"`,
		"/.well-known/oauth-protected-resource":     `"resource":"` + s.url + `/mcp"`,
		"/healthz":                                  "ok",
	} {
		resp, err := client.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, body, err)
		}
	}
}

// client waits for containers to start.
var client = &http.Client{Timeout: 60 * time.Second}

// server is sam local, with the token that requests to it bear.
type server struct{ url, token string }

// connect returns the server that check.sh started, or skips the test.
func connect(t *testing.T) server {
	t.Helper()
	s := server{os.Getenv("SAM_LOCAL_URL"), os.Getenv("SAM_LOCAL_TOKEN")}
	if s.url == "" {
		t.Skip("runs the functions in containers: make test-sam-local")
	}
	return s
}

// firstInbox is the id of an inbox.
func (s server) firstInbox(t *testing.T) string {
	t.Helper()
	result := s.result(t, "/mcp/tools", mcp.V20260728, "tools/call", object{"name": "inboxes_list", "arguments": object{}}, "structuredContent")
	return result["structuredContent"].(object)["data"].([]any)[0].(object)["id"].(string)
}

// result is what a request's result is, which has that member.
func (s server) result(t *testing.T, path string, version mcp.Version, method string, params object, member string) object {
	t.Helper()
	status, _, body := s.post(t, path, version, method, params, true)
	var answer struct {
		Result object `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusOK || answer.Result == nil {
		t.Fatalf("%s at %s: %d %.500s %v", method, path, status, body, err)
	}
	if _, ok := answer.Result[member]; !ok && member != "" {
		t.Fatalf("%s at %s has no %s: %.500s", method, path, member, body)
	}
	return answer.Result
}

// post sends what a client of that revision sends.
func (s server) post(t *testing.T, path string, version mcp.Version, method string, params object, wantsAnswer bool) (int, http.Header, []byte) {
	t.Helper()
	message := object{"jsonrpc": "2.0", "method": method}
	if wantsAnswer {
		message["id"] = 1
	}
	all := object{}
	for name, v := range params {
		all[name] = v
	}
	headers := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if s.token != "" {
		headers.Set("Authorization", "Bearer "+s.token)
	}
	if version != "" {
		headers.Set("Mcp-Protocol-Version", string(version))
	}
	if version.Modern() {
		all["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion":    version,
			"io.modelcontextprotocol/clientCapabilities": object{"elicitation": object{"form": object{}}},
		}
		headers.Set("Mcp-Method", method)
		if slices.Contains([]string{"tools/call", "prompts/get", "resources/read"}, method) {
			name, ok := all["name"].(string)
			if !ok {
				name = all["uri"].(string)
			}
			headers.Set("Mcp-Name", name)
		}
	}
	message["params"] = all
	body, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = headers
	resp, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, answer
}
