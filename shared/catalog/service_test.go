package catalog

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// onRealService is a lab on the product's own service, with one workspace, and the
// intake of its mail.
func onRealService(t *testing.T) (*lab, *intake.Intake) {
	blobs, err := files.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	sender := webhooks.New(webhooks.Options{AllowLoopback: true})
	db := inboxstore.New(inboxstore.Options{
		Table: storetest.Temp(t).Table("data"), Blobs: blobs, Log: log, CheckURL: sender.CheckURL,
		Keys: func(context.Context) ([][]byte, error) { return [][]byte{make([]byte, 32)}, nil },
	})
	home := inboxstore.Workspace{
		Workspace:    inbox.Workspace{ID: here, Label: "Aurora", EmailPrefix: "aurora", Locale: inbox.Portuguese, CreatedAt: noon, UpdatedAt: noon},
		Organization: "org-1",
	}
	if err := db.Apply(t.Context(), here, inboxstore.Insert(home)); err != nil {
		t.Fatal(err)
	}
	l := newLab(t, func(o *Options) {
		o.Service = actions.New(actions.Options{DB: db, Blobs: blobs, Sender: sender, Log: log})
		o.CheckURL = sender.CheckURL
	})
	return l, intake.New(intake.Options{DB: db, Log: log})
}

// does calls a tool, with the person's yes where it takes one, and returns a
// member of the record.
func (l *lab) does(member, tool, args string, values ...any) string {
	l.Helper()
	args = fmt.Sprintf(args, values...)
	r := l.call(tool, args, "")
	if r.Result.ResultType == "input_required" {
		r = l.answer(tool, args, r.Result.RequestState, sayYes)
	}
	if r.Status != http.StatusOK || r.Result.IsError || r.Result.ResultType != "complete" {
		l.Fatalf("%s %s: HTTP %d %s", tool, args, r.Status, r.Body)
	}
	var record map[string]any
	decode(l, r.Result.Structured, &record)
	return fmt.Sprint(record[member])
}

// Every writing tool does its work on the product's own service, each leaves
// its system event with the confirmation, and what went out went out once.
func TestOnTheRealService(t *testing.T) {
	l, mail := onRealService(t)
	var received atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received.Add(1) }))
	defer receiver.Close()

	l.does("label", "workspaces_update", `{"id":"%s","label":"Bosque","monthly_emails_limit":1000}`, here)
	agent := l.does("id", "agents_create", `{"label":"Clerk","llm_model":"rules/demo","system_message":"Sort."}`)
	l.does("label", "agents_update", `{"id":"%s","label":"Clerk 2"}`, agent)
	box := l.does("id", "inboxes_create", `{"label":"Support","agent_id":"%s"}`, agent)
	l.does("label", "inboxes_update", `{"id":"%s","label":"Help","agent_id":null}`, box) // no worker runs here, so its mail is to be done on arrival
	if got := l.does("allowed_recipients", "inboxes_add_recipient", `{"id":"%s","email":"ana@sender.example"}`, box); got != "[ana@sender.example]" {
		t.Errorf("allowed: %s", got)
	}
	l.does("changed", "inboxes_remove_recipient", `{"id":"%s","email":"ana@sender.example"}`, box)
	hook := l.does("id", "webhooks_create", `{"label":"ERP","url":"%s","inbox_id":"%s"}`, receiver.URL, box)
	l.does("label", "webhooks_update", `{"id":"%s","label":"ERP 2"}`, hook)
	l.does("webhook_id", "webhooks_rotate_secret", `{"id":"%s"}`, hook)
	delivery := l.does("id", "webhooks_test", `{"id":"%s"}`, hook)
	l.does("id", "webhooks_deliveries_replay", `{"webhook_id":"%s","id":"%s"}`, hook, delivery)
	if n := received.Load(); n != 2 {
		t.Errorf("the receiver was told %d times, want 2", n)
	}
	secret := l.does("id", "secrets_create", `{"name":"TOKEN","value":"v4lue"}`)
	l.does("name", "secrets_update", `{"id":"%s","value":"other"}`, secret)
	in, err := l.opts.Service.Inbox(t.Context(), here, box)
	if err != nil {
		t.Fatal(err)
	}
	email, err := mail.Receive(t.Context(), intake.Delivery{Inbox: in, Raw: []byte("From: ana@sender.example\r\nSubject: Hi\r\n\r\nHello.\r\n")})
	if err != nil {
		t.Fatal(err)
	}
	l.does("status", "emails_reprocess", `{"id":"%s"}`, email.ID)
	l.does("deleted", "emails_delete", `{"id":"%s"}`, email.ID)
	for _, e := range []struct{ tool, id string }{
		{"secrets_delete", secret}, {"inboxes_delete", box}, {"webhooks_delete", hook}, {"agents_delete", agent},
	} {
		l.does("deleted", e.tool, `{"id":"%s"}`, e.id)
		l.wantError(l.call(e.tool, `{"id":"`+e.id+`"}`, ""), "not_found", "Nothing was changed")
	}

	var log struct {
		Data []struct {
			Payload struct {
				Tool, Client string
				Person       map[string]string
				Confirmation string `json:"confirmation_id"`
				Arguments    string `json:"arguments_digest"`
			}
		}
	}
	decode(t, l.call("system_events_list", `{"limit":200}`, "").Result.Structured, &log)
	seen := map[string]bool{}
	for _, e := range log.Data {
		p := e.Payload
		if p.Tool == "" {
			continue // of the mail itself
		}
		seen[p.Tool] = true
		if p.Person["subject"] != "ana" {
			t.Errorf("%+v", p)
		}
		if secret := strings.HasPrefix(p.Tool, "secrets_"); secret && (p.Confirmation+p.Arguments+p.Client != "") {
			t.Errorf("R4: %+v", p)
		} else if !secret && (p.Client != "editor" || p.Arguments == "" || l.byName[p.Tool].Hints.Destructive != (p.Confirmation != "")) {
			t.Errorf("%+v", p)
		}
	}
	for _, tool := range l.Tools() {
		if !tool.Hints.ReadOnly && !seen[tool.Name] {
			t.Errorf("%s left no system event", tool.Name)
		}
	}
}

// Two people change one inbox at once: neither undoes the other's work.
func TestTwoEditorsOnTheRealService(t *testing.T) {
	l, _ := onRealService(t)
	box := l.does("id", "inboxes_create", `{"label":"Support"}`)
	read := l.does("updated_at", "inboxes_get", `{"id":"%s"}`, box)
	l.does("label", "inboxes_update", `{"id":"%s","label":"Help","expected_updated_at":"%s"}`, box, read)
	l.wantError(l.call("inboxes_update", `{"id":"`+box+`","label":"Aid","expected_updated_at":"`+read+`"}`, ""), "conflict", "Nothing was changed")
	if got := l.does("label", "inboxes_update", `{"id":"%s","status":"inactive"}`, box); got != "Help" {
		t.Errorf("label %q", got)
	}
	state := l.ask("inboxes_delete", `{"id":"`+box+`"}`)
	l.does("label", "inboxes_update", `{"id":"%s","label":"Aid"}`, box)
	if r := l.answer("inboxes_delete", `{"id":"`+box+`"}`, state, sayYes); !strings.Contains(r.message(), `"Aid"`) || !strings.Contains(r.message(), "Algo mudou") {
		t.Error(r.Body)
	}
	l.does("id", "inboxes_get", `{"id":"%s"}`, box)
	// A name that is taken is a conflict.
	l.does("id", "secrets_create", `{"name":"TOKEN","value":"x"}`)
	l.wantError(l.call("secrets_create", `{"name":"TOKEN","value":"y"}`, ""), "conflict", "name", "Nothing was changed")
}
