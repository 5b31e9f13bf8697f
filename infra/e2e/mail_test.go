package e2e

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/rules"
)

// mailFunctions are the functions that no client calls, and how long they may
// run.
var mailFunctions = map[string]time.Duration{"ingest": 120 * time.Second, "worker": 300 * time.Second}

// mail is a workspace with one inbox that an agent reads and a webhook listens
// to, and the functions that mail goes through.
type mail struct {
	*Stack
	db              *inboxstore.DB
	ingest          *emulator
	workers         []*emulator // two
	box             inbox.Inbox
	webhook         inbox.Webhook
	raw             records.Records
	sender, address string
}

func newMail(t *testing.T) *mail {
	t.Helper()
	m := &mail{Stack: use(t), sender: "ana.private@sender.example", address: "mail-" + string(inbox.NewID(time.Now())) + "@inbox.example"}
	for name := range mailFunctions {
		if _, err := os.Stat(filepath.Join(m.dir, name, "bootstrap")); err == nil {
			continue // by another test
		}
		if err := buildFunction(name, runtime.GOARCH, filepath.Join(m.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	m.ingest = m.begin(t, "ingest")
	m.workers = []*emulator{m.begin(t, "worker"), m.begin(t, "worker")}
	var err error
	f := cloud.New(func(name string) string { return m.env[name] }, slog.New(slog.DiscardHandler))
	if m.raw, _, err = records.OpenSealed(f); err != nil {
		t.Fatal(err)
	}
	m.raw.CheckURL = func(string) error { return nil } // there is nobody but this machine to send to
	m.db = inboxstore.New(m.raw.Options)
	m.furnish(t)
	m.queue.Take() // what other tests left
	return m
}

// begin starts an instance, its environment changed as said, for as long as the
// test.
func (m *mail) begin(t *testing.T, name string, changes ...string) *emulator {
	t.Helper()
	env := maps.Clone(m.env)
	for _, c := range changes {
		variable, value, _ := strings.Cut(c, "=")
		env[variable] = value
	}
	e, err := startEmulator(m.dir, name, mailFunctions[name], env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func (m *mail) furnish(t *testing.T) {
	t.Helper()
	now := time.Now()
	ws := access.WorkspaceID(inbox.NewID(now))
	agent := inbox.Agent{ID: inbox.NewID(now), WorkspaceID: ws, Label: "Helpdesk", LLMModel: rules.ID, SystemMessage: "Be kind."}
	m.box = inbox.Inbox{
		ID: inbox.NewID(now), WorkspaceID: ws, AgentID: &agent.ID, Label: "Support", Email: m.address, Status: inbox.Active,
		AllowedRecipients: []string{m.sender}, AttachmentsAllow: true, AttachmentsMaxFileNumber: 10, Reply: inbox.Off,
	}
	workspace := inboxstore.Workspace{Workspace: inbox.Workspace{ID: ws, ExternalID: new(string(ws)), Label: "Mail"}, Organization: "mail"}
	err := m.db.Apply(t.Context(), ws, inboxstore.Insert(workspace), inboxstore.Insert(agent), inboxstore.Insert(m.box))
	if err != nil {
		t.Fatal(err)
	}
	m.webhook, _, err = m.db.CreateWebhook(t.Context(), inbox.Actor{Workspace: ws},
		inbox.Webhook{Label: "Here", URL: "https://127.0.0.1/hook", SubscribedEvents: []string{inbox.EventEmailProcessed}}, inbox.Credentials{})
	if err != nil {
		t.Fatal(err)
	}
}

// message is a message to the inbox as SES stores it, signed or not.
func (m *mail) message(signed bool) string {
	results := ""
	if signed {
		results = " dkim=pass header.i=@sender.example;\r\n"
	}
	return "Return-Path: <" + m.sender + ">\r\nReceived: from mx.sender.example (mx.sender.example [192.0.2.7])\r\n" +
		" by inbound-smtp.us-east-1.amazonaws.com with SMTP id x\r\n for " + m.address + ";\r\n Wed, 02 Dec 2026 12:00:00 +0000 (UTC)\r\n" +
		"Authentication-Results: amazonses.com;\r\n spf=pass client-ip=192.0.2.7;\r\n" + results + "X-SES-RECEIPT: AEFBQUFB\r\n" +
		"From: Ana <" + m.sender + ">\r\nTo: " + m.address + "\r\nSubject: Secret subject\r\n\r\nI want my money back for the secret order.\r\n"
}

// deliver puts a message where SES does.
func (m *mail) deliver(t *testing.T, id, raw string) {
	t.Helper()
	if err := m.raw.Raw.Put(t.Context(), arriving.Prefix+id, []byte(raw)); err != nil {
		t.Fatal(err)
	}
}

// receipt is SES's call for a message.
func (m *mail) receipt(id string) []byte {
	return fmt.Appendf(nil, `{"Records":[{"eventSource":"aws:ses","eventVersion":"1.0","ses":{
	 "mail":{"timestamp":%[1]q,"source":%[2]q,"messageId":%[3]q,"destination":[%[4]q],"headersTruncated":false,"headers":[],
	  "commonHeaders":{"returnPath":%[2]q,"from":[%[2]q],"to":[%[4]q],"subject":"Secret subject"}},
	 "receipt":{"timestamp":%[1]q,"processingTimeMillis":574,"recipients":[%[4]q,"stranger.private@inbox.example"],
	  "spamVerdict":{"status":"PASS"},"virusVerdict":{"status":"PASS"},"spfVerdict":{"status":"PASS"},"dkimVerdict":{"status":"PASS"},"dmarcVerdict":{"status":"FAIL"},
	  "action":{"type":"Lambda","functionArn":"arn:aws:lambda:us-east-1:123456789012:function:inbox-ingest:live","invocationType":"Event"}}}}]}`,
		time.Now().UTC().Format(time.RFC3339Nano), m.sender, id, m.address)
}

// arrive has ingest called for a message.
func (m *mail) arrive(t *testing.T, id string) {
	t.Helper()
	if answer, err := m.ingest.Invoke(t.Context(), m.receipt(id)); err != nil {
		t.Fatal(err, string(answer), m.ingest.lines(t))
	}
}

// email is the e-mail that a message became.
func (m *mail) email(t *testing.T, id string) (found inbox.Email) {
	t.Helper()
	page, err := m.db.Emails(t.Context(), m.box.WorkspaceID, inbox.EmailFilter{}, inbox.PageRequest{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	emails := slices.DeleteFunc(page.Data, func(e inbox.Email) bool { return !strings.Contains(string(e.SESMetadata), `"`+id+`"`) })
	if len(emails) != 1 {
		t.Fatalf("%s became %d e-mails", id, len(emails))
	}
	return emails[0]
}

// woken are the jobs whose messages come now.
func (m *mail) woken() (ids []string) {
	for _, message := range m.queue.Take() {
		if message.Delay == 0 {
			ids = append(ids, message.Body)
		}
	}
	return ids
}

// wake has a worker do jobs, and returns the messages that are to come again.
func wake(ctx context.Context, worker *emulator, ids ...string) ([]string, error) {
	type record struct {
		MessageID   string `json:"messageId"`
		Body        string `json:"body"`
		EventSource string `json:"eventSource"`
	}
	var event struct{ Records []record }
	for _, id := range ids {
		event.Records = append(event.Records, record{"message of " + id, id, "aws:sqs"})
	}
	payload, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	out, err := worker.Invoke(ctx, payload)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Failures *[]struct {
			ID string `json:"itemIdentifier"`
		} `json:"batchItemFailures"`
	}
	if err := json.Unmarshal(out, &answer); err != nil || answer.Failures == nil {
		return nil, fmt.Errorf("%s: %w", out, err)
	}
	again := []string{}
	for _, f := range *answer.Failures {
		again = append(again, f.ID)
	}
	return again, nil
}

// work has both workers do what messages tell of, each message coming to both
// at once, until there are none.
func (m *mail) work(t *testing.T) {
	t.Helper()
	for range 20 {
		ids := m.woken()
		if len(ids) == 0 {
			return
		}
		var all sync.WaitGroup
		for _, worker := range m.workers {
			all.Go(func() {
				if again, err := wake(t.Context(), worker, ids...); err != nil || len(again) > 0 {
					t.Errorf("%q are to come again, %v: %s", again, err, worker.lines(t))
				}
			})
		}
		all.Wait()
	}
	t.Fatal("there is always more to do")
}

// A message that SES received becomes an e-mail, the agent reads it, the
// webhook is told, each once, though every call is made twice.
func TestMail(t *testing.T) {
	m := newMail(t)
	m.deliver(t, "ses-1", m.message(true))
	m.arrive(t, "ses-1")
	if e := m.email(t, "ses-1"); e.Status != inbox.EmailApproved || string(e.Metadata) != `{"sender":"verified"}` {
		t.Fatalf("%s %s %v", e.Status, e.Metadata, e.RejectionReason)
	}
	m.arrive(t, "ses-1") // again, the message being gone
	m.work(t)
	e := m.email(t, "ses-1")
	if e.Status != inbox.EmailProcessed {
		t.Fatalf("%s: %v", e.Status, e.RejectionReason)
	}
	runs, err := m.db.AgentRuns(t.Context(), m.box.WorkspaceID, inbox.AgentRunFilter{Email: e.ID}, inbox.PageRequest{Limit: 10})
	if err != nil || len(runs.Data) != 1 || runs.Data[0].Status != inbox.RunSuccess || runs.Data[0].Output == nil {
		t.Errorf("%+v, %v", runs.Data, err)
	}
	use, err := m.db.Usage(t.Context(), m.box.WorkspaceID, time.Now().Add(-24*time.Hour), time.Now())
	if err != nil || use.Total.Emails != 1 || use.Total.Runs != 1 {
		t.Errorf("%+v, %v", use.Total, err)
	}
	deliveries, err := m.db.Deliveries(t.Context(), m.box.WorkspaceID, string(m.webhook.ID), inbox.DeliveryFilter{}, inbox.PageRequest{Limit: 10})
	if err != nil || len(deliveries.Data) != 1 {
		t.Fatalf("%+v, %v", deliveries.Data, err)
	}
	if d := deliveries.Data[0]; d.Error == nil || !strings.Contains(*d.Error, "leads to the server's own machine") || d.NextRetryAt == nil {
		t.Errorf("this machine was called: %s, %v, again at %v", d.Status, d.Error, d.NextRetryAt)
	}
	m.wantNothingPrivate(t)
}

// A wake-up that is lost is made up for by the next round.
func TestMail_lost_wakeups(t *testing.T) {
	m := newMail(t)
	m.deliver(t, "ses-lost", m.message(true))
	m.arrive(t, "ses-lost")
	lost := m.woken()
	if len(lost) == 0 {
		t.Fatal("nobody was woken up")
	}
	round := []byte(`{"version":"0","id":"53dc4d37","detail-type":"Scheduled Event","source":"aws.events","account":"123456789012","region":"us-east-1","resources":[],"detail":{}}`)
	if _, err := m.workers[0].Invoke(t.Context(), round); err != nil {
		t.Fatal(err)
	}
	found := m.woken() // with jobs of other workspaces
	for _, id := range lost {
		if !slices.Contains(found, id) {
			t.Errorf("the round did not find %s", id)
		}
	}
	if again, err := wake(t.Context(), m.workers[0], lost...); err != nil || len(again) > 0 {
		t.Fatal(again, err)
	}
	if e := m.email(t, "ses-lost"); e.Status != inbox.EmailProcessed {
		t.Error(e.Status)
	}
}

// What the agent answers goes out by SES once, from the inbox's address to the
// sender.
func TestMail_answers(t *testing.T) {
	m := newMail(t)
	var (
		mu   sync.Mutex
		sent []string
	)
	ses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			FromEmailAddress string
			Destination      struct{ ToAddresses []string }
		}
		if err := json.UnmarshalRead(r.Body, &in); err != nil || r.URL.Path != "/v2/email/outbound-emails" {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, fmt.Sprint(in.FromEmailAddress, in.Destination.ToAddresses))
		io.WriteString(w, `{"MessageId":"1"}`)
	}))
	defer ses.Close()
	for n := range m.workers {
		m.workers[n] = m.begin(t, "worker", "REPLIES=true", "AWS_ENDPOINT_URL_SESV2="+ses.URL)
	}
	if _, err := m.db.SetReply(t.Context(), m.box.WorkspaceID, string(m.box.ID), inbox.On); err != nil {
		t.Fatal(err)
	}
	m.deliver(t, "ses-answer", m.message(true))
	m.arrive(t, "ses-answer")
	m.work(t)
	if want := fmt.Sprint(m.address, []string{m.sender}); !slices.Equal(sent, []string{want}) {
		t.Errorf("sent %q, want %q; %s", sent, want, m.workers[0].lines(t))
	}
	m.wantNothingPrivate(t)
}

// An allowed sender whom nothing authenticates is rejected; nobody reads that.
func TestMail_not_authenticated(t *testing.T) {
	m := newMail(t)
	m.deliver(t, "ses-forged", m.message(false))
	m.arrive(t, "ses-forged")
	m.work(t)
	if e := m.email(t, "ses-forged"); e.Status != inbox.EmailRejected || !strings.HasPrefix(*e.RejectionReason, "sender_not_authenticated:") {
		t.Errorf("%s: %v", e.Status, e.RejectionReason)
	}
}

// What cannot be done comes again, and Lambda hears of what cannot be kept.
func TestMail_failures(t *testing.T) {
	m := newMail(t)
	if _, err := m.ingest.Invoke(t.Context(), m.receipt("ses-missing")); err == nil || strings.Contains(err.Error(), "@") {
		t.Error("a message that is not there:", err)
	}
	broken := m.begin(t, "worker", "DATA_TABLE=no-such")
	if again, err := wake(t.Context(), broken, "a", "b"); err != nil || !slices.Equal(again, []string{"message of a", "message of b"}) {
		t.Error(again, err)
	}
	if again, err := wake(t.Context(), m.workers[0], "no job"); err != nil || len(again) > 0 {
		t.Error("a job that is done:", again, err)
	}
	m.wantNothingPrivate(t)
}

// wantNothingPrivate fails if a function logged what people wrote, or who.
func (m *mail) wantNothingPrivate(t *testing.T) {
	t.Helper()
	for _, e := range append(m.workers, m.ingest) {
		for _, line := range e.lines(t) {
			for _, private := range []string{"private", "ecret", m.address} {
				if strings.Contains(line, private) {
					t.Errorf("%s logged %s", e.name, line)
				}
			}
		}
	}
}
