package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Ids come back byte for byte, in results and in errors (checklist 3.06).
func TestIDs_3_06(t *testing.T) {
	for _, id := range []string{
		`"1"`, `1`, `0`, `-0`, `-7`, `9007199254740993`, `123456789012345678901234567890`,
		`""`, `" "`, `"é世"`, `"\u0061\/\n"`, `"\ud83d\ude00"`, `"` + strings.Repeat("x", 100_000) + `"`,
	} {
		for _, method := range []string{"ping", "nope"} {
			a := send(t, fixture(), post(`{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"}`))
			if string(a.json.ID) != id || (a.code() == 0) != (method == "ping") {
				t.Errorf("%s %.50s came back as %.50s", method, id, a.json.ID)
			}
		}
	}
	for _, id := range []string{`null`, `true`, `false`, `1.5`, `1.0`, `1e2`, `1E2`, `{}`, `[]`, `[1]`} {
		for version, want := range map[string]string{"": "", "2026-07-28": "", "2025-11-25": "", "2025-06-18": "null", "2025-03-26": "null"} {
			r := post(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)
			if version != "" {
				r.Header.Set("MCP-Protocol-Version", version)
			}
			send(t, fixture(), r).wantError(t, badRequest, mcp.CodeInvalidRequest, want)
		}
	}
}

// A result that must not leave, and a code of the other era, become an
// internal error; the reason goes to the log.
func TestErrors_guards(t *testing.T) {
	for _, c := range []struct {
		name    string
		request *http.Request
		status  int
		code    int
		data    string
		cause   string
	}{
		{"4.04 -32601 from a method", tool("none"), 200, mcp.CodeInvalidParams, "", ""},
		{"6.06 a missing capability", tool("capability"), badRequest, mcp.CodeMissingCapability, `{"requiredCapabilities":` + form + `}`, ""},
		{"R5 7.06 not found in 2026", tool("missing"), 200, mcp.CodeInvalidParams, `{"uri":"x://no"}`, ""},
		{"R5 7.07 not found in 2025", legacyTool("missing"), 200, mcp.CodeResourceNotFound, `{"uri":"x://no"}`, ""},
		{"6.24 input_required in 2025", legacyTool("ask"), 200, mcp.CodeInternal, "", "asked for input"},
		{"-32021 in 2025", legacyTool("capability"), 200, mcp.CodeInternal, "", "form please"},
		{"-32020 in 2025", legacyTool("mismatch"), 200, mcp.CodeInternal, "", "-32020"},
		{"4.03 a reserved code", tool("reserved"), 200, mcp.CodeInternal, "", "-32042"},
		{"4.03 a reserved code in 2025", legacyTool("reserved"), 200, mcp.CodeInternal, "", "-32042"},
		{"no result", tool("nothing"), 200, mcp.CodeInternal, "", "no result"},
		{"fields that are an array", tool("array"), 200, mcp.CodeInternal, "", "not an object"},
		{"13.07 what broke is not shown", tool("broken"), 200, mcp.CodeInternal, "", "password"},
		{"a refusal is logged with its cause", tool("refused"), 503, 503, "", "password"},
		{"an error is logged with its cause", tool("failed"), 200, mcp.CodeInternal, "", "password"},
		{"a panic", tool("panic"), 200, mcp.CodeInternal, "", "helper_test.go"}, // the stack
		{"a panic in 2025", legacyTool("panic"), 200, mcp.CodeInternal, "", "password"},
		{"an answer over 2.5 MB", tool("big"), 200, mcp.CodeInternal, "", ""},
		{"an answer over 2.5 MB in 2025", legacyTool("big"), 200, mcp.CodeInternal, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen mcp.Observation
			a := send(t, fixture(func(o *mcp.Options) {
				o.Observe = func(_ context.Context, o mcp.Observation) { seen = o }
			}), c.request)
			a.wantError(t, c.status, c.code, "1")
			if string(a.json.Error.Data) != c.data {
				t.Errorf("data %s, want %s", a.json.Error.Data, c.data)
			}
			if strings.Contains(string(a.body), "password") {
				t.Errorf("it leaks: %s", a.body)
			}
			if seen.Code != c.code || seen.Status != c.status || (seen.Cause == nil) != (c.cause == "") {
				t.Errorf("observed %+v", seen)
			} else if seen.Cause != nil && !strings.Contains(seen.Cause.Error(), c.cause) {
				t.Errorf("cause %v", seen.Cause)
			}
		})
	}
}

func TestErrors_6_01_only_three_methods_ask(t *testing.T) {
	ask := func(context.Context, *mcp.Request) (mcp.Run, error) {
		return func(context.Context) (*mcp.Result, error) { return &mcp.Result{InputRequired: true}, nil }, nil
	}
	h := fixture(func(o *mcp.Options) {
		for name := range o.Methods {
			o.Methods[name] = ask
		}
	})
	for name := range fixtureMethods() {
		r := modern(name, `"name":"n","uri":"n"`, "Mcp-Name: n")
		switch name {
		case "tools/call", "prompts/get", "resources/read":
			send(t, h, r).wantResult(t, `{"resultType":"input_required","_meta":{`+serverInfo+`}}`)
		default:
			send(t, h, r).wantError(t, http.StatusOK, mcp.CodeInternal, "1")
		}
	}
}

func TestResults(t *testing.T) {
	results{
		{"3.04 3.05 5.20 complete", tool("ok"), complete(emptyCall)},
		{"3.05 11.06 6.23 input_required", tool("ask"), `{"resultType":"input_required","requestState":"s","_meta":{` + serverInfo + `}}`},
		{"3.05 with a _meta of the method", tool("meta"), `{"resultType":"complete","isError":true,"_meta":{` + serverInfo + `,"a.b/c":1}}`},
		{"3.08 with a _meta of the method in 2025", legacyTool("meta"), `{"isError":true,"_meta":{"a.b/c":1}}`},
		{"3.08 nothing is added in 2025", legacyTool("ok"), `{` + emptyCall + `}`},
		{"8.07 prompts/get", modern("prompts/get", `"name":"p"`, "Mcp-Name: p"), complete(`"messages":[]`)},
		{"9.09 completion/complete has no Mcp-Name", modern("completion/complete", ""), complete(`"completion":{"values":[]}`)},
		{"2.19 another clientInfo", post(strings.Replace(body("tools/list", meta), `"name":"t"`, `"name":"admin"`, 1), modernHeaders("tools/list")...), modernPage},
	}.run(t, fixture())
}

// Whatever refuses may do so with a status and headers of its own.
func TestRefusals_pass_through(t *testing.T) {
	limited := &mcp.Refusal{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"3"}}, Err: mcp.Errorf(-1, "rate_limited: later")}
	for name, change := range map[string]func(*mcp.Options){
		"Admit": func(o *mcp.Options) {
			o.Admit = func(ctx context.Context, _ string) (context.Context, error) { return ctx, limited }
		},
		"Limit": func(o *mcp.Options) { o.Limit = func(context.Context, string) error { return limited } },
		"Method": func(o *mcp.Options) {
			o.Methods["tools/list"] = func(context.Context, *mcp.Request) (mcp.Run, error) { return nil, limited }
		},
		"Run": func(o *mcp.Options) {
			o.Methods["tools/list"] = func(context.Context, *mcp.Request) (mcp.Run, error) {
				return func(context.Context) (*mcp.Result, error) { return nil, errors.Join(limited) }, nil
			}
		},
	} {
		for _, r := range []*http.Request{modern("tools/list", ""), legacy("2025-06-18", "tools/list", "")} {
			a := send(t, fixture(change), r)
			a.wantError(t, http.StatusTooManyRequests, -1, "1")
			if a.header.Get("Retry-After") != "3" {
				t.Error(name, a.header)
			}
		}
	}
	a := send(t, fixture(), tool("scope"))
	a.wantError(t, http.StatusForbidden, mcp.CodeInvalidRequest, "1")
	if a.header.Get("WWW-Authenticate") != `Bearer error="insufficient_scope"` {
		t.Error("12.12", a.header)
	}
}

func TestAuthenticate_comes_first(t *testing.T) {
	h := fixture(func(o *mcp.Options) {
		o.Authenticate = func(r *http.Request) (context.Context, error) {
			if r.Header.Get("Authorization") == "broken" {
				return nil, errors.New("the key server is down")
			}
			return nil, &mcp.Refusal{Status: 401}
		}
	})
	for name, r := range map[string]*http.Request{
		"a broken body": post(`{`), "too large": post(strings.Repeat(" ", mcp.MaxBody+1)),
		"12.01 a request": modern("tools/list", ""), "12.10 a notification": post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		"14.21 GET": httptest.NewRequest("GET", "/mcp", nil),
	} {
		t.Run(name, func(t *testing.T) { send(t, h, r).wantError(t, 401, mcp.CodeInvalidRequest, "") })
	}
	send(t, h, modern("tools/list", "", "Authorization: broken")).wantError(t, 500, mcp.CodeInternal, "")
	send(t, h, modern("tools/list", "", "Origin: https://evil.example")).wantError(t, 403, mcp.CodeInvalidRequest, "")
}
