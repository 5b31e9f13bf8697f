package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply"
)

// Why an answer was not sent, beside the refusals of package reply.
const (
	codeOff     reply.Code = "replies_off"
	codeNoText  reply.Code = "no_text"
	codeRefused reply.Code = "refused"
	codeUnknown reply.Code = "unknown"
	codeFailed  reply.Code = "not_sent"
)

// How an answer is tried again that was certainly not sent.
const (
	maxSends = 5
	sendWait = time.Minute // each is four times the one before it
)

// reply sends what an agent answered to the sender of the e-mail, if both are
// still there and nothing speaks against it. Before it may be out, that is
// noted: after a crash from then on it is not sent again (at most once).
func (w *Worker) reply(ctx context.Context, job inboxstore.TakenJob) error {
	if job.Sending {
		return w.replied(ctx, job, codeUnknown, "The server stopped while the answer was being sent. It may have been sent, and is not sent again.")
	}
	d, err := w.draft(ctx, job)
	if inbox.CodeOf(err) == inbox.CodeNotFound || err == nil && d.Text == "" {
		return w.done(ctx, job) // what it answers, or the answer, was deleted
	}
	if err != nil {
		return err
	}
	if code := w.refusal(d); code != "" {
		return w.replied(ctx, job, code, code.Sentence())
	}
	m, err := reply.Compose(d)
	if err != nil {
		return w.replied(ctx, job, codeNoText, "The agent's answer cannot be made a message.")
	}
	job, place, err := w.claim(ctx, job, m.To, d)
	if errors.Is(err, inboxstore.ErrClaimed) {
		return w.replied(ctx, job, reply.CodeLimit, reply.CodeLimit.Sentence())
	}
	if err != nil {
		return err
	}
	return w.sent(ctx, job, place, w.opts.Replies.Send(ctx, m))
}

// draft is what an answer is made of.
func (w *Worker) draft(ctx context.Context, job inboxstore.TakenJob) (d reply.Draft, err error) {
	db, ws := w.opts.DB, job.Workspace
	d.ID, d.At = inbox.NewID(w.opts.Now()), w.opts.Now()
	if d.Email, d.Content, err = db.Email(ctx, ws, job.Email); err != nil {
		return d, err
	}
	if d.Inbox, err = db.Inbox(ctx, ws, string(d.Email.InboxID)); err != nil {
		return d, err
	}
	run, err := db.AgentRun(ctx, ws, job.Run)
	if err != nil {
		return d, err
	}
	if run.Output != nil {
		d.Text = *run.Output
	}
	workspace, err := inboxstore.Get[inboxstore.Workspace](ctx, db, ws, string(ws))
	d.Locale = workspace.Record.Locale
	return d, err
}

// refusal is why the e-mail is not answered, "" where it is.
func (w *Worker) refusal(d reply.Draft) reply.Code {
	if w.opts.Replies == nil || d.Inbox.Reply != inbox.On || d.Inbox.Status != inbox.Active {
		return codeOff
	}
	return reply.Refusal(d.Inbox, d.Email, d.Content, w.opts.VerifiedOnly)
}

// claim takes a place among the answers that a sender may have from an inbox in a
// day, and notes that this answer may be out. There being no place left is
// [inboxstore.ErrClaimed].
func (w *Worker) claim(ctx context.Context, job inboxstore.TakenJob, to string, d reply.Draft) (sending inboxstore.TakenJob, place string, err error) {
	for n := range reply.MaxPerDay {
		place = placeOf(d.Inbox.ID, to, d.At, n)
		switch _, err := w.opts.DB.Claimed(ctx, job.Workspace, place); {
		case err == nil:
			continue
		case inbox.CodeOf(err) != inbox.CodeNotFound:
			return job, "", err
		}
		sending, err = w.opts.DB.MarkSending(ctx, job, inboxstore.Claim(place, d.ID))
		if !errors.Is(err, inboxstore.ErrClaimed) {
			return sending, place, err
		}
	}
	return job, "", inboxstore.ErrClaimed
}

// placeOf names place n of those that a sender may have from an inbox in a day.
func placeOf(in inbox.ID, to string, day time.Time, n int) string {
	return fmt.Sprintf("reply/%s/%x/%s/%d", in, mailbox(to), day.UTC().Format(time.DateOnly), n)
}

// mailbox is whose address it is, whatever its case and tag: programs that answer
// one another may use another tag each time. It is a digest, as it stays when
// the e-mail is deleted.
func mailbox(address string) []byte {
	at := strings.LastIndexByte(address, '@')
	local, _, _ := strings.Cut(address[:max(at, 0)], "+")
	sum := sha256.Sum256([]byte(inbox.NormalAddress(local + address[max(at, 0):])))
	return sum[:16]
}

// sent writes down how sending an answer went. One that is tried again gives its
// place back, as it takes another one then.
func (w *Worker) sent(ctx context.Context, job inboxstore.TakenJob, place string, err error) error {
	if err != nil {
		w.opts.Log.WarnContext(ctx, "an answer was not sent", "email", job.Email, "run", job.Run, "error", err)
	}
	switch {
	case err == nil:
		return w.replied(ctx, job, "", "")
	case errors.Is(err, reply.ErrRefused):
		return w.replied(ctx, job, codeRefused, "The answer was refused by the service that sends it.")
	case !errors.Is(err, reply.ErrNotSent):
		return w.replied(ctx, job, codeUnknown, "It is not known whether the answer was sent. It is not sent again.")
	case job.Attempt+1 >= maxSends:
		return w.replied(ctx, job, codeFailed, "The answer could not be sent, however often it was tried.")
	}
	next := job.Job
	next.Sending, next.Due = false, w.opts.Now().Add(sendWait<<(2*job.Attempt))
	next.Attempt, next.Begun = next.Attempt+1, 0
	return w.settle(ctx, job.Workspace, func(context.Context) ([]inboxstore.Change, error) {
		return []inboxstore.Change{inboxstore.Again(job, next), inboxstore.Release(place)}, nil
	})
}

// replied ends the job with the event that the e-mail was answered or, by a
// code and a sentence, why not.
func (w *Worker) replied(ctx context.Context, job inboxstore.TakenJob, code reply.Code, why string) error {
	payload, err := json.Marshal(struct {
		Run    inbox.ID   `json:"agent_run_id"`
		Code   reply.Code `json:"code,omitzero"`
		Reason string     `json:"reason,omitzero"`
	}{job.Run, code, why})
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	now := w.now()
	event := inbox.SystemEvent{
		ID: inbox.NewID(w.opts.Now()), WorkspaceID: job.Workspace, EmailID: &job.Email,
		Slug: inbox.EventEmailReplied, Payload: payload, CreatedAt: now, UpdatedAt: now,
	}
	if code != "" {
		event.Slug = inbox.EventEmailNotReplied
	}
	return w.settle(ctx, job.Workspace, func(ctx context.Context) ([]inboxstore.Change, error) {
		event.InboxID = w.inboxOf(ctx, job.Workspace, job.Email)
		return []inboxstore.Change{inboxstore.Done(job), inboxstore.Insert(event)}, nil
	})
}

// inboxOf is the inbox of an e-mail, nil when that cannot be told any more.
func (w *Worker) inboxOf(ctx context.Context, ws access.WorkspaceID, email inbox.ID) *inbox.ID {
	e, err := inboxstore.Get[inbox.Email](ctx, w.opts.DB, ws, string(email))
	if err != nil {
		return nil
	}
	return &e.Record.InboxID
}
