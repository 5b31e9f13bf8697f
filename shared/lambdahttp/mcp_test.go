package lambdahttp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// families are the names of the families that server serves.
var families = []string{"tools", "resources", "prompts", "completion"}

// server is a family's server, or with "" that of all of them and the core.
// Whatever it runs has the effect.
func server(family string, effect func()) *mcp.Server { return mcp.New(options(family, effect)) }

func options(family string, effect func()) mcp.Options {
	run := func(context.Context) (*mcp.Result, error) {
		if effect != nil {
			effect()
		}
		return &mcp.Result{Fields: jsontext.Value(`{"content":[{"type":"text","text":"done"}]}`)}, nil
	}
	o := mcp.Options{Info: mcp.Implementation{Name: "test", Version: "1"}, Core: family == "", Methods: map[string]mcp.Method{}}
	for _, name := range []string{"tools/list", "tools/call", "resources/list", "prompts/list", "completion/complete"} {
		if family == "" || mcp.FamilyOf(name) == family {
			o.Methods[name] = func(context.Context, *mcp.Request) (mcp.Run, error) { return run, nil }
		}
	}
	return o
}

// post is the event of a message sent to /mcp in the 2025 era.
func post(message string) []byte {
	return v2(object{"body": message, "headers": object{
		"host": "inbox.example.com", "content-type": "application/json", "mcp-protocol-version": "2025-06-18",
	}})
}

func TestCase2_notifications_have_neither_body_nor_content_type(t *testing.T) {
	for name, event := range map[string][]byte{"2.0": post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
		"1.0": v1(object{"body": `{"jsonrpc":"2.0","method":"notifications/initialized"}`})} {
		t.Run(name, func(t *testing.T) {
			encoded, _ := lambdahttp.New(server("", nil), nil).Invoke(t.Context(), event)
			if s := string(encoded); !strings.HasPrefix(s, `{"statusCode":202,`) || strings.Contains(strings.ToLower(s), `"content-type"`) || strings.Contains(s, `"body"`) {
				t.Error(s)
			}
		})
	}
}

// Field case 4: a gateway that judges tokens itself keeps its judgement for
// all paths, so every function judges by itself.
func TestCase4_the_function_judges_the_token_on_every_path(t *testing.T) {
	allowed := map[string]string{"tools": "/mcp/tools", "resources": "/mcp/resources"}
	for family, path := range allowed {
		o := mcp.Options{Methods: map[string]mcp.Method{}, Authenticate: func(r *http.Request) (context.Context, error) {
			if r.Header.Get("Authorization") == "Bearer for-"+family && r.URL.Path == path {
				return r.Context(), nil
			}
			return nil, &mcp.Refusal{Status: http.StatusUnauthorized, Header: http.Header{"WWW-Authenticate": {`Bearer error="invalid_token"`}}}
		}}
		h := mcp.New(o)
		for _, token := range []string{"for-tools", "for-resources", "for-tools"} {
			a := invoke(t, h, v2(object{"rawPath": path, "headers": object{"authorization": "Bearer " + token}}))
			want := http.StatusUnauthorized
			if token == "for-"+family {
				want = http.StatusOK // there is no such method, but the token is right
			}
			if a.StatusCode != want || (want == 401) != (a.Headers["Www-Authenticate"] == `Bearer error="invalid_token"`) {
				t.Errorf("%s with %s: %+v", path, token, a)
			}
		}
	}
}

// 1.21: what a gateway does not refuse of a header's bytes, the server does.
func Test_1_21_other_than_ASCII_in_a_header(t *testing.T) {
	event := v2(object{
		"body":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"headers": object{"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "é"},
	})
	if a := invoke(t, server("", nil), event); a.StatusCode != 400 || a.rpcError(t).Error.Code != mcp.CodeHeaderMismatch {
		t.Errorf("%d %s", a.StatusCode, *a.Body)
	}
}
