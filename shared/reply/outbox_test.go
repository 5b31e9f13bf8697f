package reply

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func openOutbox(t *testing.T) (*Outbox, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "new", "outbox")
	o, err := OpenOutbox(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o, dir
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestOutbox(t *testing.T) {
	o, dir := openOutbox(t)
	var _ Sender = o
	var all sync.WaitGroup
	for range 8 { // of one id, at once: it is there once, and whole
		all.Go(func() {
			if err := o.Send(t.Context(), Message{ID: answerID, Raw: []byte("first")}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := o.Send(t.Context(), Message{ID: answerID, Raw: []byte("second")}); err != nil {
		t.Error(err)
	}
	path := filepath.Join(dir, string(answerID)+".eml")
	got, err := os.ReadFile(path)
	if list := names(t, dir); err != nil || string(got) != "first" || len(list) != 1 {
		t.Errorf("%q, %v, %v", got, list, err)
	}
	for path, want := range map[string]os.FileMode{path: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestOutbox_Errors(t *testing.T) {
	o, dir := openOutbox(t)
	for _, id := range []inbox.ID{"", "../x", "x", "0193864C-1E00-7ABC-8DEF-0123456789AB"} {
		if err := o.Send(t.Context(), Message{ID: id}); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", id, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Send(ctx, Message{ID: answerID}); !errors.Is(err, ErrNotSent) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if list := names(t, dir); len(list) != 0 {
		t.Errorf("there are %v", list)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := o.Send(t.Context(), Message{ID: answerID}); !errors.Is(err, ErrNotSent) {
		t.Errorf("the folder is gone: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenOutbox(file); err == nil {
		t.Error("a file is an outbox")
	}
}
