package resources

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"regexp"
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
)

var update = flag.Bool("update", false, "rewrite the files of testdata")

const id = "0198c0de-7a11-7000-8000-00000000beef"

// tools is a catalog whose tools the caller may run as allowed says.
type tools struct {
	allowed func(tool string) bool
	record  jsontext.Value
	err     error
	reads   []read
}

type read struct {
	Tool string
	Args map[string]string
}

func (f *tools) May(_ *access.Caller, tool string) bool { return f.allowed(tool) }

func (f *tools) Read(_ context.Context, _ *access.Caller, tool string, args map[string]string) (jsontext.Value, error) {
	f.reads = append(f.reads, read{tool, args})
	return f.record, f.err
}

func all(string) bool  { return true }
func none(string) bool { return false }
func only(tool string) func(string) bool {
	return func(t string) bool { return t == tool }
}

// call answers one request; err is that of the method or of its run.
func call(t *testing.T, f *tools, v mcp.Version, method, params string) (*mcp.Result, error) {
	t.Helper()
	ctx := access.WithCaller(t.Context(), &access.Caller{})
	run, err := New(Options{Tools: f}).Methods()[method](ctx, &mcp.Request{Method: method, Params: jsontext.Value(params), Version: v})
	if err != nil {
		return nil, err
	}
	return run(ctx)
}

// readURI is the answer to resources/read of uri.
func readURI(t *testing.T, f *tools, v mcp.Version, uri string) (*mcp.Result, error) {
	t.Helper()
	params, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		t.Fatal(err)
	}
	return call(t, f, v, "resources/read", string(params))
}

// listed are the addresses in both lists.
func listed(t *testing.T, f *tools) []string {
	t.Helper()
	var uris []string
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		r, err := call(t, f, mcp.V20260728, method, "{}")
		if err != nil {
			t.Fatal(err)
		}
		var list map[string][]map[string]string
		if err := json.Unmarshal(r.Fields, &list); err != nil {
			t.Fatal(err)
		}
		for _, items := range list {
			for _, i := range items {
				uris = append(uris, i["uri"]+i["uriTemplate"])
			}
		}
	}
	return uris
}

// address is a URI that the resource is read at.
func address(r Resource) string { return strings.ReplaceAll(r.URI, Placeholder, id) }

func TestR1_R2_Lists(t *testing.T) {
	for file, method := range map[string]string{"resources.json": "resources/list", "templates.json": "resources/templates/list"} {
		t.Run("7.01 7.02 7.03 "+method, func(t *testing.T) {
			r, err := call(t, &tools{allowed: all}, mcp.V20260728, method, "{}")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, file, r.Fields)
			want := &mcp.Cache{TTL: 30 * time.Second}
			if diff := cmp.Diff(want, r.Cache); diff != "" {
				t.Errorf("11.01 11.03 caching hint (-want +got):\n%s", diff)
			}
			_, err = call(t, &tools{allowed: all}, mcp.V20260728, method, `{"cursor":"zz"}`)
			if e, ok := errors.AsType[*mcp.Error](err); !ok || e.Code != mcp.CodeInvalidParams {
				t.Errorf("10.02 a cursor not given out: %v", err)
			}
			r, err = call(t, &tools{allowed: none}, mcp.V20260728, method, "{}")
			if err != nil || !bytes.Contains(r.Fields, []byte("[]")) {
				t.Errorf("7.01 nothing visible: %s, %v; want an empty array", r.Fields, err)
			}
		})
	}
}

func Test_7_02_TitlesSince20250618(t *testing.T) {
	title := regexp.MustCompile(`"title":"[^"]*",`)
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		for _, v := range mcp.Versions() {
			r, err := call(t, &tools{allowed: all}, v, method, "{}")
			if err != nil {
				t.Fatal(err)
			}
			newest, err := call(t, &tools{allowed: all}, mcp.V20260728, method, "{}")
			if err != nil {
				t.Fatal(err)
			}
			want := string(newest.Fields)
			if v == mcp.V20250326 {
				want = title.ReplaceAllString(want, "")
			}
			if diff := cmp.Diff(want, string(r.Fields)); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", method, v, diff)
			}
		}
	}
}

func golden(t *testing.T, file string, got jsontext.Value) {
	t.Helper()
	got = append(bytes.Clone(got), '\n')
	if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
		t.Fatal(err)
	}
	path := "testdata/" + file
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestR1_R3_Table(t *testing.T) {
	want := map[string]string{
		"kobana://inbox/models":             "models_list",
		"kobana://inbox/usage":              "usage_get",
		"kobana://inbox/workspaces/{id}":    "workspaces_get",
		"kobana://inbox/inboxes/{id}":       "inboxes_get",
		"kobana://inbox/emails/{id}":        "emails_get",
		"kobana://inbox/emails/{id}/eml":    "emails_get_eml",
		"kobana://inbox/agents/{id}":        "agents_get",
		"kobana://inbox/agent-runs/{id}":    "agent_runs_get",
		"kobana://inbox/workflow-runs/{id}": "workflow_runs_get",
		"kobana://inbox/webhooks/{id}":      "webhooks_get",
		"kobana://inbox/system-events/{id}": "system_events_get",
	}
	got := map[string]string{}
	for _, r := range Table() {
		got[r.URI] = r.Tool
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Field case 18: every template that is listed can be read.
func TestR3_Case18_ReadByTheMatchingToolOnly(t *testing.T) {
	for _, r := range Table() {
		t.Run(r.Name, func(t *testing.T) {
			f := &tools{allowed: only(r.Tool), record: jsontext.Value(`{"a":"é\n\""}`)}
			if diff := cmp.Diff([]string{r.URI}, listed(t, f)); diff != "" {
				t.Errorf("listed to who may run %s only (-want +got):\n%s", r.Tool, diff)
			}
			got, err := readURI(t, f, mcp.V20260728, address(r))
			if err != nil {
				t.Fatal(err)
			}
			args := map[string]string{}
			if r.Template() {
				args["id"] = id
			}
			if diff := cmp.Diff([]read{{r.Tool, args}}, f.reads); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			var result struct {
				Contents []map[string]string `json:"contents"`
			}
			if err := json.Unmarshal(got.Fields, &result, json.RejectUnknownMembers(true)); err != nil {
				t.Fatal(err)
			}
			want := []map[string]string{{"uri": address(r), "mimeType": "application/json", "text": string(f.record)}}
			if diff := cmp.Diff(want, result.Contents); diff != "" {
				t.Errorf("7.04 contents (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&mcp.Cache{}, got.Cache); diff != "" {
				t.Errorf("11.01 a read is private and not to be kept (-want +got):\n%s", diff)
			}

			others := func(tool string) bool { return tool != r.Tool }
			f = &tools{allowed: others}
			if slices.Contains(listed(t, f), r.URI) {
				t.Error("listed to who may not run its tool")
			}
			if _, err := readURI(t, f, mcp.V20260728, address(r)); err == nil || len(f.reads) > 0 {
				t.Errorf("7.10 read by who may not run its tool: %v, %v", err, f.reads)
			}
		})
	}
}

func TestR3_JudgesBeforeItRuns(t *testing.T) {
	ctx := access.WithCaller(t.Context(), &access.Caller{})
	f := &tools{allowed: all}
	r := &mcp.Request{Params: jsontext.Value(`{"uri":"kobana://inbox/usage"}`), Version: mcp.V20260728}
	if _, err := New(Options{Tools: f}).Methods()["resources/read"](ctx, r); err != nil || f.reads != nil {
		t.Errorf("the method alone read %v, %v", f.reads, err)
	}
	f.allowed = none
	if _, err := New(Options{Tools: f}).Methods()["resources/read"](ctx, r); err == nil {
		t.Error("the method alone did not refuse who may not run the tool")
	}
}

func TestR4_NoSecrets(t *testing.T) {
	for _, r := range Table() {
		if strings.Contains(r.URI+r.Tool, "secret") {
			t.Errorf("%s is read by %s", r.URI, r.Tool)
		}
	}
	for _, uri := range []string{"kobana://inbox/secrets", "kobana://inbox/secrets/" + id} {
		if _, _, ok := Match(uri); ok {
			t.Errorf("%s names a resource", uri)
		}
	}
}

func TestR6_NoSubscription(t *testing.T) {
	got := slices.Sorted(maps.Keys(New(Options{}).Methods()))
	if diff := cmp.Diff([]string{"resources/list", "resources/read", "resources/templates/list"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRead_OtherErrors(t *testing.T) {
	secret := errors.New("dial 10.0.0.1: refused")
	for name, c := range map[string]struct {
		err  error
		code int // 0: not a JSON-RPC error, so logged and shown as an internal one
		text string
	}{
		"7.06 unavailable":    {&inbox.Error{Code: inbox.CodeUnavailable, Message: "Try later.", Err: secret}, -32603, "unavailable: Try later."},
		"response too large":  {inbox.Errorf("response_too_large", "", "Use the link."), -32603, "response_too_large: Use the link."},
		"broken machinery":    {secret, 0, ""},
		"the deadline passed": {context.DeadlineExceeded, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readURI(t, &tools{allowed: all, err: c.err}, mcp.V20260728, "kobana://inbox/usage")
			e, ok := errors.AsType[*mcp.Error](err)
			if c.code == 0 {
				if ok || !errors.Is(err, c.err) {
					t.Errorf("got %v, want the cause itself", err)
				}
				return
			}
			if !ok || e.Code != c.code || e.Message != c.text {
				t.Errorf("got %v, want %d %q", err, c.code, c.text)
			}
		})
	}
}

func TestRead_Params(t *testing.T) {
	for _, params := range []string{`{}`, `{"uri":null}`, `{"uri":1}`, `{"uri":["kobana://inbox/usage"]}`, `{"URI":"kobana://inbox/usage"}`} {
		for _, v := range mcp.Versions() {
			_, err := call(t, &tools{allowed: all}, v, "resources/read", params)
			e, ok := errors.AsType[*mcp.Error](err)
			if !ok || e.Code != mcp.CodeInvalidParams || !strings.Contains(e.Message, "uri") {
				t.Errorf("%s %s: %v, want -32602 naming uri", v, params, err)
			}
		}
	}
}
