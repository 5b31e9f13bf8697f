package cloud_test

import (
	"context"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
)

// Work ends 20 s before its invocation does, and in a short one at the half.
func TestInTime(t *testing.T) {
	if _, ok := deadline(t, context.Background()); ok {
		t.Error("an end where there is none")
	}
	for left, want := range map[time.Duration]time.Duration{5 * time.Minute: 280 * time.Second, 30 * time.Second: 15 * time.Second, 3 * time.Second: 1500 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), left)
		defer cancel()
		end, _ := deadline(t, ctx)
		if got := time.Until(end); got > want || got < want-time.Second {
			t.Errorf("of %v it leaves %v, want %v", left, got, want)
		}
	}
}

func deadline(t *testing.T, ctx context.Context) (time.Time, bool) {
	ctx, cancel := cloud.InTime(ctx)
	t.Cleanup(cancel)
	return ctx.Deadline()
}
