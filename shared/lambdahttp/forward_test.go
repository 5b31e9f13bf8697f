package lambdahttp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/invoker"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// invokerFunc is a client of Lambda that answers with a payload.
type invokerFunc func(ctx context.Context, in *lambda.InvokeInput) ([]byte, error)

func (f invokerFunc) Invoke(ctx context.Context, in *lambda.InvokeInput, _ ...func(*lambda.Options)) (*lambda.InvokeOutput, error) {
	payload, err := f(ctx, in)
	return &lambda.InvokeOutput{StatusCode: 200, Payload: payload}, err
}

// router is a function that forwards every family's requests by c.
func router(c invoker.Client, log *slog.Logger) *lambdahttp.Handler {
	o := mcp.Options{Info: mcp.Implementation{Name: "test", Version: "1"}, Core: true, Forward: map[string]http.Handler{}}
	for _, f := range families {
		o.Forward[f] = &lambdahttp.Forwarder{Invoker: invoker.SDK{Client: c}, Function: f, Log: log}
	}
	return lambdahttp.New(mcp.New(o), log)
}

// sdk is the real client of the Lambda API, with the retries it has by
// default, before a service that does what invoke does.
func sdk(t *testing.T, invoke func(ctx context.Context, function string, event []byte) ([]byte, error)) *lambda.Client {
	s := httptest.NewServer(lambdatest.Service(invoke))
	t.Cleanup(s.Close)
	return lambda.New(lambda.Options{Region: "us-east-1", BaseEndpoint: &s.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
}

const toolsCall = `{"jsonrpc":"2.0","id":"a-1","method":"tools/call","params":{"name":"ok"}}`

func TestForward_changes_neither_event_nor_answer(t *testing.T) {
	// Not what this package would write, but for the first member.
	const reply = `{"statusCode":418, "headers":{"x-a":"1"},"odd":[1, 2] ,"body":"not JSON"}`
	for name, event := range map[string][]byte{
		"2.0":    append(post(toolsCall), "  "...),
		"1.0":    v1(object{"body": toolsCall}),
		"base64": v2(object{"body": "eyJqc29ucnBjIjoiMi4wIiwiaWQiOjEsIm1ldGhvZCI6InRvb2xzL2xpc3QifQ==", "isBase64Encoded": true}),
	} {
		t.Run(name, func(t *testing.T) {
			var in *lambda.InvokeInput
			r := router(invokerFunc(func(_ context.Context, got *lambda.InvokeInput) ([]byte, error) {
				in = got
				return []byte(reply), nil
			}), nil)
			out, err := r.Invoke(t.Context(), event)
			if err != nil || string(out) != reply {
				t.Error(string(out), err)
			}
			if *in.FunctionName != "tools" || in.InvocationType != types.InvocationTypeRequestResponse || !bytes.Equal(in.Payload, event) {
				t.Errorf("%+v %s", in, in.Payload)
			}
			if &in.Payload[0] == &event[0] {
				t.Error("the event is aws-lambda-go's, which writes the next one there")
			}
		})
	}
}

// The items of a batch are no events: they get events of their own, with what
// the batch's had.
func TestForward_batch(t *testing.T) {
	var bodies []string
	r := router(invokerFunc(func(ctx context.Context, in *lambda.InvokeInput) ([]byte, error) {
		got, body := received(t, in.Payload)
		bodies = append(bodies, body)
		want := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer x"}, "Cookie": {"a=1; b=2"}}
		if diff := cmp.Diff(want, got.Header); diff != "" || got.Host != "inbox.example.com" || got.RemoteAddr != "203.0.113.7:0" ||
			got.RequestURI != "/mcp?q=1" || got.Method != "POST" {
			t.Errorf("%s %+v", diff, got)
		}
		if !bytes.Contains(in.Payload, []byte(`"requestId":"LV7fzho-PHcEJPw="`)) {
			t.Errorf("the gateway's request id is lost: %s", in.Payload)
		}
		return lambdahttp.New(server(*in.FunctionName, nil), nil).Invoke(ctx, in.Payload)
	}), nil)
	event := v2(object{"rawQueryString": "q=1", "cookies": []string{"a=1", "b=2"},
		"headers": object{"host": "inbox.example.com", "content-type": "application/json", "authorization": "Bearer x"},
		"body":    `[ {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é\n"}} ,{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]`})
	a := invokeHandler(t, r, event)
	var answers []struct {
		ID     int            `json:"id"`
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal([]byte(a.body(t)), &answers); err != nil || len(answers) != 2 || answers[0].ID != 1 || answers[1].Result == nil {
		t.Error(a.body(t), err)
	}
	want := []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é\n"}}`, `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`}
	if diff := cmp.Diff(want, bodies); diff != "" {
		t.Error(diff)
	}
}

// A header that was sent twice stays two values, joined as a gateway would.
func TestForward_batch_of_1_0(t *testing.T) {
	var got []string
	r := router(invokerFunc(func(ctx context.Context, in *lambda.InvokeInput) ([]byte, error) {
		r, _ := received(t, in.Payload)
		got = r.Header["X-Twice"]
		return lambdahttp.New(server("tools", nil), nil).Invoke(ctx, in.Payload)
	}), nil)
	out, _ := r.Invoke(t.Context(), v1(object{"body": "[" + toolsCall + "]"}))
	if a := decodeAnswer(t, out); a.StatusCode != 200 || !strings.HasPrefix(*a.Body, `[{"jsonrpc":"2.0","id":"a-1","result":`) {
		t.Errorf("%+v", a)
	}
	if diff := cmp.Diff([]string{"a,b"}, got); diff != "" {
		t.Error(diff)
	}
}

// An answer passes through writers of others too.
func TestForward_without_a_Handler(t *testing.T) {
	for name, want := range map[string]struct {
		status int
		header http.Header
		body   string
	}{
		"text": {401, http.Header{"Content-Type": {"application/json"}, "Www-Authenticate": {"Bearer"}, "Set-Cookie": {"a=1", "b=2"}}, "{}"},
		"data": {200, http.Header{"Content-Type": {"image/png"}}, "\xff"},
		"none": {202, http.Header{}, ""},
	} {
		f := &lambdahttp.Forwarder{Function: "tools", Invoker: invoker.SDK{Client: invokerFunc(func(ctx context.Context, in *lambda.InvokeInput) ([]byte, error) {
			if _, body := received(t, in.Payload); body != "\xff\x00" {
				t.Errorf("%q", body)
			}
			return lambdahttp.New(write(want.status, want.header, want.body), nil).Invoke(ctx, in.Payload)
		})}}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest("POST", "/mcp", strings.NewReader("\xff\x00")))
		if w.Code != want.status || !cmp.Equal(w.Header(), want.header) || w.Body.String() != want.body {
			t.Errorf("%s: %d %v %q", name, w.Code, w.Header(), w.Body)
		}
	}
}

func TestForward_broken_answers_without_a_Handler(t *testing.T) {
	for _, reply := range []string{`{"statusCode":0}`, `{"statusCode":"200"}`, `{"statusCode":200`, `{"statusCode":200,"body":1}`, `{"statusCode":200,"body":"a","isBase64Encoded":true}`} {
		f := &lambdahttp.Forwarder{Function: "tools", Invoker: invoker.SDK{Client: invokerFunc(func(context.Context, *lambda.InvokeInput) ([]byte, error) { return []byte(reply), nil })}}
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequest("POST", "/mcp", strings.NewReader(toolsCall)))
		if w.Code != http.StatusBadGateway || !strings.HasPrefix(w.Body.String(), `{"jsonrpc":"2.0","id":"a-1","error":`) {
			t.Error(reply, w.Code, w.Body)
		}
	}
}

func TestForward_failures(t *testing.T) {
	var throttle error = &types.TooManyRequestsException{Reason: types.ThrottleReasonConcurrentInvocationLimitExceeded}
	type reply struct {
		out *lambda.InvokeOutput
		err error
	}
	for name, c := range map[string]struct {
		reply   reply
		calls   int
		status  int
		message string
	}{
		"throttled":      {reply{nil, throttle}, 4, 503, "unavailable: the server is busy; nothing was done, try again"},
		"failed":         {reply{&lambda.InvokeOutput{FunctionError: new("Unhandled"), Payload: []byte(`{"errorMessage":"secret"}`)}, nil}, 1, 502, "internal: the server failed to answer; whether the call took effect is not known"},
		"lost":           {reply{nil, errors.New("connection reset: secret")}, 1, 502, "internal: the server failed to answer; whether the call took effect is not known"},
		"no answer":      {reply{&lambda.InvokeOutput{Payload: []byte(`{"errorMessage":"secret","errorType":"x"}`)}, nil}, 1, 502, "internal: the server failed to answer; whether the call took effect is not known"},
		"nothing at all": {reply{&lambda.InvokeOutput{}, nil}, 1, 502, "internal: the server failed to answer; whether the call took effect is not known"},
		"too slow":       {reply{nil, context.DeadlineExceeded}, 1, 504, "timeout: the server gave up waiting; whether the call took effect is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 29*time.Second)
				defer cancel()
				calls := 0
				var logged bytes.Buffer
				out, err := router(outputFunc(func(ctx context.Context) (*lambda.InvokeOutput, error) {
					calls++
					if c.reply.err == context.DeadlineExceeded {
						<-ctx.Done()
						return nil, &aws.RequestCanceledError{Err: ctx.Err()}
					}
					return c.reply.out, c.reply.err
				}), slog.New(slog.NewJSONHandler(&logged, nil))).Invoke(ctx, post(toolsCall))
				if err != nil || ctx.Err() != nil {
					t.Fatal(err, ctx.Err())
				}
				a := decodeAnswer(t, out)
				e := a.rpcError(t)
				if calls != c.calls || a.StatusCode != c.status || e.ID != "a-1" || e.Error.Code != -32603 || e.Error.Message != c.message {
					t.Errorf("%d calls: %d %+v", calls, a.StatusCode, e)
				}
				if (a.Headers["Retry-After"] == "1") != (c.status == 503) || strings.Contains(*a.Body, "secret") {
					t.Errorf("%+v", a)
				}
				if s := logged.String(); !strings.Contains(s, `"method":"tools/call","subject":"ok"`) || !strings.Contains(s, `"cause":`) || strings.Contains(s, "a-1") {
					t.Error("the cause is not in the log, or the body is:", s)
				}
			})
		})
	}
}

type outputFunc func(context.Context) (*lambda.InvokeOutput, error)

func (f outputFunc) Invoke(ctx context.Context, _ *lambda.InvokeInput, _ ...func(*lambda.Options)) (*lambda.InvokeOutput, error) {
	return f(ctx)
}

// A throttled call is repeated, but not past the end of the invocation.
func TestForward_throttled_waits_for_a_bounded_time(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
		defer cancel()
		start := time.Now()
		out, _ := router(outputFunc(func(context.Context) (*lambda.InvokeOutput, error) {
			return nil, &types.TooManyRequestsException{}
		}), nil).Invoke(ctx, post(toolsCall))
		if a := decodeAnswer(t, out); a.StatusCode != 503 || time.Since(start) > 100*time.Millisecond {
			t.Error(a.StatusCode, time.Since(start))
		}
	})
}

// The real client, which by default tries three times, calls once: a family
// whose answer is lost after it did its work has done it once.
func TestForward_a_lost_answer_is_not_tried_again(t *testing.T) {
	var effects, calls atomic.Int32
	tools := lambdahttp.New(server("tools", func() { effects.Add(1) }), nil)
	for name, c := range map[string]struct {
		drop   error // instead of the answer
		before int32 // calls that are throttled first
		status int
		calls  int32
		done   int32
	}{
		"answered":           {nil, 0, 200, 1, 1},
		"dropped":            {errors.New("connection lost"), 0, 502, 1, 1},
		"failed at the end":  {&lambdatest.FunctionError{Payload: []byte(`{"errorMessage":"RequestId: 1 Error: Runtime exited"}`)}, 0, 502, 1, 1},
		"throttled at first": {nil, 2, 200, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			effects.Store(0)
			calls.Store(0)
			client := sdk(t, func(ctx context.Context, function string, event []byte) ([]byte, error) {
				if calls.Add(1) <= c.before {
					return nil, lambdatest.ErrThrottled
				}
				out, err := tools.Invoke(ctx, event)
				return out, errors.Join(err, c.drop)
			})
			a := invokeHandler(t, router(client, nil), post(toolsCall))
			if a.StatusCode != c.status || calls.Load() != c.calls || effects.Load() != c.done {
				t.Errorf("HTTP %d after %d calls and %d effects: %s", a.StatusCode, calls.Load(), effects.Load(), *a.Body)
			}
			if c.status != 200 && a.rpcError(t).ID != "a-1" {
				t.Error(*a.Body)
			}
		})
	}
}

// When the router gives up, the family may still be at work; it runs once.
func TestForward_gives_up_in_time(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	var calls atomic.Int32
	client := sdk(t, func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		calls.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	out, _ := router(client, nil).Invoke(ctx, post(toolsCall))
	if a := decodeAnswer(t, out); a.StatusCode != 504 || a.rpcError(t).ID != "a-1" || calls.Load() != 1 || ctx.Err() != nil {
		t.Error(a.StatusCode, *a.Body, calls.Load(), ctx.Err())
	}
}

func TestForward_concurrency(t *testing.T) {
	tools := lambdahttp.New(server("tools", nil), nil)
	r := router(sdk(t, func(ctx context.Context, _ string, event []byte) ([]byte, error) { return tools.Invoke(ctx, event) }), nil)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if a := invokeHandler(t, r, post(toolsCall)); a.StatusCode != 200 || !strings.Contains(*a.Body, `"id":"a-1"`) {
				t.Errorf("%+v", a)
			}
		})
	}
	wg.Wait()
}
