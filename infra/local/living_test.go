package local

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// soon waits until something is so.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// TestLiving: mail that arrives is read by the demo's agent and answered, a
// receiver is told of it, and all of it shows in the tools; what was left when
// the server stopped is done when it starts.
func TestLiving(t *testing.T) {
	type told struct {
		header http.Header
		body   []byte
	}
	deliveries := make(chan told, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		deliveries <- told{r.Header, body}
	}))
	defer receiver.Close()
	c := testConfig(dataDir(t))
	c.WebhookAllowLoopback = true
	s, stop := serveOn(t, c) // whose worker does nothing
	owner := as("demo-owner").at(s)
	in := owner.where(t, "inboxes_list", "label", "Support")
	ws := owner.id(t, "workspaces_list", nil)
	if _, err := s.data.inboxes.SetReply(t.Context(), access.WorkspaceID(ws), in["id"].(string), inbox.On); err != nil {
		t.Fatal(err)
	}
	made := owner.call(t, "webhooks_create", object{"label": "Till", "url": receiver.URL, "subscribed_events": []any{inbox.EventEmailProcessed}})
	secret := webhooks.Secret(regexp.MustCompile(`whsec_[A-Za-z0-9+/=]+`).FindString(string(made.body)))
	const raw = "From: Bob <bob@customer.example>\r\nMessage-ID: <q@customer.example>\r\nSubject: Refund, please\r\n\r\nI want a refund of USD 20.\r\n"
	arrived := string(put(t, s, in["email"].(string), []byte(raw)))
	if e := get[object](t, owner, "emails_get", object{"id": arrived}); e["status"] != "approved" {
		t.Errorf("without a worker, the e-mail is %v", e["status"])
	}
	stop()

	s, stop = stopping(t, c, true)
	defer stop()
	owner = as("demo-owner").at(s)
	soon(t, "the e-mail is processed", func() bool {
		return get[object](t, owner, "emails_get", object{"id": arrived})["status"] == "processed"
	})
	runs := owner.list(t, "agent_runs_list", object{"email_id": arrived})
	if len(runs) != 1 || runs[0]["status"] != "success" || runs[0]["llm_model"] != "rules/demo" || runs[0]["input_tokens"].(float64) == 0 {
		t.Errorf("runs %v", runs)
	}
	d := <-deliveries
	if err := webhooks.Verify(secret, d.header, d.body, time.Now()); err != nil || !strings.Contains(string(d.body), arrived) {
		t.Errorf("%v: %s", err, d.body)
	}
	var answers []string
	soon(t, "the answer is there", func() bool {
		answers, _ = filepath.Glob(filepath.Join(c.DataDir, "outbox", "*.eml"))
		return len(answers) == 1
	})
	if answer, err := os.ReadFile(answers[0]); err != nil || !has(string(answer), "To: <bob@customer.example>\r\n", "In-Reply-To: <q@customer.example>\r\n", "Auto-Submitted: auto-replied\r\n") {
		t.Errorf("%v: %s", err, answer)
	}
	slugs := func() (list []string) {
		for _, e := range slices.Backward(owner.list(t, "system_events_list", object{"email_id": arrived})) {
			list = append(list, e["slug"].(string))
		}
		return list
	}
	want := []string{"email.received", "email.approved", "agent_run.succeeded", "email.processed", "email.replied"}
	soon(t, "the answer is in the log of events", func() bool { return len(slugs()) == len(want) })
	if got := slugs(); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}
