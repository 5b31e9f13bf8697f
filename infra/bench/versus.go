package main

import (
	"context"
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
// serves the same definitions. Neither has a store, nor checks tokens. Each runs
// as its function does: ours settled, the SDK's as Go does by itself; beside it,
// the SDK's with our settings.
func (b *bench) versusSDK(context.Context) error {
	ours, err := startMeter(b.bin("bare"), settled...)
	if err != nil {
		return err
	}
	defer ours.Close()
	defined := "DEFINITIONS=" + b.definitions()
	sdk, err := startMeter(b.bin("sdk"), defined)
	if err != nil {
		return err
	}
	defer sdk.Close()
	settledSDK, err := startMeter(b.bin("sdk"), append(settled, defined)...)
	if err != nil {
		return err
	}
	defer settledSDK.Close()
	b.section("processor time of a request, against the official Go SDK with the same definitions (no store, no token check)")
	for _, r := range requests(anyRecords, token) {
		if err := b.versusOf(r, ours, sdk, settledSDK); err != nil {
			return err
		}
	}
	return nil
}

// versusOf compares requests of one kind.
func (b *bench) versusOf(r request, ours, sdk, settledSDK *meter) error {
	var used, allocs [3][]float64
	for run := range versusRuns + 1 {
		var size int
		for i, m := range []*meter{ours, sdk, settledSDK} {
			n := versusRequests
			if i > 0 {
				n /= 10
			}
			c, err := m.run(r, n)
			if err != nil {
				return err
			}
			if i == 0 {
				size = len(c.Answer)
			}
			if 2*size < len(c.Answer) || 2*len(c.Answer) < size {
				return fmt.Errorf("%s: not the same work: %d bytes and the SDK's %d\n%.300s", r.name, size, len(c.Answer), c.Answer)
			}
			if run > 0 { // the first one warms up
				used[i] = append(used[i], float64(c.CPU)/1e9/float64(n))
				allocs[i] = append(allocs[i], float64(c.Allocs)/float64(n))
			}
		}
	}
	ratio := ratios(used[0], used[1])
	b.add(r.name, median(duration, used[0]), median(duration, used[1]), ratio, atMost(ratio, maxVersus))
	b.add("  the SDK settled as our functions are", median(duration, used[0]), median(duration, used[2]), ratios(used[0], used[2]), bar{})
	b.add("  allocations", median(number, allocs[0]), median(number, allocs[1]), ratios(allocs[0], allocs[1]), bar{})
	return nil
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

// warm measures what the handler takes of an invocation, and how much longer
// one is than that of a function which only answers, with the same bytes.
func (b *bench) warm(ctx context.Context) error {
	m, err := startMeter(b.bin("bare"), settled...)
	if err != nil {
		return err
	}
	defer m.Close()
	b.section("what the handler adds to a warm invocation, against the whole invocation of a function that echoes the same answer (no store, no token check)")
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
		over, echo, err := b.overEcho(ctx, r)
		if err != nil {
			return err
		}
		added := median(duration, handler)
		b.add(r.name+", processor time", added, echo, figure{}, atMost(added, maxWarm))
		b.add("  by the clock, from one process to another", over, figure{}, figure{}, bar{})
	}
	return nil
}
