package model

import (
	"context"
	"fmt"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
)

// Providers is a [Model] for ids of the catalogue: what stands before the first
// slash is a key of Providers, the rest is the provider's name of the model.
type Providers map[string]Model

// Answer implements [Model].
func (p Providers) Answer(ctx context.Context, r Request) (Answer, error) {
	prefix, name, _ := strings.Cut(r.Model, "/")
	provider, ok := p[prefix]
	if !ok || name == "" {
		return Answer{}, &Error{Sentence: fmt.Sprintf("This server has no provider for the model %q.", clip.Bytes(r.Model, 100))}
	}
	r.Model = name
	return provider.Answer(ctx, r)
}

// Missing is the [Model] of a provider that is not set up. It says what the
// operator has to set, as in "OPENAI_BASE_URL".
type Missing string

// Answer implements [Model].
func (m Missing) Answer(context.Context, Request) (Answer, error) {
	return Answer{}, &Error{Sentence: fmt.Sprintf("The model's provider is not set up on this server: its operator has to set %s.", string(m))}
}
