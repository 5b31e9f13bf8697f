package local

import (
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// snapshot is all that can be read of both workspaces, and the files of raw
// messages.
func snapshot(t *testing.T, s *Server) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, token := range []string{"demo-owner", "demo-other"} {
		c := as(token).at(s)
		for _, tool := range readTools {
			if strings.HasSuffix(tool, "_list") && tool != "webhooks_deliveries_list" || tool == "usage_get" {
				all[token+" "+tool] = stable(c.call(t, tool, nil).text)
			}
		}
		for _, webhook := range c.list(t, "webhooks_list", nil) {
			id := webhook["id"].(string)
			all[token+" "+id] = stable(c.call(t, "webhooks_deliveries_list", object{"webhook_id": id}).text)
		}
	}
	err := filepath.WalkDir(filepath.Dir(s.commands.Addr().String()), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".eml") {
			all[path] = d.Type().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unchanged returns what checks, after a test, that the server answers and
// that nothing changed.
func unchanged(t *testing.T, s *Server) (check func()) {
	t.Helper()
	before := snapshot(t, s)
	return func() {
		t.Helper()
		if diff := cmp.Diff(before, snapshot(t, s)); diff != "" {
			t.Errorf("something changed (-before +after):\n%s", diff)
		}
	}
}

func TestBadInput_Bodies(t *testing.T) {
	defer unchanged(t, shared)()
	good := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"emails_list","arguments":{"limit":1}}}`
	type sent struct {
		body         string
		status, code int
	}
	bodies := map[string]sent{
		"empty":              {"", 400, -32700},
		"text":               {"hello", 400, -32700},
		"trailing JSON":      {good + good, 400, -32700},
		"trailing text":      {good + " x", 400, -32700},
		"1 MiB and 1 byte":   {good + strings.Repeat(" ", mcp.MaxBody+1-len(good)), 413, -32600},
		"deep arrays":        {`{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat("[", 100_000), 400, -32700},
		"deep objects":       {strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), 400, -32700},
		"deep arguments":     {strings.Replace(good, `{"limit":1}`, strings.Repeat("[", 5000)+strings.Repeat("]", 5000), 1), 400, -32700},
		"not UTF-8":          {strings.Replace(good, "emails_list", "emails_list\xff", 1), 400, -32700},
		"lone surrogate":     {strings.Replace(good, "emails_list", `emails_list\ud800`, 1), 400, -32700},
		"control character":  {strings.Replace(good, "emails_list", "emails_list\x01", 1), 400, -32700},
		"comment":            {"/* */" + good, 400, -32700},
		"BOM":                {"\ufeff" + good, 400, -32700},
		"UTF-16":             {"{\x00\"\x00", 400, -32700},
		"duplicate method":   {strings.Replace(good, `"id":1`, `"id":1,"method":"ping"`, 1), 400, -32700},
		"duplicate limit":    {strings.Replace(good, `"limit":1`, `"limit":1,"limit":2`, 1), 400, -32700},
		"null":               {"null", 400, -32600},
		"a number":           {"1", 400, -32600},
		"other jsonrpc":      {strings.Replace(good, "2.0", "1.0", 1), 400, -32600},
		"jsonrpc a number":   {strings.Replace(good, `"2.0"`, `2.0`, 1), 400, -32600},
		"other case":         {strings.Replace(good, "jsonrpc", "JSONRPC", 1), 400, -32600},
		"null id":            {strings.Replace(good, `"id":1`, `"id":null`, 1), 400, -32600},
		"id of an object":    {strings.Replace(good, `"id":1`, `"id":{}`, 1), 400, -32600},
		"method a number":    {strings.Replace(good, `"tools/call"`, `7`, 1), 400, -32600},
		"a response":         {`{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600},
		"params an array":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, 200, -32602},
		"params a string":    {`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}`, 200, -32602},
		"arguments array":    {strings.Replace(good, `{"limit":1}`, `[]`, 1), 200, -32602},
		"arguments null":     {strings.Replace(good, `{"limit":1}`, `null`, 1), 200, -32602},
		"name a number":      {strings.Replace(good, `"emails_list"`, `1`, 1), 200, -32602},
		"no name":            {strings.Replace(good, `"name":"emails_list",`, ``, 1), 200, -32602},
		"unknown tool":       {strings.Replace(good, "emails_list", "emails_purge", 1), 200, -32602},
		"tool, other case":   {strings.Replace(good, "emails_list", "EMAILS_LIST", 1), 200, -32602},
		"unknown method":     {strings.Replace(good, "tools/call", "tools/calls", 1), 200, -32601},
		"method, other case": {strings.Replace(good, "tools/call", "Tools/Call", 1), 200, -32601},
		"empty method":       {strings.Replace(good, "tools/call", "", 1), 200, -32601},
	}
	for cut := 1; cut < len(good); cut += 3 {
		bodies["cut at "+good[cut-1:]] = sent{good[:cut], 400, -32700}
	}
	for name, c := range bodies {
		r := as("").in(mcp.V20251125).post(t, c.body, bearer("demo-owner"), "MCP-Protocol-Version: 2025-11-25")
		if r.status != c.status || r.Error == nil || r.Error.Code != c.code {
			t.Errorf("%s: HTTP %d %.300s, not %d/%d", name, r.status, r.body, c.status, c.code)
		}
	}
}

// TestBadInput_Arguments gives every argument of every tool values that it
// does not take, as its own schema says.
func TestBadInput_Arguments(t *testing.T) {
	t.Parallel()
	defer unchanged(t, shared)()
	eachEra(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-owner").in(v)
		for _, tool := range c.tools(t) {
			for name, p := range tool.InputSchema.Properties {
				for _, value := range wrongFor(name, p) {
					args := tool.InputSchema.sample()
					args[name] = value
					judgeInvalid(t, c, tool, args, name)
				}
			}
			for _, required := range tool.InputSchema.Required {
				args := tool.InputSchema.sample()
				delete(args, required)
				judgeInvalid(t, c, tool, args, required)
			}
			for _, name := range []string{"nope", "__proto__", "constructor", "", "ID", "id ", "\x00"} {
				args := tool.InputSchema.sample()
				args[name] = "x"
				judgeInvalid(t, c, tool, args, "")
			}
		}
	})
}

func judgeInvalid(t *testing.T, c client, tool tool, args object, names string) {
	t.Helper()
	a := c.call(t, tool.Name, args)
	if a.status != http.StatusOK || !a.failed || a.code != "invalid_arguments" || a.structured != nil ||
		!strings.HasPrefix(a.text, "invalid_arguments: ") || !strings.Contains(a.text, names) {
		t.Errorf("%s %.300s: HTTP %d %.500s", tool.Name, marshal(t, args), a.status, a.body)
	}
}

// sample is arguments that have the right shape, and name nothing that exists.
func (s schema) sample() object {
	args := object{}
	for _, name := range s.Required {
		args[name] = s.Properties[name].value()
	}
	return args
}

func (s *schema) value() any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.takes("string"):
		return map[string]any{"": "x", "uuid": someID, "email": "nobody@example.com", "uri": "https://example.com/x", "date": "2026-01-01"}[s.Format]
	case s.takes("integer"), s.takes("number"):
		return 1
	case s.takes("boolean"):
		return true
	case s.takes("array"):
		return []any{}
	}
	return object{}
}

// takes reports whether the schema has the type.
func (s *schema) takes(kind string) bool {
	if types, ok := s.Type.([]any); ok {
		for _, t := range types {
			if t == kind {
				return true
			}
		}
	}
	return s.Type == kind
}

// wrongFor are values that an argument does not take.
func wrongFor(name string, s *schema) (wrong []any) {
	for kind, value := range map[string]any{
		"null": nil, "boolean": true, "number": 1.5, "string": "x", "array": []any{}, "object": object{},
	} {
		if !s.takes(kind) && !(kind == "number" && s.takes("integer")) {
			wrong = append(wrong, value)
		}
	}
	add := func(values ...any) { wrong = append(wrong, values...) }
	if s.takes("integer") {
		add(1.5, -1e300, jsontext.Value("9007199254740993"), jsontext.Value("1e999"), "1", []any{1})
	}
	if s.Maximum > 0 {
		add(0, -1, s.Maximum+1)
	}
	if s.takes("string") && len(s.Enum) > 0 {
		add("nope", "", "Processed", "processed ")
	}
	if s.MaxLength > 0 && s.takes("string") {
		add(strings.Repeat("x", s.MaxLength+1))
	}
	switch s.Format {
	case "uuid":
		add("", "x", strings.ReplaceAll(someID, "-", ""), someID+"0", "{"+someID+"}", "urn:uuid:"+someID, someID+"\n", "../"+someID[3:], "0"+someID[1:35]+"g")
	case "email":
		add("", "nobody", "@example.com", "a b@example.com", "a@b@c", "Name <a@example.com>", "a@example.com\r\nBcc: x@example.com")
	case "uri":
		add("", "example.com", "https://", "/x", "https://exa mple.com/")
	}
	switch name {
	case "month":
		add("", "2026-13", "2026-00", "2026-1", "26-01", "2026-01-01", "2026/01", "2026-01 ", "٢٠٢٦-٠١")
	case "since", "until":
		add("", "2026-02-30", "2026-13-01", "2026-1-1", "yesterday", "2026-02-28T25:00:00Z", "2026-02-28 10:00:00", "2026-02-28T10:00:00", "20260228", "1")
	}
	return wrong
}
