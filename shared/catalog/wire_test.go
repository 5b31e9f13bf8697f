package catalog

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// post sends a request through the protocol's own server, as a client of v
// does, and returns the HTTP status and the body.
func post(t *testing.T, c *Catalog, caller *access.Caller, v mcp.Version, method, name, params string) (int, string) {
	t.Helper()
	s := mcp.New(mcp.Options{
		Info:    mcp.Implementation{Name: "test", Version: "1"},
		Methods: c.Methods(),
		Admit: func(ctx context.Context, _ string) (context.Context, error) {
			return access.WithCaller(ctx, caller), nil
		},
	})
	members := []string{}
	if params != "" {
		members = append(members, params)
	}
	if v.Modern() {
		members = append(members, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, strings.Join(members, ","))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("MCP-Protocol-Version", string(v))
	if v.Modern() {
		r.Header.Set("Mcp-Method", method)
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// What a client of each era reads, byte for byte.
func TestOnTheWire(t *testing.T) {
	const (
		text     = `"content":[{"type":"text","text":"{\"url\":\"https://example.com/signed\",\"expires_at\":\"2026-12-02T12:00:00Z\"}"}]`
		record   = `"structuredContent":{"url":"https://example.com/signed","expires_at":"2026-12-02T12:00:00Z"}`
		server   = `"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}`
		notFound = `"content":[{"type":"text","text":"not_found: id: No such e-mail."}],"isError":true`
		code     = `"br.com.kobana/error":{"code":"not_found"}`
		params   = `"name":"emails_get_eml","arguments":{"id":"` + id1 + `"}`
	)
	for _, test := range []struct {
		name, want string
		v          mcp.Version
		err        error
	}{
		{"5.11 and 5.20", `{"resultType":"complete",` + text + `,` + record + `,"_meta":{` + server + `}}`, mcp.V20260728, nil},
		{"5.11 and 3.08", `{` + text + `,` + record + `}`, mcp.V20251125, nil},
		{"5.11 and 3.08", `{` + text + `,` + record + `}`, mcp.V20250618, nil},
		{"5.06", `{` + text + `}`, mcp.V20250326, nil},
		{"5.17", `{"resultType":"complete",` + notFound + `,"_meta":{` + server + `,` + code + `}}`, mcp.V20260728, inbox.Errorf(inbox.CodeNotFound, "id", "No such e-mail.")},
		{"5.17", `{` + notFound + `,"_meta":{` + code + `}}`, mcp.V20250618, inbox.Errorf(inbox.CodeNotFound, "id", "No such e-mail.")},
	} {
		t.Run(test.name+" "+string(test.v), func(t *testing.T) {
			status, got := post(t, newTest(&fake{err: test.err}), owner, test.v, "tools/call", "emails_get_eml", params)
			if diff := cmp.Diff(`{"jsonrpc":"2.0","id":1,"result":`+test.want+`}`, got); diff != "" || status != http.StatusOK {
				t.Errorf("HTTP %d: %s", status, diff)
			}
		})
	}
}

func TestListOnTheWire(t *testing.T) {
	none := member("guest", access.ScopeRead)
	for v, want := range map[mcp.Version]string{
		mcp.V20260728: `{"resultType":"complete","tools":[],"ttlMs":30000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}}`,
		mcp.V20251125: `{"tools":[]}`,
	} {
		if _, got := post(t, newTest(&fake{}), none, v, "tools/list", "", ""); got != `{"jsonrpc":"2.0","id":1,"result":`+want+`}` {
			t.Errorf("%s: %s", v, got)
		}
	}
}
