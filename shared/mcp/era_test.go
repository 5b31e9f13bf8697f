package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const (
	capabilities = `"capabilities":{"tools":{},"resources":{},"prompts":{},"completions":{}}`
	versions     = `["2026-07-28","2025-11-25","2025-06-18","2025-03-26"]`
)

func initializeResult(version string) string {
	return `{"protocolVersion":"` + version + `",` + capabilities + `,"serverInfo":{"name":"fixture","version":"1.2.3"},"instructions":"Be kind."}`
}

func TestEras(t *testing.T) {
	initialize := func(header, version string) *http.Request {
		return legacy(header, "initialize", `"protocolVersion":`+version+`,"capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
	}
	discover := complete(`"supportedVersions":` + versions + `,` + capabilities + `,"instructions":"Be kind.","ttlMs":300000,"cacheScope":"public"`)
	inBoth := post(body("tools/list", metaOf("2025-06-18", form)), "MCP-Protocol-Version: 2025-06-18")
	results{
		{"2.01 2.02 2.12 9.01 server/discover", modern("server/discover", ""), discover},
		{"2.04 a first call needs nothing before it", tool("ok"), complete(emptyCall)},
		{"2.07 _meta makes tools/list modern", modern("tools/list", ""), modernPage},
		{"2.07 tools/list in 2025", legacy("2025-11-25", "tools/list", ""), legacyPage},
		{"2.08 2.09 initialize 2025-11-25", initialize("", `"2025-11-25"`), initializeResult("2025-11-25")},
		{"2.08 initialize 2025-06-18", initialize("", `"2025-06-18"`), initializeResult("2025-06-18")},
		{"2.08 initialize 2025-03-26", initialize("", `"2025-03-26"`), initializeResult("2025-03-26")},
		{"2.08 initialize with a version of its own in the header", initialize("2025-11-25", `"2025-06-18"`), initializeResult("2025-06-18")},
		{"2.08 initialize an unknown version", initialize("", `"1.0"`), initializeResult("2025-11-25")},
		{"2.08 14.13 initialize 2026-07-28", initialize("", `"2026-07-28"`), initializeResult("2025-11-25")},
		{"2.10 tools/list without initialize", legacy("2025-06-18", "tools/list", ""), legacyPage},
		{"2.15 3.08 ping", legacy("2025-11-25", "ping", ""), `{}`},
		{"2.15 ping without params", post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), `{}`},
		{"2.17 a task is ignored", legacy("2025-11-25", "tools/call", `"name":"ok","arguments":{},"task":{"ttl":1}`), `{` + emptyCall + `}`},
		{"14.5 a legacy version in header and _meta", inBoth, legacyPage},
		{"case 8 2025-06-18 without Mcp-Method", legacy("2025-06-18", "tools/list", ""), legacyPage},
		{"case 9 initialize without any Mcp header", initialize("", `"2025-06-18"`), initializeResult("2025-06-18")},
		{"case 10 discover", modern("server/discover", ""), discover},
		{"case 10 tools/list", modern("tools/list", ""), modernPage},
	}.run(t, fixture())
	refusals{
		{"2.08 initialize without a version", legacy("", "initialize", ``), http.StatusOK, mcp.CodeInvalidParams},
		{"2.08 initialize with a number as version", initialize("", `20250618`), http.StatusOK, mcp.CodeInvalidParams},
		{"2.13 subscriptions/listen", modern("subscriptions/listen", `"notifications":{}`), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"2.14 initialize, modern", modern("initialize", `"protocolVersion":"2026-07-28"`), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"2.14 case 10 ping, modern", modern("ping", ""), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"2.14 logging/setLevel, modern", modern("logging/setLevel", ""), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"2.14 resources/subscribe, modern", modern("resources/subscribe", ""), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"2.14 resources/unsubscribe, modern", modern("resources/unsubscribe", ""), http.StatusNotFound, mcp.CodeMethodNotFound},
		{"2.16 resources/subscribe in 2025", legacy("2025-11-25", "resources/subscribe", ""), http.StatusOK, mcp.CodeMethodNotFound},
		{"2.16 logging/setLevel in 2025", legacy("2025-11-25", "logging/setLevel", `"level":"info"`), http.StatusOK, mcp.CodeMethodNotFound},
		{"server/discover in 2025", legacy("2025-11-25", "server/discover", ""), http.StatusOK, mcp.CodeMethodNotFound},
		{"an unknown method in 2025", legacy("", "foo/bar", ""), http.StatusOK, mcp.CodeMethodNotFound},
		{"14.13 initialize with a modern header", initialize("2026-07-28", `"2025-11-25"`), badRequest, mcp.CodeInvalidParams},
		{"14.3 an unknown version wins over a missing Mcp-Method", post(body("tools/list", metaOf("1900-01-01", form)), "MCP-Protocol-Version: 1900-01-01"), badRequest, mcp.CodeUnsupportedProtocol},
	}.run(t, fixture())
}

// Case 11: an unknown version became a 500, or got an invented id.
func TestEras_1_13_2_03_case_11_unsupported_versions(t *testing.T) {
	for _, version := range []string{"2099-01-01", "1900-01-01", "2026-07-29", "v999.0.0", "é"} {
		for era, r := range map[string]*http.Request{
			"modern": post(body("tools/list", metaOf(version, form)), "MCP-Protocol-Version: "+version, "Mcp-Method: tools/list"),
			"legacy": legacy(version, "tools/list", ""),
			"ping":   legacy(version, "ping", ""),
		} {
			t.Run(version+" "+era, func(t *testing.T) {
				a := send(t, fixture(), r)
				a.wantError(t, badRequest, mcp.CodeUnsupportedProtocol, "1")
				sameJSON(t, a.json.Error.Data, `{"supported":`+versions+`,"requested":"`+version+`"}`)
			})
		}
	}
}

func TestEras_2_12_capabilities_are_those_of_the_families(t *testing.T) {
	h := fixture(func(o *mcp.Options) {
		o.Methods = map[string]mcp.Method{"prompts/list": listOf("prompts", 0)}
		o.Forward = map[string]http.Handler{"completion": family("completion")}
		o.Instructions = ""
	})
	a := send(t, h, legacy("", "initialize", `"protocolVersion":"2025-03-26"`))
	a.wantResult(t, `{"protocolVersion":"2025-03-26","capabilities":{"prompts":{},"completions":{}},"serverInfo":{"name":"fixture","version":"1.2.3"}}`)
}

func TestEras_2_09_titles_since_2025_06_18(t *testing.T) {
	h := fixture(func(o *mcp.Options) { o.Info.Title = "Fixture" })
	for _, v := range []string{"2025-11-25", "2025-06-18", "2025-03-26"} {
		titled := strings.Replace(initializeResult(v), `"name":"fixture"`, `"name":"fixture","title":"Fixture"`, 1)
		if v == "2025-03-26" {
			titled = initializeResult(v)
		}
		send(t, h, legacy("", "initialize", `"protocolVersion":"`+v+`","capabilities":{}`)).wantResult(t, titled)
	}
}

// Case 3: "not initialized" when the next request met another instance.
func TestEras_2_05_case_3_instances_share_nothing(t *testing.T) {
	a, b := fixture(), fixture()
	first := send(t, a, legacy("", "initialize", `"protocolVersion":"2025-11-25","capabilities":{}`))
	first.wantResult(t, initializeResult("2025-11-25"))
	results{
		{"without a session id", legacy("2025-11-25", "tools/list", ""), legacyPage},
		{"with one", legacy("2025-11-25", "tools/list", "", "Mcp-Session-Id: 1"), legacyPage},
		{"10.03 a cursor of the other instance", legacy("2025-11-25", "tools/list", `"cursor":"`+secondPage+`"`), `{"tools":[{"n":2}]}`},
	}.run(t, b)
}

func TestMeta(t *testing.T) {
	about := func(meta string) *http.Request {
		return post(body("tools/call", `"name":"about",`+meta), modernHeaders("tools/call", "Mcp-Name: about")...)
	}
	is := func(form, client, trace string) string {
		return complete(`"version":"2026-07-28","form":` + form + `,"client":"` + client + `","trace":"` + trace + `"`)
	}
	capable := func(c string) *http.Request { return about(metaOf("2026-07-28", c)) }
	with := func(members string) *http.Request {
		return about(strings.Replace(meta, `"_meta":{`, `"_meta":{`+members+`,`, 1))
	}
	client := func(info string) *http.Request {
		return about(strings.Replace(meta, `{"name":"t","version":"1"}`, info, 1))
	}
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	long := strings.Repeat("é", 100)
	results{
		{"3.02 clientInfo left out", about(strings.Replace(meta, `"`+key+`clientInfo"`, `"x"`, 1)), is("true", "", "")},
		{"2.19 a clientInfo in params is no clientInfo", about(`"clientInfo":{"name":"x"},` + meta), is("true", "t/1", "")},
		{"2.19 nor after _meta", about(meta + `,"clientInfo":{"name":"x"}`), is("true", "t/1", "")},
		{"3.07 unknown members", with(`"com.acme/x":1`), is("true", "t/1", "")},
		{"3.09 13.01 progressToken", with(`"progressToken":7`), is("true", "t/1", "")},
		{"3.09 a trace", with(`"traceparent":"` + parent + `","tracestate":"a=b","baggage":"c=d"`), is("true", "t/1", parent)},
		{"13.05 a log level", with(`"` + key + `logLevel":"debug"`), is("true", "t/1", "")},
		{"13.08 a garbage traceparent", with(`"traceparent":"garbage"`), is("true", "t/1", "")},
		{"13.08 a traceparent of zeros", with(`"traceparent":"00-00000000000000000000000000000000-b7ad6b7169203331-01"`), is("true", "t/1", "")},
		{"13.08 a parent of zeros", with(`"traceparent":"` + parent[:36] + `0000000000000000-01"`), is("true", "t/1", "")},
		{"13.08 a traceparent in upper case", with(`"traceparent":"` + strings.ToUpper(parent) + `"`), is("true", "t/1", "")},
		{"13.08 a traceparent of version ff", with(`"traceparent":"ff` + parent[2:] + `"`), is("true", "t/1", "")},
		{"13.08 a traceparent that is no string", with(`"traceparent":{"a":[]}`), is("true", "t/1", "")},
		{"14.24 clientInfo is an array", client(`[1]`), is("true", "", "")},
		{"14.24 clientInfo without a name", client(`{"version":"1"}`), is("true", "", "")},
		{"14.24 clientInfo with wrong types", client(`{"name":"n","version":{}}`), is("true", "n", "")},
		{"14.24 clientInfo is cut", client(`{"name":"` + long + `","version":"1"}`), is("true", long[:128], "")},
		{"2.18 unknown extensions", capable(`{"elicitation":{},"extensions":{"x.y/z":{}}}`), is("true", "t/1", "")},
		{"3.03 {} means none", capable(`{}`), is("false", "t/1", "")},
		{"6.05 elicitation {} is form", capable(`{"elicitation":{}}`), is("true", "t/1", "")},
		{"6.05 form", capable(`{"elicitation":{"form":{}}}`), is("true", "t/1", "")},
		{"6.05 form and url", capable(`{"elicitation":{"url":{},"form":{}}}`), is("true", "t/1", "")},
		{"6.05 url alone is no form", capable(`{"elicitation":{"url":{}}}`), is("false", "t/1", "")},
		{"6.05 elicitation true", capable(`{"elicitation":true}`), is("false", "t/1", "")},
		{"6.05 elicitation null", capable(`{"elicitation":null}`), is("false", "t/1", "")},
		{"6.05 form null", capable(`{"elicitation":{"form":null}}`), is("false", "t/1", "")},
		{"6.05 another case", capable(`{"Elicitation":{"form":{}}}`), is("false", "t/1", "")},
		{"2.11 no form in the 2025 era", post(body("tools/call", `"name":"about",`+metaOf("2025-11-25", form)), "MCP-Protocol-Version: 2025-11-25"),
			`{"version":"2025-11-25","form":false,"client":"t/1","trace":""}`},
	}.run(t, fixture())

	header := modernHeaders("tools/list")
	refusals{
		{"3.01 no _meta", post(body("tools/list", ""), header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 no _meta, no Mcp-Method", post(body("tools/list", ""), header[0]), badRequest, mcp.CodeInvalidParams},
		{"3.01 no params", post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 no protocolVersion", post(body("tools/list", `"_meta":{"`+key+`clientCapabilities":{}}`), header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 no clientCapabilities", post(body("tools/list", `"_meta":{"`+key+`protocolVersion":"2026-07-28"}`), header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 clientCapabilities null", post(body("tools/list", metaOf("2026-07-28", "null")), header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 clientCapabilities an array", post(body("tools/list", metaOf("2026-07-28", "[]")), header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 protocolVersion a number", post(body("tools/list", `"_meta":{"`+key+`protocolVersion":20260728}`), header...), badRequest, mcp.CodeInvalidParams},
		{"3.01 clientCapabilities before Mcp-Method", post(body("tools/list", metaOf("2026-07-28", "1")), header[0]), badRequest, mcp.CodeInvalidParams},
		{"13.06 an unknown log level", with(`"` + key + `logLevel":"loud"`), http.StatusOK, mcp.CodeInvalidParams},
		{"13.06 a log level in upper case", with(`"` + key + `logLevel":"DEBUG"`), http.StatusOK, mcp.CodeInvalidParams},
		{"13.06 a log level that is no string", with(`"` + key + `logLevel":7`), http.StatusOK, mcp.CodeInvalidParams},
		{"13.06 a log level null", with(`"` + key + `logLevel":null`), http.StatusOK, mcp.CodeInvalidParams},
	}.run(t, fixture())
}
