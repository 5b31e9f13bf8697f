package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// post is a way out that keeps what is sent, and fails by turns as told.
type post struct {
	mu   sync.Mutex
	sent []reply.Message
	errs []error
}

func (p *post) Send(_ context.Context, m reply.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	if len(p.errs) > 0 {
		err, p.errs = p.errs[0], p.errs[1:]
	}
	if err == nil {
		p.sent = append(p.sent, m)
	}
	return err
}

// replying is a world whose inbox answers, by way of p.
func replying(t *testing.T, p *post, change ...func(*Options)) *world {
	t.Helper()
	w := newWorld(t, append([]func(*Options){func(o *Options) { o.Replies = p }}, change...)...)
	var err error
	if w.box, err = w.db.SetReply(t.Context(), w.ws, string(w.box.ID), inbox.On); err != nil {
		t.Fatal(err)
	}
	return w
}

// wantReply fails unless the e-mail's last event is that it was answered, or why
// it was not.
func (w *world) wantReply(t *testing.T, e inbox.Email, code reply.Code) {
	t.Helper()
	page := must[inbox.Page[inbox.SystemEvent]](t)(w.db.SystemEvents(t.Context(), w.ws, inbox.SystemEventFilter{Email: e.ID}, inbox.PageRequest{Limit: 1}))
	slug, want := inbox.EventEmailReplied, `"agent_run_id":`
	if code != "" {
		slug, want = inbox.EventEmailNotReplied, fmt.Sprintf(`"code":%q`, code)
	}
	if got := page.Data[0]; got.Slug != slug || !strings.Contains(string(got.Payload), want) || *got.InboxID != w.box.ID {
		t.Errorf("event %s %s, want %s %s", got.Slug, got.Payload, slug, want)
	}
	if ids := w.left(t); len(ids) != 0 {
		t.Errorf("jobs %v are left", ids)
	}
}

// An inbox answers when it is told to, and only then.
func TestReply(t *testing.T) {
	p := &post{}
	w := newWorld(t, func(o *Options) { o.Replies = p })
	w.receive(t, message)
	if w.work(t); len(p.sent) != 0 {
		t.Errorf("sent %+v, though the inbox does not answer", p.sent)
	}
	w = replying(t, p)
	e := w.receive(t, message)
	w.work(t)
	if len(p.sent) != 1 {
		t.Fatalf("sent %d messages", len(p.sent))
	}
	m := p.sent[0]
	if m.To != "ana@sender.example" || m.From != w.box.Email {
		t.Errorf("from %s to %s", m.From, m.To)
	}
	for _, want := range []string{"Subject: Re: Hello\r\n", "In-Reply-To: <1@sender.example>\r\n", "Auto-Submitted: auto-replied\r\n", "\r\nAnswered.\r\n"} {
		if !strings.Contains(string(m.Raw), want) {
			t.Errorf("no %q in %s", want, m.Raw)
		}
	}
	w.wantReply(t, e, "")
}

func TestReplyRefused(t *testing.T) {
	for name, c := range map[string]struct {
		raw    string
		change func(*Options)
		before func(*testing.T, *world)
		code   reply.Code
	}{
		"bulk":         {"Precedence: bulk\r\n" + message, nil, nil, reply.CodeBulk},
		"automatic":    {"Auto-Submitted: auto-replied\r\n" + message, nil, nil, reply.CodeAutomatic},
		"not verified": {message, func(o *Options) { o.VerifiedOnly = true }, nil, reply.CodeNotAuthenticated},
		"no way out":   {message, func(o *Options) { o.Replies = nil }, nil, codeOff},
		"inactive since": {message, nil, func(t *testing.T, w *world) {
			old := must[inboxstore.Stored[inbox.Inbox]](t)(inboxstore.Get[inbox.Inbox](t.Context(), w.db, w.ws, string(w.box.ID)))
			in := old.Record
			in.Status = inbox.Inactive
			w.apply(t, inboxstore.Update(old, in))
		}, codeOff},
		"off since": {message, nil, func(t *testing.T, w *world) {
			must[inbox.Inbox](t)(w.db.SetReply(t.Context(), w.ws, string(w.box.ID), inbox.Off))
		}, codeOff},
	} {
		t.Run(name, func(t *testing.T) {
			p := &post{}
			w := replying(t, p, func(o *Options) {
				if c.change != nil {
					c.change(o)
				}
			})
			e := w.receive(t, c.raw)
			if c.before != nil { // after the reading, before the answer
				w.until(t, inboxstore.JobReply)
				c.before(t, w)
			}
			w.work(t)
			if len(p.sent) != 0 {
				t.Errorf("sent %+v", p.sent)
			}
			w.wantReply(t, e, c.code)
		})
	}
}

// until does what is due up to a job of that kind.
func (w *world) until(t *testing.T, k inboxstore.JobKind) {
	t.Helper()
	for range 20 {
		for _, due := range must[[]inboxstore.DueJob](t)(w.db.DueJobs(t.Context(), batch)) {
			if job := w.job(t, due.ID); job.Kind == k {
				return
			} else if err := w.Do(t.Context(), due.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatalf("there is no job of kind %s", k)
}

// job is the state of a job, seen by a worker that only looks.
func (w *world) job(t *testing.T, id inboxstore.JobID) inboxstore.Job {
	t.Helper()
	taken, err := w.db.TakeJob(t.Context(), id, func(inboxstore.Job) time.Duration { return time.Hour })
	if err != nil {
		t.Fatal(err)
	}
	w.apply(t, inboxstore.Again(taken, func(j inboxstore.Job) inboxstore.Job { j.Due = w.now(); return j }(taken.Job)))
	return taken.Job
}

// A sender gets so many answers a day from an inbox, and more the next day.
func TestReplyLimit(t *testing.T) {
	p := &post{}
	w := replying(t, p)
	for n := range reply.MaxPerDay { // whatever tag the sender has
		w.receive(t, strings.Replace(message, "ana@", fmt.Sprintf("Ana+%d@", n), 1))
	}
	w.work(t)
	e := w.receive(t, message)
	w.work(t)
	if len(p.sent) != reply.MaxPerDay {
		t.Errorf("sent %d answers", len(p.sent))
	}
	w.wantReply(t, e, reply.CodeLimit)
	other := w.receive(t, strings.Replace(message, "ana@", "bob@", 1))
	w.work(t)
	w.wantReply(t, other, "")
	w.pass(24 * time.Hour)
	e = w.receive(t, message)
	w.work(t)
	w.wantReply(t, e, "")
}

// What was certainly not sent is tried again; what may have been is not.
func TestReplyFails(t *testing.T) {
	not := fmt.Errorf("%w: no route", reply.ErrNotSent)
	for name, c := range map[string]struct {
		errs []error
		sent int
		code reply.Code
	}{
		"later it works": {[]error{not, not}, 1, ""},
		"it never works": {slices.Repeat([]error{not}, 20), 0, codeFailed},
		"refused":        {[]error{fmt.Errorf("%w: no", reply.ErrRefused)}, 0, codeRefused},
		"nobody knows":   {[]error{errors.New("the connection was closed")}, 0, codeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			p := &post{errs: c.errs}
			w := replying(t, p)
			e := w.receive(t, message)
			for range 10 {
				w.work(t)
				w.pass(5 * time.Hour)
			}
			if len(p.sent) != c.sent {
				t.Errorf("sent %d messages", len(p.sent))
			}
			w.wantReply(t, e, c.code)
		})
	}
}

// An answer that is tried five times is one of those that its sender may have in
// a day.
func TestReplyLimitCountsAnswers(t *testing.T) {
	p := &post{errs: slices.Repeat([]error{reply.ErrNotSent}, reply.MaxPerDay*(maxSends-1))}
	w := replying(t, p)
	for range reply.MaxPerDay {
		w.receive(t, message)
	}
	for n := range maxSends {
		w.work(t)
		w.pass(sendWait << (2 * n)) // to 13:25 o'clock
	}
	if len(p.sent) != reply.MaxPerDay || w.places(t) != reply.MaxPerDay {
		t.Errorf("sent %d answers, and counted %d", len(p.sent), w.places(t))
	}
	e := w.receive(t, message)
	w.work(t)
	w.wantReply(t, e, reply.CodeLimit)
}

// places is how many answers are counted of those that the sender may have today.
func (w *world) places(t *testing.T) (taken int) {
	t.Helper()
	for n := range reply.MaxPerDay {
		switch _, err := w.db.Claimed(t.Context(), w.ws, placeOf(w.box.ID, "ana@sender.example", w.now(), n)); {
		case err == nil:
			taken++
		case inbox.CodeOf(err) != inbox.CodeNotFound:
			t.Fatal(err)
		}
	}
	return taken
}

// Wherever the worker is cut off, nobody gets an answer twice.
func TestReplyAtMostOnce(t *testing.T) {
	for _, effect := range []storetest.Effect{storetest.Fail, storetest.LoseReply, storetest.Resend} {
		for nth := 1; nth <= 8; nth++ {
			for _, errs := range [][]error{nil, {reply.ErrNotSent}, {reply.ErrNotSent, reply.ErrNotSent}} {
				t.Run(fmt.Sprintf("effect %d of write %d, not sent %d times", effect, nth, len(errs)), func(t *testing.T) {
					p := &post{errs: errs}
					w := replying(t, p)
					e := w.receive(t, message)
					w.until(t, inboxstore.JobReply)
					w.table.Reset()
					w.table.Inject(storetest.Injection{Effect: effect, Method: storetest.Write, Nth: nth})
					for range 6 {
						_ = w.Sweep(t.Context())
						w.pass(11 * time.Minute)
					}
					w.table.Reset()
					w.work(t)
					page := must[inbox.Page[inbox.SystemEvent]](t)(w.db.SystemEvents(t.Context(), w.ws, inbox.SystemEventFilter{Email: e.ID}, inbox.PageRequest{Limit: 1}))
					answered := page.Data[0].Slug == inbox.EventEmailReplied
					if len(p.sent) > 1 || answered && len(p.sent) != 1 || len(w.left(t)) != 0 {
						t.Errorf("sent %d messages, the last event is %s, jobs %v are left", len(p.sent), page.Data[0].Slug, w.left(t))
					}
					if n := w.places(t); n != 1 { // one that may be out is counted too
						t.Errorf("counted %d times", n)
					}
				})
			}
		}
	}
}
