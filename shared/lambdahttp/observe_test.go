package lambdahttp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/invoker"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// TestForward_line: each request that is handed on leaves a line and a metric of
// its own, with nothing of its body.
func TestForward_line(t *testing.T) {
	const trace = "0af7651916cd43dd8448eb211c80319c"
	modern := v2(object{
		"headers": object{"content-type": "application/json", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "ok"},
		"body": `{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"ok","arguments":{"word":"secret"},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"ide","version":"2"},` +
			`"traceparent":"00-` + trace + `-b7ad6b7169203331-01"}}}`,
	})
	for name, c := range map[string]struct {
		event  []byte
		answer string
		want   []object // the members of the lines that differ
		method string   // of the metric
	}{
		"2026-07-28": {modern, `{"statusCode":200,"body":"secret"}`, []object{{"subject": "ok", "protocol": "2026-07-28", "client": "ide/2", "status": 200.0, "trace_id": trace}}, "tools/call"},
		"2025":       {post(toolsCall), `{"statusCode":403}`, []object{{"subject": "ok", "protocol": "2025-06-18", "client": "", "status": 403.0}}, "tools/call"},
		"a batch": {v2(object{"body": "[" + toolsCall + "]"}), `{"statusCode":200,"body":"{\"jsonrpc\":\"2.0\",\"id\":\"a-1\",\"result\":{}}"}`, []object{
			{"subject": "ok", "protocol": "2025-03-26", "client": "", "status": 200.0},
			{"method": "batch", "subject": "", "protocol": "2025-03-26", "client": "", "status": 200.0, "outcome": "ok"},
		}, "batch"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			tel := telemetry.New(telemetry.Options{Function: "router", Version: "1", Out: &out})
			o := mcp.Options{Info: mcp.Implementation{Name: "test", Version: "1"}, Core: true, Methods: options("", nil).Methods, Observe: telemetry.Observe(tel.Log()),
				Forward: map[string]http.Handler{"tools": &lambdahttp.Forwarder{Function: "tools", Log: tel.Log(),
					Invoker: invoker.SDK{Client: invokerFunc(func(context.Context, *lambda.InvokeInput) ([]byte, error) { return []byte(c.answer), nil })}}}}
			ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "r-1"})
			if _, err := tel.Wrap(lambdahttp.New(mcp.New(o), tel.Log())).Invoke(ctx, c.event); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "a-1") {
				t.Error("a body is in the log:", out.String())
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != len(c.want)+1 {
				t.Fatal(out.String())
			}
			for i, want := range c.want {
				var got object
				if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
					t.Fatal(err)
				}
				if _, ok := got["duration_ms"].(float64); !ok {
					t.Error(got)
				}
				delete(got, "timestamp")
				delete(got, "duration_ms")
				line := object{"level": "INFO", "message": "request", "function": "router", "version": "1", "request_id": "r-1",
					"gateway_request_id": "LV7fzho-PHcEJPw=", "cold_start": true, "method": "tools/call", "outcome": "forwarded", "code": 0.0}
				for member, value := range want {
					line[member] = value
				}
				if diff := cmp.Diff(line, got); diff != "" {
					t.Error(diff)
				}
			}
			outcome := c.want[len(c.want)-1]["outcome"]
			if outcome == nil {
				outcome = "forwarded"
			}
			var metrics object
			if err := json.Unmarshal([]byte(lines[len(c.want)]), &metrics); err != nil || metrics["Method"] != c.method || metrics["Outcome"] != outcome {
				t.Error(metrics, err)
			}
		})
	}
}

// TestCase15_faults: a script of an allowed origin can read that a family did
// not answer, and that an answer was too large; nobody else's can.
func TestCase15_faults(t *testing.T) {
	const origin = "https://app.example.com"
	allow := func(o *mcp.Options) { o.AllowOrigin = func(s string) bool { return s == origin } }
	failing := mcp.Options{Info: mcp.Implementation{Name: "test", Version: "1"}, Core: true, Forward: map[string]http.Handler{"tools": &lambdahttp.Forwarder{
		Function: "tools", Invoker: invoker.SDK{Client: invokerFunc(func(context.Context, *lambda.InvokeInput) ([]byte, error) { return nil, errors.New("lost") })}}}}
	allow(&failing)
	large := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mcp.SetCORS(w.Header(), r.Header.Get("Origin"))
		w.Header().Set("X-Other", "1")
		w.Write(bytes.Repeat([]byte{34}, 4<<20))
	})
	broken := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mcp.SetCORS(w.Header(), r.Header.Get("Origin"))
		panic("on purpose")
	})
	for name, c := range map[string]struct {
		handler http.Handler
		status  int
	}{"no answer": {mcp.New(failing), 502}, "too large": {large, 500}, "broken": {broken, 500}} {
		for _, o := range []string{origin, ""} {
			headers := object{"content-type": "application/json"}
			if o != "" {
				headers["origin"] = o
			}
			a := invokeHandler(t, lambdahttp.New(c.handler, slog.New(slog.DiscardHandler)), v2(object{"headers": headers, "body": toolsCall}))
			exposed := strings.Contains(a.Headers["Access-Control-Expose-Headers"], "Retry-After")
			if a.StatusCode != c.status || a.rpcError(t).ID != "a-1" || a.Headers["Vary"] != "Origin" || a.Headers["Access-Control-Allow-Origin"] != o || exposed != (o != "") || a.Headers["X-Other"] != "" {
				t.Errorf("%s for %q: %d %v", name, o, a.StatusCode, a.Headers)
			}
		}
	}
	a := invokeHandler(t, lambdahttp.New(mcp.New(failing), nil), v2(object{"headers": object{"origin": "https://evil.example.com"}, "body": toolsCall}))
	if a.StatusCode != 403 || a.Headers["Access-Control-Allow-Origin"] != "" {
		t.Errorf("%+v", a)
	}
}
