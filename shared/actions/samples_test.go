package actions

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Every sample message comes in and ends in one way; reprocessed by the same
// rules, it ends in the same way. The samples are not part of the project:
// CHECK_DATA names the folder with mail/samples.
func TestCheckDataReprocess(t *testing.T) {
	data := os.Getenv("CHECK_DATA")
	if data == "" {
		t.Skip("CHECK_DATA does not name a folder with mail/samples")
	}
	w := local(t)
	count := map[inbox.EmailStatus]int{}
	samples := os.DirFS(filepath.Join(data, "mail", "samples"))
	err := fs.WalkDir(samples, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(path.Ext(name), ".eml") {
			return err
		}
		raw, err := fs.ReadFile(samples, name)
		if err != nil {
			return err
		}
		w.now = w.now.Add(time.Second)
		e := w.receive(t, string(raw))
		count[e.Status]++
		_, content := w.email(t, e.ID)
		run, err := w.ReprocessEmail(t.Context(), w.by("emails_reprocess"), e)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		now, again := w.email(t, e.ID)
		if d := cmp.Diff(e, now); d != "" {
			t.Errorf("%s: the e-mail changed (-before +after):\n%s", name, d)
		}
		if d := cmp.Diff(content, again); d != "" {
			t.Errorf("%s: the content changed (-before +after):\n%s", name, d)
		}
		if runs := w.runs(t, e); len(runs) != 2 || run.FinishedAt == nil || runs[0].Status != runs[1].Status {
			t.Errorf("%s: runs %+v", name, runs)
		}
		return nil
	})
	total := count[inbox.EmailProcessed] + count[inbox.EmailRejected] + count[inbox.EmailFailed]
	usage, usageErr := w.Usage(t.Context(), w.ws, noon, noon)
	if err != nil || usageErr != nil || total == 0 || usage.Total.Emails != int64(total) {
		t.Errorf("%v, %d e-mails counted, %v, %v", count, usage.Total.Emails, err, usageErr)
	}
	t.Logf("%v", count)
}
