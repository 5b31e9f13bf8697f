package completion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp/mcptest"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

const id = "0198c0de-7a11-7000-8000-00000000beef"

// tools is a catalog whose tools the caller may run as it says.
type tools func(tool string) bool

func (f tools) May(_ *access.Caller, tool string) bool { return f(tool) }

func all(string) bool { return true }

// service has the same newest ids in every family, and writes down what it is
// asked.
type service struct {
	ids   []string
	more  bool
	err   error
	asked []string
}

func (s *service) RecentIDs(_ context.Context, ws access.WorkspaceID, f inbox.Family, prefix string, n int) ([]string, bool, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s %s %q %d", ws, f, prefix, n))
	return s.ids, s.more, s.err
}

func caller() *access.Caller {
	member := func(ws access.WorkspaceID, role access.Role, suspended bool) access.Membership {
		return access.Membership{Workspace: ws, Role: role, Suspended: suspended}
	}
	return &access.Caller{
		Membership: member("0198aaaa-0000-7000-8000-000000000001", access.Owner, false),
		Memberships: []access.Membership{
			member("0198aaaa-0000-7000-8000-000000000001", access.Owner, false),
			member("0198aaaa-0000-7000-8000-000000000002", access.Owner, true),
			{Workspace: "0198aaaa-0000-7000-8000-000000000003", Role: access.Owner, Explicit: []string{"emails:read"}},
			member("0198bbbb-0000-7000-8000-000000000004", access.Viewer, false),
		},
	}
}

// now is already the next year in UTC.
func now() time.Time {
	return time.Date(2026, 12, 31, 22, 30, 0, 0, time.FixedZone("America/Sao_Paulo", -3*60*60))
}

// complete sends one request as a 2025 client does, whose results have no
// members but our own. An error is a [*mcp.Error].
func complete(t *testing.T, may tools, s *service, params string) (string, error) {
	t.Helper()
	got := ask(t, may, s, mcp.V20250618, params)
	if got.Error != nil {
		return "", got.Error
	}
	return string(got.Result), nil
}

func ask(t *testing.T, may tools, s *service, v mcp.Version, params string) mcptest.Answer {
	t.Helper()
	methods := New(Options{Tools: may, Service: s, Now: now}).Methods()
	return mcptest.Ask(t, methods, caller(), v, "completion/complete", jsontext.Value(params))
}

func prompt(name, arg, value string) string {
	return params(map[string]string{"type": "ref/prompt", "name": name}, arg, value)
}

func resource(uri, arg, value string) string {
	return params(map[string]string{"type": "ref/resource", "uri": uri}, arg, value)
}

func params(ref map[string]string, arg, value string) string {
	return encode(map[string]any{"ref": ref, "argument": map[string]string{"name": arg, "value": value}})
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// answer is a result with these values.
func answer(more bool, values ...string) string {
	return fmt.Sprintf(`{"completion":{"values":%s,"hasMore":%t}}`, encode(values), more)
}

const nothing = `{"completion":{"values":[],"hasMore":false}}`

// source is what completes an argument, and which tools it takes.
type source struct {
	params func(value string) string
	family inbox.Family
	needs  []string
}

// sources are all arguments that take ids, by the tables they derive from.
func sources() map[string]source {
	all := map[string]source{}
	for _, p := range prompts.Table() {
		for _, a := range p.Arguments {
			if a.Family != "" {
				all[p.Name+" "+a.Name] = source{func(v string) string { return prompt(p.Name, a.Name, v) }, a.Family, p.Tools}
			}
		}
	}
	for _, r := range resources.Table() {
		if r.Template() {
			concrete := strings.ReplaceAll(r.URI, "{id}", id)
			all[r.URI] = source{func(v string) string { return resource(r.URI, "id", v) }, r.Family, []string{r.Tool}}
			all[concrete] = source{func(v string) string { return resource(concrete, "id", v) }, r.Family, []string{r.Tool}}
		}
	}
	return all
}

func TestR9_IDs(t *testing.T) {
	for name, src := range sources() {
		if src.family == resources.Workspaces {
			continue
		}
		t.Run(name, func(t *testing.T) {
			list := string(src.family) + "_list"
			needs := append(slices.Clone(src.needs), list)
			s := &service{ids: []string{id}, more: true}
			got, err := complete(t, func(tool string) bool { return slices.Contains(needs, tool) }, s, src.params("0198C"))
			if want := answer(true, id); err != nil || got != want {
				t.Errorf("got %s, %v; want %s", got, err, want)
			}
			want := []string{fmt.Sprintf(`0198aaaa-0000-7000-8000-000000000001 %s "0198c" 100`, src.family)}
			if diff := cmp.Diff(want, s.asked); diff != "" {
				t.Errorf("one query, of the typed prefix in lower case (-want +got):\n%s", diff)
			}
			for _, missing := range needs {
				s := &service{ids: []string{id}}
				got, err := complete(t, func(tool string) bool { return tool != missing }, s, src.params(""))
				if err != nil || got != nothing || s.asked != nil {
					t.Errorf("9.08 without %s: %s, %v after %v; want nothing", missing, got, err, s.asked)
				}
			}
		})
	}
}

func TestR9_FamilyOfEachArgument(t *testing.T) {
	want := map[string]inbox.Family{
		"review_failed_runs agent_id": inbox.Agents, "inbox_overview inbox_id": inbox.Inboxes,
		"kobana://inbox/workspaces/{id}": resources.Workspaces, "kobana://inbox/inboxes/{id}": inbox.Inboxes,
		"kobana://inbox/emails/{id}": inbox.Emails, "kobana://inbox/emails/{id}/eml": inbox.Emails,
		"kobana://inbox/agents/{id}": inbox.Agents, "kobana://inbox/agent-runs/{id}": inbox.AgentRuns,
		"kobana://inbox/workflow-runs/{id}": inbox.WorkflowRuns, "kobana://inbox/webhooks/{id}": inbox.Webhooks,
		"kobana://inbox/system-events/{id}": inbox.SystemEvents,
	}
	got := map[string]inbox.Family{}
	for name, src := range sources() {
		if !strings.Contains(name, id) {
			got[name] = src.family
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestR9_Workspaces(t *testing.T) {
	for value, want := range map[string]string{
		"":      answer(false, "0198bbbb-0000-7000-8000-000000000004", "0198aaaa-0000-7000-8000-000000000001"),
		"0198B": answer(false, "0198bbbb-0000-7000-8000-000000000004"),
		"02":    nothing,
	} {
		s := &service{}
		got, err := complete(t, all, s, resource("kobana://inbox/workspaces/{id}", "id", value))
		if err != nil || got != want || s.asked != nil {
			t.Errorf("%q: %s, %v; want %s, without a query", value, got, err, want)
		}
	}
}

func TestR9_OddPrefixes(t *testing.T) {
	for _, value := range []string{"x", "0198x", "*", "%", " 0198", "0198 ", "0198\x00", "{id}", "é", "０", id + "0", strings.Repeat("0", 9000)} {
		s := &service{ids: []string{id}}
		got, err := complete(t, all, s, resource("kobana://inbox/emails/{id}", "id", value))
		if err != nil || got != nothing || s.asked != nil {
			t.Errorf("%.50q: %s, %v after %v; want nothing", value, got, err, s.asked)
		}
	}
}

func TestR9_BrokenService(t *testing.T) {
	_, err := complete(t, all, &service{err: errors.New("dial 10.0.0.1: refused")}, prompt("inbox_overview", "inbox_id", ""))
	if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != -32603 || strings.Contains(e.Message, "dial") {
		t.Errorf("9.06 got %v, want -32603 without internals", err)
	}
}

func Test9_09_Modern(t *testing.T) {
	got := ask(t, all, &service{}, mcp.V20260728, prompt("usage_report", "month", "2027")).Members(t)
	want := map[string]any{
		"resultType": "complete",
		"completion": map[string]any{"values": []any{"2027-01"}, "hasMore": false},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestR10_Month(t *testing.T) {
	for value, want := range map[string]string{
		"": answer(false, "2027-01", "2026-12", "2026-11", "2026-10", "2026-09", "2026-08",
			"2026-07", "2026-06", "2026-05", "2026-04", "2026-03", "2026-02"),
		"2027":    answer(false, "2027-01"),
		"2026-1":  answer(false, "2026-12", "2026-11", "2026-10"),
		"2026-12": answer(false, "2026-12"),
		"2026-01": nothing, // a year ago already
		"12":      nothing,
	} {
		got, err := complete(t, all, &service{}, prompt("usage_report", "month", value))
		if err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", value, got, err, want)
		}
	}
	end := New(Options{Now: func() time.Time { return time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC) }})
	if got := end.months()[:4]; !slices.Equal(got, []string{"2026-03", "2026-02", "2026-01", "2025-12"}) {
		t.Errorf("on the 31st: %v", got)
	}
	noUsage := func(tool string) bool { return tool != "usage_get" }
	if got, err := complete(t, noUsage, &service{}, prompt("usage_report", "month", "")); err != nil || got != nothing {
		t.Errorf("for who is not offered the prompt: %s, %v; want nothing", got, err)
	}
}

// Field case 19: resources are found by uri, be it a template or not; without
// a source there is an empty list.
func TestR10_Case19_NoSource(t *testing.T) {
	for name, params := range map[string]string{
		"since":             prompt("review_failed_runs", "since", "2026"),
		"fixed uri, id":     resource("kobana://inbox/models", "id", ""),
		"fixed uri, month":  resource("kobana://inbox/usage", "month", ""),
		"fixed uri, no arg": resource("kobana://inbox/usage", "", ""),
	} {
		s := &service{ids: []string{id}}
		if got, err := complete(t, all, s, params); err != nil || got != nothing || s.asked != nil {
			t.Errorf("%s: %s, %v; want nothing", name, got, err)
		}
	}
}

func Test9_02_9_06_Case19_Params(t *testing.T) {
	const ref, arg = `"ref":{"type":"ref/prompt","name":"usage_report"}`, `"argument":{"name":"month","value":""}`
	for params, want := range map[string]string{ // "": accepted
		`{` + ref + `,` + arg + `}`:                                   "",
		`{` + ref + `,` + arg + `,"context":{"arguments":{"a":"b"}}}`: "", // 9.03
		`{` + ref + `,` + arg + `,"context":{}}`:                      "",
		`{` + ref + `,` + arg + `,"context":{"arguments":{"a":1}}}`:   "context",
		`{}`:                                 "ref",
		`{` + arg + `}`:                      "ref",
		`{"ref":null,` + arg + `}`:           "ref",
		`{"ref":"usage_report",` + arg + `}`: "ref",
		`{"ref":[],` + arg + `}`:             "ref",
		`{"ref":{"name":"usage_report"},` + arg + `}`:                                     "ref",
		`{"ref":{"type":"ref/tool","name":"x"},` + arg + `}`:                              "ref",
		`{"ref":{"type":"ref/prompt"},` + arg + `}`:                                       "ref",
		`{"ref":{"type":"ref/prompt","name":1},` + arg + `}`:                              "ref",
		`{"ref":{"type":"ref/prompt","uri":"kobana://inbox/usage"},` + arg + `}`:          "ref",
		`{"ref":{"type":"ref/resource","name":"usage_report"},` + arg + `}`:               "ref",
		`{"ref":{"type":"ref/prompt","name":"nope"},` + arg + `}`:                         "no such prompt",
		`{"ref":{"type":"ref/prompt","name":"models_list"},` + arg + `}`:                  "no such prompt",
		`{"ref":{"type":"ref/resource","uri":"email"},` + arg + `}`:                       "no such resource",
		`{"ref":{"type":"ref/resource","uri":"kobana://inbox/emails/{ID}"},` + arg + `}`:  "no such resource",
		`{"ref":{"type":"ref/resource","uri":"kobana://inbox/secrets/{id}"},` + arg + `}`: "no such resource",
		`{"ref":{"type":"ref/resource","uri":"kobana://inbox/emails/{id}"},` + arg + `}`:  `no parameter "month"`,
		`{` + ref + `}`:                                         "argument",
		`{` + ref + `,"argument":null}`:                         "argument",
		`{` + ref + `,"argument":"month"}`:                      "argument",
		`{` + ref + `,"argument":{"value":""}}`:                 "argument",
		`{` + ref + `,"argument":{"name":"month"}}`:             "argument",
		`{` + ref + `,"argument":{"name":"month","value":1}}`:   "argument",
		`{` + ref + `,"argument":{"name":"months","value":""}}`: `no argument "months"`,
	} {
		_, err := complete(t, all, &service{}, params)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", params, err)
			}
			continue
		}
		e, ok := errors.AsType[*mcp.Error](err)
		if !ok || e.Code != -32602 || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v, want -32602 with %s", params, err, want)
		}
	}
}

func Test9_04_AtMost100(t *testing.T) {
	c := caller()
	c.Memberships = nil
	for i := range 101 {
		ws := access.WorkspaceID(fmt.Sprintf("0198aaaa-0000-7000-8000-%012d", i))
		c.Memberships = append(c.Memberships, access.Membership{Workspace: ws, Role: access.Viewer})
	}
	v := newest(workspaces(c), "")
	if len(v.Values) != 100 || !v.HasMore || v.Values[0] != "0198aaaa-0000-7000-8000-000000000100" {
		t.Errorf("%d values from %s on, more: %t", len(v.Values), v.Values[0], v.HasMore)
	}
}
