package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 123456789, time.UTC)

const retention = 24 * time.Hour

// world is an intake on an embedded store, with one inbox.
type world struct {
	*Intake
	db    *inboxstore.DB
	now   time.Time
	table *storetest.Fault
	blobs string // the directory of raw messages
	box   inbox.Inbox
}

func newWorld(t testing.TB, options ...func(*Options)) *world {
	t.Helper()
	w := &world{table: storetest.NewFault(dynamotest.Open(t)), blobs: t.TempDir(), now: noon}
	blobs, err := files.Open(w.blobs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	now := func() time.Time { return w.now }
	w.db = inboxstore.New(inboxstore.Options{Table: w.table, Blobs: blobs, Now: now, Retention: retention})
	o := Options{DB: w.db, Log: slog.New(slog.DiscardHandler), Now: now}
	for _, option := range options {
		option(&o)
	}
	w.Intake = New(o)
	ws := access.WorkspaceID(inbox.NewID(noon))
	w.box = inbox.Inbox{
		ID: inbox.NewID(noon), WorkspaceID: ws, Label: "Support", Email: "support@inbox.example", Status: inbox.Active, AttachmentsAllow: true,
	}
	if err := w.db.Apply(t.Context(), ws, inboxstore.Insert(w.box)); err != nil {
		t.Fatal(err)
	}
	return w
}

// receive takes in a message that must be kept.
func (w *world) receive(t testing.TB, raw string, change ...func(*Delivery)) inbox.Email {
	t.Helper()
	d := Delivery{Inbox: w.box, Raw: []byte(raw), EnvelopeFrom: "bounce@sender.example", ReceivedAt: noon}
	for _, c := range change {
		c(&d)
	}
	email, err := w.Receive(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return email
}

// emails lists what was kept, newest first.
func (w *world) emails(t testing.TB) []inbox.Email {
	t.Helper()
	page, err := w.db.Emails(t.Context(), w.box.WorkspaceID, inbox.EmailFilter{}, inbox.PageRequest{Limit: 200})
	if err != nil {
		t.Fatal(err)
	}
	return page.Data
}

// raws are the raw messages that are stored.
func (w *world) raws(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(w.blobs, "*", "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

const message = "Message-ID: <1@sender.example>\r\n" +
	"From: Ana <Ana@sender.example>\r\nTo: support@inbox.example\r\nCc: bob@sender.example\r\n" +
	"Subject: =?utf-8?q?Ol=C3=A1?=\r\nDate: Wed, 2 Dec 2026 08:59:00 -0300\r\n\r\nGood morning.\r\n"

func TestReceive(t *testing.T) {
	w := newWorld(t)
	w.box.AgentID = new(inbox.NewID(noon))
	email := w.receive(t, message, func(d *Delivery) { d.SpamVerdict, d.SESMetadata = new("PASS"), inbox.Object(`{"id":"ses"}`) })

	kept, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, email.ID)
	if err != nil {
		t.Fatal(err)
	}
	received := noon.Truncate(time.Millisecond)
	want := inbox.Email{
		ID: email.ID, WorkspaceID: w.box.WorkspaceID, InboxID: w.box.ID, AgentID: w.box.AgentID,
		MessageID: "1@sender.example", RawS3Key: string(w.box.WorkspaceID) + "/" + string(email.ID) + ".eml", RawSize: int64(len(message)),
		Subject: new("Olá"), From: kept.From, FromName: "Ana",
		To: []string{"support@inbox.example"}, Cc: []string{"bob@sender.example"}, Bcc: []string{}, HeaderTo: []string{"support@inbox.example"},
		Status: inbox.EmailApproved, SpamVerdict: new("PASS"), SESMetadata: inbox.Object(`{"id":"ses"}`),
		CustomMetadata: inbox.Object("{}"), AgentMetadata: inbox.Object("{}"), Metadata: inbox.Object(`{"sender":"unverified"}`), Attachments: []inbox.Attachment{},
		SentAt: new(time.Date(2026, 12, 2, 11, 59, 0, 0, time.UTC)), ReceivedAt: received, CreatedAt: received, UpdatedAt: received,
	}
	if d := cmp.Diff(want, kept); d != "" {
		t.Errorf("e-mail (-want +got):\n%s", d)
	}
	if !strings.EqualFold(kept.From, "ana@sender.example") || !email.ID.Time().Equal(received) {
		t.Errorf("from %q, id of %v", kept.From, email.ID.Time())
	}
	if content.Text == nil || strings.TrimSpace(*content.Text) != "Good morning." || content.HTML != nil || len(content.Headers) != 6 || content.Truncated {
		t.Errorf("content: %+v", content)
	}
	if raw, err := os.ReadFile(filepath.Join(w.blobs, kept.RawS3Key)); err != nil || string(raw) != message {
		t.Errorf("raw message: %q, %v", raw, err)
	}
	w.wantTrail(t, kept, inbox.RunRunning)
	w.wantCounted(t, 1)
}

// wantTrail fails unless the e-mail left one workflow run, finished unless it
// waits for an agent, and the events that it came, was let in and ended.
func (w *world) wantTrail(t *testing.T, e inbox.Email, run inbox.RunStatus) {
	t.Helper()
	runs, err := w.db.WorkflowRuns(t.Context(), e.WorkspaceID, inbox.WorkflowRunFilter{Email: e.ID}, inbox.PageRequest{})
	if err != nil || len(runs.Data) != 1 {
		t.Fatalf("workflow runs: %+v, %v", runs.Data, err)
	}
	if r := runs.Data[0]; r.Status != run || r.InboxID != e.InboxID || (r.FinishedAt == nil) != (run == inbox.RunRunning) || len(r.Steps) != 6 {
		t.Errorf("workflow run: %+v", r)
	}
	events, err := w.db.SystemEvents(t.Context(), e.WorkspaceID, inbox.SystemEventFilter{Email: e.ID}, inbox.PageRequest{})
	var slugs []string
	for _, event := range events.Data {
		slugs = append(slugs, event.Slug)
		if *event.InboxID != e.InboxID {
			t.Errorf("event %+v", event)
		}
	}
	slices.Reverse(slugs)
	want := []string{"email.received", "email." + string(e.Status)}
	if e.Status == inbox.EmailProcessed {
		want = slices.Insert(want, 1, "email.approved")
	}
	if err != nil || !slices.Equal(slugs, want) {
		t.Errorf("events %q, %v; want %q", slugs, err, want)
	}
}

// wantCounted fails unless so many e-mails are listed, counted, and have their
// raw message.
func (w *world) wantCounted(t *testing.T, n int) {
	t.Helper()
	usage, err := w.db.Usage(t.Context(), w.box.WorkspaceID, noon, noon)
	if listed, raws := len(w.emails(t)), len(w.raws(t)); err != nil || usage.Total.Emails != int64(n) || listed != n || raws != n {
		t.Errorf("counted %d e-mails, %v; %d are listed, %d raw messages; want %d", usage.Total.Emails, err, listed, raws, n)
	}
}

func TestEmailsCountForTheDayTheyArrived(t *testing.T) {
	w := newWorld(t)
	w.receive(t, message, func(d *Delivery) { d.ReceivedAt = noon.Add(-13 * time.Hour) })
	usage, err := w.db.Usage(t.Context(), w.box.WorkspaceID, noon.AddDate(0, 0, -7), noon)
	if err != nil || len(usage.ByDay) != 1 || usage.ByDay[0].Date != "2026-12-01" || usage.ByDay[0].Emails != 1 {
		t.Errorf("usage %+v, %v; want one e-mail on 2026-12-01", usage.ByDay, err)
	}
}

// What is broken or unwanted is kept, with the reason.
func TestNothingIsDropped(t *testing.T) {
	const gif = "From: a@b.example\r\nContent-Type: image/gif\r\n\r\nx"
	for _, c := range []struct {
		name, raw, reason string
		change            func(*inbox.Inbox)
		status            inbox.EmailStatus
	}{
		{"empty", "", "The message could not be read: the message is empty.", nil, inbox.EmailFailed},
		{"binary", "\x00\x01\x02\xff\xfe", "The message could not be read: " + mail.ErrNoHeader.Error() + ".", nil, inbox.EmailFailed},
		{"of an inactive inbox", message, "inbox_inactive: The inbox is not active.",
			func(in *inbox.Inbox) { in.Status = inbox.Inactive }, inbox.EmailRejected},
		{"of a stranger", message, "sender_not_allowed: The sender is not among those who may send to this inbox.",
			func(in *inbox.Inbox) { in.AllowedRecipients = []string{"bob@sender.example"} }, inbox.EmailRejected},
		{"filtered", message, "filtered: Filter 1 of the inbox (subject equals) turns this e-mail away.", func(in *inbox.Inbox) {
			in.Filters = []inbox.Object{inbox.Object(`{"field":"subject","operator":"equals","value":"olá"}`)}
		}, inbox.EmailRejected},
		{"with a file", gif, "attachments_not_allowed: The message has 1 attachment, and the inbox takes none.",
			func(in *inbox.Inbox) { in.AttachmentsAllow = false }, inbox.EmailRejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.change != nil {
				c.change(&w.box)
			}
			email := w.receive(t, c.raw)
			kept := w.emails(t)
			if len(kept) != 1 || kept[0].ID != email.ID || kept[0].Status != c.status || *kept[0].RejectionReason != c.reason {
				t.Fatalf("kept %+v", kept)
			}
			if raw, err := os.ReadFile(filepath.Join(w.blobs, email.RawS3Key)); err != nil || string(raw) != c.raw {
				t.Errorf("raw message: %q, %v", raw, err)
			}
			if _, content, err := w.db.Email(t.Context(), w.box.WorkspaceID, email.ID); err != nil || (len(content.Headers) > 0) != (c.status == inbox.EmailRejected) {
				t.Errorf("content: %+v, %v", content, err)
			}
			w.wantTrail(t, kept[0], inbox.RunFailed)
			w.wantCounted(t, 1)
		})
	}
}

// Who takes a message says what it found of the sender; here nobody looked,
// and the mail of those who may send comes in.
func TestSenders(t *testing.T) {
	w := newWorld(t)
	w.box.AllowedRecipients = []string{"ana@sender.example"}
	for sender, want := range map[pipeline.Sender]inbox.EmailStatus{
		"": inbox.EmailProcessed, pipeline.SenderVerified: inbox.EmailProcessed, pipeline.SenderUnauthenticated: inbox.EmailRejected,
	} {
		email := w.receive(t, message, func(d *Delivery) { d.Sender = sender })
		if email.Status != want || string(email.Metadata) != string(sender.Metadata()) {
			t.Errorf("%q: %s, metadata %s; want %s", sender, email.Status, email.Metadata, want)
		}
	}
}

// Of many messages each ends in exactly one way, and is counted once.
func TestTwoHundredMessages(t *testing.T) {
	w := newWorld(t)
	w.box.AllowedRecipients = []string{"good@b.example"}
	raws := []string{"From: good@b.example\r\n\r\nhi", "From: bad@b.example\r\n\r\nhi", "", "From: GOOD@b.example\r\nSubject: again\r\n\r\nhi"}
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() { w.receive(t, raws[i%4], func(d *Delivery) { d.ID = fmt.Sprint("ses-", i) }) })
	}
	wg.Wait()
	for status, want := range map[inbox.EmailStatus]int{
		inbox.EmailProcessed: 100, inbox.EmailRejected: 50, inbox.EmailFailed: 50, inbox.EmailReceived: 0, inbox.EmailProcessing: 0, inbox.EmailApproved: 0,
	} {
		page, err := w.db.Emails(t.Context(), w.box.WorkspaceID, inbox.EmailFilter{Status: status}, inbox.PageRequest{Limit: 200})
		if err != nil || len(page.Data) != want {
			t.Errorf("%d e-mails are %s, %v; want %d", len(page.Data), status, err, want)
		}
	}
	w.wantCounted(t, 200)
	for _, e := range w.emails(t) {
		w.wantTrail(t, e, map[bool]inbox.RunStatus{true: inbox.RunSuccess, false: inbox.RunFailed}[e.Status == inbox.EmailProcessed])
	}
}

func TestTooLargeIsRefusedBeforeStoring(t *testing.T) {
	w := newWorld(t)
	_, err := w.Receive(t.Context(), Delivery{Inbox: w.box, Raw: make([]byte, MaxRaw+1)})
	if e, ok := errors.AsType[*inbox.Error](err); !ok || e.Code != inbox.CodeLimit {
		t.Errorf("error = %v, want limit_exceeded", err)
	}
	if raws := w.raws(t); len(raws) != 0 {
		t.Errorf("stored %v", raws)
	}
}

func TestCase34_SameDeliveryOnce(t *testing.T) {
	w := newWorld(t)
	ses := func(d *Delivery) { d.ID = "ses-1" }

	t.Run("case 34 the same delivery is the same e-mail", func(t *testing.T) {
		first, second := w.receive(t, message, ses), w.receive(t, message, ses)
		if first.ID != second.ID {
			t.Errorf("ids %s and %s, want one", first.ID, second.ID)
		}
		w.wantTrail(t, first, inbox.RunSuccess)
		w.wantCounted(t, 1)
	})
	t.Run("case 34 equal and missing Message-IDs are other e-mails", func(t *testing.T) {
		for _, raw := range []string{message, message, "From: a@b.example\r\n\r\nhi", "From: a@b.example\r\n\r\nhi"} {
			w.receive(t, raw)
		}
		w.receive(t, message, func(d *Delivery) { d.ID = "ses-2" })
		if n := len(w.emails(t)); n != 6 {
			t.Errorf("%d e-mails, want 6", n)
		}
	})
	t.Run("case 34 the same delivery to another inbox is another e-mail", func(t *testing.T) {
		other := w.box
		other.ID = inbox.NewID(noon)
		w.receive(t, message, ses, func(d *Delivery) { d.Inbox = other })
		if n := len(w.emails(t)); n != 7 {
			t.Errorf("%d e-mails, want 7", n)
		}
	})
	t.Run("case 34 a deleted e-mail does not come back", func(t *testing.T) {
		email := w.receive(t, message, ses)
		stored, err := inboxstore.Get[inbox.Email](t.Context(), w.db, w.box.WorkspaceID, string(email.ID))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.db.Apply(t.Context(), w.box.WorkspaceID, inboxstore.Delete(stored)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Receive(t.Context(), Delivery{ID: "ses-1", Inbox: w.box, Raw: []byte(message)}); !errors.Is(err, ErrDeleted) {
			t.Errorf("error = %v, want ErrDeleted", err)
		}
	})
}

func TestCase34_AnExpiredEmailDoesNotComeBack(t *testing.T) {
	w := newWorld(t)
	d := Delivery{ID: "ses-1", Inbox: w.box, Raw: []byte(message)}
	if _, err := w.Receive(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	w.now = noon.Add(retention) // the table has not deleted it yet
	if _, err := w.Receive(t.Context(), d); !errors.Is(err, ErrDeleted) || len(w.emails(t)) != 0 || len(w.raws(t)) != 1 {
		t.Errorf("error = %v with %d e-mails and %d raw messages, want ErrDeleted, 0 and the 1 of then", err, len(w.emails(t)), len(w.raws(t)))
	}
}

func TestCase34_SameDeliveryAtOnce(t *testing.T) {
	w := newWorld(t)
	ids := make([]inbox.ID, 16)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = w.receive(t, message, func(d *Delivery) { d.ID = "ses-1" }).ID })
	}
	wg.Wait()
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("ids %v, want one", ids)
			break
		}
	}
	if len(w.emails(t)) != 1 || len(w.raws(t)) != 1 {
		t.Errorf("%d e-mails and %d raw messages, want 1 and 1", len(w.emails(t)), len(w.raws(t)))
	}
}

func TestReceiveEndsWithTheContext(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Receive(ctx, Delivery{Inbox: w.box, Raw: []byte(message)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}
