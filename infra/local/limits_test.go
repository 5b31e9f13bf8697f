package local

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestRateLimit_5_18_9_08: one too many is a tool error in tools/call, HTTP 429
// elsewhere, and one person's haste is nobody else's wait.
func TestRateLimit_5_18_9_08(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		s := serve(t, func(c *Config) { c.RateLimit.PerSecond, c.RateLimit.Burst = 1e-6, 2 })
		c := as("demo-owner").at(s).in(v)
		for range 2 {
			if a := c.call(t, "models_list", nil); a.failed {
				t.Fatalf("%s", a.text)
			}
		}
		if a := c.call(t, "models_list", nil); a.status != http.StatusOK || !a.failed || a.code != "rate_limited" || !strings.HasPrefix(a.text, "rate_limited: ") {
			t.Errorf("HTTP %d %s", a.status, a.body)
		}
		for method, params := range map[string]object{
			"tools/list": nil, "resources/list": nil, "resources/read": {"uri": "kobana://inbox/models"}, "prompts/list": nil,
			"prompts/get": {"name": "webhook_health"}, "completion/complete": {"ref": object{"type": "ref/prompt", "name": "usage_report"},
				"argument": object{"name": "month", "value": ""}},
		} {
			if r := c.send(t, method, params); r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" || r.Error == nil {
				t.Errorf("%s: HTTP %d %s", method, r.status, r.body)
			}
		}
		if r := as("demo-viewer").at(s).in(v).send(t, "tools/list", nil); r.status != http.StatusOK {
			t.Errorf("another person: HTTP %d %s", r.status, r.body)
		}
	})
}

// TestBatch_1_06: the oldest revision's batches reach every family, in order.
func TestBatch_1_06(t *testing.T) {
	body := `[{"jsonrpc":"2.0","id":1,"method":"ping"},
		{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"models_list"}},
		{"jsonrpc":"2.0","method":"notifications/initialized"},
		{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"kobana://inbox/secrets"}},
		{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"webhook_health"}},
		{"jsonrpc":"2.0","id":5,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"usage_report"},"argument":{"name":"month","value":""}}},
		{"jsonrpc":"2.0","id":6,"method":"no/such"}]`
	r := as("").post(t, body, bearer("demo-readonly"))
	got := decode[[]struct {
		ID     jsontext.Value
		Result jsontext.Value
		Error  rpcError
	}](t, r.body)
	var seen []string
	for _, a := range got {
		code := ""
		if a.Result == nil {
			code = marshal(t, a.Error.Code)
		}
		seen = append(seen, string(a.ID)+code)
	}
	if want := `1 "b" 3-32002 4 5 6-32601`; strings.Join(seen, " ") != want || r.status != http.StatusOK {
		t.Errorf("HTTP %d %q", r.status, seen)
	}
	for version, path := range map[string]string{"2025-06-18": "/mcp", "2025-11-25": "/mcp", "2026-07-28": "/mcp", "2025-03-26": "/mcp/tools"} {
		r := postTo(t, shared.URL+path, body, bearer("demo-readonly"), "MCP-Protocol-Version: "+version)
		if r.status != http.StatusBadRequest || r.Error.Code != -32600 {
			t.Errorf("%s at %s: HTTP %d %s", version, path, r.status, r.body)
		}
	}
}

// syncBuffer is a log that many may write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// TestLog_12_18: the log tells of every request, and holds neither tokens nor
// what was read or sent.
func TestLog_12_18(t *testing.T) {
	var log syncBuffer
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(ctx, testConfig(dataDir(t)), slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	c := as("demo-owner").at(s)
	put(t, s, support, []byte(message("kept-subject")))
	id := c.id(t, "emails_list", nil)
	c.read(t, "kobana://inbox/emails/"+id)
	c.call(t, "emails_get", object{"id": id, "include_html": "kept-argument"})
	c.call(t, "emails_list", object{"from": "kept-filter@example.com"})
	link := get[struct{ URL string }](t, c, "emails_get_eml", object{"id": id}).URL
	exchange(t, http.MethodGet, link, "")
	c.prompt(t, "usage_report", object{"month": "2026-01"})
	c.complete(t, "ref/resource", "kobana://inbox/emails/{id}", "id", "0a1b2c")
	as("kept-token").at(s).send(t, "tools/list", nil)
	c.post(t, `{"jsonrpc":"2.0","id":1,"method":"kept-method`, bearer("demo-owner"))
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	text := log.b.String()
	for _, kept := range []string{"demo-owner", "kept-", "Hello.", "eva@example.com", "signature", "0a1b2c", "Bearer"} {
		if strings.Contains(text, kept) {
			t.Errorf("the log has %q:\n%s", kept, text)
		}
	}
	for _, told := range []string{`"method":"resources/read"`, `"subject":"emails_get"`, `"subject":"kobana://inbox/emails/` + id, `"protocol":"2026-07-28"`, `"status":401`} {
		if !strings.Contains(text, told) {
			t.Errorf("the log has no %s:\n%s", told, text)
		}
	}
}
