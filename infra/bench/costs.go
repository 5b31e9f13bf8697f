package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
)

// overEcho measures whole invocations of one method, in turns with those of a
// function that echoes the same answer: their processor time, and by the clock.
func (b *bench) overEcho(ctx context.Context, r request) (used, wall [2][]float64, err error) {
	event := r.event()
	ours, err := b.function("bare", "FAMILY="+r.family()).start()
	if err != nil {
		return used, wall, err
	}
	defer ours.Close()
	answer, err := invoke(ctx, ours, event)
	if err != nil {
		return used, wall, err
	}
	same := filepath.Join(b.dir, "answer")
	if err := os.WriteFile(same, answer, 0o600); err != nil {
		return used, wall, err
	}
	echo, err := b.function("echo", "ANSWER="+same).start()
	if err != nil {
		return used, wall, err
	}
	defer echo.Close()
	for run := range warmRuns {
		for i, f := range []*lambdatest.Function{ours, echo} {
			spent, took, err := invokeMany(ctx, f, event, 100)
			if err != nil {
				return used, wall, err
			}
			if run > 0 { // the first one warms up
				used[i], wall[i] = append(used[i], spent), append(wall[i], took)
			}
		}
	}
	return used, wall, nil
}

// invokeMany invokes a function n times and returns the processor time of one
// invocation, and how long it took.
func invokeMany(ctx context.Context, f *lambdatest.Function, event []byte, n int) (used, wall float64, err error) {
	before, err := cpuOf(f.PID())
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	for range n {
		if _, err := f.Invoke(ctx, event); err != nil {
			return 0, 0, err
		}
	}
	wall = time.Since(start).Seconds()
	after, err := cpuOf(f.PID())
	return (after - before) / float64(n), wall / float64(n), err
}

// costs measures what each kind of request costs the whole product in this
// process: with its store, but without waiting for a disk.
func (b *bench) costs(ctx context.Context) error {
	defer b.asInstance()()
	w, err := newWorld(ctx, b.dir)
	if err != nil {
		return err
	}
	defer w.Close()
	b.section("processor time and allocations of a request, the product whole on the embedded store: as a Lambda event, against plain HTTP")
	kinds := append([]request{
		{"server/discover", "server/discover", nil, token},
		{"tools/call emails_list, 50 e-mails", "tools/call", object{"name": "emails_list", "arguments": object{}}, token},
		{"tools/call emails_get", "tools/call", object{"name": "emails_get", "arguments": object{"id": w.email}}, token},
	}, requests(w.subjects, token)...)
	if err := load(ctx, w, 50); err != nil {
		return err
	}
	for _, r := range kinds {
		if err := b.costOf(ctx, w, func() (request, error) { return r, nil }); err != nil {
			return err
		}
	}
	if err := b.costOf(ctx, w, func() (request, error) { return relabel(w.subjects, token, "CRM 2", ""), nil }); err != nil {
		return err
	}
	return b.costOf(ctx, w, func() (request, error) {
		label := fmt.Sprint("CRM ", rand.Text())
		question, err := w.answer(ctx, relabel(w.subjects, token, label, ""))
		if err != nil {
			return request{}, err
		}
		state, err := stateOf(question)
		return relabel(w.subjects, token, label, state), err
	})
}

// costOf measures requests of one kind, both ways. Next makes each; what that
// costs does not count.
func (b *bench) costOf(ctx context.Context, w *world, next func() (request, error)) error {
	const batch = 64
	var used, allocs [2][]float64
	var name string
	for run := range 13 {
		for way := range 2 {
			calls := make([]func() error, batch)
			for i := range calls {
				r, err := next()
				if err != nil {
					return err
				}
				name = r.name
				calls[i] = w.ready(ctx, r, way == 0)
			}
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cpu()
			for _, call := range calls {
				if err := call(); err != nil {
					return err
				}
			}
			spent := cpu() - start
			runtime.ReadMemStats(&after)
			if run > 1 { // the first ones warm up
				used[way], allocs[way] = append(used[way], spent/batch), append(allocs[way], float64(after.Mallocs-before.Mallocs)/batch)
			}
		}
	}
	b.versus(name, duration, used, 0)
	b.versus("  allocations", number, allocs, 0)
	return nil
}

// ready is a call of the product that only needs to be made.
func (w *world) ready(ctx context.Context, r request, event bool) func() error {
	if event {
		payload, f := r.event(), w.lambda[r.family()]
		return func() error {
			out, err := f.Invoke(ctx, payload)
			if err == nil {
				err = checkAnswer(out)
			}
			return err
		}
	}
	h, q := w.families[r.family()], r.http(ctx)
	out := &recorder{header: make(http.Header)}
	return func() error {
		h.ServeHTTP(out, q)
		return out.check(r)
	}
}
