package access

import (
	"net/http"
	"strings"
	"testing"
)

const document = `{"resource":"https://inbox.example.com/mcp","authorization_servers":["https://issuer.example"],` +
	`"scopes_supported":["inbox.read"],"bearer_methods_supported":["header"],"resource_name":"Kobana Inbox"}`

func TestMetadata(t *testing.T) {
	w := newWorld(t)
	for name, path := range map[string]string{
		"12.05 path-suffixed":         MetadataPath + "/mcp",
		"12.05 root":                  MetadataPath,
		"case 13 with a final slash":  MetadataPath + "/mcp/",
		"12.06 whatever the query is": MetadataPath + "/mcp?resource=https://evil.example",
	} {
		t.Run(name, func(t *testing.T) {
			got := w.send(t, "GET", path, "Host", "evil.example", "X-Forwarded-Host", "evil.example")
			if got.status != 200 || got.header.Get("Content-Type") != "application/json" || got.body != document {
				t.Errorf("got %d %v\n%s", got.status, got.header, got.body)
			}
			if got.header.Get("Cache-Control") != "public, max-age=300" || got.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("got %v", got.header)
			}
			if strings.Contains(got.body, "offline_access") {
				t.Error("12.16: offline_access")
			}
		})
	}
	t.Run("HEAD", func(t *testing.T) {
		got := w.send(t, "HEAD", MetadataPath)
		if got.status != 200 || got.body != "" || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("got %d %v %q", got.status, got.header, got.body)
		}
	})
	t.Run("POST", func(t *testing.T) {
		got := w.send(t, "POST", MetadataPath)
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("got %d %v", got.status, got.header)
		}
	})
}

// A client that never sees the challenge finds all it needs to sign in.
func TestMetadataSuffices_case_1(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{MetadataPath + "/mcp", MetadataPath} {
		got := w.send(t, "GET", path).body
		for _, need := range []string{`"resource":"` + base + `/mcp"`, `"authorization_servers":["https://issuer.example"]`, `"inbox.read"`} {
			if !strings.Contains(got, need) {
				t.Errorf("%s lacks %s", path, need)
			}
		}
	}
}

// A local server with fixed tokens has no authorization server: the member is
// left out, as RFC 9728 §3.2 demands of empty ones.
func TestMetadataWithoutAuthorizationServers(t *testing.T) {
	g, err := NewGate(Options{PublicURL: "http://127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"resource":"http://127.0.0.1:8080/mcp","scopes_supported":["inbox.read"],"bearer_methods_supported":["header"]}`
	if string(g.metadata) != want {
		t.Errorf("got %s", g.metadata)
	}
}
