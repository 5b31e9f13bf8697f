package openai_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/modeltest"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/openai"
)

const key = "sk-a-secret-key"

// with makes a model at an endpoint on this machine.
func with(t *testing.T, o openai.Options) model.Model {
	t.Helper()
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func give(context.Context) (string, error) { return key + "\n", nil }

// said is an answer of chat completions, recorded by hand.
func said(message, reason, usage string) modeltest.Reply {
	return modeltest.Say(200, `{"id":"chatcmpl-1","object":"chat.completion","created":1796175000,"model":"gpt-5-2025-08-07","choices":[{"index":0,"message":`+
		message+`,"logprobs":null,"finish_reason":"`+reason+`"}],"usage":`+usage+`,"service_tier":"default"}`)
}

const usage = `{"prompt_tokens":1151,"completion_tokens":31,"total_tokens":1182,"prompt_tokens_details":{"cached_tokens":1024,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":8}}`

var counted = model.Tokens{InputTokens: 127, OutputTokens: 31, CacheRead: 1024}

const yes = `{"role":"assistant","content":"Yes.","refusal":null,"annotations":[]}`

func TestAnswer_Request(t *testing.T) {
	system, user := map[string]any{"role": "system", "content": "Sort."}, map[string]any{"role": "user", "content": "An e-mail: “olá”"}
	for name, c := range map[string]struct {
		options       openai.Options
		model, system string
		authorization string
		body          map[string]any
	}{
		"OpenAI": {openai.Options{Key: give}, "gpt-5", "Sort.", "Bearer " + key,
			map[string]any{"model": "gpt-5", "max_completion_tokens": 300., "messages": []any{system, user}}},
		"local": {openai.Options{LocalModel: "qwen3:8b"}, "local", "", "",
			map[string]any{"model": "qwen3:8b", "max_tokens": 300., "messages": []any{user}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.Serve(t, said(yes, "stop", usage))
			c.options.BaseURL = s.URL + "/v1/"
			a, err := with(t, c.options).Answer(t.Context(), model.Request{Model: c.model, System: c.system, Message: "An e-mail: “olá”", MaxTokens: 300})
			if want := (model.Answer{Text: "Yes.", Tokens: counted}); err != nil || a != want {
				t.Errorf("%+v, %v, want %+v", a, err, want)
			}
			r := s.Requests()[0]
			if r.Method != "POST" || r.RequestURI != "/v1/chat/completions" || r.Header.Get("Content-Type") != "application/json" ||
				r.Header.Get("Authorization") != c.authorization {
				t.Errorf("%s %s, %v", r.Method, r.RequestURI, r.Header)
			}
			var body map[string]any
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.body, body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswer_Answers(t *testing.T) {
	for name, c := range map[string]struct {
		reply modeltest.Reply
		want  model.Answer
		err   model.Error // without a cause
	}{
		"cut": {said(`{"content":"Dear Mar"}`, "length", usage), model.Answer{Text: "Dear Mar", Cut: true, Tokens: counted}, model.Error{}},
		"cut while thinking": {said(`{"content":""}`, "length", usage), model.Answer{Cut: true, Tokens: counted},
			model.Error{Sentence: "The model used up the tokens that an answer may have before it wrote anything."}},
		"empty":    {said(`{"content":null}`, "stop", usage), model.Answer{Tokens: counted}, model.Error{Sentence: "The model answered with nothing."}},
		"blank":    {said(`{"content":" \n"}`, "stop", usage), model.Answer{Tokens: counted}, model.Error{Sentence: "The model answered with nothing."}},
		"refusal":  {said(`{"content":null,"refusal":"I can't."}`, "stop", usage), model.Answer{Tokens: counted}, model.Error{Sentence: "The model refused to answer."}},
		"filtered": {said(`{"content":"Dea"}`, "content_filter", usage), model.Answer{Tokens: counted}, model.Error{Sentence: "The model provider's filter held the answer back."}},
		"no choices": {modeltest.Say(200, `{"choices":[],"usage":`+usage+`}`), model.Answer{Tokens: counted},
			model.Error{Sentence: "The model provider's answer could not be read.", Retry: true}},
		"nothing":  {modeltest.Say(200, ""), model.Answer{}, model.Error{Sentence: "The model provider's answer could not be read.", Retry: true}},
		"null":     {modeltest.Say(200, "null"), model.Answer{}, model.Error{Sentence: "The model provider's answer could not be read.", Retry: true}},
		"no usage": {modeltest.Say(200, `{"choices":[{"message":{"content":"Yes."}}]}`), model.Answer{Text: "Yes."}, model.Error{}},
		"cache write": {said(yes, "stop", `{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}`),
			model.Answer{Text: "Yes.", Tokens: model.Tokens{InputTokens: 10, OutputTokens: 1, CacheRead: 60, CacheWrite: 30}}, model.Error{}},
		"lies": {said(yes, "stop", `{"prompt_tokens":1,"completion_tokens":-1,"prompt_tokens_details":{"cached_tokens":9000000000000000000}}`),
			model.Answer{Text: "Yes.", Tokens: model.Tokens{CacheRead: 1e8}}, model.Error{}},
		"null usage":  {said(yes, "stop", `{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":null}`), model.Answer{Text: "Yes.", Tokens: model.Tokens{InputTokens: 3, OutputTokens: 1}}, model.Error{}},
		"bad UTF-8":   {said("{\"content\":\"a\xffb\"}", "stop", usage), model.Answer{Text: "a\uFFFDb", Tokens: counted}, model.Error{}},
		"long":        {said(`{"content":"`+strings.Repeat("é", 40<<10)+`"}`, "stop", usage), model.Answer{Text: strings.Repeat("é", 32<<10), Cut: true, Tokens: counted}, model.Error{}},
		"other types": {said(`{"content":["x"]}`, "stop", usage), model.Answer{}, model.Error{Sentence: "The model provider's answer could not be read.", Retry: true}},
	} {
		t.Run(name, func(t *testing.T) {
			m := with(t, openai.Options{BaseURL: modeltest.Serve(t, c.reply).URL})
			a, err := m.Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
			if diff := cmp.Diff(c.want, a); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			var got model.Error
			if e, ok := errors.AsType[*model.Error](err); ok {
				got = model.Error{Sentence: e.Sentence, Retry: e.Retry}
			}
			if got != c.err || (err == nil) != (c.err.Sentence == "") {
				t.Errorf("error %v, want %+v", err, c.err)
			}
		})
	}
}

func TestAnswer_Failures(t *testing.T) {
	modeltest.Failures(t, func(url string) model.Model { return with(t, openai.Options{BaseURL: url, Key: give}) })
}

// TestAnswer_Codes: what is logged of an error is its code, never its message.
func TestAnswer_Codes(t *testing.T) {
	for name, c := range map[string]struct {
		status         int
		code           string
		sentence, logs string
	}{
		"too long":      {400, `"context_length_exceeded"`, "The e-mail and the agent's instructions are longer than the model can read.", "status 400, context_length_exceeded"},
		"filter":        {400, `"content_filter"`, "The model provider's filter held the answer back.", "status 400, content_filter"},
		"quota":         {429, `"insufficient_quota"`, "The account at the model provider has no credit left.", "status 429, insufficient_quota"},
		"unknown model": {404, `"model_not_found"`, "The model provider does not have this model.", "status 404, model_not_found, some_error"},
		"a number":      {400, `400`, "The model provider refused the request.", "status 400, some_error"},
		"the key":       {401, `"` + key + `"`, "The model provider refused access: its credentials, or the permission to use this model, are missing.", "status 401, some_error"},
		"null":          {503, `null`, "The model provider failed.", "status 503, some_error"},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.Serve(t, modeltest.Say(c.status, `{"error":{"message":"Incorrect API key provided: `+key+`","type":"some_error","param":null,"code":`+c.code+`}}`))
			_, err := with(t, openai.Options{BaseURL: s.URL, Key: give}).Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
			e, _ := errors.AsType[*model.Error](err)
			if e == nil || e.Sentence != c.sentence || e.Cause.Error() != c.logs {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestAnswer_Key: a key is fetched once, and again after it was refused.
func TestAnswer_Key(t *testing.T) {
	fetched := 0
	fetch := func(context.Context) (string, error) {
		if fetched++; fetched == 3 {
			return "", errors.New("no secret")
		}
		return key, nil
	}
	s := modeltest.Serve(t, modeltest.Say(503, "{}"))
	good := with(t, openai.Options{BaseURL: s.URL, Key: fetch})
	for range 3 {
		good.Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
	}
	if fetched != 1 || len(s.Requests()) != 3 {
		t.Errorf("fetched %d times for %d requests", fetched, len(s.Requests()))
	}
	s = modeltest.Serve(t, modeltest.Say(401, "{}"))
	refused := with(t, openai.Options{BaseURL: s.URL, Key: fetch})
	refused.Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
	_, err := refused.Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
	e, _ := errors.AsType[*model.Error](err)
	if e == nil || e.Retry || e.Cause.Error() != "no secret" || fetched != 3 || len(s.Requests()) != 1 {
		t.Errorf("%v; fetched %d times for %d requests", err, fetched, len(s.Requests()))
	}
}

func TestAnswer_LocalIsNotSet(t *testing.T) {
	_, err := with(t, openai.Options{}).Answer(t.Context(), model.Request{Model: "local", Message: "x", MaxTokens: 9})
	if err == nil || err.Error() != "The model's provider is not set up on this server: its operator has to set OPENAI_BASE_URL and OPENAI_MODEL." {
		t.Error(err)
	}
}

func TestNew_URLs(t *testing.T) {
	for url, want := range map[string]bool{
		"":                           true,
		"https://api.openai.com/v1":  true,
		"https://gw.example:8443/a/": true,
		"http://127.0.0.1:11434/v1":  true,
		"http://localhost:8080/v1":   true,
		"http://[::1]:8080":          true,
		"http://gw.example/v1":       false,
		"http://10.0.0.8/v1":         false,
		"https://me:pw@gw.example":   false,
		"https://gw.example?key=1":   false,
		"ftp://gw.example":           false,
		"gw.example/v1":              false,
		"https:///v1":                false,
		"https://%zz":                false,
	} {
		if _, err := openai.New(openai.Options{BaseURL: url}); (err == nil) != want {
			t.Errorf("%q: %v", url, err)
		} else if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
