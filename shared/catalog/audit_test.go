package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestAuditKeyUnavailable: while the key of the digests is out of reach, nothing
// is done that could not be told whole, no yes is spent, and the reason is in
// the log alone.
func TestAuditKeyUnavailable(t *testing.T) {
	down := false
	l := newLab(t, func(o *Options) {
		o.AuditKey = func(context.Context) ([]byte, error) {
			if down {
				return nil, errors.New("secret of the audit: refused")
			}
			return audited, nil
		}
	})
	const update = `{"id":"` + id1 + `","label":"Other"}`
	state := l.ask("inboxes_delete", deleteInbox)

	down = true
	l.wantError(l.call("inboxes_update", update, ""), "unavailable", "Nothing was changed", "later")
	l.wantError(l.call("inboxes_delete", deleteInbox, ""), "confirmation_unavailable", "Nothing was executed")
	l.wantError(l.answer("inboxes_delete", deleteInbox, state, sayYes), "confirmation_unavailable", "Nothing was executed")
	l.wantError(l.at(mcp.V20251125, "inboxes_delete", deleteInbox, ""), "confirmation_required")
	if r := l.call("inboxes_get", deleteInbox, ""); r.Result.IsError {
		t.Errorf("reading: %s", r.Body)
	}
	l.wantWrites()
	l.wantRecorded("confirmation_unavailable", "confirmation_unavailable", "confirmation_required")
	if n := strings.Count(l.log.String(), "secret of the audit: refused"); n != 4 {
		t.Errorf("the cause is told %d times in %s", n, &l.log)
	}

	down = false
	if r := l.call("inboxes_update", update, ""); r.Result.IsError {
		t.Error(r.Body)
	}
	if r := l.answer("inboxes_delete", deleteInbox, state, sayYes); r.Result.IsError {
		t.Errorf("the yes was spent: %s", r.Body)
	}
	l.wantWrites("UpdateInbox", "DeleteInbox")
	for _, w := range l.wrote {
		if len(w.By.Arguments) != 64 {
			t.Errorf("%s: digest %q", w.Method, w.By.Arguments)
		}
	}
	l.wantError(l.answer("inboxes_delete", deleteInbox, state, sayYes), "confirmation_replayed")
}
