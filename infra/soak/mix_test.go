package main

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/local"
)

// TestMix does some of every kind, so that the soak is known to ask for what
// the server has.
func TestMix(t *testing.T) {
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
	m := newMix(server.URL + "/mcp")
	defer m.close()
	c := m.client(t.Context())
	for _, k := range kinds {
		for range 12 {
			if err := k.do(c); err != nil {
				t.Error(err)
			}
		}
	}
}
