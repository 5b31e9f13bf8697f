package actions

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/deliveries"
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
	r, err := deliveries.Signed(ctx, s.DB, w.Record)
	if err != nil {
		return inbox.Delivery{}, err
	}
	data, err := deliveries.TestData(w.Record)
	if err != nil {
		return inbox.Delivery{}, fmt.Errorf("actions: %w", err)
	}
	now := s.now()
	test := inbox.SystemEvent{
		ID: inbox.NewID(now), WorkspaceID: by.Workspace, InboxID: was.InboxID, Slug: inbox.EventWebhookTest,
		Payload: data, CreatedAt: now, UpdatedAt: now,
	}
	if r.Body, err = deliveries.Body(ctx, s.DB, test); err != nil {
		return inbox.Delivery{}, err
	}
	r.Attempt, r.Body.DeliveryID = 1, inbox.NewID(now)
	return s.send(ctx, by, r, test, inboxstore.Event{Slug: inbox.EventWebhookTested, Target: was.ID}, inboxstore.Insert(test))
}

// CanTest implements inbox.Actions.
func (s *Service) CanTest(ctx context.Context, webhook inbox.Webhook) error {
	_, err := deliveries.Signed(ctx, s.DB, webhook)
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
	r, err := s.replay(ctx, w.Record, d.Record)
	if err != nil {
		return inbox.Delivery{}, err
	}
	event, err := s.SystemEvent(ctx, by.Workspace, d.Record.SystemEventID)
	if err != nil {
		return inbox.Delivery{}, err
	}
	return s.send(ctx, by, r, event, inboxstore.Event{Slug: inbox.EventDeliveryReplayed, Target: was.ID})
}

// CanReplay implements inbox.Actions.
func (s *Service) CanReplay(ctx context.Context, webhook inbox.Webhook, d inbox.Delivery) error {
	_, err := s.replay(ctx, webhook, d)
	return err
}

// replay is the request that sends the event of a delivery again.
func (s *Service) replay(ctx context.Context, webhook inbox.Webhook, d inbox.Delivery) (webhooks.Request, error) {
	if webhook.Status != inbox.Active {
		return webhooks.Request{}, inbox.Errorf(inbox.CodeConflict, "", "The webhook is inactive. Nothing was sent. Activate it first.")
	}
	if d.WebhookID != webhook.ID {
		return webhooks.Request{}, inbox.Errorf(inbox.CodeNotFound, "id", "There is no such delivery of this webhook. Nothing was sent.")
	}
	r, err := deliveries.Signed(ctx, s.DB, webhook)
	if err != nil {
		return webhooks.Request{}, err
	}
	if err := json.Unmarshal(d.RequestBody, &r.Body); err != nil || r.Body.Event.ID != d.SystemEventID {
		return webhooks.Request{}, &inbox.Error{Code: inbox.CodeConflict, Message: "What this delivery sent cannot be read any more. Nothing was sent.", Err: err}
	}
	r.Attempt, r.Body.DeliveryID = d.Attempt+1, inbox.NewID(s.now())
	return r, nil
}

// send makes the request of an event and returns its delivery, which is kept, with the
// events that it started and how it ended.
func (s *Service) send(ctx context.Context, by inbox.Actor, r webhooks.Request, of inbox.SystemEvent, e inboxstore.Event, with ...inboxstore.Change) (inbox.Delivery, error) {
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
		kept, err := deliveries.Record(ctx, s.DB, of, d, nil)
		return append(kept, s.Event(by, e)), err
	})
	if err != nil {
		return d, &inbox.Error{Code: inbox.CodeUnavailable, Err: err,
			Message: fmt.Sprintf("The delivery ended (%s), but this could not be recorded. Ask the receiver before you send it again.", d.Status)}
	}
	return d, nil
}

// now is the time as records have it.
func (s *Service) now() time.Time { return s.opts.Now().UTC().Truncate(time.Millisecond) }
