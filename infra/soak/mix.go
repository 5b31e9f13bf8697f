package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// kinds are what is sent, and of a hundred how many: some of them are many
// requests.
var kinds = []struct {
	share int
	do    func(*client) error
}{
	{10, (*client).begins},
	{15, (*client).lists},
	{20, (*client).reads},
	{10, (*client).gets},
	{10, (*client).completes},
	{20, (*client).callsReaders},
	{10, (*client).errs},
	{5, (*client).writes},
}

// mix is the requests to one server.
type mix struct {
	url     string
	http    *http.Client
	count   atomic.Int64
	clients int
}

func newMix(url string) *mix {
	return &mix{url: url, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

func (m *mix) requests() int { return int(m.count.Load()) }

func (m *mix) close() { m.http.CloseIdleConnections() }

// client is the next one; each does something else.
func (m *mix) client(ctx context.Context) *client {
	m.clients++
	return &client{ctx: ctx, url: m.url, http: m.http, count: &m.count, rand: rand.New(rand.NewPCG(uint64(m.clients), 0))}
}

// run sends at least n requests, by so many clients at once.
func (m *mix) run(ctx context.Context, n, workers int) error {
	until := m.count.Load() + int64(n)
	errs := make([]error, workers)
	var all sync.WaitGroup
	for i := range workers {
		c := m.client(ctx)
		all.Go(func() {
			for errs[i] == nil && m.count.Load() < until {
				errs[i] = c.one()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// one does one of the kinds.
func (c *client) one() error {
	at := c.rand.IntN(100)
	for _, k := range kinds {
		if at -= k.share; at < 0 {
			return k.do(c)
		}
	}
	return nil
}

func (c *client) version() mcp.Version { return pick(c, append(mcp.Versions(), mcp.V20260728)...) }

// begins does what clients do first.
func (c *client) begins() error {
	v := c.version()
	if v.Modern() {
		_, err := c.send(v, "server/discover", nil, 0)
		return err
	}
	_, err := c.send(v, "initialize", object{"protocolVersion": v, "capabilities": object{}, "clientInfo": object{"name": "soak", "version": "1"}}, 0)
	if err != nil {
		return err
	}
	if err := c.refused(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, http.StatusAccepted, 0); err != nil {
		return err
	}
	_, err = c.send(v, "ping", nil, 0)
	return err
}

func (c *client) lists() error {
	_, err := c.send(c.version(), pick(c, "tools/list", "resources/list", "resources/templates/list", "prompts/list"), nil, 0)
	return err
}

// families are those whose records have a template, and where there is one.
var families = []struct{ tool, uri string }{
	{"workspaces", "kobana://inbox/workspaces/"}, {"inboxes", "kobana://inbox/inboxes/"}, {"emails", "kobana://inbox/emails/"},
	{"agents", "kobana://inbox/agents/"}, {"agent_runs", "kobana://inbox/agent-runs/"}, {"workflow_runs", "kobana://inbox/workflow-runs/"},
	{"webhooks", "kobana://inbox/webhooks/"}, {"system_events", "kobana://inbox/system-events/"},
}

// nobody is the id of no record.
const nobody = "01890000-0000-7000-8000-000000000000"

// oldest is the id of the last record of a list's first page: what this
// command makes is newer, and is deleted again.
func (c *client) oldest(v mcp.Version, tool string, arguments object) (string, error) {
	page, err := c.record(v, tool, arguments)
	if err != nil {
		return "", err
	}
	records, _ := page["data"].([]any)
	if len(records) == 0 {
		return "", errors.New(tool + " is empty")
	}
	last, _ := records[len(records)-1].(object)
	id, _ := last["id"].(string)
	return id, nil
}

// reads reads resources, some of which are not there.
func (c *client) reads() error {
	v, code := c.version(), 0
	uri := pick(c, "kobana://inbox/models", "kobana://inbox/usage")
	switch c.rand.IntN(4) {
	case 0:
		uri, code = pick(c, "kobana://inbox/no-such", "kobana://inbox/emails/"+nobody, "x://y"), mcp.CodeResourceNotFound
		if v.Modern() {
			code = mcp.CodeInvalidParams
		}
	case 1, 2:
		f := pick(c, families...)
		id, err := c.oldest(v, f.tool+"_list", object{})
		if err != nil {
			return err
		}
		uri = f.uri + id
	}
	_, err := c.send(v, "resources/read", object{"uri": uri}, code)
	return err
}

func (c *client) gets() error {
	v := c.version()
	switch c.rand.IntN(4) {
	case 0:
		_, err := c.send(v, "prompts/get", object{"name": "inbox_overview", "arguments": object{"inbox_id": nobody}}, 0)
		return err
	case 1:
		_, err := c.send(v, "prompts/get", object{"name": pick(c, "no_such", "inbox_overview"), "arguments": object{}}, mcp.CodeInvalidParams)
		return err
	}
	_, err := c.send(v, "prompts/get", object{"name": pick(c, "review_failed_runs", "webhook_health", "usage_report")}, 0)
	return err
}

func (c *client) completes() error {
	ref, name := object{"type": "ref/prompt", "name": "usage_report"}, "month"
	if c.rand.IntN(2) == 0 {
		ref, name = object{"type": "ref/resource", "uri": pick(c, families...).uri + "{id}"}, "id"
	}
	_, err := c.send(c.version(), "completion/complete", object{"ref": ref, "argument": object{"name": name, "value": pick(c, "", "0", "2026")}}, 0)
	return err
}

// callsReaders calls the tools that only read, also with what they refuse.
func (c *client) callsReaders() error {
	v := c.version()
	f := pick(c, families...)
	switch c.rand.IntN(6) {
	case 0:
		_, err := c.call(v, "emails_list", pick(c, object{"limit": 0}, object{"since": "x"}, object{"nothing": 1}), nil, "invalid_arguments")
		return err
	case 1:
		_, err := c.call(v, "emails_get", object{"id": nobody}, nil, "not_found")
		return err
	case 2:
		_, err := c.record(v, pick(c, "models_list", "usage_get", "secrets_list", f.tool+"_list"), object{})
		return err
	case 3:
		webhook, err := c.oldest(v, "webhooks_list", object{})
		if err != nil {
			return err
		}
		delivery, err := c.oldest(v, "webhooks_deliveries_list", object{"webhook_id": webhook})
		if err != nil {
			return err
		}
		_, err = c.record(v, "webhooks_deliveries_get", object{"webhook_id": webhook, "id": delivery})
		return err
	}
	id, err := c.oldest(v, f.tool+"_list", object{})
	if err != nil {
		return err
	}
	tool := f.tool + "_get"
	if f.tool == "emails" {
		tool = pick(c, "emails_get", "emails_get_eml")
	}
	_, err = c.record(v, tool, object{"id": id})
	return err
}

// refused sends a body that must have that HTTP status and JSON-RPC error code.
func (c *client) refused(body string, header http.Header, status, code int) error {
	a, err := c.post(body, header)
	if err != nil {
		return err
	}
	if a.status != status || a.Error.Code != code {
		return errors.New("sent " + body[:min(200, len(body))] + ", was answered " + http.StatusText(a.status) + " " + string(a.body[:min(300, len(a.body))]))
	}
	return nil
}

// errs sends what no client should.
func (c *client) errs() error {
	const bad = http.StatusBadRequest
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	switch c.rand.IntN(8) {
	case 0:
		return c.refused(pick(c, "", "{bad", `{"a":1,"a":2}`, strings.Repeat("[", 100_000), "\"\xff\""), nil, bad, mcp.CodeParse)
	case 1:
		return c.refused(pick(c, "7", "[]", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`), nil, bad, mcp.CodeInvalidRequest)
	case 2:
		return c.refused(list, http.Header{"Mcp-Protocol-Version": {"1900-01-01"}}, bad, mcp.CodeUnsupportedProtocol)
	case 3:
		_, err := c.send(c.version(), pick(c, "no/such", "logging/setLevel", "resources/subscribe", "subscriptions/listen"), nil, mcp.CodeMethodNotFound)
		return err
	case 4:
		_, err := c.send(c.version(), pick(c, "tools/call", "prompts/get", "resources/read"), object{"name": 7, "uri": 7}, mcp.CodeInvalidParams)
		return err
	case 5:
		_, err := c.send(c.version(), pick(c, "tools/list", "resources/list", "prompts/list"), object{"cursor": "zz"}, mcp.CodeInvalidParams)
		return err
	case 6:
		body, headers := wire.Request(mcp.V20260728, "demo-owner", "tools/call", object{"name": "models_list"})
		header := wire.Header(headers...)
		header[pick(c, "Mcp-Method", "Mcp-Name")] = []string{"other"}
		return c.refused(body, header, bad, mcp.CodeHeaderMismatch)
	}
	a, err := c.post(list, http.Header{"Authorization": pick(c, []string{"Bearer nobody"}, nil)})
	if err == nil && a.status != http.StatusUnauthorized {
		err = errors.New("a stranger was answered HTTP " + http.StatusText(a.status))
	}
	return err
}
