package arriving

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3/s3test"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// world is the function with a bucket and three inboxes, of two workspaces.
type world struct {
	*receiver
	table                   *storetest.Fault
	bucket                  *s3.Bucket
	log                     bytes.Buffer
	support, billing, other inbox.Inbox
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server := s3test.New()
	t.Cleanup(server.Close)
	w := &world{
		table:  storetest.NewFault(storetest.Temp(t).Table("data")),
		bucket: s3.New(s3.Options{Bucket: s3test.Bucket, Region: s3test.Region, Credentials: s3test.Credentials, Endpoint: server.URL}),
	}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	now := func() time.Time { return noon }
	db := inboxstore.New(inboxstore.Options{Table: w.table, Blobs: w.bucket, Now: now, Log: log})
	w.receiver = &receiver{db: db, intake: intake.New(intake.Options{DB: db, Log: log, Now: now}), bucket: w.bucket, log: log}
	one, two := access.WorkspaceID(inbox.NewID(noon)), access.WorkspaceID(inbox.NewID(noon))
	w.support = w.inbox(t, one, "support@inbox.example")
	w.billing = w.inbox(t, one, "billing@inbox.example")
	w.other = w.inbox(t, two, "other@inbox.example")
	return w
}

func (w *world) inbox(t *testing.T, ws access.WorkspaceID, address string) inbox.Inbox {
	t.Helper()
	in := inbox.Inbox{ID: inbox.NewID(noon), WorkspaceID: ws, Label: address, Email: address, Status: inbox.Active, AttachmentsAllow: true}
	if err := w.db.Apply(t.Context(), ws, inboxstore.Insert(in)); err != nil {
		t.Fatal(err)
	}
	return in
}

// store puts a message where SES does.
func (w *world) store(t *testing.T, id, raw string) {
	t.Helper()
	if err := w.bucket.Put(t.Context(), Prefix+id, []byte(raw)); err != nil {
		t.Fatal(err)
	}
}

// stored reports whether SES's copy is there.
func (w *world) stored(t *testing.T, id string) bool {
	t.Helper()
	_, err := w.bucket.Get(t.Context(), Prefix+id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// emails are what an inbox has, newest first.
func (w *world) emails(t *testing.T, in inbox.Inbox) []inbox.Email {
	t.Helper()
	page, err := w.db.Emails(t.Context(), in.WorkspaceID, inbox.EmailFilter{Inbox: string(in.ID)}, inbox.PageRequest{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	return page.Data
}

// wantKept fails unless the inboxes have so many e-mails: support, billing, other.
func (w *world) wantKept(t *testing.T, want ...int) {
	t.Helper()
	got := []int{len(w.emails(t, w.support)), len(w.emails(t, w.billing)), len(w.emails(t, w.other))}
	if !slices.Equal(got, want) {
		t.Errorf("the inboxes have %v e-mails, want %v\n%s", got, want, &w.log)
	}
}

// event is what SES calls with.
func event(id, dmarc string, recipients ...string) []byte {
	list, _ := json.Marshal(recipients)
	return fmt.Appendf(nil, `{"Records":[{"eventSource":"aws:ses","eventVersion":"1.0","ses":{
	 "mail":{"timestamp":"2026-12-02T12:00:00.000Z","source":"bounce+ana@sender.example","messageId":%q,"destination":%s,
	  "headersTruncated":false,"headers":[{"name":"Return-Path","value":"<bounce+ana@sender.example>"},{"name":"Subject","value":"Hello"}],
	  "commonHeaders":{"returnPath":"bounce+ana@sender.example","from":["Ana <ana@sender.example>"],"date":"Wed, 2 Dec 2026 12:00:00 +0000",
	   "to":["support@inbox.example"],"messageId":"<1@sender.example>","subject":"Hello"}},
	 "receipt":{"timestamp":"2026-12-02T12:00:00.000Z","processingTimeMillis":574,"recipients":%s,
	  "spamVerdict":{"status":"PASS"},"virusVerdict":{"status":"GRAY"},"spfVerdict":{"status":"PASS"},"dkimVerdict":{"status":"PASS"},
	  "dmarcVerdict":{"status":%q},"dmarcPolicy":"none",
	  "action":{"type":"Lambda","functionArn":"arn:aws:lambda:us-east-1:123456789012:function:inbox-ingest:live","invocationType":"Event"}}}}]}`,
		id, list, list, dmarc)
}

const message = "Message-ID: <1@sender.example>\n" + from + rest

func TestMailArrives(t *testing.T) {
	w := newWorld(t)
	raw := top(signed) + message
	w.store(t, "ses-1", raw)
	w.table.Reset()
	if _, err := w.handle(t.Context(), event("ses-1", "PASS", "Support@inbox.example", "support@INBOX.example", "nobody.here@inbox.example", "billing@inbox.example", "other@inbox.example")); err != nil {
		t.Fatal(err, &w.log)
	}
	for _, c := range w.table.Calls() { // its role has no other actions
		if c.Method == storetest.Query || slices.ContainsFunc(c.Ops, func(op store.Op) bool { return op.Action != store.ActionPut && op.Action != store.ActionAdd }) {
			t.Errorf("%+v", c)
		}
	}
	w.wantKept(t, 1, 1, 1)
	e := w.emails(t, w.support)[0]
	if e.From != "ana@sender.example" || !e.ReceivedAt.Equal(noon) || *e.SpamVerdict != "PASS" || *e.VirusVerdict != "GRAY" ||
		string(e.Metadata) != `{"sender":"verified"}` || e.MessageID != "1@sender.example" {
		t.Errorf("%+v", e)
	}
	const ses = `{"message_id":"ses-1","source":"bounce+ana@sender.example","spf_verdict":"PASS","dkim_verdict":"PASS","dmarc_verdict":"PASS","dmarc_policy":"none"}`
	if string(e.SESMetadata) != ses {
		t.Errorf("metadata %s", e.SESMetadata)
	}
	if got := w.emails(t, w.other)[0].To; !slices.Equal(got, []string{"other@inbox.example"}) {
		t.Errorf("a workspace sees recipients of another one: %q", got)
	}
	if got := e.To; !slices.Equal(got, []string{"support@inbox.example", "billing@inbox.example"}) {
		t.Errorf("recipients %q", got)
	}
	if kept, err := w.bucket.Get(t.Context(), e.RawS3Key); err != nil || string(kept) != raw {
		t.Errorf("the raw message: %q, %v", kept, err)
	}
	if w.stored(t, "ses-1") {
		t.Error("SES's copy is still there")
	}
	for _, private := range []string{"nobody.here", "ana@", "Hello", "Good morning"} {
		if strings.Contains(w.log.String(), private) {
			t.Errorf("the log has %q:\n%s", private, &w.log)
		}
	}
	if !strings.Contains(w.log.String(), "strangers=1") {
		t.Error(&w.log)
	}
}

// Case 34: what was delivered twice is there once, and what only looks alike is
// there twice; senders leave the Message-ID out, or use one twice.
func TestCase34_DeliveriesAreKeptOnce(t *testing.T) {
	for name, raw := range map[string]string{"equal Message-IDs": message, "no Message-IDs": from + rest} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.store(t, "ses-1", raw)
			w.store(t, "ses-2", raw)
			for _, id := range []string{"ses-1", "ses-2", "ses-1", "ses-2", "ses-1"} { // of which only the first ones find a message
				if _, err := w.handle(t.Context(), event(id, "PASS", "support@inbox.example", "billing@inbox.example")); err != nil {
					t.Fatal(id, err, &w.log)
				}
			}
			w.wantKept(t, 2, 2, 0)
			w.store(t, "ses-1", raw) // which SES's own repetition would do
			if _, err := w.handle(t.Context(), event("ses-1", "PASS", "support@inbox.example")); err != nil || w.stored(t, "ses-1") {
				t.Error(err, "or SES's copy stays")
			}
			w.wantKept(t, 2, 2, 0)
		})
	}
}

// A fault of one inbox leaves the others theirs; the message stays, so that the
// next call gets the rest done.
func TestOneInboxFails(t *testing.T) {
	w := newWorld(t)
	w.store(t, "ses-1", message)
	w.table.Inject(storetest.Injection{Err: errors.New("a fault that does not pass"), Method: storetest.Write, Nth: 1})
	call := event("ses-1", "PASS", "support@inbox.example", "billing@inbox.example", "other@inbox.example")
	if _, err := w.handle(t.Context(), call); err == nil || strings.Contains(err.Error(), "@") {
		t.Fatal("error", err)
	}
	w.wantKept(t, 0, 1, 1)
	if !w.stored(t, "ses-1") {
		t.Fatal("the message is gone before all have it")
	}
	if _, err := w.handle(t.Context(), call); err != nil || w.stored(t, "ses-1") {
		t.Error(err)
	}
	w.wantKept(t, 1, 1, 1)
}

// Where the store is away for longer than the invocation lasts, the log tells of it
// before Lambda ends the call.
func TestTheLogIsToldInTime(t *testing.T) {
	w := newWorld(t)
	w.store(t, "ses-1", message)
	w.table.Inject(storetest.Injection{Effect: storetest.Hang, Method: storetest.Write})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := w.handle(ctx, event("ses-1", "PASS", "support@inbox.example", "billing@inbox.example", "other@inbox.example"))
	if err == nil || ctx.Err() != nil || !strings.Contains(w.log.String(), "mail was not kept by all of its inboxes") || !w.stored(t, "ses-1") {
		t.Errorf("%v, %v\n%s", err, ctx.Err(), &w.log)
	}
}

// A deleted e-mail does not come back, and stops nobody else.
func TestDeletedMailStaysDeleted(t *testing.T) {
	w := newWorld(t)
	call := event("ses-1", "PASS", "support@inbox.example", "billing@inbox.example")
	w.store(t, "ses-1", message)
	if _, err := w.handle(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if err := w.db.DeleteEmail(t.Context(), inbox.Actor{Workspace: w.support.WorkspaceID}, w.emails(t, w.support)[0]); err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{true, false} {
		if there {
			w.store(t, "ses-1", message)
		}
		if _, err := w.handle(t.Context(), call); err != nil {
			t.Error(err)
		}
		w.wantKept(t, 0, 1, 0)
	}
}

// What Lambda is to call again for, before it is put aside.
func TestFailures(t *testing.T) {
	w := newWorld(t)
	for name, call := range map[string][]byte{
		"no message":         event("ses-1", "PASS", "support@inbox.example"),
		"an id that is none": event("../x", "PASS", "support@inbox.example"),
		"an id of nothing":   event("", "PASS", "support@inbox.example"),
		"no receipt":         []byte(`{"Records":[]}`),
		"no event":           []byte(`"x"`),
		"no JSON":            []byte(`{`),
	} {
		if _, err := w.handle(t.Context(), call); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	w.wantKept(t, 0, 0, 0)
	w.store(t, "ses-2", message)
	if _, err := w.handle(t.Context(), event("ses-2", "PASS", "nobody@inbox.example")); err != nil || w.stored(t, "ses-2") {
		t.Error("mail for nobody:", err)
	}
	w.table.Inject(storetest.Injection{Method: storetest.Get})
	w.store(t, "ses-3", message)
	if _, err := w.handle(t.Context(), event("ses-3", "PASS", "support@inbox.example")); err == nil || !w.stored(t, "ses-3") {
		t.Error("inboxes that cannot be looked up:", err)
	}
}

// An allowed sender counts only when something shows that it is the sender.
func TestAllowedSenders(t *testing.T) {
	w := newWorld(t)
	allowed := w.support
	allowed.AllowedRecipients = []string{"ana@sender.example", "chef@straße.de"}
	old, err := inboxstore.Get[inbox.Inbox](t.Context(), w.db, allowed.WorkspaceID, string(allowed.ID))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.db.Apply(t.Context(), allowed.WorkspaceID, inboxstore.Update(old, allowed)); err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct {
		dmarc, raw, want string
	}{
		{"PASS", top(signed) + message, ""},
		{"FAIL", top(signed) + message, ""},
		{"FAIL", top(dmarcFail) + forged + message, "sender_not_authenticated"},
		{"FAIL", top() + "From: eve@evil.example\n" + rest, "sender_not_allowed"},
		{"FAIL", top(" dkim=pass header.i=@xn--strae-oqa.de;\n") + "From: chef@stra\u00dfe.de\n" + rest, ""},
		// With a capital sharp s, the address is of who has strasse.de.
		{"GRAY", top(" dkim=pass header.i=@strasse.de;\n") + "From: chef@stra\u1e9ee.de\n" + rest, "sender_not_allowed"},
		{"GRAY", top(" dkim=pass header.i=@strasse.de;\n") + "From: chef@stra\u00dfe.de\n" + rest, "sender_not_authenticated"},
	} {
		id := fmt.Sprint("ses-", n)
		w.store(t, id, c.raw)
		if _, err := w.handle(t.Context(), event(id, c.dmarc, "support@inbox.example")); err != nil {
			t.Fatal(err)
		}
		emails := w.emails(t, w.support)
		e := emails[slices.IndexFunc(emails, func(e inbox.Email) bool { return strings.Contains(string(e.SESMetadata), id) })]
		reason := ""
		if e.RejectionReason != nil {
			reason, _, _ = strings.Cut(*e.RejectionReason, ":")
		}
		if reason != c.want || (e.Status == inbox.EmailRejected) != (c.want != "") {
			t.Errorf("%d: %s %q, want %q", n, e.Status, reason, c.want)
		}
	}
}
