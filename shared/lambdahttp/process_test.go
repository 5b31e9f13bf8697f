package lambdahttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// runAs names the function that this test binary is, when it is started as one.
const runAs = "LAMBDAHTTP_TEST_FUNCTION"

func TestMain(m *testing.M) {
	if name := os.Getenv(runAs); name != "" {
		t := telemetry.New(telemetry.Options{Function: name, Version: "1"})
		lambda.Start(t.Wrap(lambdahttp.New(function(t), t.Log())))
	}
	os.Exit(m.Run())
}

// function is a whole server, with addresses for what servers should not do.
func function(t *telemetry.Telemetry) http.Handler {
	mux := http.NewServeMux()
	o := options("", nil)
	o.Observe = telemetry.Observe(t.Log())
	mux.Handle("/mcp", mcp.New(o))
	mux.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic("on purpose") })
	mux.HandleFunc("/exit", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	mux.HandleFunc("/pid", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, os.Getpid()) })
	var meeting sync.WaitGroup
	meeting.Add(2)
	mux.HandleFunc("/meet", func(w http.ResponseWriter, r *http.Request) {
		meeting.Done()
		meeting.Wait() // for the other invocation
		io.Copy(w, r.Body)
	})
	return mux
}

// start runs this binary as a function.
func start(t *testing.T, o lambdatest.Options) *lambdatest.Function {
	t.Helper()
	o.Path, o.Name, o.Env = os.Args[0], "test", append(o.Env, runAs+"=test")
	f, err := lambdatest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func call(t *testing.T, f *lambdatest.Function, event []byte) answer {
	t.Helper()
	out, err := f.Invoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	return decodeAnswer(t, out)
}

func at(path string) []byte { return v2(object{"rawPath": path}) }

// Field case 3: there are no sessions to be found on one instance only.
func TestCase3_instances_are_alike(t *testing.T) {
	a, b := start(t, lambdatest.Options{}), start(t, lambdatest.Options{})
	init := call(t, a, post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	if init.StatusCode != 200 || init.Headers["Mcp-Session-Id"] != "" {
		t.Errorf("%+v", init)
	}
	list := post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	withSession := []byte(strings.Replace(string(list), `"host":`, `"mcp-session-id":"s-1","host":`, 1))
	for name, event := range map[string][]byte{"without a session": list, "with a session": withSession} {
		if got := call(t, b, event); got.StatusCode != 200 || !strings.Contains(*got.Body, `"result"`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestProcess_outlives_a_panic(t *testing.T) {
	f := start(t, lambdatest.Options{})
	before := call(t, f, at("/pid"))
	if a := call(t, f, at("/panic")); a.StatusCode != 500 || a.rpcError(t).ID != 1.0 {
		t.Errorf("%+v", a)
	}
	if after := call(t, f, at("/pid")); *after.Body != *before.Body || *after.Body != fmt.Sprint(f.PID()) {
		t.Error(*before.Body, *after.Body)
	}
	if _, err := f.Invoke(t.Context(), at("/exit")); !errors.Is(err, lambdatest.ErrExited) {
		t.Error(err)
	}
}

// Two invocations run in the process at once: each waits for the other.
func TestProcess_runs_invocations_at_once(t *testing.T) {
	f := start(t, lambdatest.Options{Concurrency: 2})
	var wg sync.WaitGroup
	for _, body := range []string{"one", "two"} {
		wg.Go(func() {
			if a := call(t, f, v2(object{"rawPath": "/meet", "body": body})); *a.Body != body {
				t.Errorf("%q for %q", *a.Body, body)
			}
		})
	}
	wg.Wait()
}

// Field case 7: what a request leaves in log and metrics is written before its
// answer is; a sandbox that is frozen then has nothing left to say.
func TestCase7_log_and_metrics_come_before_the_answer(t *testing.T) {
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	f := start(t, lambdatest.Options{Output: output})
	ping := v2(object{"body": `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "headers": object{"authorization": "Bearer secret"}})
	for i := range 2 {
		call(t, f, ping)
		text, err := os.ReadFile(output.Name())
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) != 2*(i+1) || strings.Contains(string(text), "secret") {
			t.Fatalf("%s", text)
		}
		var request, metrics map[string]any
		if json.Unmarshal([]byte(lines[2*i]), &request) != nil || json.Unmarshal([]byte(lines[2*i+1]), &metrics) != nil {
			t.Fatalf("%s", text)
		}
		if request["message"] != "request" || request["request_id"] != fmt.Sprintf("request-%d", i+1) || request["method"] != "ping" ||
			request["gateway_request_id"] != "LV7fzho-PHcEJPw=" || request["cold_start"] != (i == 0) {
			t.Error(request)
		}
		if metrics["Method"] != "ping" || metrics["Requests"] != 1.0 || metrics["_aws"] == nil {
			t.Error(metrics)
		}
	}
}

// A router's process and families' processes, four of one, with the real SDK
// between them: each call arrives at one of them, once.
func TestProcess_router_and_families(t *testing.T) {
	instances := make(chan *lambdatest.Function, 4)
	for range cap(instances) {
		instances <- start(t, lambdatest.Options{})
	}
	r := router(sdk(t, func(ctx context.Context, _ string, event []byte) ([]byte, error) {
		f := <-instances
		defer func() { instances <- f }()
		return f.Invoke(ctx, event)
	}), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			out, err := r.Invoke(ctx, post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i)))
			if a := decodeAnswer(t, out); err != nil || a.StatusCode != 200 || !strings.HasPrefix(*a.Body, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result"`, i)) {
				t.Errorf("%d: %+v %v", i, a, err)
			}
		})
	}
	wg.Wait()
}
