package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

func TestErrors_4_02_broken_bodies(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, text := range map[string]string{
		"empty":                      ``,
		"space":                      ` `,
		"truncated":                  `{"jsonrpc":"2.0","id":1,"method":"pi`,
		"truncated before the end":   `{"jsonrpc":"2.0","id":1,"method":"ping"`,
		"bad":                        `{bad`,
		"a name that is no string":   `{1:2}`,
		"a trailing comma":           `{"jsonrpc":"2.0","id":1,"method":"ping",}`,
		"a trailing message":         `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		"a trailing brace":           `{"jsonrpc":"2.0","id":1,"method":"ping"}}`,
		"a trailing letter":          `{"jsonrpc":"2.0","id":1,"method":"ping"} x`,
		"a byte order mark":          "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"single quotes":              `{'jsonrpc':'2.0'}`,
		"a comment":                  `{"jsonrpc":"2.0","id":1,"method":"ping"/**/}`,
		"NaN":                        `{"jsonrpc":"2.0","id":NaN,"method":"ping"}`,
		"leading zero":               `{"jsonrpc":"2.0","id":01,"method":"ping"}`,
		"invalid UTF-8":              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}",
		"half a surrogate pair":      `{"jsonrpc":"2.0","id":1,"method":"ping","x":"\ud800"}`,
		"a control character":        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\x01\"}",
		"method twice":               `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`,
		"method twice, once escaped": `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"ping"}`,
		"id twice":                   `{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}`,
		"a name twice in params":     body("ping", `"a":1,"a":2`),
		"a name twice in _meta":      body("ping", `"_meta":{"a":1,"a":2}`),
		"a name twice, far down":     body("ping", `"a":[{"b":{"c":1,"c":2}}]`),
		"too deep":                   deep(101),
		"far too deep":               deep(500_000),
		"too deep in params":         body("ping", `"a":`+deep(99)),
		"open for ever":              strings.Repeat("[", 900_000),
		"objects open for ever":      strings.Repeat(`{"a":`, 200_000),
		"an open array":              `[{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"an array with a comma":      `[1,]`,
		"form data":                  `method=ping&id=1`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, h := range []http.Handler{fixture(), router(), family("tools")} {
				send(t, h, post(text, "MCP-Protocol-Version: 2026-07-28")).wantError(t, badRequest, mcp.CodeParse, "")
				send(t, h, post(text, "MCP-Protocol-Version: 2025-03-26")).wantError(t, badRequest, mcp.CodeParse, "")
			}
		})
	}
	// Just deep enough, and brackets in strings, are no trouble.
	send(t, fixture(), post(body("ping", `"a":`+deep(98)))).wantResult(t, `{}`)
	send(t, fixture(), post(body("ping", `"a":"\"`+strings.Repeat("[", 200)+`\\"`))).wantResult(t, `{}`)
}

func TestErrors_4_01_messages_that_are_no_requests(t *testing.T) {
	for _, c := range []struct{ name, body, id string }{
		{"null", `null`, ""},
		{"a string", `"ping"`, ""},
		{"a number", `42`, ""},
		{"an empty object", `{}`, ""},
		{"jsonrpc missing", `{"id":1,"method":"ping"}`, "1"},
		{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1"},
		{"jsonrpc a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, "1"},
		{"jsonrpc null, no id", `{"jsonrpc":null,"method":"ping"}`, ""},
		{"method missing", `{"jsonrpc":"2.0","id":1}`, "1"},
		{"method missing, no id", `{"jsonrpc":"2.0"}`, ""},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":1}`, "1"},
		{"method null, no id", `{"jsonrpc":"2.0","method":null}`, ""},
		{"method in another case", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, "1"},
		{"ID in another case is a notification of nothing", `{"jsonrpc":"2.0","ID":1,"method":5}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, h := range []http.Handler{fixture(), router(), family("tools")} {
				send(t, h, post(c.body)).wantError(t, badRequest, mcp.CodeInvalidRequest, c.id)
				send(t, h, post(c.body, modernHeaders("ping")...)).wantError(t, badRequest, mcp.CodeInvalidRequest, c.id)
			}
		})
	}
}

func TestErrors_wrong_types_in_params(t *testing.T) {
	var cases refusals
	for _, params := range []string{`[]`, `[1]`, `"x"`, `1`, `null`, `true`} {
		text := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params + `}`
		cases = append(cases, refusals{
			{"params " + params, post(text), http.StatusOK, mcp.CodeInvalidParams},
			{"params " + params + ", modern", post(text, modernHeaders("tools/list")...), badRequest, mcp.CodeInvalidParams},
			{"_meta " + params, legacy("2025-11-25", "tools/list", `"_meta":`+params), http.StatusOK, mcp.CodeInvalidParams},
			{"_meta " + params + ", modern", post(body("tools/list", `"_meta":`+params), modernHeaders("tools/list")...), badRequest, mcp.CodeInvalidParams},
		}...)
		if params == `"x"` {
			continue
		}
		cases = append(cases, refusals{
			{"5.16 name " + params, legacy("", "tools/call", `"name":`+params), http.StatusOK, mcp.CodeInvalidParams},
			{"5.16 name " + params + ", modern", modern("tools/call", `"name":`+params, "Mcp-Name: ok"), http.StatusOK, mcp.CodeInvalidParams},
			{"uri " + params + ", modern", modern("resources/read", `"uri":`+params), http.StatusOK, mcp.CodeInvalidParams},
		}...)
	}
	cases = append(cases, refusals{
		{"5.16 name missing, modern", modern("tools/call", ``), http.StatusOK, mcp.CodeInvalidParams},
		{"5.16 name missing, Mcp-Name there", modern("tools/call", ``, "Mcp-Name: ok"), http.StatusOK, mcp.CodeInvalidParams},
		{"5.16 name missing, no params", legacy("", "tools/call", ``), http.StatusOK, mcp.CodeInvalidParams},
		{"Name in another case", legacy("", "tools/call", `"Name":"ok"`), http.StatusOK, mcp.CodeInvalidParams},
	}...)
	cases.run(t, fixture())
	cases.run(t, router())
}

func TestErrors_413_too_large(t *testing.T) {
	fits := body("ping", `"a":"`+strings.Repeat("a", mcp.MaxBody-len(body("ping", `"a":""`)))+`"`)
	send(t, fixture(), post(fits)).wantResult(t, `{}`)
	for _, h := range []http.Handler{fixture(), router(), family("tools")} {
		send(t, h, post(fits+" ")).wantError(t, http.StatusRequestEntityTooLarge, mcp.CodeInvalidRequest, "")
		chunked := post(fits + " ")
		chunked.ContentLength = -1
		send(t, h, chunked).wantError(t, http.StatusRequestEntityTooLarge, mcp.CodeInvalidRequest, "")
		announced := post(`{`) // refused unread
		announced.ContentLength = mcp.MaxBody + 1
		send(t, h, announced).wantError(t, http.StatusRequestEntityTooLarge, mcp.CodeInvalidRequest, "")
	}
}
