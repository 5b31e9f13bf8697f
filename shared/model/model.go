// Package model asks language models: what a question and an answer are, who
// answers which model of the catalogue ([Providers]), when a question is asked
// again ([Retry]), how an e-mail is put before a model so that it stays data
// ([NewRequest]), and what an answer costs ([Cost]).
//
// The models themselves are in the packages below: bedrock, openai, rules;
// package providers makes them all of the environment. This one imports inbox
// for the records, untrusted and clip for what strangers wrote, and awshttp; it
// knows no provider and no store.
package model

import (
	"context"
	"time"
)

// Model answers questions. Its errors are of type [*Error]. An Answer that comes
// with an error has no text, but the tokens that the failure has cost, as far
// as the provider tells: they count too. It is safe for concurrent use, and
// ends when the context does.
type Model interface {
	Answer(ctx context.Context, r Request) (Answer, error)
}

// Request is a question to a model.
type Request struct {
	Model     string // for [Providers], the id in the catalogue; for a provider's Model, the provider's name of it
	System    string // the operator's instructions
	Message   string // what to do it with: the e-mail
	MaxTokens int    // that the answer may have, more than 0
}

// Answer is what a model wrote: untrusted, like the mail that it read. Text is
// valid UTF-8, at most [MaxText] bytes and not blank.
type Answer struct {
	Text string
	Cut  bool // Text is not complete: it reached MaxTokens or MaxText
	Tokens
}

// Tokens are what a provider counts and bills. None is part of another one:
// what was read from the provider's cache or written to it is not in
// InputTokens.
type Tokens struct {
	InputTokens, OutputTokens, CacheRead, CacheWrite int64
}

// MaxText bounds the text of an [Answer], in bytes.
const MaxText = 64 << 10

// Error is why a model did not answer.
type Error struct {
	Sentence string        // for people: without names of hosts, credentials and what was asked
	Retry    bool          // the same question may be answered later: [Retry] asks again
	After    time.Duration // when the provider has said how long to wait; otherwise 0
	Cause    error         // for the log, without credentials and bodies; nil: the sentence says it all
}

// Error returns the sentence and the cause, for the log.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Sentence
	}
	return e.Sentence + " (" + e.Cause.Error() + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
