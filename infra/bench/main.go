// Command bench measures the product and prints one table. Each line is a
// figure of ours, a baseline that was measured in the same run, the ratio of the
// two, and, where the design sets one, the bar that it must hold. It ends with
// status 1 where a line is short of its bar.
//
// Figures are medians, with half of the distance between the quartiles. They
// are of processor time where that can be, because a machine is seldom idle.
//
// It needs Linux, and Node.js for the emulator of DynamoDB (npm ci in
// infra/dynalite). It may import everything.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/rie"
)

// bench is one run.
type bench struct {
	table
	dir      string   // of what lasts as long as the run
	settings []string // of Go's, for functions
}

// parts are what is measured, in the order printed.
var parts = []struct {
	name string
	run  func(*bench, context.Context) error
}{
	{"sdk", (*bench).versusSDK},
	{"start", (*bench).starts},
	{"warm", (*bench).warm},
	{"cost", (*bench).costs},
	{"cloud", (*bench).inCloud},
	{"growth", (*bench).growth},
	{"load", (*bench).underLoad},
	{"size", (*bench).sizes},
}

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "parts to run, separated by commas (default all)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	short, err := run(ctx, *only)
	if err != nil {
		log.Fatal(err)
	}
	if short > 0 {
		log.Fatalf("%d lines are short", short)
	}
}

func run(ctx context.Context, only string) (short int, err error) {
	b := &bench{}
	if b.dir, err = os.MkdirTemp("", "kobana-bench"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(b.dir)
	if b.settings, err = goSettings(); err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := b.build(); err != nil {
		return 0, err
	}
	if err := b.define(); err != nil {
		return 0, err
	}
	for _, p := range parts {
		if only == "" || strings.Contains(","+only+",", ","+p.name+",") {
			start := time.Now()
			if err := p.run(b, ctx); err != nil {
				return 0, fmt.Errorf("%s: %w", p.name, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %.0f s\n", p.name, time.Since(start).Seconds())
		}
	}
	fmt.Printf("%s, %d cores, %s, %s\n\n", processor(), runtime.NumCPU(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
	b.print(os.Stdout)
	fmt.Printf("\n%d lines have a bar, %d are short; %.0f s in all\n", b.judged, b.short, time.Since(begun).Seconds())
	return b.short, nil
}

// bin is the path of a program that was built.
func (b *bench) bin(name string) string { return filepath.Join(b.dir, name) }

// build builds everything, as make build does.
func (b *bench) build() error {
	if err := rie.Build(".", b.bin("rie")); err != nil {
		return err
	}
	built := b.bin("built")
	for dir, names := range map[string][]string{
		"functions":            functions(),
		"infra/bench":          {"bare"},
		"infra/bench/baseline": {"empty", "echo", "sdk", "load"},
		"infra/local":          {"kobana-inbox"}, // for the load
	} {
		for _, name := range names {
			cmd := exec.Command("go", "build", "-C", dir, "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc",
				"-ldflags", "-s -w -buildid=", "-o", built, "./"+name)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("build %s: %w\n%s", name, err, out)
			}
			// A copy, as a deployment unpacks one: it starts faster than what a
			// linker wrote here and there.
			if err := copyFile(b.bin(name), built); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o700)
	}
	return err
}

// functions are the names of all functions that there are.
func functions() (names []string) {
	dirs, _ := filepath.Glob("functions/*/main.go")
	for _, d := range dirs {
		names = append(names, filepath.Base(filepath.Dir(d)))
	}
	return names
}

// processor names the machine.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// memberOf is a member of a JSON object, null if it has none.
func memberOf(object jsontext.Value, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil || members[name] == nil {
		return jsontext.Value("null")
	}
	return members[name]
}
