package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
)

var (
	busy    = &model.Error{Sentence: "Busy.", Retry: true}
	refused = &model.Error{Sentence: "Refused."}
)

func after(d time.Duration) error { return &model.Error{Sentence: "Busy.", Retry: true, After: d} }

// TestRetry runs on a clock of its own: all jitter is the most it can be.
func TestRetry(t *testing.T) {
	const s = time.Second
	for name, c := range map[string]struct {
		fails    []error // one attempt after the other, then an answer; nil: an answer
		attempts int
		deadline time.Duration // 0: none
		starts   []time.Duration
		sentence string
	}{
		"at once":                       {nil, 0, 0, []time.Duration{0}, ""},
		"the second time":               {[]error{busy}, 0, 0, []time.Duration{0, s}, ""},
		"the third time":                {[]error{busy, busy}, 0, 0, []time.Duration{0, s, 3 * s}, ""},
		"never":                         {[]error{busy, busy, busy, busy}, 0, 0, []time.Duration{0, s, 3 * s}, "Busy."},
		"the wait is bounded":           {[]error{busy, busy, busy, busy, busy, busy}, 7, 0, []time.Duration{0, s, 3 * s, 7 * s, 15 * s, 31 * s, 51 * s}, ""},
		"refused":                       {[]error{refused}, 0, 0, []time.Duration{0}, "Refused."},
		"refused the second time":       {[]error{busy, refused}, 0, 0, []time.Duration{0, s}, "Refused."},
		"of no model":                   {[]error{errors.New("a bug")}, 0, 0, []time.Duration{0}, "The model provider failed."},
		"told to wait":                  {[]error{after(7 * s)}, 0, 0, []time.Duration{0, 8 * s}, ""},
		"told to wait too long":         {[]error{after(21 * s)}, 0, 0, []time.Duration{0}, "Busy."},
		"no time to wait":               {[]error{busy, busy}, 0, 2 * s, []time.Duration{0, s}, "Busy."},
		"no answer":                     {[]error{errHang}, 0, 0, []time.Duration{0, 61 * s}, ""},
		"never an answer":               {[]error{errHang, errHang, errHang}, 0, 0, []time.Duration{0, 61 * s, 123 * s}, "The model provider did not answer within 60 s."},
		"no answer before the deadline": {[]error{errHang}, 0, 30 * s, []time.Duration{0}, "The run ended before the model provider answered."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var starts []time.Duration
				r := model.Retry{Attempts: c.attempts, Jitter: func(most time.Duration) time.Duration { return most },
					Model: stub(func(ctx context.Context, _ model.Request) (model.Answer, error) {
						starts = append(starts, time.Since(begin))
						a := model.Answer{Tokens: model.Tokens{InputTokens: 10, CacheRead: 1}}
						n := len(starts) - 1
						if n >= len(c.fails) {
							a.Text, a.OutputTokens = "Yes.", 2
							return a, nil
						}
						if c.fails[n] == errHang {
							<-ctx.Done()
							return a, model.ConnectionError(ctx.Err())
						}
						return a, c.fails[n]
					})}
				ctx := t.Context()
				if c.deadline != 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, c.deadline)
					defer cancel()
				}
				a, err := r.Answer(ctx, model.Request{})
				if !slices.Equal(starts, c.starts) {
					t.Errorf("attempts at %v, want %v", starts, c.starts)
				}
				if ended := time.Since(begin); c.sentence == "Busy." && ended != starts[len(starts)-1] {
					t.Errorf("waited until %v for no further attempt", ended)
				}
				want := model.Answer{Tokens: model.Tokens{InputTokens: int64(10 * len(starts)), CacheRead: int64(len(starts))}}
				if c.sentence == "" {
					want.Text, want.OutputTokens = "Yes.", 2
				}
				if a != want {
					t.Errorf("answer %+v, want %+v", a, want)
				}
				e, _ := errors.AsType[*model.Error](err)
				if (err != nil) != (c.sentence != "") || err != nil && (e == nil || e.Sentence != c.sentence) {
					t.Errorf("error %v, want %q", err, c.sentence)
				}
			})
		})
	}
}

var errHang = errors.New("no answer until the context ends")

// TestParseTimeout: an operator may give a model more time for an answer, as long
// as a job has it.
func TestParseTimeout(t *testing.T) {
	for s, want := range map[string]time.Duration{"": model.DefaultTimeout, "1s": time.Second, "90s": 90 * time.Second, "210s": 210 * time.Second, "3m30s": model.MaxTimeout} {
		if got, err := model.ParseTimeout(s); got != want || err != nil {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"0", "0s", "999ms", "-5s", "211s", "4m", "60", "a minute", "1e9h"} {
		if got, err := model.ParseTimeout(s); err == nil || err.Error() != fmt.Sprintf("%q is no duration from 1s to 210s, such as 90s", s) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}

// TestRetry_Jitter: without a source of its own, waits are anywhere below the
// bound.
func TestRetry_Jitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r := model.Retry{Model: stub(func(context.Context, model.Request) (model.Answer, error) { return model.Answer{}, busy })}
		seen := map[time.Duration]bool{}
		for range 20 {
			r.Answer(t.Context(), model.Request{})
			if d := time.Since(begin); d >= 3*time.Second || seen[d] {
				t.Errorf("waited %v in all, after %v", d, seen)
			} else {
				seen[d] = true
			}
			begin = time.Now()
		}
	})
}

// TestRetry_Cancel: a run that is stopped stops waiting.
func TestRetry_Cancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := model.Retry{Jitter: func(most time.Duration) time.Duration { return most },
			Model: stub(func(context.Context, model.Request) (model.Answer, error) {
				time.AfterFunc(time.Second/2, cancel)
				return model.Answer{}, busy
			})}
		begin := time.Now()
		if _, err := r.Answer(ctx, model.Request{}); err == nil || time.Since(begin) != time.Second/2 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}
