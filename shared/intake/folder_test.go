package intake

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func TestImportFolder(t *testing.T) {
	w := newWorld(t)
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	folder := fstest.MapFS{"a.eml": file(message), "sub/a.EML": file(message), "empty.eml": file(""), "notes.txt": file("no mail")}
	for range 2 { // the second time adds nothing
		if n, err := w.ImportFolder(t.Context(), w.box, folder); n != 3 || err != nil {
			t.Errorf("imported %d, %v; want 3", n, err)
		}
	}
	folder["a.eml"] = file(message + "PS: one more thing.\r\n")
	folder["large.eml"] = file(strings.Repeat("x", MaxRaw+1))
	n, err := w.ImportFolder(t.Context(), w.box, folder)
	if e, ok := errors.AsType[*inbox.Error](err); n != 3 || !ok || e.Code != inbox.CodeLimit || !strings.Contains(err.Error(), "large.eml") {
		t.Errorf("imported %d, %v; want 3, and an error for large.eml only", n, err)
	}
	if n := len(w.emails(t)); n != 4 {
		t.Errorf("%d e-mails, want 4", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := w.ImportFolder(ctx, w.box, folder); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %d, %v", n, err)
	}
	if _, err := w.ImportFolder(t.Context(), w.box, os.DirFS(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Every sample message comes in, as it is, and answers in JSON. The samples
// are not part of the project: CHECK_DATA names the folder with mail/samples.
func TestCheckDataSamples(t *testing.T) {
	data := os.Getenv("CHECK_DATA")
	if data == "" {
		t.Skip("CHECK_DATA does not name a folder with mail/samples")
	}
	w := newWorld(t)
	samples := os.DirFS(filepath.Join(data, "mail", "samples"))
	raws := map[string]int{} // how often each sample is there
	err := fs.WalkDir(samples, ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.EqualFold(path.Ext(name), ".eml") {
			raw, readErr := fs.ReadFile(samples, name)
			raws[string(raw)]++
			err = readErr
		}
		return err
	})
	if err != nil || len(raws) == 0 {
		t.Fatalf("%d samples, %v", len(raws), err)
	}
	if _, err := w.ImportFolder(t.Context(), w.box, samples); err != nil {
		t.Error(err)
	}

	failed := 0
	for _, e := range w.emails(t) {
		raw, err := os.ReadFile(filepath.Join(w.blobs, e.RawS3Key))
		if err != nil {
			t.Error(err)
		}
		raws[string(raw)]--
		email, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, e.ID)
		if err != nil {
			t.Error(err)
		}
		for _, v := range []any{email, content} {
			if b, err := json.Marshal(v); err != nil || !utf8.Valid(b) {
				t.Errorf("%s: not JSON in UTF-8: %v", firstLine(raw), err)
			}
		}
		if e.Status == inbox.EmailFailed {
			failed++
			t.Logf("failed: %s: %.60q", *e.RejectionReason, firstLine(raw))
		}
	}
	for raw, missing := range raws {
		if missing != 0 {
			t.Errorf("%d e-mails are missing of %.60q", missing, firstLine([]byte(raw)))
		}
	}
	t.Logf("%d samples, %d that cannot be read", len(w.emails(t)), failed)
}

func firstLine(raw []byte) []byte {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	return line
}
