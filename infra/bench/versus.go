package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
)

// The bars of comparisons with the baselines (design decisions, docs/performance.md).
const (
	maxVersus  = 0.1    // × the official SDK
	maxWarm    = 100e-6 // seconds over an echo function
	maxMemory  = 40e6   // bytes
	versusRuns = 21
	// versusRequests are ours in a run; the SDK makes a tenth of them.
	versusRequests = 1000
	warmRuns       = 31
)

// anyRecords are ids for servers that find anything.
var anyRecords = subjects{agent: "0198c0de-0000-7000-8000-000000000001", webhook: "0198c0de-0000-7000-8000-000000000002"}

// versusSDK compares what a request costs with the official Go SDK, which
// serves the same definitions. Neither has a store, nor checks tokens. Go is set
// alike for both: as it is by itself, which the bar is for (decision 7), and
// beneath as the functions have it.
func (b *bench) versusSDK(context.Context) error {
	b.section("processor time of a request, against the official Go SDK with the same definitions (no store, no token check)")
	byItself, err := b.startPair()
	if err != nil {
		return err
	}
	defer byItself.Close()
	set, err := b.startPair(b.settings...)
	if err != nil {
		return err
	}
	defer set.Close()
	for _, r := range requests(anyRecords, token) {
		used, allocs, err := byItself.compare(r)
		if err != nil {
			return err
		}
		usedSet, _, err := set.compare(r)
		if err != nil {
			return err
		}
		b.versus(r.name, duration, used, maxVersus)
		b.versus("  both with the functions' GOGC and GOMAXPROCS", duration, usedSet, 0)
		b.versus("  allocations", number, allocs, 0)
	}
	return nil
}

// pair is our server and the SDK's.
type pair [2]*meter

func (b *bench) startPair(env ...string) (p pair, err error) {
	if p[0], err = startMeter(b.bin("bare"), env...); err != nil {
		return p, err
	}
	if p[1], err = startMeter(b.bin("sdk"), append(env, "DEFINITIONS="+b.definitions())...); err != nil {
		p[0].Close()
	}
	return p, err
}

// Close ends both.
func (p pair) Close() error { return errors.Join(p[0].Close(), p[1].Close()) }

// compare measures requests of one kind, in turns: the processor time of each
// and what it allocates, of ours and the SDK's.
func (p pair) compare(r request) (used, allocs [2][]float64, err error) {
	for run := range versusRuns + 1 {
		var answers [2]cost
		for i, n := range [2]int{versusRequests, versusRequests / 10} {
			c, err := p[i].run(r, n)
			if err != nil {
				return used, allocs, err
			}
			if answers[i] = c; run > 0 { // the first one warms up
				used[i] = append(used[i], float64(c.CPU)/1e9/float64(n))
				allocs[i] = append(allocs[i], float64(c.Allocs)/float64(n))
			}
		}
		if ours, sdk := len(answers[0].Answer), len(answers[1].Answer); 2*ours < sdk || 2*sdk < ours {
			return used, allocs, fmt.Errorf("%s: not the same work: %d bytes and the SDK's %d\n%.300s", r.name, ours, sdk, answers[1].Answer)
		}
	}
	return used, allocs, nil
}

func (b *bench) definitions() string { return filepath.Join(b.dir, "definitions.json") }

// define writes down what our server offers and answers, for the SDK's to do
// the same.
func (b *bench) define() error {
	ours, err := startMeter(b.bin("bare"))
	if err != nil {
		return err
	}
	defer ours.Close()
	d := object{}
	answers := map[string]jsontext.Value{}
	for _, r := range requests(anyRecords, token) {
		c, err := ours.run(r, 1)
		if err != nil {
			return err
		}
		if answers[r.method], err = result([]byte(c.Answer)); err != nil {
			return err
		}
	}
	for name, from := range map[string][]string{
		"Tools": {"tools/list", "tools"}, "Resources": {"resources/list", "resources"}, "Prompts": {"prompts/list", "prompts"},
		"ResourceTemplates": {"resources/templates/list", "resourceTemplates"}, "Record": {"tools/call", "structuredContent"},
		"Prompt": {"prompts/get"}, "Completion": {"completion/complete", "completion", "values"},
	} {
		value := answers[from[0]]
		for _, member := range from[1:] {
			value = memberOf(value, member)
		}
		d[name] = value
	}
	return os.WriteFile(b.definitions(), marshal(d), 0o600)
}

// warm measures what an invocation takes on top of that of a function which only
// answers, with the same bytes. Beneath is what the handler takes of it when it
// runs alone.
func (b *bench) warm(ctx context.Context) error {
	m, err := startMeter(b.bin("bare"), b.settings...)
	if err != nil {
		return err
	}
	defer m.Close()
	b.section("processor time of a warm handler, on top of a function that echoes the same answer (no store, no token check)")
	for _, r := range requests(anyRecords, token) {
		var handler []float64
		for run := range warmRuns {
			const n = 400
			c, err := m.invoke(r, n)
			if err != nil {
				return err
			}
			if run > 0 { // the first one warms up
				handler = append(handler, float64(c.CPU)/1e9/n)
			}
		}
		used, wall, err := b.overEcho(ctx, r)
		if err != nil {
			return err
		}
		alone, echo := median(duration, handler), median(duration, used[1])
		b.add(r.name+", the handler", alone, echo, one(number, alone.median/echo.median), atMost(alone, maxWarm))
		b.over("  whole invocations, less the echo's", used)
		b.over("  by the clock", wall)
	}
	return nil
}

// over adds a row of what ours took on top of the baseline, in turns.
func (b *bench) over(what string, runs [2][]float64) {
	ratio := pairs(number, runs[0], runs[1], func(ours, echo float64) float64 { return (ours - echo) / echo })
	b.add(what, differences(duration, runs[0], runs[1]), median(duration, runs[1]), ratio, bar{})
}
