// Command soak puts many mixed requests to one process of the local server,
// and fails when an answer is not the right one, or when the process grew:
//
//	soak [-n requests] [-workers number]
//
// The requests are those of all revisions and methods: what is listed, read,
// got, completed and called, records made, changed and deleted with every kind
// of answer to the question before, and what no client should send. Nothing
// leaves the machine: tools that send something out are only asked for.
//
// It needs Linux and runs at the root of the repository. Two processes are
// compared, one that ends after the warm-up, the first tenth of the requests,
// and one that answers all of them:
//
//   - memory that is the process's own (RssAnon), as the median of the last
//     fifth of the samples, is at most a quarter more than that of the samples
//     of the second tenth, or 8 MB;
//   - goroutines, beside those of connections, are at most five more than
//     after the warm-up.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"
)

const (
	samples        = 100 // of memory, while the requests run
	moreMemory     = 1.25
	littleMemory   = 8 << 20
	moreGoroutines = 5
)

func main() {
	n := flag.Int("n", 100_000, "`requests` in all")
	workers := flag.Int("workers", 8, "`number` of clients at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *n, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n, workers int) error {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "kobana-inbox")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./infra/local/kobana-inbox").CombinedOutput(); err != nil {
		return fmt.Errorf("build the server: %w\n%s", err, out)
	}
	before, err := soak(ctx, binary, filepath.Join(dir, "warm"), n/10, workers)
	if err != nil {
		return fmt.Errorf("the warm-up: %w", err)
	}
	fmt.Printf("warm-up: %v\n", before)
	after, err := soak(ctx, binary, filepath.Join(dir, "all"), n, workers)
	if err != nil {
		return err
	}
	fmt.Printf("all:     %v\n", after)
	warm, end := median(after.memory[samples/10:samples/5]), median(after.memory[samples*4/5:])
	fmt.Printf("memory:  %.1f MB after the warm-up, %.1f MB at the end, at most %.1f MB\n", mb(warm), mb(end), mb(slices.Max(after.memory)))
	if float64(end) > moreMemory*float64(warm) && end > warm+littleMemory {
		return fmt.Errorf("the memory grew: %d", after.memory)
	}
	if after.goroutines > before.goroutines+moreGoroutines {
		return fmt.Errorf("%d goroutines after the warm-up, %d at the end", before.goroutines, after.goroutines)
	}
	return nil
}

// outcome is what became of a process.
type outcome struct {
	requests   int
	took       time.Duration
	memory     []int64 // bytes, in equal shares of the requests
	goroutines int     // at the end, beside those of connections
}

func (o outcome) String() string {
	return fmt.Sprintf("%d requests in %v, %.0f/s; then %d goroutines", o.requests, o.took.Round(time.Second),
		float64(o.requests)/o.took.Seconds(), o.goroutines)
}

// soak puts n requests to a new process.
func soak(ctx context.Context, binary, dir string, n, workers int) (o outcome, err error) {
	p, err := start(ctx, binary, dir)
	if err != nil {
		return o, err
	}
	defer p.kill()
	begun := time.Now()
	m := newMix(p.url)
	for range samples {
		if err := m.run(ctx, n/samples, workers); err != nil {
			return o, err
		}
		bytes, err := p.memory()
		if err != nil {
			return o, err
		}
		o.memory = append(o.memory, bytes)
	}
	o.requests, o.took = m.requests(), time.Since(begun)
	m.close()
	o.goroutines, err = p.goroutines()
	return o, err
}

func median(values []int64) int64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func mb(bytes int64) float64 { return float64(bytes) / (1 << 20) }
