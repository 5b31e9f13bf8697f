package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
)

// stub is a model of one function.
type stub func(ctx context.Context, r model.Request) (model.Answer, error)

func (f stub) Answer(ctx context.Context, r model.Request) (model.Answer, error) { return f(ctx, r) }

// TestCost: the values are worked out by hand.
func TestCost(t *testing.T) {
	models, err := inbox.Models()
	if err != nil {
		t.Fatal(err)
	}
	priced := map[string]inbox.Model{}
	for _, m := range models {
		priced[m.ID] = m
	}
	for _, c := range []struct {
		id     string
		tokens model.Tokens
		want   float64
	}{
		{"bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", model.Tokens{InputTokens: 1840, OutputTokens: 126}, 0.00741},                                 // 0.00552 + 0.00189
		{"bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", model.Tokens{InputTokens: 100, OutputTokens: 10, CacheRead: 2000, CacheWrite: 1000}, 0.0048}, // 0.0003 + 0.00015 + 0.0006 + 0.00375
		{"bedrock/amazon.nova-micro-v1:0", model.Tokens{InputTokens: 1, OutputTokens: 1, CacheRead: 1}, 0.00000018375},                                     // 0.035 + 0.14 + 0.00875 millionths
		{"bedrock/anthropic.claude-opus-4-1-20250805-v1:0", model.Tokens{InputTokens: 1e8, OutputTokens: 1e8, CacheRead: 1e8, CacheWrite: 1e8}, 11025},     // 1,500 + 7,500 + 150 + 1,875
		{"rules/demo", model.Tokens{InputTokens: 1e8, OutputTokens: 1e8}, 0},
		{"openai/local", model.Tokens{InputTokens: 1e8, OutputTokens: 1e8}, 0},
	} {
		m, ok := priced[c.id]
		if got := model.Cost(m, model.Answer{Tokens: c.tokens}); !ok || got != c.want {
			t.Errorf("%s, %+v: %v USD, want %v", c.id, c.tokens, got, c.want)
		}
	}
}

// TestCost_Binary: a price that binary fractions cannot hold costs what it says.
func TestCost_Binary(t *testing.T) {
	if got := model.Cost(inbox.Model{InputPrice: 1.001}, model.Answer{Tokens: model.Tokens{InputTokens: 1e6}}); got != 1.001 {
		t.Errorf("%v USD", got)
	}
}

func TestProviders(t *testing.T) {
	var asked string
	p := model.Providers{
		"bedrock": stub(func(_ context.Context, r model.Request) (model.Answer, error) {
			asked = r.Model
			return model.Answer{Text: "Yes."}, nil
		}),
		"openai": model.Missing("OPENAI_API_KEY"),
	}
	for id, want := range map[string]string{
		"bedrock/anthropic.claude-v1:0": "",
		"bedrock/a/b":                   "",
		"openai/gpt-5":                  "The model's provider is not set up on this server: its operator has to set OPENAI_API_KEY.",
		"gemini/flash":                  `This server has no provider for the model "gemini/flash".`,
		"bedrock":                       `This server has no provider for the model "bedrock".`,
		"bedrock/":                      `This server has no provider for the model "bedrock/".`,
		"":                              `This server has no provider for the model "".`,
	} {
		a, err := p.Answer(t.Context(), model.Request{Model: id})
		if e, _ := errors.AsType[*model.Error](err); want != "" && (e == nil || e.Sentence != want || e.Retry) {
			t.Errorf("%q: %v, want %s", id, err, want)
		} else if want == "" && (err != nil || a.Text != "Yes." || "bedrock/"+asked != id) {
			t.Errorf("%q: %+v, %v; asked for %q", id, a, err, asked)
		}
	}
}

func TestFinish(t *testing.T) {
	a, err := model.Finish("a\xffb", false, model.Tokens{OutputTokens: 2})
	if want := (model.Answer{Text: "a\uFFFDb", Tokens: model.Tokens{OutputTokens: 2}}); err != nil || a != want {
		t.Errorf("%+v, %v", a, err)
	}
	a, err = model.Finish("x"+strings.Repeat("€", model.MaxText), false, model.Tokens{})
	if err != nil || !a.Cut || len(a.Text) != model.MaxText-(model.MaxText-1)%3 || strings.Trim(a.Text, "€") != "x" {
		t.Errorf("%d bytes, cut: %v, %v", len(a.Text), a.Cut, err)
	}
}

// What a model thinks aloud is no part of its answer, and may not reach a
// stranger.
func TestFinish_Thoughts(t *testing.T) {
	for text, want := range map[string]string{
		"<think>secret plan</think>\n\nHello.": "Hello.", "\n<think>\na\n</think>Hello. <think>": "Hello. <think>",
		"Hello <think>.": "Hello <think>.", "<think></think>Hi": "Hi", "<think>without an end": "", "<think>only</think> ": "",
	} {
		a, err := model.Finish(text, false, model.Tokens{})
		if a.Text != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", text, a.Text, err, want)
		}
	}
}
