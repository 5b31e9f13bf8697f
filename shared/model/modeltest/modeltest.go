// Package modeltest is a provider of models for tests: a server on loopback
// that says what it is told, and the failures that every provider's [model.Model]
// must tell apart.
package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
)

// Server answers every request with the same reply, and keeps the requests.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	requests []Request
}

// Request is one that came, its body read.
type Request struct {
	*http.Request
	Body string
}

// Reply answers a request.
type Reply func(w http.ResponseWriter, r *http.Request)

// Serve starts a server that ends with the test.
func Serve(t *testing.T, reply Reply) *Server {
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client gave up
		}
		s.mu.Lock()
		s.requests = append(s.requests, Request{r, string(body)})
		s.mu.Unlock()
		reply(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Requests returns those so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Say answers with a status and a body; headers are names and values in turn.
func Say(status int, body string, headers ...string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// Drop closes the connection without an answer.
func Drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// Failures asks models at servers that fail, one after the other, and checks
// what they make of it. Open makes the model for the server at a URL.
func Failures(t *testing.T, open func(url string) model.Model) {
	elsewhere := Serve(t, Say(200, "{}"))
	const ask = "secret-mail"
	for name, c := range map[string]struct {
		reply Reply
		want  model.Error // without a cause
	}{
		"unauthorized":      {Say(401, "{}"), model.Error{Sentence: access}},
		"forbidden":         {Say(403, "{}"), model.Error{Sentence: access}},
		"unknown model":     {Say(404, "{}"), model.Error{Sentence: "The model provider does not have this model."}},
		"model's timeout":   {Say(408, "{}"), model.Error{Sentence: "The model did not answer in the provider's time.", Retry: true}},
		"too large":         {Say(413, "{}"), model.Error{Sentence: "The e-mail and the agent's instructions are longer than the model can read."}},
		"model's failure":   {Say(424, "{}"), model.Error{Sentence: "The model failed.", Retry: true}},
		"throttled":         {Say(429, "{}"), model.Error{Sentence: busy, Retry: true}},
		"throttled a while": {Say(429, "{}", "Retry-After", "7"), model.Error{Sentence: busy, Retry: true, After: 7 * time.Second}},
		"throttled forever": {Say(429, "{}", "Retry-After", "1e99"), model.Error{Sentence: busy, Retry: true, After: 24 * time.Hour}},
		"throttled oddly":   {Say(429, "{}", "Retry-After", "-3"), model.Error{Sentence: busy, Retry: true}},
		"bad request":       {Say(400, "{}"), model.Error{Sentence: "The model provider refused the request."}},
		"odd request":       {Say(418, "<h1>teapot</h1>"), model.Error{Sentence: "The model provider refused the request."}},
		"fault":             {Say(500, "{}"), model.Error{Sentence: "The model provider failed.", Retry: true}},
		"unavailable":       {Say(503, "upstream down", "Retry-After", "2"), model.Error{Sentence: "The model provider failed.", Retry: true, After: 2 * time.Second}},
		"redirect":          {Say(307, "", "Location", elsewhere.URL+"/"), model.Error{Sentence: unreadable}},
		"garbage":           {Say(200, "<html>"), model.Error{Sentence: unreadable, Retry: true}},
		"too much":          {Say(200, `{"x":"`+strings.Repeat("x", 2<<20)+`"}`), model.Error{Sentence: unreadable, Retry: true}},
		"no connection":     {Drop, model.Error{Sentence: "The model provider could not be reached.", Retry: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := Serve(t, c.reply)
			a, err := open(s.URL).Answer(t.Context(), model.Request{Model: "m", System: "s", Message: ask, MaxTokens: 9})
			e, ok := errors.AsType[*model.Error](err)
			if !ok || a != (model.Answer{}) {
				t.Fatalf("answer %+v, error %v", a, err)
			}
			if got := (model.Error{Sentence: e.Sentence, Retry: e.Retry, After: e.After}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if e.Cause == nil || strings.Contains(err.Error(), ask) || strings.Contains(err.Error(), "teapot") {
				t.Errorf("for the log: %v", err)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
	if n := len(elsewhere.Requests()); n != 0 {
		t.Errorf("%d requests followed a redirect", n)
	}
	t.Run("hanging", func(t *testing.T) { hanging(t, open) })
}

// hanging lets a server that says nothing, or begins and says no more, meet the
// end of the context.
func hanging(t *testing.T, open func(url string) model.Model) {
	for _, begin := range []string{"", "{"} {
		asked := make(chan struct{})
		s := Serve(t, func(w http.ResponseWriter, r *http.Request) {
			if begin != "" {
				io.WriteString(w, begin)
				http.NewResponseController(w).Flush()
			}
			close(asked)
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		if _, err := open(s.URL).Answer(ctx, model.Request{Model: "m", Message: "x", MaxTokens: 9}); err == nil {
			t.Errorf("after %q: no error", begin)
		}
	}
}

const (
	access     = "The model provider refused access: its credentials, or the permission to use this model, are missing."
	busy       = "The model provider has too much to do, or the account asks too often."
	unreadable = "The model provider's answer could not be read."
)
