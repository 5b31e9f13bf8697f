package demo

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
)

// seed fills a new store as of a time, and returns Aurora's workspace in it.
func seed(t *testing.T, now time.Time) (*inboxstore.DB, *access.Directory, access.WorkspaceID) {
	t.Helper()
	dir := t.TempDir()
	db, err := bolt.Open(dir+"/inbox.db", bolt.NoSync())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	blobs, err := files.Open(dir + "/raw")
	if err != nil {
		t.Fatal(err)
	}
	table := db.Table("data")
	s := Seeder{Directory: access.NewDirectory(table), Log: slog.New(slog.DiscardHandler), Now: now,
		DB: inboxstore.New(inboxstore.Options{Table: table, Blobs: blobs, Now: func() time.Time { return now },
			Keys: func(context.Context) ([][]byte, error) { return [][]byte{make([]byte, 32)}, nil }})}
	if err := s.Seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	members, err := s.Directory.Memberships(t.Context(), Owner)
	if err != nil || len(members) != 1 {
		t.Fatalf("%v, %v", members, err)
	}
	return s.DB, s.Directory, members[0].Workspace
}

var now = time.Date(2026, 12, 2, 10, 30, 0, 123456789, time.UTC)

// all is one page of a list.
func all[T any](t *testing.T, list func(context.Context, access.WorkspaceID, inbox.PageRequest) (inbox.Page[T], error), ws access.WorkspaceID) []T {
	t.Helper()
	p, err := list(t.Context(), ws, inbox.PageRequest{Limit: inbox.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return p.Data
}

// emails lists those of a workspace.
func emails(t *testing.T, db *inboxstore.DB, ws access.WorkspaceID) []inbox.Email {
	t.Helper()
	return all(t, func(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Email], error) {
		return db.Emails(ctx, ws, inbox.EmailFilter{}, p)
	}, ws)
}

// TestSeed_Emails: each message ended as the table in aurora.go says.
func TestSeed_Emails(t *testing.T) {
	db, _, ws := seed(t, now)
	got := map[string]string{}
	for _, e := range emails(t, db, ws) {
		subject, reason := "none", ""
		if e.Subject != nil {
			subject = *e.Subject
		}
		if e.RejectionReason != nil {
			reason = ", " + *e.RejectionReason
		}
		got[subject] = string(e.Status) + reason
	}
	const failed = "failed, None of the demo's rules fits this e-mail."
	want := map[string]string{
		"Order 48213 has not arrived": failed, "Re: Order 48213 has not arrived": failed,
		"Fatura 2026/0881 – vencimento dia 10": "processed",
		"Your statement for November":          failed,
		"応募 / Application: warehouse lead":     "rejected, inbox_inactive: The inbox is not active.",
		"Wrong grind size":                     "processed",
		"This week in coffee":                  "rejected, filtered: Filter 1 of the inbox (header equals) turns this e-mail away.",
		"Refund for the August deposit":        "processed", "Re: Wrong grind size": "processed",
		"none": got["none"],
	}
	if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(got["none"], "failed, The message could not be read: ") {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSeed_Times: what happened in the demo's past happened in its order, to
// the millisecond, and never after now.
func TestSeed_Times(t *testing.T) {
	db, _, ws := seed(t, now)
	inOrder := func(what string, times ...*time.Time) {
		t.Helper()
		last := time.Time{}
		for i, at := range times {
			if at == nil {
				continue
			}
			if at.Before(last) || at.After(now) || !at.Equal(at.Truncate(time.Millisecond)) {
				t.Errorf("%s: time %d is %v, after %v", what, i, at, last)
			}
			last = *at
		}
	}
	for _, e := range emails(t, db, ws) {
		inOrder("e-mail", e.SentAt, &e.ReceivedAt, &e.CreatedAt, e.ProcessedAt, &e.UpdatedAt)
	}
	runs := all(t, func(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.AgentRun], error) {
		return db.AgentRuns(ctx, ws, inbox.AgentRunFilter{}, p)
	}, ws)
	for _, r := range runs {
		inOrder("run", r.StartedAt, &r.CreatedAt, r.FinishedAt, &r.UpdatedAt)
	}
	workflows := all(t, func(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.WorkflowRun], error) {
		return db.WorkflowRuns(ctx, ws, inbox.WorkflowRunFilter{}, p)
	}, ws)
	for _, w := range workflows {
		times := []*time.Time{w.StartedAt}
		for _, step := range w.Steps {
			times = append(times, step.StartedAt, step.FinishedAt)
		}
		inOrder("workflow", append(times, w.FinishedAt, &w.UpdatedAt)...)
	}
	for _, w := range all(t, db.Webhooks, ws) {
		inOrder("webhook", &w.CreatedAt, &w.UpdatedAt)
	}
}

// TestSeed_Valid: no record is one that the tools would not have made.
func TestSeed_Valid(t *testing.T) {
	db, _, ws := seed(t, now)
	valid := func(external *string, err error) {
		t.Helper()
		if err != nil || external == nil {
			t.Errorf("external_id %v, %v", external, err)
		}
	}
	w, err := db.Workspace(t.Context(), []access.WorkspaceID{ws}, string(ws))
	if err != nil {
		t.Fatal(err)
	}
	valid(w.ExternalID, w.Validate())
	for _, r := range all(t, db.Inboxes, ws) {
		valid(r.ExternalID, r.Validate())
	}
	for _, r := range all(t, db.Agents, ws) {
		valid(r.ExternalID, r.Validate())
	}
	for _, r := range all(t, db.Webhooks, ws) {
		valid(r.ExternalID, r.Validate())
	}
	for _, r := range all(t, db.Secrets, ws) {
		valid(new(r.Name), r.Validate())
	}
}

// TestSeed_EveryKind: there is a record of each kind to try, and they refer to
// each other.
func TestSeed_EveryKind(t *testing.T) {
	db, directory, ws := seed(t, now)
	ctx := t.Context()
	if n := len(all(t, db.Inboxes, ws)); n != 3 {
		t.Errorf("%d inboxes", n)
	}
	if n := len(all(t, db.Agents, ws)); n != 2 {
		t.Errorf("%d agents", n)
	}
	if n := len(all(t, db.Secrets, ws)); n != 1 {
		t.Errorf("%d secrets", n)
	}
	for _, w := range all(t, db.Webhooks, ws) {
		if secrets, _, err := db.SigningOf(ctx, ws, w.ID); len(secrets) != 1 || err != nil {
			t.Errorf("%s: %d signing secrets, %v", w.Label, len(secrets), err)
		}
		deliveries, err := db.Deliveries(ctx, ws, string(w.ID), inbox.DeliveryFilter{}, inbox.PageRequest{})
		if want := map[string]int{"ERP": 4, "CRM": 20}[w.Label]; err != nil || len(deliveries.Data) != want || w.Status != inbox.Active {
			t.Errorf("%s: %s, %d deliveries, want %d, %v", w.Label, w.Status, len(deliveries.Data), want, err)
		}
		failures := int64(0)
		for _, d := range deliveries.Data {
			e, err := db.SystemEvent(ctx, ws, d.SystemEventID)
			if err != nil || !slices.Contains(w.SubscribedEvents, e.Slug) || d.DeliveredAt.Before(e.CreatedAt) {
				t.Errorf("%s: of %+v, %v", w.Label, e, err)
			}
			if d.Status == inbox.DeliveryFailed {
				failures++
			}
		}
		if failures != w.ConsecutiveFailures {
			t.Errorf("%s: %d deliveries failed, and it says %d", w.Label, failures, w.ConsecutiveFailures)
		}
	}
	usage, err := db.Usage(ctx, ws, now.AddDate(0, 0, -29), now)
	if err != nil || usage.Total.Emails != 10 || usage.Total.Runs != 7 || usage.Total.FailedRuns != 3 || len(usage.ByModel) != 1 || len(usage.ByDay) != 9 {
		t.Errorf("%+v, %v", usage, err)
	}
	for person, want := range map[access.Person]access.Role{Owner: access.Owner, Operator: access.Operator, Viewer: access.Viewer, Other: access.Owner} {
		members, err := directory.Memberships(ctx, person)
		if err != nil || len(members) != 1 || members[0].Role != want {
			t.Errorf("%v: %+v, %v", person, members, err)
		}
		if person == Other {
			w, err := db.Workspace(ctx, []access.WorkspaceID{members[0].Workspace}, string(members[0].Workspace))
			if err != nil || w.Locale != inbox.Portuguese || members[0].Organization != Bosque || len(emails(t, db, w.ID)) != 2 {
				t.Errorf("%+v, %v", w, err)
			}
		}
	}
}
