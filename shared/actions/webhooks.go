package actions

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// TestWebhook implements inbox.Actions. A webhook that is switched off can be
// tested, to see whether to switch it on. That the receiver fails is no error:
// the delivery says so.
func (s *Service) TestWebhook(ctx context.Context, by inbox.Actor, was inbox.Webhook) (inbox.Delivery, error) {
	w, err := inboxstore.Current(ctx, s.DB, by.Workspace, was)
	if err != nil {
		return inbox.Delivery{}, err
	}
	r, err := s.signed(ctx, by.Workspace, w.Record)
	if err != nil {
		return inbox.Delivery{}, err
	}
	workspace, err := s.snapshot(ctx, by.Workspace)
	if err != nil {
		return inbox.Delivery{}, err
	}
	data, err := json.Marshal(map[string]record{"webhook": {string(was.ID), was.ExternalID, was.Label}})
	if err != nil {
		return inbox.Delivery{}, fmt.Errorf("actions: %w", err)
	}
	now := s.now()
	test := inbox.SystemEvent{
		ID: inbox.NewID(now), WorkspaceID: by.Workspace, InboxID: was.InboxID, Slug: inbox.EventWebhookTest,
		Payload: data, CreatedAt: now, UpdatedAt: now,
	}
	r.Attempt, r.Body = 1, webhooks.Envelope{
		Event: webhooks.Event{Slug: test.Slug, ID: test.ID}, DeliveryID: inbox.NewID(now), Workspace: workspace, Data: data,
	}
	return s.send(ctx, by, r, inboxstore.Event{Slug: inbox.EventWebhookTested, Target: was.ID}, inboxstore.Insert(test))
}

// CanTest implements inbox.Actions.
func (s *Service) CanTest(ctx context.Context, webhook inbox.Webhook) error {
	_, err := s.signed(ctx, webhook.WorkspaceID, webhook)
	return err
}

// ReplayDelivery implements inbox.Actions: the same event, as another attempt.
func (s *Service) ReplayDelivery(ctx context.Context, by inbox.Actor, webhook inbox.Webhook, was inbox.Delivery) (inbox.Delivery, error) {
	w, err := inboxstore.Current(ctx, s.DB, by.Workspace, webhook)
	if err != nil {
		return inbox.Delivery{}, err
	}
	d, err := inboxstore.Current(ctx, s.DB, by.Workspace, was)
	if err != nil {
		return inbox.Delivery{}, err
	}
	r, err := s.replay(ctx, by.Workspace, w.Record, d.Record)
	if err != nil {
		return inbox.Delivery{}, err
	}
	return s.send(ctx, by, r, inboxstore.Event{Slug: inbox.EventDeliveryReplayed, Target: was.ID})
}

// CanReplay implements inbox.Actions.
func (s *Service) CanReplay(ctx context.Context, webhook inbox.Webhook, d inbox.Delivery) error {
	_, err := s.replay(ctx, webhook.WorkspaceID, webhook, d)
	return err
}

// replay is the request that sends the event of a delivery again.
func (s *Service) replay(ctx context.Context, ws access.WorkspaceID, webhook inbox.Webhook, d inbox.Delivery) (webhooks.Request, error) {
	if webhook.Status != inbox.Active {
		return webhooks.Request{}, inbox.Errorf(inbox.CodeConflict, "", "The webhook is inactive. Nothing was sent. Activate it first.")
	}
	if d.WebhookID != webhook.ID {
		return webhooks.Request{}, inbox.Errorf(inbox.CodeNotFound, "id", "There is no such delivery of this webhook. Nothing was sent.")
	}
	r, err := s.signed(ctx, ws, webhook)
	if err != nil {
		return webhooks.Request{}, err
	}
	if err := json.Unmarshal(d.RequestBody, &r.Body); err != nil || r.Body.Event.ID != d.SystemEventID {
		return webhooks.Request{}, &inbox.Error{Code: inbox.CodeConflict, Message: "What this delivery sent cannot be read any more. Nothing was sent.", Err: err}
	}
	r.Attempt, r.Body.DeliveryID = d.Attempt+1, inbox.NewID(s.now())
	return r, nil
}

// signed is a request to a webhook without its body: whoever has no signing
// secret is sent nothing.
func (s *Service) signed(ctx context.Context, ws access.WorkspaceID, webhook inbox.Webhook) (webhooks.Request, error) {
	secrets, credentials, err := s.SigningOf(ctx, ws, webhook.ID)
	if err == nil && len(secrets) == 0 {
		err = inbox.Errorf(inbox.CodeConflict, "", "The webhook has no signing secret. Nothing was sent. Rotate its secret first, which makes one.")
	}
	return webhooks.Request{Webhook: webhook, Secrets: secrets, Credentials: credentials}, err
}

// send makes the request and returns its delivery, which is kept, with the
// events that it started and how it ended.
func (s *Service) send(ctx context.Context, by inbox.Actor, r webhooks.Request, e inboxstore.Event, with ...inboxstore.Change) (inbox.Delivery, error) {
	if r.Webhook.InboxID != nil {
		e.Inbox = *r.Webhook.InboxID
	}
	e.Also = []inbox.ID{r.Body.DeliveryID}
	if err := s.start(ctx, by, e, with...); err != nil {
		return inbox.Delivery{}, err
	}
	d, err := s.opts.Sender.Send(ctx, r)
	if err != nil { // there is no delivery, as nothing could be sent
		e.Outcome = inbox.OutcomeFailed
		s.finish(ctx, by, func(context.Context) ([]inboxstore.Change, error) {
			return []inboxstore.Change{s.Event(by, e)}, nil
		})
		return inbox.Delivery{}, err
	}
	e.Outcome = outcome(d.Status == inbox.DeliveryFailed)
	err = s.finish(ctx, by, func(ctx context.Context) ([]inboxstore.Change, error) {
		counted, err := s.counted(ctx, by.Workspace, d)
		return append([]inboxstore.Change{inboxstore.Insert(d), s.Event(by, e)}, counted...), err
	})
	if err != nil {
		return d, &inbox.Error{Code: inbox.CodeUnavailable, Err: err,
			Message: fmt.Sprintf("The delivery ended (%s), but this could not be recorded. Ask the receiver before you send it again.", d.Status)}
	}
	return d, nil
}

// counted are the changes that count the delivery among the failures of its
// webhook in a row, or end that row. A webhook that is gone counts no more.
func (s *Service) counted(ctx context.Context, ws access.WorkspaceID, d inbox.Delivery) ([]inboxstore.Change, error) {
	w, err := inboxstore.Get[inbox.Webhook](ctx, s.DB, ws, string(d.WebhookID))
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	after := w.Record
	after.ConsecutiveFailures = 0
	if d.Status == inbox.DeliveryFailed {
		after.ConsecutiveFailures = w.Record.ConsecutiveFailures + 1
	}
	if after.ConsecutiveFailures == w.Record.ConsecutiveFailures {
		return nil, nil
	}
	return []inboxstore.Change{inboxstore.Update(w, after)}, nil
}

// record is what an envelope says of a record.
type record struct {
	ID         string  `json:"id"`
	ExternalID *string `json:"external_id"`
	Label      string  `json:"label"`
}

// snapshot is what an envelope says of the workspace.
func (s *Service) snapshot(ctx context.Context, ws access.WorkspaceID) (inbox.Object, error) {
	w, err := inboxstore.Get[inboxstore.Workspace](ctx, s.DB, ws, string(ws))
	if err != nil {
		return nil, err
	}
	o, err := json.Marshal(record{string(ws), w.Record.ExternalID, w.Record.Label})
	if err != nil {
		return nil, fmt.Errorf("actions: %w", err)
	}
	return o, nil
}

// now is the time as records have it.
func (s *Service) now() time.Time { return s.opts.Now().UTC().Truncate(time.Millisecond) }
