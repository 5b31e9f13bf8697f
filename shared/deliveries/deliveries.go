// Package deliveries is what those who send deliveries have in common, the
// person's actions and the worker: what a webhook is sent of an event, and what
// is kept of a delivery.
//
// It may import inbox, access (for ids), inboxstore and webhooks.
package deliveries

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Signed is a request to a webhook without its body: whoever has no signing
// secret is sent nothing.
func Signed(ctx context.Context, db *inboxstore.DB, webhook inbox.Webhook) (webhooks.Request, error) {
	secrets, credentials, err := db.SigningOf(ctx, webhook.WorkspaceID, webhook.ID)
	if err == nil && len(secrets) == 0 {
		err = inbox.Errorf(inbox.CodeConflict, "", "The webhook has no signing secret. Nothing was sent. Rotate its secret first, which makes one.")
	}
	return webhooks.Request{Webhook: webhook, Secrets: secrets, Credentials: credentials}, err
}

// Body is what webhooks are told of an event, by the records as they are now;
// the delivery's id is left to set. An e-mail that was deleted is left out, and
// so is what its agent wrote.
func Body(ctx context.Context, db *inboxstore.DB, e inbox.SystemEvent) (webhooks.Envelope, error) {
	body := webhooks.Envelope{Event: webhooks.Event{Slug: e.Slug, ID: e.ID}}
	data := members{}
	if err := json.Unmarshal(e.Payload, &data); err != nil {
		return body, fmt.Errorf("deliveries: payload of event %s: %w", e.ID, err)
	}
	w, err := inboxstore.Get[inboxstore.Workspace](ctx, db, e.WorkspaceID, string(e.WorkspaceID))
	if err != nil {
		return body, err
	}
	data["organization"] = object(struct {
		ID access.OrganizationID `json:"id"`
	}{w.Record.Organization})
	if err := data.take(ctx, db, e); err != nil {
		return body, err
	}
	body.Workspace = object(label{string(w.Record.ID), w.Record.ExternalID, w.Record.Label})
	body.Data, err = json.Marshal(data, json.Deterministic(true))
	return body, err
}

// members are what an envelope has as its data.
type members map[string]inbox.Object

// take puts the records that an event concerns beside what its payload says.
func (m members) take(ctx context.Context, db *inboxstore.DB, e inbox.SystemEvent) error {
	if e.InboxID != nil {
		if err := snapshot(ctx, db, e.WorkspaceID, string(*e.InboxID), func(in inbox.Inbox) {
			m["inbox"] = object(struct {
				label
				Email string `json:"email"`
			}{label{string(in.ID), in.ExternalID, in.Label}, in.Email})
		}); err != nil {
			return err
		}
	}
	if e.EmailID == nil {
		return nil
	}
	if err := snapshot(ctx, db, e.WorkspaceID, string(*e.EmailID), func(email inbox.Email) {
		email.RawS3Key, email.SESMetadata = "", inbox.Object("{}") // the house's own
		m["email"] = object(email)
	}); err != nil {
		return err
	}
	var run string
	if m["email"] == nil || m["agent_run_id"] == nil || json.Unmarshal(m["agent_run_id"], &run) != nil {
		return nil
	}
	var agent inbox.ID
	if err := snapshot(ctx, db, e.WorkspaceID, run, func(r inbox.AgentRun) { m["agent_run"], agent = object(r), r.AgentID }); err != nil {
		return err
	}
	return snapshot(ctx, db, e.WorkspaceID, string(agent), func(a inbox.Agent) {
		m["agent"] = object(label{string(a.ID), a.ExternalID, a.Label})
	})
}

// object is a record in an envelope.
func object(record any) inbox.Object {
	o, err := json.Marshal(record)
	if err != nil {
		return inbox.Object("{}") // which cannot be: it was read from JSON
	}
	return o
}

// snapshot takes a record as it is now; one that is gone is left out.
func snapshot[T inboxstore.Record](ctx context.Context, db *inboxstore.DB, ws access.WorkspaceID, id string, take func(T)) error {
	r, err := inboxstore.Get[T](ctx, db, ws, id)
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		return nil
	}
	if err == nil {
		take(r.Record)
	}
	return err
}

// label is what an envelope says of a record that has a label.
type label struct {
	ID         string  `json:"id"`
	ExternalID *string `json:"external_id"`
	Label      string  `json:"label"`
}

// TestData is what a webhook.test event says: the webhook that is tested.
func TestData(w inbox.Webhook) (inbox.Object, error) {
	return json.Marshal(members{"webhook": object(label{string(w.ID), w.ExternalID, w.Label})})
}

// Record keeps a delivery, with what it says of an e-mail as long as that is
// there, and counts it among the failures of its webhook in a row, or ends that
// row. Switch off says of a webhook that failed whether it is to be told no
// more. These are changes to the records as they are now: where one changed
// meanwhile, that is [inbox.ErrChanged], to be begun anew.
func Record(ctx context.Context, db *inboxstore.DB, e inbox.SystemEvent, d inbox.Delivery, switchOff func(inbox.Webhook) bool) ([]inboxstore.Change, error) {
	changes := []inboxstore.Change{inboxstore.Insert(d)}
	if e.EmailID != nil {
		_, err := inboxstore.Get[inbox.Email](ctx, db, e.WorkspaceID, string(*e.EmailID))
		switch {
		case err == nil:
			changes[0] = inboxstore.Told(d, *e.EmailID)
		case inbox.CodeOf(err) == inbox.CodeNotFound:
			changes[0] = inboxstore.Insert(inboxstore.Untold(d))
		default:
			return nil, err
		}
	}
	w, err := inboxstore.Get[inbox.Webhook](ctx, db, e.WorkspaceID, string(d.WebhookID))
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		return changes, nil // a webhook that is gone counts no more
	}
	if err != nil {
		return nil, err
	}
	after := w.Record
	after.ConsecutiveFailures = 0
	if d.Status == inbox.DeliveryFailed {
		after.ConsecutiveFailures = w.Record.ConsecutiveFailures + 1
		if switchOff != nil && after.Status == inbox.Active && switchOff(after) {
			off, event := db.SwitchedOff(after, e.ID)
			after, changes = off, append(changes, inboxstore.Insert(event))
		}
	}
	if after.ConsecutiveFailures != w.Record.ConsecutiveFailures {
		changes = append(changes, inboxstore.Update(w, after))
	}
	return changes, nil
}
