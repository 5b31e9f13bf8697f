package lazy_test

import (
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

func TestRegexp_is_compiled_once(t *testing.T) {
	digits := lazy.Regexp(`^[0-9]+$`)
	first := digits()
	if !first.MatchString("42") || first.MatchString("a") || first != digits() {
		t.Error(first)
	}
}

func TestRegexp_is_compiled_when_used(t *testing.T) {
	wrong := lazy.Regexp(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was used")
		}
	}()
	wrong()
}
