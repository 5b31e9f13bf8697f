package inboxstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// subjects are all families that have filters, and one of those that have not.
type subjects struct {
	ws         access.WorkspaceID
	emails     *subject[inbox.Email]
	runs       *subject[inbox.AgentRun]
	workflows  *subject[inbox.WorkflowRun]
	deliveries *subject[inbox.Delivery]
	events     *subject[inbox.SystemEvent]
	secrets    *subject[inbox.Secret]
}

// pick returns one of some values.
func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// times are bounds in and around the time that records are made in, and none.
var times = [][2]time.Time{
	{}, {noon.Add(30 * time.Millisecond), {}}, {{}, noon.Add(60*time.Millisecond + 1)},
	{noon.Add(20*time.Millisecond - 1), noon.Add(70 * time.Millisecond)},
}

// newSubjects puts what the records refer to into a workspace, and writes down
// every list with every combination of filters.
func newSubjects(t *testing.T, w *world, ws access.WorkspaceID) subjects {
	boxes, agents := []inbox.Inbox{anInbox(ws), anInbox(ws)}, []inbox.Agent{anAgent(ws), anAgent(ws)}
	boxes[1].ExternalID, agents[1].ExternalID = new("box-2"), new("agent-2")
	hook := aWebhook(ws)
	w.apply(t, ws, Insert(boxes[0]), Insert(boxes[1]), Insert(agents[0]), Insert(agents[1]), Insert(hook))
	mails := []inbox.ID{inbox.NewID(noon), inbox.NewID(noon)}

	s := subjects{
		ws:     ws,
		emails: &subject[inbox.Email]{ws: ws, model: map[inbox.ID]Stored[inbox.Email]{}},
		runs:   &subject[inbox.AgentRun]{ws: ws, model: map[inbox.ID]Stored[inbox.AgentRun]{}},
		workflows: &subject[inbox.WorkflowRun]{ws: ws, model: map[inbox.ID]Stored[inbox.WorkflowRun]{}, make: func(r *rand.Rand, id inbox.ID) inbox.WorkflowRun {
			return inbox.WorkflowRun{ID: id, WorkspaceID: ws, InboxID: boxes[0].ID, EmailID: pick(r, mails), Status: inbox.RunRunning}
		}},
		deliveries: &subject[inbox.Delivery]{ws: ws, model: map[inbox.ID]Stored[inbox.Delivery]{}, make: func(r *rand.Rand, id inbox.ID) inbox.Delivery {
			d := aDelivery(hook.ID, noon)
			d.ID = id
			d.Status = pick(r, []inbox.DeliveryStatus{inbox.DeliveryFailed, inbox.DeliverySuccess})
			return d
		}},
		events: &subject[inbox.SystemEvent]{ws: ws, model: map[inbox.ID]Stored[inbox.SystemEvent]{}, make: func(r *rand.Rand, id inbox.ID) inbox.SystemEvent {
			e := anEvent(ws, pick(r, []string{"a.b", "a#b"}), noon)
			e.ID = id
			e.EmailID = pick(r, []*inbox.ID{nil, &mails[0], &mails[1]})
			return e
		}},
		secrets: &subject[inbox.Secret]{ws: ws, model: map[inbox.ID]Stored[inbox.Secret]{}, make: func(r *rand.Rand, id inbox.ID) inbox.Secret {
			return inbox.Secret{ID: id, WorkspaceID: ws, Name: fmt.Sprint("S", r.Uint64())}
		}},
	}
	s.emails.make = func(r *rand.Rand, id inbox.ID) inbox.Email {
		e := anEmail(ws, pick(r, boxes).ID, noon)
		e.ID = id
		e.Status = pick(r, []inbox.EmailStatus{inbox.EmailReceived, inbox.EmailProcessed})
		e.From = pick(r, []string{"", "Ana@Example.com", "ana@example.com", "b#c@example.com", strings.Repeat("long", 200) + "@example.com"})
		return e
	}
	s.runs.make = func(r *rand.Rand, id inbox.ID) inbox.AgentRun {
		run := aRun(inbox.Email{ID: pick(r, mails), WorkspaceID: ws, InboxID: pick(r, boxes).ID}, pick(r, agents).ID, noon)
		run.ID = id
		run.Status = pick(r, []inbox.RunStatus{inbox.RunFailed, inbox.RunSuccess})
		return run
	}

	refs := []struct{ box, agent string }{{}, {string(boxes[0].ID), string(agents[0].ID)}, {"box-2", "agent-2"}}
	ids := map[string]inbox.ID{"box-2": boxes[1].ID, "agent-2": agents[1].ID}
	is := func(ref string, id inbox.ID) bool { return ref == "" || ref == string(id) || ids[ref] == id }
	within := func(id inbox.ID, since, until time.Time) bool {
		at := id.Time()
		return (since.IsZero() || !at.Before(since)) && (until.IsZero() || at.Before(until))
	}
	for _, span := range times {
		for _, ref := range refs {
			for _, status := range []inbox.EmailStatus{"", inbox.EmailReceived, inbox.EmailProcessed} {
				for _, from := range []string{"", "ANA@example.com", "b#c@example.com", strings.Repeat("long", 200) + "@example.com"} {
					f := inbox.EmailFilter{Inbox: ref.box, Status: status, From: from, Since: span[0], Until: span[1]}
					s.emails.lists = append(s.emails.lists, question[inbox.Email]{fmt.Sprintf("%+v", f),
						func(ctx context.Context, p inbox.PageRequest) (inbox.Page[inbox.Email], error) {
							return w.Emails(ctx, ws, f, p)
						},
						func(e inbox.Email) bool {
							return is(f.Inbox, e.InboxID) && (status == "" || status == e.Status) && (from == "" || strings.EqualFold(from, e.From)) && within(e.ID, f.Since, f.Until)
						}})
				}
			}
			for _, status := range []inbox.RunStatus{"", inbox.RunFailed, inbox.RunSuccess} {
				for _, agent := range refs {
					for _, email := range []inbox.ID{"", mails[0]} {
						f := inbox.AgentRunFilter{Inbox: ref.box, Agent: agent.agent, Email: email, Status: status, Since: span[0], Until: span[1]}
						s.runs.lists = append(s.runs.lists, question[inbox.AgentRun]{fmt.Sprintf("%+v", f),
							func(ctx context.Context, p inbox.PageRequest) (inbox.Page[inbox.AgentRun], error) {
								return w.AgentRuns(ctx, ws, f, p)
							},
							func(r inbox.AgentRun) bool {
								return is(f.Inbox, r.InboxID) && is(f.Agent, r.AgentID) && (email == "" || email == r.EmailID) && (status == "" || status == r.Status) && within(r.ID, f.Since, f.Until)
							}})
					}
				}
			}
		}
	}
	for _, email := range []inbox.ID{"", mails[0], inbox.NewID(noon)} {
		s.workflows.lists = append(s.workflows.lists, question[inbox.WorkflowRun]{"of " + string(email),
			func(ctx context.Context, p inbox.PageRequest) (inbox.Page[inbox.WorkflowRun], error) {
				return w.WorkflowRuns(ctx, ws, inbox.WorkflowRunFilter{Email: email}, p)
			},
			func(r inbox.WorkflowRun) bool { return email == "" || email == r.EmailID }})
		for _, slug := range []string{"", "a.b", "a#b"} {
			f := inbox.SystemEventFilter{Slug: slug, Email: email}
			s.events.lists = append(s.events.lists, question[inbox.SystemEvent]{fmt.Sprintf("%+v", f),
				func(ctx context.Context, p inbox.PageRequest) (inbox.Page[inbox.SystemEvent], error) {
					return w.SystemEvents(ctx, ws, f, p)
				},
				func(e inbox.SystemEvent) bool {
					return (slug == "" || slug == e.Slug) && (email == "" || e.EmailID != nil && *e.EmailID == email)
				}})
		}
	}
	for _, status := range []inbox.DeliveryStatus{"", inbox.DeliveryFailed, inbox.DeliveryPending} {
		s.deliveries.lists = append(s.deliveries.lists, question[inbox.Delivery]{"by " + string(status),
			func(ctx context.Context, p inbox.PageRequest) (inbox.Page[inbox.Delivery], error) {
				return w.Deliveries(ctx, ws, string(hook.ID), inbox.DeliveryFilter{Status: status}, p)
			},
			func(d inbox.Delivery) bool { return status == "" || status == d.Status }})
	}
	s.secrets.lists = []question[inbox.Secret]{{"", func(ctx context.Context, p inbox.PageRequest) (inbox.Page[inbox.Secret], error) {
		return w.Secrets(ctx, ws, p)
	}, func(inbox.Secret) bool { return true }}}
	return s
}
