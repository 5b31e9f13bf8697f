package lambdahttp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
)

func TestEvent_2_0(t *testing.T) {
	r, body := received(t, v2())
	if r.Method != "POST" || r.URL.Path != "/mcp" || r.RequestURI != "/mcp" || r.Host != "inbox.example.com" ||
		r.RemoteAddr != "203.0.113.7:0" || r.Proto != "HTTP/1.1" || r.ContentLength != int64(len(body)) {
		t.Errorf("%+v", r)
	}
	if body != `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` {
		t.Error(body)
	}
	want := http.Header{
		"Accept": {"application/json, text/event-stream"}, "Content-Length": {"58"}, "Content-Type": {"application/json"},
		"User-Agent": {"test/1.0"}, "X-Forwarded-For": {"203.0.113.7"}, "X-Forwarded-Proto": {"https"},
	}
	if diff := cmp.Diff(want, r.Header); diff != "" {
		t.Error(diff)
	}
}

func TestEvent_1_0(t *testing.T) {
	r, body := received(t, v1())
	if r.Method != "POST" || r.URL.Path != "/mcp" || r.RequestURI != "/mcp" || r.Host != "abc.execute-api.us-east-1.amazonaws.com" ||
		r.RemoteAddr != "203.0.113.7:0" || body != `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` {
		t.Errorf("%+v %s", r, body)
	}
	if diff := cmp.Diff(http.Header{"Content-Type": {"application/json"}, "X-Twice": {"a", "b"}}, r.Header); diff != "" {
		t.Error(diff)
	}
}

func TestEvent_headers(t *testing.T) {
	for name, c := range map[string]struct {
		event  []byte
		header string
		want   []string
	}{
		"any case":                     {v2(object{"headers": object{"mcp-METHOD": "ping"}}), "Mcp-Method", []string{"ping"}},
		"sent twice, joined in 2.0":    {v2(object{"headers": object{"mcp-name": "a,a"}}), "Mcp-Name", []string{"a,a"}},
		"one value each, in 1.0":       {v1(object{"multiValueHeaders": nil}), "X-Twice", []string{"b"}},
		"cookies of 2.0":               {v2(object{"cookies": []string{"a=1", "b=2"}}), "Cookie", []string{"a=1; b=2"}},
		"cookies of 1.0":               {v1(object{"multiValueHeaders": object{"cookie": []string{"a=1; b=2"}}}), "Cookie", []string{"a=1; b=2"}},
		"other than ASCII, 1.21":       {v2(object{"headers": object{"mcp-name": "é\u2028"}}), "Mcp-Name", []string{"é\u2028"}},
		"a value with an escape in it": {v2(object{"headers": object{"x": "\"\\"}}), "X", []string{"\"\\"}},
		"none":                         {v2(object{"headers": nil}), "Accept", nil},
		"the host is none of them":     {v2(), "Host", nil},
		"names with an escape in them": {[]byte(strings.Replace(string(v2()), `"accept"`, `"\u0061ccept"`, 1)), "Accept", []string{"application/json, text/event-stream"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := received(t, c.event)
			if diff := cmp.Diff(c.want, r.Header[c.header]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvent_address(t *testing.T) {
	stage := func(name, path string) []byte {
		return v2(object{"rawPath": path, "requestContext": object{"stage": name}})
	}
	for name, c := range map[string]struct {
		event []byte
		want  string // RequestURI
	}{
		"query":                    {v2(object{"rawQueryString": "a=1&a=%20&b"}), "/mcp?a=1&a=%20&b"},
		"query of 1.0":             {v1(object{"queryStringParameters": object{"a": "1 2"}}), "/mcp?a=1+2"},
		"query of 1.0, twice":      {v1(object{"queryStringParameters": object{"a": "2"}, "multiValueQueryStringParameters": object{"a": []string{"1", "2"}}}), "/mcp?a=1&a=2"},
		"escaped":                  {v2(object{"rawPath": "/a%2Fb%20c"}), "/a%2Fb%20c"},
		"not escaped":              {v2(object{"rawPath": "/a b%"}), "/a%20b%25"},
		"host-like":                {v2(object{"rawPath": "//evil.example/mcp"}), "//evil.example/mcp"},
		"stage":                    {stage("prod", "/prod/mcp"), "/mcp"},
		"stage alone":              {stage("prod", "/prod"), "/"},
		"stage, behind a domain":   {stage("prod", "/mcp"), "/mcp"},
		"stage, a longer name":     {stage("prod", "/production/mcp"), "/production/mcp"},
		"stage of an HTTP API 1.0": {v1(object{"version": "1.0", "path": "/prod/mcp"}), "/mcp"},
		"well-known in a stage":    {stage("prod", "/prod/.well-known/oauth-protected-resource/mcp"), "/.well-known/oauth-protected-resource/mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := received(t, c.event)
			if r.RequestURI != c.want || r.URL.Host != "" {
				t.Errorf("%q at %q, want %q", r.RequestURI, r.URL.Host, c.want)
			}
		})
	}
	if r, _ := received(t, v2(object{"rawPath": "/a%2Fb%20c"})); r.URL.Path != "/a/b c" {
		t.Error(r.URL.Path)
	}
	if r, _ := received(t, v2(object{"headers": object{}})); r.Host != "abc.execute-api.us-east-1.amazonaws.com" {
		t.Error("without a Host header:", r.Host)
	}
	r, _ := received(t, v2(object{"requestContext": object{"http": object{"method": "GET", "sourceIp": "2001:db8::7"}}}))
	if r.RemoteAddr != "[2001:db8::7]:0" || r.Method != "GET" {
		t.Error(r.Method, r.RemoteAddr)
	}
}

func TestEvent_body(t *testing.T) {
	for name, c := range map[string]struct {
		event []byte
		want  string
	}{
		"base64":         {v2(object{"body": "AP/+IGE=", "isBase64Encoded": true}), "\x00\xff\xfe a"},
		"empty base64":   {v2(object{"body": "", "isBase64Encoded": true}), ""},
		"none":           {v2(object{"body": nil}), ""},
		"escapes":        {v2(object{"body": "\"\\\n\x01\u2028é😀"}), "\"\\\n\x01\u2028é😀"},
		"without quotes": {v2(object{"body": "[1]"}), "[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			if r, body := received(t, c.event); body != c.want || r.ContentLength != int64(len(c.want)) {
				t.Errorf("%q of %d bytes, want %q", body, r.ContentLength, c.want)
			}
		})
	}
}

func TestEvent_malformed(t *testing.T) {
	for name, event := range map[string][]byte{
		"no JSON":                 []byte(`{"version":`),
		"nothing":                 nil,
		"null":                    []byte(`null`),
		"an array":                []byte(`[]`),
		"an empty object":         []byte(`{}`),
		"another event":           []byte(`{"Records":[{"eventSource":"aws:sqs","body":"x"}]}`),
		"no method":               v2(object{"requestContext": object{"http": object{}}}),
		"a relative path":         v2(object{"rawPath": "mcp"}),
		"a header that is number": v2(object{"headers": object{"a": 1}}),
		"headers in an array":     v2(object{"headers": []string{"a"}}),
		"a value in no array":     v1(object{"multiValueHeaders": object{"a": "b"}}),
		"base64 that is none":     v2(object{"body": "a", "isBase64Encoded": true}),
		"base64 with a line":      v2(object{"body": "AP/+\nIGE=", "isBase64Encoded": true}),
		"base64 with spare bits":  v2(object{"body": "AP/+IGF=", "isBase64Encoded": true}),
		"base64 for the web":      v2(object{"body": "AP_-IGE=", "isBase64Encoded": true}),
		"base64 by a word":        v2(object{"isBase64Encoded": "true"}),
		"a body in a body":        v2(object{"body": object{}}),
		"two bodies":              []byte(strings.Replace(string(v2()), `{`, `{"body":"x",`, 1)),
		"broken UTF-8":            []byte(strings.Replace(string(v2()), `tools`, "\xff", 1)),
		"more after it":           append(v2(), '1'),
	} {
		t.Run(name, func(t *testing.T) {
			h := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was served") })
			a := invoke(t, h, event)
			if a.StatusCode != http.StatusBadRequest || !strings.Contains(*a.Body, `"code":-32700`) {
				t.Errorf("%d %s", a.StatusCode, *a.Body)
			}
		})
	}
}

// The limits of time stand one inside the other: what Lambda gives
// a family, less the margin here and the tenth that package mcp takes, is more
// than the 20 s of a handler; what it gives the router is more than a family's.
func TestDeadline(t *testing.T) {
	for name, c := range map[string]struct{ given, least time.Duration }{
		"family": {25 * time.Second, 20 * time.Second * 10 / 9},
		"router": {29 * time.Second, 25 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.given)
			defer cancel()
			end, _ := ctx.Deadline()
			lambdahttp.New(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				at, ok := r.Context().Deadline()
				if !ok || end.Sub(at) != 500*time.Millisecond {
					t.Errorf("ends %v before Lambda does", end.Sub(at))
				}
				if left := c.given - end.Sub(at); left < c.least {
					t.Errorf("%v left, less than %v", left, c.least)
				}
			}), nil).Invoke(ctx, v2())
		})
	}
	r, _ := received(t, v2())
	if _, ok := r.Context().Deadline(); ok {
		t.Error("a deadline out of nowhere")
	}
}
