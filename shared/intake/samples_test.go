package intake

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

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
			w.receive(t, string(raw))
			err = readErr
		}
		return err
	})
	if err != nil || len(raws) == 0 {
		t.Fatalf("%d samples, %v", len(raws), err)
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
