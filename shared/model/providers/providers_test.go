package providers_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/modeltest"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/providers"
)

func keys(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "a-secret-key"}, nil
}

func secret(_ context.Context, name string) (string, error) { return "key of " + name, nil }

func open(t *testing.T, env map[string]string) model.Model {
	t.Helper()
	m, err := providers.FromEnv(func(name string) string { return env[name] }, providers.Options{Credentials: aws.CredentialsProviderFunc(keys), Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFromEnv_Catalogue: every model of the catalogue is asked of its provider.
func TestFromEnv_Catalogue(t *testing.T) {
	converse := modeltest.Serve(t, modeltest.Say(200, `{"output":{"message":{"role":"assistant","content":[{"text":"Yes."}]}},"stopReason":"end_turn"}`))
	chat := modeltest.Serve(t, modeltest.Say(200, `{"choices":[{"message":{"content":"Yes."}}]}`))
	m := open(t, map[string]string{
		"AWS_REGION": "sa-east-1", "BEDROCK_REGION": "us-east-1", "BEDROCK_PROFILES": "us", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": converse.URL,
		"OPENAI_BASE_URL": chat.URL + "/v1", "OPENAI_API_KEY_SECRET": "openai", "OPENAI_MODEL": "qwen3:8b",
	})
	models, err := inbox.Models()
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	for _, c := range models {
		a, err := m.Answer(t.Context(), model.Request{Model: c.ID, Message: "Please refund it.", MaxTokens: 9})
		if err != nil || a.Text == "" {
			t.Errorf("%s: %+v, %v", c.ID, a, err)
		}
		asked[c.Provider]++
	}
	if len(converse.Requests()) != asked["bedrock"] || len(chat.Requests()) != asked["openai"] || asked["rules"] != 1 {
		t.Errorf("%d and %d requests, want %v", len(converse.Requests()), len(chat.Requests()), asked)
	}
	r := converse.Requests()[0]
	if !strings.HasPrefix(r.URL.Path, "/model/us.") || !strings.Contains(r.Header.Get("Authorization"), "/us-east-1/bedrock/") {
		t.Errorf("Bedrock: %s, %s", r.URL, r.Header.Get("Authorization"))
	}
	last := chat.Requests()[asked["openai"]-1]
	if last.Header.Get("Authorization") != "Bearer key of openai" || !strings.Contains(last.Body, `"model":"qwen3:8b"`) {
		t.Errorf("openai/local: %v, %s", last.Header, last.Body)
	}
}

// TestFromEnv_Missing: a provider that is not set up says what to set.
func TestFromEnv_Missing(t *testing.T) {
	m := open(t, nil)
	for id, want := range map[string]string{
		"bedrock/x":    "BEDROCK_REGION, and the credentials of an AWS account",
		"openai/gpt-5": "OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL for a model server of its own",
		"openai/local": "OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL for a model server of its own",
	} {
		_, err := m.Answer(t.Context(), model.Request{Model: id, Message: "x", MaxTokens: 9})
		e, _ := errors.AsType[*model.Error](err)
		if e == nil || e.Retry || e.Sentence != "The model's provider is not set up on this server: its operator has to set "+want+"." {
			t.Errorf("%s: %v", id, err)
		}
	}
	m = open(t, map[string]string{"OPENAI_API_KEY": "k"})
	if _, err := m.Answer(t.Context(), model.Request{Model: "openai/local", Message: "x", MaxTokens: 9}); err == nil || !strings.Contains(err.Error(), "OPENAI_BASE_URL and OPENAI_MODEL") {
		t.Errorf("openai/local at OpenAI: %v", err)
	}
}

// TestFromEnv_Timeout: a model has the time that the operator gives it.
func TestFromEnv_Timeout(t *testing.T) {
	for set, want := range map[string]time.Duration{"": model.DefaultTimeout, "3m": 3 * time.Minute} {
		m := open(t, map[string]string{"MODEL_TIMEOUT": set})
		if r, ok := m.(model.Retry); !ok || r.Timeout != want {
			t.Errorf("%q: %+v", set, m)
		}
	}
}

// TestFromEnv_Refuses: an error names the variable.
func TestFromEnv_Refuses(t *testing.T) {
	with := providers.Options{Credentials: aws.CredentialsProviderFunc(keys)}
	for _, c := range []struct {
		name, value string
		o           providers.Options
		says        string
	}{
		{"BEDROCK_PROFILES", "US", with, "BEDROCK_PROFILES: "},
		{"BEDROCK_REGION", "Virginia", with, "BEDROCK_REGION: it takes the name of a region"},
		{"BEDROCK_REGION", "us-east", with, "BEDROCK_REGION: it takes"},
		{"BEDROCK_REGION", "us-east-1 ", with, "BEDROCK_REGION: it takes"},
		{"BEDROCK_REGION", "https://bedrock.us-east-1.amazonaws.com", with, "BEDROCK_REGION: it takes"},
		{"BEDROCK_REGION", "us-east-1", providers.Options{}, "BEDROCK_REGION: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are needed"},
		{"OPENAI_BASE_URL", "http://gw.example", with, "OPENAI_BASE_URL: "},
		{"OPENAI_MODEL", "m", with, "OPENAI_BASE_URL: needed"},
		{"OPENAI_API_KEY_SECRET", "s", with, "OPENAI_API_KEY_SECRET: "},
		{"MODEL_TIMEOUT", "5m", with, "MODEL_TIMEOUT: "},
	} {
		_, err := providers.FromEnv(func(name string) string { return map[string]string{c.name: c.value}[name] }, c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s=%s: %v", c.name, c.value, err)
		}
	}
}

// TestFromEnv_Tells: one line says that Bedrock is on, and where; none when it
// is not.
func TestFromEnv_Tells(t *testing.T) {
	credentials := aws.CredentialsProviderFunc(keys)
	for _, c := range []struct {
		env  map[string]string
		keys aws.CredentialsProvider
		want string
	}{
		{map[string]string{"BEDROCK_REGION": "us-gov-west-1", "AWS_REGION": "sa-east-1"}, credentials, "region=us-gov-west-1\n"},
		{map[string]string{"BEDROCK_REGION": "eusc-de-east-1"}, credentials, "region=eusc-de-east-1\n"},
		{map[string]string{"AWS_REGION": "sa-east-1"}, credentials, "region=sa-east-1\n"},
		{map[string]string{"AWS_REGION": "sa-east-1"}, nil, ""},
		{nil, credentials, ""},
	} {
		var log bytes.Buffer
		o := providers.Options{Credentials: c.keys, Log: slog.New(slog.NewTextHandler(&log, nil))}
		if _, err := providers.FromEnv(func(name string) string { return c.env[name] }, o); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(log.String(), `msg="models of Bedrock are on" `)
		if got != c.want || c.want == "" && log.Len() > 0 {
			t.Errorf("%v: %s", c.env, &log)
		}
	}
}
