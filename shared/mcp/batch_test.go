package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

func rpc(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, params)
}

func callTool(id, name string) string {
	return rpc(id, "tools/call", `"name":"`+name+`","arguments":{"from":`+id+`}`)
}

func array(items ...string) string { return "[" + strings.Join(items, ",") + "]" }

const notification = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

func rpcError(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

func rpcResult(id, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func TestBatch_1_06(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"in order, ids as they came", array(rpc("2", "ping", ""), rpc(`"a\u0062"`, "tools/list", ""), rpc("9007199254740993", "ping", "")),
			array(rpcResult("2", "{}"), rpcResult(`"ab"`, legacyPage), rpcResult("9007199254740993", "{}"))},
		{"a family runs its own", array(callTool("1", "ok"), notification, callTool("2", "ok")),
			array(rpcResult("1", `{"content":[],"echo":{"from":1}}`), rpcResult("2", `{"content":[],"echo":{"from":2}}`))},
		{"a family's error", array(callTool("1", "nope")), array(rpcError("1", -32602, "unknown tool"))},
		{"initialize is refused", array(rpc("1", "initialize", `"protocolVersion":"2025-03-26"`), rpc("2", "ping", "")),
			array(rpcError("1", -32600, "initialize cannot be in a batch"), rpcResult("2", "{}"))},
		{"a message with a version in _meta is refused", array(rpc("1", "tools/list", meta), rpc("2", "ping", "")),
			array(rpcError("1", -32600, "a message that names its protocol version in _meta cannot be in a batch"), rpcResult("2", "{}"))},
		{"messages that are none", array(`1`, `{"jsonrpc":"2.0","id":3}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `[]`),
			array(rpcError("null", -32600, "a message must be a JSON object"), rpcError("3", -32600, "method must be a string"),
				rpcError("null", -32600, "id must be a string or an integer"), rpcError("null", -32600, "a message must be a JSON object"))},
		{"unknown and modern methods", array(rpc("1", "what", ""), rpc("2", "server/discover", "")),
			array(rpcError("1", -32601, "method not found: what"), rpcError("2", -32601, "method not found: server/discover"))},
		{"wrong params", array(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`, rpc("2", "tools/call", `"name":7`)),
			array(rpcError("1", -32602, "params must be an object"), rpcError("2", -32602, "params.name must be a string"))},
		{"equal ids", array(rpc("1", "ping", ""), rpc("1", "ping", "")), array(rpcResult("1", "{}"), rpcResult("1", "{}"))},
		{"twenty", array(strings.Split(strings.Repeat(rpc("1", "ping", "")+"\n", 19)+rpc("1", "ping", ""), "\n")...),
			array(strings.Split(strings.Repeat(rpcResult("1", "{}")+"\n", 19)+rpcResult("1", "{}"), "\n")...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range []*http.Request{post(c.body), post(" "+c.body+"\n", "MCP-Protocol-Version: 2025-03-26")} {
				a := send(t, router(), r)
				if a.status != http.StatusOK {
					t.Error(a.status)
				}
				sameJSON(t, a.body, c.want)
			}
		})
	}
}

func TestBatch_1_06_ids_are_echoed_byte_for_byte(t *testing.T) {
	a := send(t, router(), post(array(rpc(`"a\u0062"`, "ping", ""), rpc(`"a\u0062"`, "tools/list", ""))))
	if strings.Count(string(a.body), `"id":"a\u0062"`) != 2 {
		t.Errorf("%s", a.body)
	}
}

func TestBatch_1_06_refused_whole(t *testing.T) {
	for name, text := range map[string]string{"empty": `[]`, "21": array(strings.Split(strings.Repeat("1 ", 20)+"1", " ")...)} {
		t.Run(name, func(t *testing.T) {
			send(t, router(), post(text)).wantError(t, badRequest, mcp.CodeInvalidRequest, "")
			send(t, router(), post(text, "MCP-Protocol-Version: 2025-03-26")).wantError(t, badRequest, mcp.CodeInvalidRequest, "null")
		})
	}
}

func TestBatch_1_06_notifications_only(t *testing.T) {
	for _, text := range []string{array(notification), array(notification, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panic"}}`)} {
		if a := send(t, router(), post(text)); a.status != http.StatusAccepted || len(a.body) != 0 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// A refusal of one item refuses all of them, before any has run.
func TestBatch_is_judged_before_any_of_it_runs(t *testing.T) {
	ran := 0
	count := func(http.ResponseWriter, *http.Request) { ran++ }
	forwarded := func(o *mcp.Options) { o.Forward["tools"] = http.HandlerFunc(count) }

	a := send(t, router(forwarded), post(array(callTool("1", "ok"), callTool("2", "scope"))))
	a.wantError(t, http.StatusForbidden, mcp.CodeInvalidRequest, "null")
	if a.header.Get("WWW-Authenticate") == "" {
		t.Error("no challenge:", a.header)
	}

	counted := 0
	limited := func(o *mcp.Options) {
		o.Limit = func(context.Context, string) error {
			if counted++; counted == 3 {
				return &mcp.Refusal{Status: 429, Header: http.Header{"Retry-After": {"1"}}, Err: mcp.Errorf(-1, "rate_limited")}
			}
			return nil
		}
	}
	text := array(rpc("0", "ping", ""), callTool("1", "ok"), rpc("2", "prompts/list", ""), callTool("3", "ok"))
	send(t, router(forwarded, limited), post(text)).wantError(t, 429, -1, "null")
	if ran != 0 || counted != 3 {
		t.Errorf("%d ran, %d counted", ran, counted)
	}
}

func TestBatch_admits_every_item_but_pings(t *testing.T) {
	var admitted []string
	h := router(func(o *mcp.Options) {
		o.Admit = func(ctx context.Context, method string) (context.Context, error) {
			admitted = append(admitted, method)
			if method == "prompts/list" {
				return nil, errors.New("the store is down")
			}
			return ctx, nil
		}
	})
	a := send(t, h, post(array(rpc("1", "ping", ""), rpc("2", "prompts/list", ""), rpc("3", "tools/list", ""))))
	sameJSON(t, a.body, array(rpcResult("1", "{}"), rpcError("2", -32603, "internal: the server could not answer this request"), rpcResult("3", legacyPage)))
	if fmt.Sprint(admitted) != "[prompts/list tools/list]" {
		t.Error(admitted)
	}
}

// What a family answers to an item is embedded if it is a JSON-RPC response to
// it; anything else is the family's fault, told with the caller's id.
func TestBatch_families_at_fault(t *testing.T) {
	fault := rpcError(`"x"`, -32603, "internal: the server could not answer this request")
	for answer, want := range map[string]string{
		``:                                      fault,
		`{}`:                                    fault,
		`null`:                                  fault,
		`[1]`:                                   fault,
		`{"jsonrpc":"2.0","id":"x","result":{}`: fault,
		`{"jsonrpc":"2.0","id":"x","result":{}} x`:                             fault,
		`{"jsonrpc":"2.0","id":"x","result":{},"error":{}}`:                    fault,
		`{"jsonrpc":"2.0","id":"x"}`:                                           fault,
		`{"jsonrpc":"1.0","id":"x","result":{}}`:                               fault,
		`{"jsonrpc":"2.0","id":"y","result":{}}`:                               fault,
		`{"jsonrpc":"2.0","result":{}}`:                                        fault,
		`{"jsonrpc":"2.0","id":"x","result":{"a":1,"a":2}}`:                    fault,
		`{"errorType":"Runtime.ExitError"}`:                                    fault,
		`{"jsonrpc":"2.0","id":"x","result":{}}`:                               rpcResult(`"x"`, `{}`),
		` {"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m"}} `:       rpcError(`"x"`, -1, "m"),
		`{"jsonrpc":"2.0","error":{"code":-2,"message":"no token"}}`:           rpcError(`"x"`, -2, "no token"),
		`{"jsonrpc":"2.0","id":null,"error":{"code":-2,"message":"no token"}}`: rpcError(`"x"`, -2, "no token"),
	} {
		var cause error
		h := router(func(o *mcp.Options) {
			o.Forward["tools"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusBadGateway)
				w.Write([]byte(answer))
			})
			o.Observe = func(_ context.Context, o mcp.Observation) { cause = o.Cause }
		})
		a := send(t, h, post(array(rpc(`"x"`, "tools/list", ""))))
		sameJSON(t, a.body, array(want))
		if (cause != nil) != (want == fault) {
			t.Errorf("%s: cause %v", answer, cause)
		}
	}
}

func TestBatch_a_panicking_family(t *testing.T) {
	h := router(func(o *mcp.Options) {
		o.Forward["tools"] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") })
	})
	a := send(t, h, post(array(rpc("1", "tools/list", ""), rpc("2", "ping", ""))))
	sameJSON(t, a.body, array(rpcError("1", -32603, "internal: the server could not answer this request"), rpcResult("2", "{}")))
}

func TestBatch_items_reach_their_family_as_single_requests(t *testing.T) {
	const one = `{ "jsonrpc":"2.0", "id":1, "method":"tools/list", "x":"é" }`
	h := router(func(o *mcp.Options) {
		o.Forward["tools"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var body jsontext.Value = make([]byte, 100)
			n, _ := r.Body.Read(body)
			if string(body[:n]) != one || r.ContentLength != int64(n) || r.Header.Get("Content-Length") != "" ||
				r.Header.Get("Authorization") != "Bearer x" || r.URL.Path != "/mcp" || r.Method != "POST" {
				t.Errorf("%s %v", body, r)
			}
			w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
		})
	})
	text := "[ " + one + " , " + rpc("2", "ping", "") + " ]"
	a := send(t, h, post(text, "Authorization: Bearer x", fmt.Sprintf("Content-Length: %d", len(text))))
	sameJSON(t, a.body, array(rpcResult("1", "{}"), rpcResult("2", "{}")))
}

func TestBatch_total_is_bounded(t *testing.T) {
	ids := `"` + strings.Repeat("i", 40_000) + `"` // ids are part of the answer
	var items []string
	for range 9 {
		items = append(items, callTool(`"a"`, "half"))
	}
	items = append(items, rpc(ids, "tools/list", ""), rpc("5", "what", ""))
	a := send(t, router(), post(array(items...)))
	if len(a.body) > mcp.MaxAnswer {
		t.Fatal(len(a.body))
	}
	if !jsontext.Value(a.body).IsValid() || strings.Count(string(a.body), `"jsonrpc"`) != 11 {
		t.Errorf("%.100s", a.body)
	}
	for sentence, want := range map[string]int{
		`"result"`:                          1,
		"this message was run, but":         1,
		"this message was not run":          8,
		`"message":"method not found: what`: 1,
	} {
		if n := strings.Count(string(a.body), sentence); n != want {
			t.Errorf("%s: %d, want %d", sentence, n, want)
		}
	}
}

func TestBatch_shares_one_deadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Hour) // for the family to end
		h := router(func(o *mcp.Options) {
			o.Forward["prompts"] = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(time.Hour) })
		})
		start := time.Now()
		a := send(t, h, post(array(callTool("1", "ok"), rpc("2", "prompts/list", ""), callTool("3", "ok"), rpc("4", "ping", ""))))
		if d := time.Since(start); d != 20*time.Second {
			t.Error(d)
		}
		const late = "timeout: the batch took too long; this message was not run"
		sameJSON(t, a.body, array(rpcResult("1", `{"content":[],"echo":{"from":1}}`),
			rpcError("2", -32603, "timeout: the server gave up waiting; whether the call took effect is not known"),
			rpcError("3", -32603, late), rpcError("4", -32603, late)))
	})
}
