package mcp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// errNoOutcome is for a function that ended its goroutine without returning.
var errNoOutcome = errors.New("ended without an outcome")

// within calls fn in a goroutine of its own and waits for it until ctx is
// done. After that its outcome is lost: nothing it does reaches the client. A
// panic is an error, with the stack.
func within[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	done := make(chan outcome, 1)
	go func() {
		growStack(0)
		o := outcome{err: errNoOutcome}
		defer func() { done <- o }()
		o.err = protect(func() (err error) {
			o.value, err = fn()
			return err
		})
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // both at once: an answer is better than none
		return o.value, o.err
	default:
		return none, ctx.Err()
	}
}

// growStack gives the calling goroutine the stack that most methods need, at
// once and while there is next to nothing on it to copy. By itself it would double
// from 2 KB, twice, deep within a method.
//
//go:noinline
func growStack(n int) byte {
	var room [6000]byte
	return room[n]
}

// protect turns a panic of fn into an error with the stack.
func protect(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// deadline is when a request that starts now must be answered: after timeout,
// or a tenth before the deadline that ctx has, so that the answer gets out.
func deadline(ctx context.Context, now time.Time, timeout time.Duration) time.Time {
	at := now.Add(timeout)
	if end, ok := ctx.Deadline(); ok {
		if end = end.Add(-end.Sub(now) / 10); end.Before(at) {
			return end
		}
	}
	return at
}
