package main

import (
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/local/localtest"
)

// TestMix does some of every kind, so that the soak is known to ask for what
// the server has.
func TestMix(t *testing.T) {
	m := newMix(localtest.Start(t))
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
