// Package localtest runs the local server for tests of other packages, with a
// new demo in a folder of its own. It imports local.
package localtest

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/local"
)

// Start serves the product on a free port until the test ends, without a limit
// of requests, and returns its MCP URL.
func Start(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kobana") // short enough for a socket in it
	if err != nil {
		t.Fatal(err)
	}
	config, err := local.ConfigFrom(func(name string) string {
		return map[string]string{"PORT": "0", "DATA_DIR": dir, "RATE_LIMIT": "off"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	server, err := local.Open(ctx, config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return server.URL + "/mcp"
}
