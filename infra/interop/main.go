// Command interop has the official clients try the product:
//
//	interop [name of a client ...]
//
// Each client gets a local server of its own with a new demo, and compares
// what it is told with expected.json. It runs at the root of the repository,
// with the clients installed beside it (make interop). The Go SDK's client is
// tried in the tests of infra/local, which make interop runs first.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/infra/local"
)

const dir = "infra/interop"

// clients are the commands that try the server at MCP_URL with MCP_TOKEN.
var clients = []struct {
	name    string
	command []string
}{
	{"typescript-v2", []string{"node", "--test-reporter=spec", "typescript_v2.mjs"}},
	{"typescript-v1", []string{"node", "--test-reporter=spec", "typescript_v1.mjs"}},
	{"python", []string{filepath.Join("..", "..", "build", "interop-venv", "bin", "python"), "python_client.py"}},
	{"inspector", []string{"node", "--test-reporter=spec", "inspector.mjs"}},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

// run has the clients of those names try the product, all where none is given,
// also after one failed.
func run(ctx context.Context, names []string) error {
	var failed []error
	tried := 0
	for _, c := range clients {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		tried++
		fmt.Printf("\n##### %s\n", c.name)
		if err := try(ctx, c.command); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.name, err))
		}
	}
	fmt.Printf("\n%d passed, %d failed\n", tried-len(failed), len(failed))
	if tried == 0 {
		return fmt.Errorf("no client has one of the names %q", names)
	}
	return errors.Join(failed...)
}

// try runs a client against a server that is started for it.
func try(ctx context.Context, command []string) error {
	data, err := os.MkdirTemp("", "kobana")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	config, err := local.ConfigFrom(func(name string) string {
		return map[string]string{"PORT": "0", "DATA_DIR": filepath.Join(data, "data"), "RATE_LIMIT": "off"}[name]
	})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	server, err := local.Open(serving, config, slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(serving) }()

	client := exec.CommandContext(ctx, command[0], command[1:]...)
	client.Dir = dir
	client.Env = append(os.Environ(), "MCP_URL="+server.URL+"/mcp", "MCP_TOKEN=demo-owner", "HOME="+data, "TMPDIR="+data)
	client.Stdout, client.Stderr = os.Stdout, os.Stderr
	err = client.Run()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%s is missing; install Node.js 20 and Python 3.10 or newer, and run make interop: %w", command[0], err)
	}
	stop()
	return cmp.Or(err, <-served)
}
