package worker

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Every sample message goes from its arrival to its end: read by the agent,
// told to a webhook, answered where that may be. The samples are not part of
// the project: CHECK_DATA names the folder with mail/samples.
func TestCheckDataSamplesEndToEnd(t *testing.T) {
	data := os.Getenv("CHECK_DATA")
	if data == "" {
		t.Skip("CHECK_DATA does not name a folder with mail/samples")
	}
	p := &post{}
	w := replying(t, p, func(o *Options) {
		o.Sender = webhooks.New(webhooks.Options{AllowLoopback: true, Timeout: 10 * time.Second, Now: o.Now})
	})
	to := newReceiver(t, nil)
	w.hook(t, to.URL, func(h *inbox.Webhook) {
		h.SubscribedEvents = []string{inbox.EventEmailProcessed, inbox.EventEmailFailed}
	})
	var arrived []inbox.Email
	err := fs.WalkDir(os.DirFS(filepath.Join(data, "mail", "samples")), ".", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.EqualFold(path.Ext(name), ".eml") {
			raw, readErr := os.ReadFile(filepath.Join(data, "mail", "samples", name))
			arrived, err = append(arrived, w.receive(t, string(raw))), readErr
		}
		return err
	})
	if err != nil || len(arrived) == 0 {
		t.Fatalf("%d samples, %v", len(arrived), err)
	}
	w.work(t)
	ends, answered := map[inbox.EmailStatus]int{}, 0
	for _, e := range arrived {
		now, flow := w.email(t, e.ID), w.workflow(t, e.ID)
		ends[now.Status]++
		if flow.FinishedAt == nil {
			t.Errorf("e-mail %s, workflow run %+v", now.Status, flow)
		}
		for _, r := range w.runs(t, e.ID) {
			if r.FinishedAt == nil || r.Output != nil && !utf8.ValidString(*r.Output) {
				t.Errorf("run %+v", r)
			}
		}
		for _, slug := range w.slugs(t, e.ID) {
			if slug == inbox.EventEmailReplied {
				answered++
			}
		}
	}
	if n := ends[inbox.EmailProcessed] + ends[inbox.EmailFailed]; n != len(arrived) || to.requests() != n || ends[inbox.EmailProcessed] == 0 || answered == 0 || len(p.sent) != answered || len(w.left(t)) != 0 {
		t.Errorf("%v of %d; the receiver was told of %d, %d answers sent, %d recorded, jobs %v left", ends, len(arrived), to.requests(), len(p.sent), answered, w.left(t))
	}
	t.Logf("%v, %d answered", ends, answered)
}
