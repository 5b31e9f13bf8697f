package inboxstore

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// CreateWebhook implements inbox.Editor.
func (db *DB) CreateWebhook(ctx context.Context, by inbox.Actor, draft inbox.Webhook, c inbox.Credentials) (inbox.Webhook, string, error) {
	none := inbox.Webhook{}
	r := draft
	var err error
	if r.ID, r.ExternalID, r.CreatedAt, err = db.newRecord(draft.ExternalID); err != nil {
		return none, "", err
	}
	r.WorkspaceID, r.UpdatedAt, r.Status, r.ConsecutiveFailures = by.Workspace, r.CreatedAt, inbox.Active, 0
	r.Auth = cmp.Or(r.Auth, inbox.AuthNone)
	r.SubscribedEvents = subscribed(r.SubscribedEvents)
	if err := cmp.Or(r.Validate(), db.checkURL(r.URL), unchanged(c.Check(r.Auth))); err != nil {
		return none, "", err
	}
	secret := webhooks.NewSecret()
	err = db.inTurn(ctx, by.Workspace, func(turn Change) error {
		if err := room[inbox.Webhook](ctx, db, by.Workspace, inbox.MaxWebhooks); err != nil {
			return err
		}
		changes := []Change{turn, Insert(r), Signing(r.ID, secret, c, r.CreatedAt)}
		if r.InboxID != nil {
			changes = append(changes, present[inbox.Inbox]("inbox_id", *r.InboxID))
		}
		return db.Audited(ctx, by, webhookEvent(inbox.EventWebhookCreated, r), changes...)
	})
	if r, err = written(r, err); err != nil {
		return none, "", err
	}
	return r, string(secret), nil
}

// UpdateWebhook implements inbox.Editor. A webhook that is switched on begins
// anew to count failures, and its inbox must exist.
func (db *DB) UpdateWebhook(ctx context.Context, by inbox.Actor, was, now inbox.Webhook) (r inbox.Webhook, err error) {
	err = db.inTurn(ctx, by.Workspace, func(turn Change) error {
		old, err := Current(ctx, db, by.Workspace, was)
		if err != nil {
			return err
		}
		r = old.Record
		r.Label, r.URL, r.InboxID, r.Status = now.Label, now.URL, now.InboxID, now.Status
		r.SubscribedEvents = now.SubscribedEvents
		if len(r.SubscribedEvents) > 0 {
			r.SubscribedEvents = subscribed(r.SubscribedEvents)
		}
		r.UpdatedAt = db.later(r.UpdatedAt)
		if err := r.Validate(); err != nil {
			return err
		}
		if r.URL != old.Record.URL {
			if err := db.checkNewURL(old.Record, r.URL); err != nil {
				return err
			}
		}
		switchedOn := r.Status == inbox.Active && old.Record.Status != inbox.Active
		if switchedOn {
			r.ConsecutiveFailures = 0
		}
		changes := []Change{along(Update(old, r))}
		if r.InboxID != nil && (switchedOn || text(r.InboxID) != text(old.Record.InboxID)) {
			changes = append(changes, turn, present[inbox.Inbox]("inbox_id", *r.InboxID))
		}
		return db.Audited(ctx, by, webhookEvent(inbox.EventWebhookUpdated, r), changes...)
	})
	return written(r, err)
}

// DeleteWebhook implements inbox.Editor.
func (db *DB) DeleteWebhook(ctx context.Context, by inbox.Actor, was inbox.Webhook) error {
	return anew(ctx, func() error {
		old, err := Current(ctx, db, by.Workspace, was)
		if err != nil {
			return err
		}
		return db.Audited(ctx, by, webhookEvent(inbox.EventWebhookDeleted, was), along(Delete(old)))
	})
}

func webhookEvent(slug string, r inbox.Webhook) Event {
	return Event{Slug: slug, Target: r.ID, Inbox: inbox.ID(text(r.InboxID))}
}

// subscribed returns the events of a webhook, each once: all when none are
// named, or all are.
func subscribed(events []string) []string {
	if len(events) == 0 || slices.Contains(events, inbox.AllEvents) {
		return []string{inbox.AllEvents}
	}
	events = slices.Clone(events)
	slices.Sort(events)
	return slices.Compact(events)
}

// checkURL refuses a URL that deliveries cannot go to.
func (db *DB) checkURL(url string) error { return unchanged(db.opts.CheckURL(url)) }

// checkNewURL refuses a URL that deliveries of a webhook cannot go to from now
// on. Whoever changes a URL may not know the credentials: they must not get to
// another host by it.
func (db *DB) checkNewURL(w inbox.Webhook, url string) error {
	if err := db.checkURL(url); err != nil {
		return err
	}
	if w.Auth != inbox.AuthNone && !inbox.SameHost(w.URL, url) {
		return inbox.Errorf(inbox.CodeConflict, "url", "A webhook with auth cannot change its host, as its credentials are for that one: create another webhook. Nothing was changed.")
	}
	return nil
}

// unchanged adds to an error for the caller that nothing was changed.
func unchanged(err error) error {
	if e, ok := errors.AsType[*inbox.Error](err); ok {
		return &inbox.Error{Code: e.Code, Field: e.Field, Message: e.Message + " Nothing was changed.", Err: e.Err}
	}
	return err
}

// SwitchedOff is a webhook that is told no more, as it failed too often, the
// last time to be told of an event; and the event that says so.
func (db *DB) SwitchedOff(w inbox.Webhook, event inbox.ID) (inbox.Webhook, inbox.SystemEvent) {
	w.Status, w.UpdatedAt = inbox.Inactive, db.later(w.UpdatedAt)
	payload, _ := encode(struct { // it always can be
		Webhook  inbox.ID `json:"webhook_id"`
		Failures int64    `json:"consecutive_failures"`
		Event    inbox.ID `json:"system_event_id"`
	}{w.ID, w.ConsecutiveFailures, event})
	return w, inbox.SystemEvent{
		ID: inbox.NewID(db.opts.Now()), WorkspaceID: w.WorkspaceID, InboxID: w.InboxID, Slug: inbox.EventWebhookDisabled,
		Payload: payload, CreatedAt: db.now(), UpdatedAt: db.now(),
	}
}
