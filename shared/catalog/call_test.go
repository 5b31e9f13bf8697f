package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Every tool that reads, called with every argument it has: what the service is
// asked. [everyWrite] has the others.
var everyCall = []struct{ tool, args, asked string }{
	{"models_list", `{}`, "Models"},
	{"usage_get", `{"month":"2024-02"}`, "Usage %s 2024-02-01T00:00:00Z 2024-02-29T00:00:00Z"},
	{"workspaces_list", `{"limit":3,"cursor":"c"}`, "Workspaces [%s] {3 c 750000}"},
	{"workspaces_get", `{"id":"` + id1 + `"}`, "Workspace [%s] " + id1},
	{"inboxes_list", `{"limit":3,"cursor":"c"}`, "Inboxes %s {3 c 750000}"},
	{"inboxes_get", `{"id":"` + id1 + `"}`, "Inbox %s " + id1},
	{"emails_list", `{"inbox_id":"` + id1 + `","status":"failed","from":"ana@example.com","since":"2026-12-01","until":"2026-12-01","limit":3,"cursor":"c"}`,
		"Emails %s {" + id1 + " failed ana@example.com 2026-12-01 00:00:00 +0000 UTC 2026-12-02 00:00:00 +0000 UTC} {3 c 750000}"},
	{"emails_get", `{"id":"` + id1 + `","include_html":true}`, "Email %s " + id1},
	{"emails_get_eml", `{"id":"` + id1 + `"}`, "EmailLink %s " + id1},
	{"agents_list", `{"limit":3,"cursor":"c"}`, "Agents %s {3 c 750000}"},
	{"agents_get", `{"id":"` + id1 + `"}`, "Agent %s " + id1},
	{"agent_runs_list", `{"inbox_id":"` + id1 + `","agent_id":"` + id2 + `","email_id":"` + id1 + `","status":"failed","since":"2026-12-01T10:00:00Z","until":"2026-12-01T11:00:00Z","limit":3,"cursor":"c"}`,
		"AgentRuns %s {" + id1 + " " + id2 + " " + id1 + " failed 2026-12-01 10:00:00 +0000 UTC 2026-12-01 11:00:00 +0000 UTC} {3 c 750000}"},
	{"agent_runs_get", `{"id":"` + id1 + `"}`, "AgentRun %s " + id1},
	{"workflow_runs_list", `{"email_id":"` + id1 + `","limit":3,"cursor":"c"}`, "WorkflowRuns %s {" + id1 + "} {3 c 750000}"},
	{"workflow_runs_get", `{"id":"` + id1 + `"}`, "WorkflowRun %s " + id1},
	{"webhooks_list", `{"limit":3,"cursor":"c"}`, "Webhooks %s {3 c 750000}"},
	{"webhooks_get", `{"id":"` + id1 + `"}`, "Webhook %s " + id1},
	{"webhooks_deliveries_list", `{"webhook_id":"` + id1 + `","status":"failed","limit":3,"cursor":"c"}`, "Deliveries %s " + id1 + " {failed} {3 c 750000}"},
	{"webhooks_deliveries_get", `{"webhook_id":"` + id1 + `","id":"` + id2 + `"}`, "Delivery %s " + id1 + " " + id2},
	{"system_events_list", `{"slug":"webhook.test","email_id":"` + id1 + `","limit":3,"cursor":"c"}`, "SystemEvents %s {webhook.test " + id1 + "} {3 c 750000}"},
	{"system_events_get", `{"id":"` + id1 + `"}`, "SystemEvent %s " + id1},
	{"secrets_list", `{"limit":3,"cursor":"c"}`, "Secrets %s {3 c 750000}"},
}

func TestEveryReadingTool(t *testing.T) {
	called := map[string]bool{}
	for _, e := range everyCall {
		called[e.tool] = true
		for _, v := range mcp.Versions() {
			f := &fake{}
			c := newTest(f)
			r := callAt(t, c, owner, v, e.tool, e.args)
			if r.IsError {
				t.Errorf("%s: %s", e.tool, r.text())
				continue
			}
			if diff := cmp.Diff([]string{strings.ReplaceAll(e.asked, "%s", string(here))}, f.asked); diff != "" {
				t.Errorf("%s: %s", e.tool, diff)
			}
			if len(r.Content) != 1 || r.Content[0].Type != "text" || !strings.HasPrefix(r.text(), "{") {
				t.Errorf("5.12 %s: content %v", e.tool, r.Content)
			}
			if v == mcp.V20250326 && r.Structured != nil {
				t.Errorf("5.06 %s: structuredContent in %s", e.tool, v)
			}
			if v != mcp.V20250326 && string(r.Structured) != r.text() {
				t.Errorf("5.11 %s: the text is not the structured content: %s", e.tool, r.text())
			}
			for _, null := range []string{`"data":null`, `"steps":null`, `"to":null`, `"attachments":null`, `"headers":null`, `metadata":null`, `"payload":null`} {
				if strings.Contains(r.text(), null) {
					t.Errorf("%s: %s in %s", e.tool, null, r.text())
				}
			}
		}
		given := map[string]any{}
		decode(t, []byte(e.args), &given)
		for _, field := range newTest(&fake{}).byName[e.tool].Input {
			if _, ok := given[field.Name]; !ok {
				t.Errorf("%s was not called with %s", e.tool, field.Name)
			}
		}
	}
	for _, tool := range newTest(&fake{}).Tools() {
		if tool.Hints.ReadOnly && !called[tool.Name] {
			t.Errorf("%s was not called", tool.Name)
		}
	}
}

// 5.13: wrong arguments of every tool are isError results that name the field,
// in every era alike (5.14); the service is not asked.
func TestWrongArguments_5_13(t *testing.T) {
	wrong := map[string]string{
		"string": `7`, "integer": `"x"`, "number": `"x"`, "boolean": `"x"`, "array": `"x"`, "object": `"x"`,
	}
	f := &fake{}
	c := newTest(f)
	for _, tool := range c.Tools() {
		cases := map[string]string{"unknown": `"unknown":1`}
		for i := range tool.Input {
			field := &tool.Input[i]
			kind := kinds[field.Kind]
			cases[field.Name] = fmt.Sprintf("%q:%s", field.Name, wrong[kind.jsonType])
			if !field.Nullable {
				cases[field.Name+" "] = fmt.Sprintf("%q:null", field.Name)
			}
			if kind.read != nil || field.Enum != nil {
				cases[field.Name+"  "] = fmt.Sprintf("%q:%q", field.Name, "not it")
			}
		}
		for name, member := range cases {
			for _, v := range mcp.Versions() {
				r := callAt(t, c, owner, v, tool.Name, "{"+member+"}")
				if !r.IsError || r.Code != "invalid_arguments" || r.Structured != nil ||
					!strings.HasPrefix(r.text(), "invalid_arguments: ") || !strings.Contains(r.text(), strings.TrimSpace(name)) {
					t.Errorf("%s {%s}: %+v", tool.Name, member, r)
				}
			}
		}
	}
	if f.asked != nil {
		t.Errorf("the service was asked: %v", f.asked)
	}
}

// 5.15, 5.16: a wrong shape, an unknown tool and one that is not permitted are
// JSON-RPC errors; the last two have the same answer.
func TestRefusedShapes_5_15_and_5_16(t *testing.T) {
	c := newTest(&fake{})
	viewer := member(access.Viewer, access.ScopeWrite)
	for params, want := range map[string]string{
		`{}`:                                     "name",
		`{"name":""}`:                            "name",
		`{"name":7}`:                             "",
		`{"name":null}`:                          "name",
		`{"name":"models_list","arguments":[]}`:  "arguments must be an object",
		`{"name":"models_list","arguments":"x"}`: "arguments must be an object",
		`{"name":"models_list","arguments":null}`: "arguments must be an object",
		`{"name":"nope","arguments":{}}`:          `unknown tool "nope"`,
		`{"name":"secrets_list"}`:                 `unknown tool "secrets_list"`,
		`{"name":"MODELS_LIST"}`:                  `unknown tool "MODELS_LIST"`,
	} {
		for _, v := range mcp.Versions() {
			_, err := send(t.Context(), c, viewer, v, "tools/call", params)
			e, ok := errors.AsType[*mcp.Error](err)
			if !ok || e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, want) {
				t.Errorf("%s: %v, want -32602 %s", params, err, want)
			}
		}
	}
	if _, err := send(t.Context(), c, nil, mcp.V20260728, "tools/call", `{"name":"models_list"}`); err == nil {
		t.Error("called by nobody")
	}
}

func TestAbsentArgumentsAndForeignMembers_2_17(t *testing.T) {
	c := newTest(&fake{})
	for _, params := range []string{
		`{"name":"models_list"}`,
		`{"name":"models_list","arguments":{},"task":{"ttl":1},"_meta":{"progressToken":7}}`,
		`{"name":"models_list","inputResponses":{"confirm":{}},"requestState":"x"}`,
	} {
		r, err := send(t.Context(), c, owner, mcp.V20251125, "tools/call", params)
		if err != nil || bytes.Contains(r.Fields, []byte("isError")) {
			t.Errorf("%s: %v %v", params, r, err)
		}
	}
}

// Permission comes first, then scope, then the call is counted: a
// tool that is not permitted is unknown, whatever the token's scopes.
func TestOrderOfChecks(t *testing.T) {
	var order []string
	c := newTest(&fake{}, func(o *Options) {
		o.RequireScope = func(c *access.Caller, need access.Scopes) error {
			order = append(order, "scope "+need.String())
			if !c.Scopes.Allow(need) {
				return &mcp.Refusal{Status: http.StatusForbidden, Err: mcp.Errorf(403, "no")}
			}
			return nil
		}
		o.Limit = func(*access.Caller) (time.Duration, bool) { order = append(order, "limit"); return 0, true }
	})
	_, err := send(t.Context(), c, member(access.Viewer, 0), mcp.V20260728, "tools/call", `{"name":"secrets_list"}`)
	if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeInvalidParams || order != nil {
		t.Errorf("not permitted: %v after %v", err, order)
	}
	_, err = send(t.Context(), c, member(access.Owner, 0), mcp.V20260728, "tools/call", `{"name":"secrets_list"}`)
	if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != http.StatusForbidden {
		t.Errorf("no scope: %v", err)
	}
	call(t, c, owner, "secrets_list", "{}")
	if diff := cmp.Diff([]string{"scope inbox.read", "scope inbox.read", "limit"}, order); diff != "" {
		t.Error(diff)
	}
	_, err = send(t.Context(), newTest(&fake{}), member(access.Owner, 0), mcp.V20260728, "tools/call", `{"name":"secrets_list"}`)
	if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != http.StatusForbidden {
		t.Errorf("no scope, by default: %v", err)
	}
}

func TestRateLimited_5_18(t *testing.T) {
	f := &fake{}
	c := newTest(f, func(o *Options) {
		o.Limit = func(*access.Caller) (time.Duration, bool) { return 1200 * time.Millisecond, false }
	})
	r := call(t, c, owner, "models_list", "{}")
	if want := "rate_limited: Too many calls; nothing was done. Try again in 2s."; !r.IsError || r.Code != "rate_limited" || r.text() != want {
		t.Errorf("%+v, want %s", r, want)
	}
	if f.asked != nil {
		t.Errorf("the service was asked: %v", f.asked)
	}
}

// 5.17: what the service answers becomes a tool error with its code. What is
// broken is logged, and shown without internals.
func TestErrors_5_17(t *testing.T) {
	secret := errors.New("dial 10.0.0.7: refused")
	for _, test := range []struct {
		err        error
		code, text string
		logged     bool
	}{
		{inbox.Errorf(inbox.CodeNotFound, "", "There is no such e-mail."), "not_found", "not_found: There is no such e-mail.", false},
		{inbox.Errorf(inbox.CodeInvalid, "cursor", "It is of another list."), "invalid_arguments", "invalid_arguments: cursor: It is of another list.", false},
		{inbox.Errorf(inbox.CodeInvalid, "cursor", "cursor is of another list."), "invalid_arguments", "invalid_arguments: cursor is of another list.", false},
		{fmt.Errorf("wrapped: %w", inbox.Errorf(inbox.CodeConflict, "", "Taken.")), "conflict", "conflict: Taken.", false},
		{inbox.Errorf(inbox.CodeLimit, "", "No more."), "limit_exceeded", "limit_exceeded: No more.", false},
		{&inbox.Error{Code: inbox.CodeUnavailable, Message: "Try later.", Err: secret}, "unavailable", "unavailable: Try later.", true},
		{&inbox.Error{Code: inbox.CodeUnavailable, Message: "Try later.", Err: fmt.Errorf("%w: %w", secret, context.DeadlineExceeded)},
			"timeout", "timeout: This took too long and was given up; nothing was returned. Try again, or ask for less.", true},
		{secret, "internal", "internal: Something broke here; nothing was returned. Try again later.", true},
	} {
		var log bytes.Buffer
		c := newTest(&fake{err: test.err}, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		r := call(t, c, owner, "emails_get", `{"id":"`+id1+`"}`)
		if !r.IsError || r.Code != test.code || r.text() != test.text || r.Structured != nil {
			t.Errorf("%v: %+v, want %s", test.err, r, test.text)
		}
		if strings.Contains(log.String(), secret.Error()) != test.logged || strings.Contains(log.String(), id1) {
			t.Errorf("%v: logged %q", test.err, log.String())
		}
	}
}

// 13.09: a tool that takes too long ends before the server's own limit, with
// an answer.
func TestTimeout_13_09(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := call(t, newTest(&fake{wait: true}), owner, "models_list", "{}")
		if r.Code != "timeout" || r.text() != "timeout: This took too long and was given up; nothing was returned. Try again, or ask for less." {
			t.Errorf("%+v", r)
		}
		if d := time.Since(begin); d != 18*time.Second {
			t.Errorf("given up after %v, want 18 s", d)
		}
	})
}

func TestWorkspacesAreJudgedThere(t *testing.T) {
	guest := access.Membership{Workspace: there, Role: access.Viewer}
	none := access.Membership{Workspace: "none", Role: "guest"}
	for _, test := range []struct {
		caller            *access.Caller
		tool, args, asked string
	}{
		{member(access.Owner, access.ScopeRead, guest, none), "workspaces_list", `{}`, fmt.Sprintf("Workspaces [%s %s] {0  750000}", here, there)},
		{member(access.Owner, access.ScopeRead, guest, none), "workspaces_get", `{}`, fmt.Sprintf("Workspace [%s %s] %s", here, there, here)},
		{member("guest", access.ScopeRead, guest), "workspaces_get", `{"id":"` + string(here) + `"}`, fmt.Sprintf("Workspace [%s] %s", there, here)},
	} {
		f := &fake{}
		call(t, newTest(f), test.caller, test.tool, test.args)
		if diff := cmp.Diff([]string{test.asked}, f.asked); diff != "" {
			t.Error(diff)
		}
	}
}

// R1: without a month, usage is of the last 30 days, today included, in UTC.
func TestUsageOfTheLast30Days_R1(t *testing.T) {
	f := &fake{}
	late := time.Date(2026, 12, 2, 22, 30, 0, 0, time.FixedZone("", -3*3600)) // the 3rd in UTC
	call(t, newTest(f, func(o *Options) { o.Now = func() time.Time { return late } }), owner, "usage_get", `{}`)
	want := []string{fmt.Sprintf("Usage %s 2026-11-04T00:00:00Z 2026-12-03T00:00:00Z", here)}
	if diff := cmp.Diff(want, f.asked); diff != "" {
		t.Error(diff)
	}
}

// R3, R18: resources are read by the tools, with their permissions, and the
// same JSON.
func TestRead_R3_and_R18(t *testing.T) {
	f := &fake{}
	c := newTest(f)
	got, err := c.Read(t.Context(), member(access.Viewer, access.ScopeRead), "inboxes_get", map[string]string{"id": id1})
	if want := call(t, c, owner, "inboxes_get", `{"id":"`+id1+`"}`); err != nil || string(got) != want.text() {
		t.Errorf("%s %v, want %s", got, err, want.text())
	}
	if _, err := c.Read(t.Context(), owner, "models_list", nil); err != nil {
		t.Error(err)
	}
	f.asked = nil
	for _, test := range []struct {
		caller *access.Caller
		tool   string
	}{
		{member(access.Viewer, access.ScopeRead), "secrets_list"}, {member(access.Owner, 0), "models_list"}, {owner, "nope"},
	} {
		if _, err := c.Read(t.Context(), test.caller, test.tool, nil); err == nil || f.asked != nil {
			t.Errorf("%s was read", test.tool)
		}
	}
	_, err = c.Read(t.Context(), owner, "inboxes_get", map[string]string{"id": "../x"})
	if e, ok := errors.AsType[*inbox.Error](err); !ok || e.Code != inbox.CodeInvalid || f.asked != nil {
		t.Errorf("a malformed id: %v", err)
	}
	f.err = inbox.Errorf(inbox.CodeNotFound, "", "No.")
	_, err = c.Read(t.Context(), owner, "inboxes_get", map[string]string{"id": id1})
	if e, ok := errors.AsType[*inbox.Error](err); !ok || e.Code != inbox.CodeNotFound {
		t.Errorf("not found: %v", err)
	}
	f.err = context.DeadlineExceeded
	if _, err = c.Read(t.Context(), owner, "models_list", nil); inbox.CodeOf(err) != CodeTimeout || !errors.Is(err, context.DeadlineExceeded) ||
		!strings.HasPrefix(err.Error(), "timeout: This took too long and was given up; nothing was returned.") {
		t.Errorf("time was over: %v", err)
	}
}
