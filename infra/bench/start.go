package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/infra/rie"
)

// How often functions are started, and what a start may take.
const (
	startRuns = 101
	fullRuns  = 15
	maxStart  = 1.5 // × an empty function
)

// instance is a function that runs: in the official emulator, or under the
// Runtime API of this process.
type instance interface {
	Invoke(ctx context.Context, event []byte) ([]byte, error)
	PID() int
	Close() error
}

// eventual makes the events that a function is called with.
type eventual func(context.Context) ([]byte, error)

// always is one event.
func always(r request) eventual {
	return func(context.Context) ([]byte, error) { return r.event(), nil }
}

// starts measures what is ours of a start, and what is the SDK's. The empty
// function is as Go is by itself; ours is too, and then as the template has it.
func (b *bench) starts(ctx context.Context) error {
	b.section("from the start of a process to its first answer, tools/list, in the official emulator, against an empty function (no store, no token check)")
	list := always(requests(anyRecords, token)[0])
	for _, f := range []struct {
		what string
		function
		runs  int
		limit float64
	}{
		{"ours", function{b.bin("bare"), []string{"FAMILY=tools"}}, startRuns, maxStart},
		{"ours, with the functions' GOGC and GOMAXPROCS", b.function("bare", "FAMILY=tools"), startRuns, maxStart},
		{"the SDK's", function{b.bin("sdk"), []string{"DEFINITIONS=" + b.definitions()}}, fullRuns, 0},
	} {
		if err := b.startsOf(ctx, f.what, f.function, f.runs, f.limit, list); err != nil {
			return err
		}
	}
	return nil
}

// fullStarts measures each function whole, with all that it fetches: its token's
// keys, its membership, its records, or the message that arrived.
func (b *bench) fullStarts(ctx context.Context, s *stack) error {
	b.section("from the start of each function to its first answer, the full path (keys, membership, records), in the official emulator, against an empty function")
	for _, r := range firsts(s) {
		name := r.family()
		if name == "" {
			name = "router"
		}
		f := b.functionOf(s, name)
		for _, other := range firsts(s) { // whom the router calls
			if n := other.family(); n != "" {
				f.env = append(f.env, strings.ToUpper(n)+"_FUNCTION="+n)
			}
		}
		if err := b.startsOf(ctx, name+", "+r.method, f, fullRuns, 0, always(r)); err != nil {
			return err
		}
	}
	if err := b.startsOf(ctx, "ingest, a message", b.functionOf(s, "ingest"), fullRuns, 0, s.mail.arrived); err != nil {
		return err
	}
	return errors.Join(b.startsOf(ctx, "worker, an agent reads it", b.functionOf(s, "worker"), fullRuns, 0, s.mail.jobs), s.mail.read(ctx))
}

// startsOf measures a function from its start to its first answer, in turns with
// the empty one, in both emulators. Limit, unless 0, is what it may take in the
// official one.
func (b *bench) startsOf(ctx context.Context, what string, fn function, runs int, limit float64, next eventual) error {
	var wall [2][2][]float64 // by emulator and function
	var used [2][]float64    // by function
	for range runs {
		for official := range 2 {
			event, err := next(ctx)
			if err != nil {
				return err
			}
			for i, f := range []function{fn, {b.bin("empty"), nil}} {
				w, u, err := b.firstAnswer(ctx, f, official == 1, event)
				if err != nil {
					return fmt.Errorf("%s: %w", what, err)
				}
				wall[official][i], used[i] = append(wall[official][i], w), append(used[i], u)
			}
		}
	}
	b.versus(what, duration, wall[1], limit)
	b.versus("  under our Runtime API", duration, wall[0], 0)
	b.versus("  processor time", duration, used, 0)
	return nil
}

// firstAnswer starts a function and ends it after its first answer, and returns
// how long that took and the processor time. The official emulator runs before:
// it starts the function when it is called.
func (b *bench) firstAnswer(ctx context.Context, fn function, official bool, event []byte) (wall, used float64, err error) {
	var i instance
	begun := time.Now()
	if official {
		i, err = rie.Start(rie.Options{Emulator: b.bin("rie"), Path: fn.path, Name: "bench", Timeout: 25 * time.Second, Env: fn.env})
	} else {
		i, err = fn.start()
	}
	if err != nil {
		return 0, 0, err
	}
	defer i.Close()
	if official {
		if i.PID() != 0 {
			return 0, 0, errors.New("the emulator started the function before it was called")
		}
		begun = time.Now()
	}
	out, err := i.Invoke(ctx, event)
	wall = time.Since(begun).Seconds()
	if err == nil {
		err = checkAnswer(out)
	}
	if err != nil {
		return 0, 0, err
	}
	used, err = cpuOf(i.PID())
	return wall, used, err
}
