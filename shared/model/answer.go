package model

import (
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
)

// Finish makes the answer of what a provider sent: its text in valid UTF-8 and
// within [MaxText]. cut says that it reached MaxTokens. An answer of nothing is
// an error.
func Finish(text string, cut bool, t Tokens) (Answer, error) {
	a := Answer{Cut: cut, Tokens: t}
	text = withoutThoughts(strings.ToValidUTF8(text, "\uFFFD"))
	if short := clip.Bytes(text, MaxText); short != text {
		text, a.Cut = short, true
	}
	switch blank := strings.TrimSpace(text) == ""; {
	case blank && a.Cut:
		return a, &Error{Sentence: "The model used up the tokens that an answer may have before it wrote anything."}
	case blank:
		return a, &Error{Sentence: "The model answered with nothing."}
	}
	a.Text = text
	return a, nil
}

// withoutThoughts takes away what some models think aloud before they answer:
// it is not for those who get the answer. Of a thought that has no end, there
// was no answer.
func withoutThoughts(text string) string {
	thought, ok := strings.CutPrefix(strings.TrimSpace(text), "<think>")
	if !ok {
		return text
	}
	_, answer, _ := strings.Cut(thought, "</think>")
	return strings.TrimSpace(answer)
}

// Count makes tokens of what a provider has counted. What no question costs is
// put right: a provider that lies shall not overflow the sums.
func Count(input, output, cacheRead, cacheWrite int64) Tokens {
	sane := func(n int64) int64 { return min(max(n, 0), 1e8) }
	return Tokens{sane(input), sane(output), sane(cacheRead), sane(cacheWrite)}
}

func (t Tokens) plus(u Tokens) Tokens {
	return Tokens{t.InputTokens + u.InputTokens, t.OutputTokens + u.OutputTokens, t.CacheRead + u.CacheRead, t.CacheWrite + u.CacheWrite}
}
