package inboxstore

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// addRuns gives the e-mail of an office more runs with output.
func (o office) addRuns(t *testing.T, w *world, n int) {
	t.Helper()
	for range n {
		run := o.run
		run.ID = inbox.NewID(noon)
		w.apply(t, o.ws, Insert(run))
	}
}

// wantErased fails unless nothing of the e-mail is left but that it was.
func (o office) wantErased(t *testing.T, w *world, ws access.WorkspaceID) {
	t.Helper()
	_, _, err := w.Email(t.Context(), ws, o.email.ID)
	wantError(t, err, inbox.CodeNotFound, "id")
	if _, err := w.blobs.Get(t.Context(), o.email.RawS3Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the raw message: %v", err)
	}
	for k, item := range w.everything(t) {
		if strings.Contains(string(item.Value), "Olá") || k.Partition == allErasures {
			t.Errorf("left over: %v %s", k, item.Value)
		}
	}
	runs := must[inbox.Page[inbox.AgentRun]](t)(w.AgentRuns(t.Context(), ws, inbox.AgentRunFilter{Email: o.email.ID}, inbox.PageRequest{Limit: 200}))
	if len(runs.Data) == 0 {
		t.Error("the runs themselves are gone, and what they cost")
	}
}

func TestDeleteEmailErasesAllOfIt(t *testing.T) {
	for _, more := range []int{0, erasedAtOnce - 1, 3 * erasedAtOnce} {
		w := newWorld(t)
		o := newOffice(t, w)
		o.addRuns(t, w, more)
		if err := w.DeleteEmail(t.Context(), actor(o.ws, "emails_delete"), o.email); err != nil {
			t.Fatal(err)
		}
		o.wantErased(t, w, o.ws)
	}
}

// When the process dies, or the blobs cannot be reached, after the transaction,
// the rest is done later. Nobody is told of a failure: the e-mail is deleted.
func TestInterruptedErasuresAreResumed(t *testing.T) {
	var log strings.Builder
	w := newWorld(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	one, two := newOffice(t, w), newOffice(t, w)
	one.addRuns(t, w, 2*erasedAtOnce)
	w.blobs.down = true
	for _, o := range []office{one, two} {
		if err := w.DeleteEmail(t.Context(), actor(o.ws, "emails_delete"), o.email); err != nil {
			t.Fatal(err)
		}
		if _, err := w.blobs.Get(t.Context(), o.email.RawS3Key); err != nil {
			t.Fatalf("the raw message is gone: %v", err)
		}
		if !strings.Contains(log.String(), string(o.email.ID)) {
			t.Error("nothing was logged")
		}
	}
	if err := w.ResumeErasures(t.Context()); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while the blobs are down: %v", err)
	}
	w.blobs.down = false
	for range 2 { // and once more for nothing
		if err := w.ResumeErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	one.wantErased(t, w, one.ws)
	two.wantErased(t, w, two.ws)
}

// Several may finish the same erasure at once.
func TestErasuresAtOnce(t *testing.T) {
	w := newWorld(t)
	o := newOffice(t, w)
	o.addRuns(t, w, 3*erasedAtOnce)
	w.blobs.down = true
	if err := w.DeleteEmail(t.Context(), actor(o.ws, "emails_delete"), o.email); err != nil {
		t.Fatal(err)
	}
	o.addRuns(t, w, erasedAtOnce) // of which one loses to the other
	w.blobs.down = false
	var others error
	w.meanwhile(func(other *DB) { others = other.ResumeErasures(t.Context()) })
	if err := errors.Join(w.ResumeErasures(t.Context()), others); err != nil {
		t.Error(err)
	}
	o.wantErased(t, w, o.ws)
}
