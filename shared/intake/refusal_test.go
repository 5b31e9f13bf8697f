package intake

import (
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// A message that was certainly not kept leaves no raw message behind, which
// nobody could ever find or delete.
func TestNothingStaysOfAMessageThatIsRefused(t *testing.T) {
	w := newWorld(t)
	w.table.Inject(storetest.Injection{Effect: storetest.Fail, Err: store.ErrLimit, Method: storetest.Write, Nth: 1})
	if _, err := w.Receive(t.Context(), Delivery{Inbox: w.box, Raw: []byte(message)}); inbox.CodeOf(err) != inbox.CodeLimit {
		t.Errorf("error = %v", err)
	}
	if n := len(w.raws(t)); n != 0 {
		t.Errorf("%d raw messages stay", n)
	}
}
