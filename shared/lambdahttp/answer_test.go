package lambdahttp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
)

func TestAnswer(t *testing.T) {
	h := http.Header{"Content-Type": {"application/json"}, "Vary": {"Origin", "Accept"}, "Set-Cookie": {"a=1, x", "b=2"}}
	body := new("{\"text\":\"\\\"é\u2028\x01\"}\n")
	t.Run("2.0", func(t *testing.T) {
		want := answer{StatusCode: 201, Headers: map[string]string{"Content-Type": "application/json", "Vary": "Origin, Accept"}, Cookies: []string{"a=1, x", "b=2"}, Body: body}
		if diff := cmp.Diff(want, invoke(t, write(201, h, *body), v2())); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("1.0", func(t *testing.T) {
		want := answer{StatusCode: 201, MultiValueHeaders: h, Body: body}
		if diff := cmp.Diff(want, invoke(t, write(201, h, *body), v1())); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("what is no text is in base64", func(t *testing.T) {
		a := invoke(t, write(200, http.Header{"Content-Type": {"image/png"}}, "\x89PNG\xff\x00"), v2())
		if !a.IsBase64Encoded || a.body(t) != "\x89PNG\xff\x00" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("nothing was written", func(t *testing.T) {
		want := answer{StatusCode: 200, Headers: map[string]string{}}
		if diff := cmp.Diff(want, invoke(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), v2())); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the first status counts", func(t *testing.T) {
		a := invoke(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
			io.WriteString(w, "<html>")
			io.WriteString(w, "</html>")
		}), v2())
		if a.StatusCode != http.StatusTeapot || *a.Body != "<html></html>" || a.Headers["Content-Type"] != "text/html; charset=utf-8" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("no body where HTTP has none", func(t *testing.T) {
		head := v2(object{"requestContext": object{"http": object{"method": "HEAD"}}})
		for name, a := range map[string]answer{
			"HEAD": invoke(t, write(200, h, "x"), head), "204": invoke(t, write(204, nil, "x"), v2()), "304": invoke(t, write(304, nil, "x"), v2()),
		} {
			if a.Body != nil {
				t.Errorf("%s: %s", name, *a.Body)
			}
		}
	})
}

// Field case 5: Lambda makes an opaque error of an answer over 6 MB. Text that
// is full of quotes doubles when it is encoded, and control characters in an
// answer's JSON grow too.
func TestCase5_answers_over_6_MB_say_so(t *testing.T) {
	const limit = 6 << 20
	for name, c := range map[string]struct {
		body string
		fits bool
	}{
		"the largest answer of package mcp, all quotes": {strings.Repeat(`\"`, 1_250_000), true},
		"plain text, just below":                        {strings.Repeat("a", limit-1000), true},
		"plain text":                                    {strings.Repeat("a", limit), false},
		"quotes":                                        {strings.Repeat(`"`, limit/2), false},
		"raw controls, six bytes each":                  {strings.Repeat("\x01", limit/6), false},
		"not text":                                      {strings.Repeat("\xff", limit/4*3), false},
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			h := lambdahttp.New(write(200, http.Header{"Content-Type": {"text/plain"}}, c.body), slog.New(slog.NewJSONHandler(&logged, nil)))
			encoded, err := h.Invoke(t.Context(), v2(object{"body": `{"id":"x-7","jsonrpc":"2.0","method":"tools/call"}`}))
			if err != nil || len(encoded) > limit {
				t.Fatal(len(encoded), err)
			}
			a := decodeAnswer(t, encoded)
			if c.fits {
				if a.StatusCode != 200 || a.body(t) != c.body || logged.Len() > 0 {
					t.Error("changed:", a.StatusCode, len(a.body(t)), logged.String())
				}
				return
			}
			e := a.rpcError(t)
			if a.StatusCode != http.StatusInternalServerError || e.ID != "x-7" || e.Error.Code != -32603 ||
				e.Error.Message != "response_too_large: the answer would be over 6 MB; ask for less" {
				t.Errorf("%d %+v", a.StatusCode, e)
			}
			if !strings.Contains(logged.String(), `"bytes":`) {
				t.Error("nobody was told:", logged.String())
			}
		})
	}
}

func TestPanic_is_an_answer(t *testing.T) {
	for name, value := range map[string]any{"error": fmt.Errorf("secret"), "abort": http.ErrAbortHandler, "text": "secret"} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			h := lambdahttp.New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, "half an ans")
				panic(value)
			}), slog.New(slog.NewJSONHandler(&logged, nil)))
			a := invokeHandler(t, h, v2())
			e := a.rpcError(t)
			if a.StatusCode != 500 || e.ID != 1.0 || e.Error.Code != -32603 || strings.Contains(*a.Body, "secret") {
				t.Errorf("%d %s", a.StatusCode, *a.Body)
			}
			if !strings.Contains(logged.String(), "answer_test.go") {
				t.Error("no stack was logged:", logged.String())
			}
		})
	}
}

// An id is echoed only where it is one.
func TestErrors_have_the_callers_id(t *testing.T) {
	h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("") })
	for body, want := range map[string]any{
		`{"id":"a\u0062"}`: "ab", `{"method":"x","id":-7}`: -7.0, `{"params":{"id":1},"id":2}`: 2.0,
		`{"params":{"id":1}}`: nil, `{"id":null}`: nil, `{"id":{}}`: nil, `{"id":[1]}`: nil, `{"id":true}`: nil,
		`[{"id":1}]`: nil, `{"id":1`: nil, `{"id":1,"id":2}`: nil, `{"id":1} x`: nil, `x`: nil, ``: nil,
	} {
		if e := invoke(t, h, v2(object{"body": body})).rpcError(t); e.ID != want {
			t.Errorf("%s: %v, want %v", body, e.ID, want)
		}
	}
}

// Invocations in one process never meet.
func TestConcurrency(t *testing.T) {
	h := lambdahttp.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Number") == "13" {
			panic("13")
		}
		w.Header().Set("X-Number", r.Header.Get("X-Number"))
		io.Copy(w, r.Body)
	}), nil)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			n := fmt.Sprint(i)
			encoded, err := h.Invoke(context.Background(), v2(object{"headers": object{"x-number": n}, "body": strings.Repeat(n, 1000)}))
			a := decodeAnswer(t, encoded)
			if i == 13 {
				if a.StatusCode != 500 {
					t.Error(a.StatusCode)
				}
			} else if err != nil || a.Headers["X-Number"] != n || *a.Body != strings.Repeat(n, 1000) {
				t.Errorf("%d: %v %+v", i, err, a)
			}
		})
	}
	wg.Wait()
}

// FuzzEvent sends anything as an event: it is answered, and what was text or
// bytes comes back as it was.
func FuzzEvent(f *testing.F) {
	f.Add(v2(), "text", []byte{0xff})
	f.Add(v1(), "\"\\", []byte(nil))
	f.Add([]byte(`{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"X"}},"headers":{"\ud800":"a"}}`), "\u2028", []byte{0})
	f.Add([]byte(`{"path":"/%zz","httpMethod":"GET","queryStringParameters":{"":null},"body":null}`), "", []byte{})
	f.Fuzz(func(t *testing.T, event []byte, text string, bytes []byte) {
		echo := lambdahttp.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }), nil)
		encoded, err := echo.Invoke(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		decodeAnswer(t, encoded)
		for _, body := range []string{strings.ToValidUTF8(text, ""), string(bytes)} {
			encoded, _ = echo.Invoke(t.Context(), v2(object{"body": base64.StdEncoding.EncodeToString([]byte(body)), "isBase64Encoded": true}))
			if got := decodeAnswer(t, encoded).body(t); got != body {
				t.Errorf("%q came back as %q", body, got)
			}
		}
	})
}
