package model

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// The defaults of [Retry].
const (
	DefaultAttempts = 3
	DefaultTimeout  = 60 * time.Second
)

// MaxTimeout is the longest time that an operator may give an attempt: one fits
// into the four minutes that a job to read an e-mail has for all.
const MaxTimeout = 210 * time.Second

// ParseTimeout reads how long an attempt may take, as in "90s"; "" is
// [DefaultTimeout].
func ParseTimeout(s string) (time.Duration, error) {
	if s == "" {
		return DefaultTimeout, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second || d > MaxTimeout {
		return 0, fmt.Errorf("%q is no duration from 1s to 210s, such as 90s", s)
	}
	return d, nil
}

// The bounds of the wait before another attempt. Who is told to wait longer than
// maxWait is not asked again: the run fails, and reprocessing the e-mail asks anew.
const (
	firstWait = time.Second
	maxWait   = 20 * time.Second
)

// Retry asks a model again when its failure may pass: after an exponentially
// growing wait with full jitter, and not before the provider has said. What
// failed attempts have cost is in the tokens of the answer.
type Retry struct {
	Model    Model
	Attempts int                               // 0: [DefaultAttempts]
	Timeout  time.Duration                     // of one attempt; 0: [DefaultTimeout]
	Jitter   func(time.Duration) time.Duration // a random time below the given one; nil: math/rand
}

// Answer implements [Model].
func (r Retry) Answer(ctx context.Context, q Request) (Answer, error) {
	attempts := cmp.Or(r.Attempts, DefaultAttempts)
	var spent Tokens
	for n := 1; ; n++ {
		a, err := r.attempt(ctx, q)
		spent = spent.plus(a.Tokens)
		a.Tokens = spent
		if err == nil {
			return a, nil
		}
		if n >= attempts || !err.Retry || !r.wait(ctx, n, err.After) {
			return Answer{Tokens: spent}, err
		}
	}
}

// attempt asks once, within the timeout.
func (r Retry) attempt(ctx context.Context, q Request) (Answer, *Error) {
	timeout := cmp.Or(r.Timeout, DefaultTimeout)
	attempt, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a, err := r.Model.Answer(attempt, q)
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return a, &Error{Sentence: "The run ended before the model provider answered.", Retry: true, Cause: err}
	case attempt.Err() != nil:
		return a, &Error{Sentence: fmt.Sprintf("The model provider did not answer within %g s.", timeout.Seconds()), Retry: true, Cause: err}
	}
	return a, asError(err)
}

// wait waits before the next attempt. It reports whether there is to be one:
// not if the context ends before.
func (r Retry) wait(ctx context.Context, failed int, after time.Duration) bool {
	if after > maxWait || ctx.Err() != nil {
		return false
	}
	jitter := r.Jitter
	if jitter == nil {
		jitter = rand.N[time.Duration]
	}
	d := after + jitter(min(firstWait<<(failed-1), maxWait))
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= d {
		return false
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
