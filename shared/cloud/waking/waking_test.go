package waking

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// open returns a queue on a server, at noon, and what is logged.
func open(t *testing.T) (*Queue, *cloudtest.Queue, *bytes.Buffer) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	server := cloudtest.NewQueue(cloudtest.QueueURL)
	t.Cleanup(server.Close)
	log := &bytes.Buffer{}
	env := map[string]string{"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_SQS": server.URL, "QUEUE_URL": cloudtest.QueueURL}
	q, err := Open(cloud.New(func(name string) string { return env[name] }, slog.New(slog.NewTextHandler(log, nil))))
	if err != nil {
		t.Fatal(err)
	}
	q.now = func() time.Time { return noon }
	return q, server, log
}

func sent(body, group string, delay time.Duration) cloudtest.Message {
	return cloudtest.Message{Body: body, Group: group, Delay: delay}
}

// A message comes when the job is due, not before, and is not sent at all where
// it cannot wait for that long.
func TestWake(t *testing.T) {
	q, server, log := open(t)
	var jobs []inboxstore.Job
	for n, due := range []time.Duration{-time.Hour, 0, time.Millisecond, time.Second, 90*time.Second + 1, 15 * time.Minute, 15*time.Minute + 1, time.Hour} {
		jobs = append(jobs, inboxstore.Job{ID: inboxstore.JobID(fmt.Sprint("job-", n)), Workspace: "aurora", Due: noon.Add(due)})
	}
	q.Wake(t.Context(), jobs...)
	want := []cloudtest.Message{
		sent("job-0", "aurora", 0), sent("job-1", "aurora", 0), sent("job-2", "aurora", time.Second), sent("job-3", "aurora", time.Second),
		sent("job-4", "aurora", 91*time.Second), sent("job-5", "aurora", 15*time.Minute),
	}
	if got := server.Take(); !slices.Equal(got, want) || log.Len() > 0 {
		t.Errorf("got %v\nwant %v\n%s", got, want, log)
	}
	q.Wake(t.Context(), jobs[7])
	q.Wake(t.Context())
	if server.Calls() != 1 {
		t.Errorf("%d calls for nothing to say", server.Calls()-1)
	}
}

func TestWakeNow_in_tens(t *testing.T) {
	q, server, _ := open(t)
	var jobs []inboxstore.DueJob
	for n := range 25 {
		jobs = append(jobs, inboxstore.DueJob{ID: inboxstore.JobID(fmt.Sprint("job-", n)), Workspace: "aurora"})
	}
	if err := q.WakeNow(t.Context(), jobs...); err != nil || len(server.Take()) != 25 || server.Calls() != 3 {
		t.Errorf("%d calls, %v", server.Calls(), err)
	}
}

// Each message is in the group of its workspace, whoever sends it, so that SQS
// lets no workspace wait for another one's messages.
func TestMessagesAreGroupedByWorkspace(t *testing.T) {
	q, server, log := open(t)
	q.Wake(t.Context(), inboxstore.Job{ID: "a", Workspace: "aurora", Due: noon}, inboxstore.Job{ID: "b", Workspace: "boreal", Due: noon.Add(time.Minute)})
	if err := q.WakeNow(t.Context(), inboxstore.DueJob{ID: "c", Workspace: "boreal"}, inboxstore.DueJob{ID: "d", Workspace: "aurora"}); err != nil {
		t.Error(err)
	}
	want := []cloudtest.Message{sent("a", "aurora", 0), sent("b", "boreal", time.Minute), sent("c", "boreal", 0), sent("d", "aurora", 0)}
	if got := server.Take(); !slices.Equal(got, want) || log.Len() > 0 {
		t.Errorf("got %v\nwant %v\n%s", got, want, log)
	}
}

// A queue that does not answer costs a log line: rounds find the jobs.
func TestFailure(t *testing.T) {
	q, server, log := open(t)
	server.Refuse = func(m cloudtest.Message) string {
		if m.Body == "b" {
			return "InternalError"
		}
		return ""
	}
	q.Wake(t.Context(), inboxstore.Job{ID: "a", Workspace: "aurora", Due: noon}, inboxstore.Job{ID: "b", Workspace: "aurora", Due: noon})
	if !strings.Contains(log.String(), "InternalError") || !strings.Contains(log.String(), "1 of 2") {
		t.Error(log)
	}
	if err := q.WakeNow(t.Context(), inboxstore.DueJob{ID: "b", Workspace: "aurora"}); err == nil {
		t.Error("a message was not taken, and it is no error")
	}
	server.Close()
	log.Reset()
	q.Wake(t.Context(), inboxstore.Job{ID: "a", Workspace: "aurora", Due: noon})
	if log.Len() == 0 {
		t.Error("nothing was logged")
	}
}

// What was committed is told of, though its caller has no more time.
func TestWakeOutlivesItsCaller(t *testing.T) {
	q, server, _ := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	q.Wake(ctx, inboxstore.Job{ID: "a", Workspace: "aurora", Due: noon})
	if len(server.Take()) != 1 {
		t.Error("no message")
	}
}
