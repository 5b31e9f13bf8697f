package bedrock_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/bedrock"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/modeltest"
)

func keys(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "a-secret-key", SessionToken: "a-session"}, nil
}

func open(url string) model.Model {
	return bedrock.New(bedrock.Options{Region: "sa-east-1", Credentials: aws.CredentialsProviderFunc(keys), Endpoint: url})
}

// said is an answer of Converse, recorded by hand.
func said(content, reason, usage string) modeltest.Reply {
	return modeltest.Say(200, `{"metrics":{"latencyMs":1275},"output":{"message":{"role":"assistant","content":`+content+
		`}},"stopReason":"`+reason+`","usage":`+usage+`}`)
}

const usage = `{"inputTokens":120,"outputTokens":31,"totalTokens":1175,"cacheReadInputTokens":1024,"cacheWriteInputTokens":7}`

var counted = model.Tokens{InputTokens: 120, OutputTokens: 31, CacheRead: 1024, CacheWrite: 7}

func TestAnswer_Request(t *testing.T) {
	long := strings.Repeat("x", 4096)
	cachePoint := map[string]any{"cachePoint": map[string]any{"type": "default"}}
	for name, c := range map[string]struct {
		model, system, profiles string
		path                    string
		blocks                  []any
	}{
		"plain":            {"anthropic.claude-haiku-4-5-20251001-v1:0", "Sort.", "", "/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/converse", []any{map[string]any{"text": "Sort."}}},
		"geography":        {"amazon.nova-lite-v1:0", "Sort.", "us", "/model/us.amazon.nova-lite-v1%3A0/converse", []any{map[string]any{"text": "Sort."}}},
		"cached":           {"anthropic.claude-x", long, "anthropic.claude-x=global.anthropic.claude-x", "/model/global.anthropic.claude-x/converse", []any{map[string]any{"text": long}, cachePoint}},
		"cached, Nova":     {"amazon.nova-lite-v1:0", long, "", "/model/amazon.nova-lite-v1%3A0/converse", []any{map[string]any{"text": long}, cachePoint}},
		"not to be cached": {"meta.llama", long, "us,meta.llama=", "/model/meta.llama/converse", []any{map[string]any{"text": long}}},
		"no instructions":  {"m", "", "m=arn:aws:bedrock:us-east-1:1:inference-profile/p", "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fp/converse", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := modeltest.Serve(t, said(`[{"text":"Yes."}]`, "end_turn", usage))
			profiles, err := bedrock.ParseProfiles(c.profiles)
			if err != nil {
				t.Fatal(err)
			}
			m := bedrock.New(bedrock.Options{Region: "sa-east-1", Credentials: aws.CredentialsProviderFunc(keys), Endpoint: s.URL, Profiles: profiles})
			a, err := m.Answer(t.Context(), model.Request{Model: c.model, System: c.system, Message: "An e-mail: “olá”", MaxTokens: 300})
			if want := (model.Answer{Text: "Yes.", Tokens: counted}); err != nil || a != want {
				t.Errorf("%+v, %v, want %+v", a, err, want)
			}
			r := s.Requests()[0]
			if r.Method != "POST" || r.URL.EscapedPath() != c.path || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s %s, %s", r.Method, r.URL.EscapedPath(), r.Header.Get("Content-Type"))
			}
			if auth := r.Header.Get("Authorization"); !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIDTEST/") ||
				!strings.Contains(auth, "/sa-east-1/bedrock/aws4_request") || r.Header.Get("X-Amz-Security-Token") != "a-session" {
				t.Errorf("authorization: %s", auth)
			}
			want := map[string]any{
				"messages":        []any{map[string]any{"role": "user", "content": []any{map[string]any{"text": "An e-mail: “olá”"}}}},
				"inferenceConfig": map[string]any{"maxTokens": 300.},
			}
			if c.blocks != nil {
				want["system"] = c.blocks
			}
			var body map[string]any
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswer_Answers(t *testing.T) {
	for name, c := range map[string]struct {
		reply    modeltest.Reply
		want     model.Answer
		sentence string
	}{
		"several blocks": {said(`[{"reasoningContent":{"reasoningText":{"text":"Hm."}}},{"text":"Yes, "},{"text":"it is."}]`, "end_turn", usage),
			model.Answer{Text: "Yes, it is.", Tokens: counted}, ""},
		"an unknown block": {said(`[{"hologram":{"x":1}},{"text":"Yes."}]`, "brand_new_reason", usage), model.Answer{Text: "Yes.", Tokens: counted}, ""},
		"cut":              {said(`[{"text":"Dear Mar"}]`, "max_tokens", usage), model.Answer{Text: "Dear Mar", Cut: true, Tokens: counted}, ""},
		"context full":     {said(`[{"text":"Dear"}]`, "model_context_window_exceeded", usage), model.Answer{Text: "Dear", Cut: true, Tokens: counted}, ""},
		"cut at once": {said(`[]`, "max_tokens", usage), model.Answer{Cut: true, Tokens: counted},
			"The model used up the tokens that an answer may have before it wrote anything."},
		"empty":     {said(`[]`, "end_turn", usage), model.Answer{Tokens: counted}, "The model answered with nothing."},
		"filtered":  {said(`[{"text":"Sorry."}]`, "content_filtered", usage), model.Answer{Tokens: counted}, "The model provider's filter held the answer back."},
		"guardrail": {said(`[{"text":"Sorry."}]`, "guardrail_intervened", usage), model.Answer{Tokens: counted}, "The model provider's filter held the answer back."},
		"no usage":  {modeltest.Say(200, `{"output":{"message":{"role":"assistant","content":[{"text":"Yes."}]}},"stopReason":"end_turn"}`), model.Answer{Text: "Yes."}, ""},
		"no output": {modeltest.Say(200, `{"usage":`+usage+`}`), model.Answer{Tokens: counted}, "The model answered with nothing."},
		"lies":      {said(`[{"text":"Yes."}]`, "end_turn", `{"inputTokens":-5,"outputTokens":2147483647,"totalTokens":0}`), model.Answer{Text: "Yes.", Tokens: model.Tokens{OutputTokens: 1e8}}, ""},
		"long":      {said(`[{"text":"`+strings.Repeat("é", 40<<10)+`"}]`, "end_turn", usage), model.Answer{Text: strings.Repeat("é", 32<<10), Cut: true, Tokens: counted}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := open(modeltest.Serve(t, c.reply).URL).Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
			if diff := cmp.Diff(c.want, a); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			e, _ := errors.AsType[*model.Error](err)
			if (err != nil) != (c.sentence != "") || e != nil && (e.Sentence != c.sentence || e.Retry) {
				t.Errorf("error %v, want %q", err, c.sentence)
			}
		})
	}
}

func TestAnswer_Failures(t *testing.T) { modeltest.Failures(t, open) }

// TestAnswer_Exceptions: what is logged of Bedrock's own errors tells what to
// set up, and nothing of what was signed.
func TestAnswer_Exceptions(t *testing.T) {
	for code, c := range map[string]struct {
		status         int
		message        string
		sentence, logs string
		retry          bool
	}{
		"ThrottlingException": {429, "Too many requests", "The model provider has too much to do, or the account asks too often.", "ThrottlingException, status 429, request r-1", true},
		"ValidationException": {400, "Invocation with on-demand throughput isn’t supported.", "The model provider refused the request.",
			"ValidationException, status 400, request r-1: Invocation with on-demand throughput isn’t supported.", false},
		"AccessDeniedException": {403, "You don't have access to the model.", "The model provider refused access: its credentials, or the permission to use this model, are missing.",
			"AccessDeniedException, status 403, request r-1: You don't have access to the model.", false},
		"InvalidSignatureException": {403, "The Canonical String should have been 'x-amz-security-token:a-session'",
			"The model provider refused access: its credentials, or the permission to use this model, are missing.", "InvalidSignatureException, status 403, request r-1", false},
		"ModelErrorException": {424, "oops", "The model failed.", "ModelErrorException, status 424, request r-1", true},
	} {
		t.Run(code, func(t *testing.T) {
			s := modeltest.Serve(t, modeltest.Say(c.status, `{"message":"`+c.message+`"}`, "X-Amzn-Errortype", code, "X-Amzn-Requestid", "r-1"))
			_, err := open(s.URL).Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
			e, _ := errors.AsType[*model.Error](err)
			if e == nil || e.Sentence != c.sentence || e.Cause.Error() != c.logs || e.Retry != c.retry {
				t.Errorf("%v", err)
			}
		})
	}
	s := modeltest.Serve(t, modeltest.Say(400, `{"message":"Input is too long for requested model."}`, "X-Amzn-Errortype", "ValidationException:http://internal/"))
	_, err := open(s.URL).Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
	if e, _ := errors.AsType[*model.Error](err); e == nil || e.Sentence != "The e-mail and the agent's instructions are longer than the model can read." {
		t.Errorf("too long: %v", err)
	}
}

func TestAnswer_WithoutCredentials(t *testing.T) {
	s := modeltest.Serve(t, said(`[]`, "end_turn", usage))
	none := func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("no role") }
	m := bedrock.New(bedrock.Options{Region: "sa-east-1", Credentials: aws.CredentialsProviderFunc(none), Endpoint: s.URL})
	_, err := m.Answer(t.Context(), model.Request{Model: "m", Message: "x", MaxTokens: 9})
	e, _ := errors.AsType[*model.Error](err)
	if e == nil || e.Retry || !strings.HasPrefix(e.Sentence, "The model provider refused access") || len(s.Requests()) != 0 {
		t.Errorf("%v, %d requests", err, len(s.Requests()))
	}
}

func TestParseProfiles_Refuses(t *testing.T) {
	for _, s := range []string{"us eu", "=x", "US", "us.", "anthropic.claude-x"} {
		if _, err := bedrock.ParseProfiles(s); err == nil {
			t.Errorf("%q: no error", s)
		}
	}
}
