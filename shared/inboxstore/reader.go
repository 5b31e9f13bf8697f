package inboxstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Inboxes implements inbox.Reader.
func (db *DB) Inboxes(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Inbox], error) {
	return list[inbox.Inbox](ctx, db, listing{space: space(ws)}, p)
}

// Inbox implements inbox.Reader.
func (db *DB) Inbox(ctx context.Context, ws access.WorkspaceID, ref string) (inbox.Inbox, error) {
	return record[inbox.Inbox](ctx, db, ws, ref)
}

// InboxByAddress reads the inbox, of whatever workspace, that mail to an
// address is for.
func (db *DB) InboxByAddress(ctx context.Context, email string) (inbox.Inbox, error) {
	ws, id, err := db.named(ctx, address(email))
	if err != nil {
		return inbox.Inbox{}, failure(err, inboxes.noun, "email")
	}
	found, err := resolve[inbox.Inbox](ctx, db, ws, id, "email")
	return found.Record, err
}

// Emails implements inbox.Reader.
func (db *DB) Emails(ctx context.Context, ws access.WorkspaceID, f inbox.EmailFilter, p inbox.PageRequest) (inbox.Page[inbox.Email], error) {
	in, err := idOf[inbox.Inbox](ctx, db, ws, f.Inbox, "inbox_id")
	if err != nil {
		return inbox.Page[inbox.Email]{}, err
	}
	return list[inbox.Email](ctx, db, listing{
		space: space(ws), since: f.Since, until: f.Until,
		values: map[string]string{"from": inbox.NormalAddress(f.From), "status": string(f.Status), "inbox": in},
	}, p)
}

// Email implements inbox.Reader: two reads.
func (db *DB) Email(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.Email, inbox.EmailContent, error) {
	email, err := record[inbox.Email](ctx, db, ws, string(id))
	if err != nil {
		return email, inbox.EmailContent{Headers: []inbox.Header{}}, err
	}
	content, err := db.EmailContent(ctx, ws, id)
	return email, content, err
}

// EmailContent reads what is kept beside the record of an e-mail, for those who
// have that: one read. Of a message that could not be read there is nothing.
func (db *DB) EmailContent(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.EmailContent, error) {
	content := inbox.EmailContent{Headers: []inbox.Header{}}
	item, err := db.get(ctx, space(ws).content(id))
	if errors.Is(err, store.ErrNotFound) {
		return content, nil
	}
	if err == nil {
		err = json.Unmarshal(item.Value, &content)
	}
	return content, failure(err, emails.noun, "id")
}

// EmailLink implements inbox.Reader.
func (db *DB) EmailLink(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.Link, error) {
	email, err := record[inbox.Email](ctx, db, ws, string(id))
	if err != nil {
		return inbox.Link{}, err
	}
	if db.opts.Links == nil {
		return inbox.Link{}, inbox.Errorf(inbox.CodeUnavailable, "", "This server gives no links to raw messages.")
	}
	return db.opts.Links(ctx, email.RawS3Key)
}

// Agents implements inbox.Reader.
func (db *DB) Agents(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Agent], error) {
	return list[inbox.Agent](ctx, db, listing{space: space(ws)}, p)
}

// Agent implements inbox.Reader.
func (db *DB) Agent(ctx context.Context, ws access.WorkspaceID, ref string) (inbox.Agent, error) {
	return record[inbox.Agent](ctx, db, ws, ref)
}

// AgentRuns implements inbox.Reader. The e-mail may be a deleted one: its runs
// stay.
func (db *DB) AgentRuns(ctx context.Context, ws access.WorkspaceID, f inbox.AgentRunFilter, p inbox.PageRequest) (inbox.Page[inbox.AgentRun], error) {
	in, err := idOf[inbox.Inbox](ctx, db, ws, f.Inbox, "inbox_id")
	if err != nil {
		return inbox.Page[inbox.AgentRun]{}, err
	}
	agent, err := idOf[inbox.Agent](ctx, db, ws, f.Agent, "agent_id")
	if err != nil {
		return inbox.Page[inbox.AgentRun]{}, err
	}
	return list[inbox.AgentRun](ctx, db, listing{
		space: space(ws), since: f.Since, until: f.Until,
		values: map[string]string{"email": string(f.Email), "status": string(f.Status), "agent": agent, "inbox": in},
	}, p)
}

// AgentRun implements inbox.Reader.
func (db *DB) AgentRun(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.AgentRun, error) {
	return record[inbox.AgentRun](ctx, db, ws, string(id))
}

// WorkflowRuns implements inbox.Reader.
func (db *DB) WorkflowRuns(ctx context.Context, ws access.WorkspaceID, f inbox.WorkflowRunFilter, p inbox.PageRequest) (inbox.Page[inbox.WorkflowRun], error) {
	return list[inbox.WorkflowRun](ctx, db, listing{
		space: space(ws), values: map[string]string{"email": string(f.Email)},
	}, p)
}

// WorkflowRun implements inbox.Reader.
func (db *DB) WorkflowRun(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.WorkflowRun, error) {
	return record[inbox.WorkflowRun](ctx, db, ws, string(id))
}

// Webhooks implements inbox.Reader.
func (db *DB) Webhooks(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Webhook], error) {
	return list[inbox.Webhook](ctx, db, listing{space: space(ws)}, p)
}

// Webhook implements inbox.Reader.
func (db *DB) Webhook(ctx context.Context, ws access.WorkspaceID, ref string) (inbox.Webhook, error) {
	return record[inbox.Webhook](ctx, db, ws, ref)
}

// Deliveries implements inbox.Reader.
func (db *DB) Deliveries(ctx context.Context, ws access.WorkspaceID, webhook string, f inbox.DeliveryFilter, p inbox.PageRequest) (inbox.Page[inbox.Delivery], error) {
	w, err := resolve[inbox.Webhook](ctx, db, ws, webhook, "webhook_id")
	if err != nil {
		return inbox.Page[inbox.Delivery]{}, err
	}
	return list[inbox.Delivery](ctx, db, listing{
		space: space(ws), scope: string(w.Record.ID), values: map[string]string{"status": string(f.Status)},
	}, p)
}

// Delivery implements inbox.Reader: two reads, as a deleted webhook's
// deliveries are out of sight.
func (db *DB) Delivery(ctx context.Context, ws access.WorkspaceID, webhook string, id inbox.ID) (inbox.Delivery, error) {
	d, err := getDelivery(ctx, db, ws, webhook, id)
	return d.Record, err
}

// getDelivery is [Get] for a delivery of the webhook that a ref names.
func getDelivery(ctx context.Context, db *DB, ws access.WorkspaceID, webhook string, id inbox.ID) (Stored[inbox.Delivery], error) {
	w, err := resolve[inbox.Webhook](ctx, db, ws, webhook, "webhook_id")
	if err != nil {
		return Stored[inbox.Delivery]{}, err
	}
	d, err := read[inbox.Delivery](ctx, db, space(ws).records(deliveriesFamily, string(w.Record.ID)), string(id))
	return d, failure(err, deliveries.noun, "id")
}

// SystemEvents implements inbox.Reader. The e-mail may be a deleted one.
func (db *DB) SystemEvents(ctx context.Context, ws access.WorkspaceID, f inbox.SystemEventFilter, p inbox.PageRequest) (inbox.Page[inbox.SystemEvent], error) {
	return list[inbox.SystemEvent](ctx, db, listing{
		space: space(ws), values: map[string]string{"email": string(f.Email), "slug": f.Slug},
	}, p)
}

// SystemEvent implements inbox.Reader.
func (db *DB) SystemEvent(ctx context.Context, ws access.WorkspaceID, id inbox.ID) (inbox.SystemEvent, error) {
	return record[inbox.SystemEvent](ctx, db, ws, string(id))
}

// Secrets implements inbox.Reader.
func (db *DB) Secrets(ctx context.Context, ws access.WorkspaceID, p inbox.PageRequest) (inbox.Page[inbox.Secret], error) {
	return list[inbox.Secret](ctx, db, listing{space: space(ws)}, p)
}

// Models implements inbox.Reader.
func (db *DB) Models(context.Context) ([]inbox.Model, error) { return inbox.Models() }

// RecentIDs implements inbox.Reader.
func (db *DB) RecentIDs(ctx context.Context, ws access.WorkspaceID, f inbox.Family, prefix string, n int) (ids []string, more bool, err error) {
	switch f {
	case inbox.Inboxes, inbox.Emails, inbox.Agents, inbox.AgentRuns, inbox.WorkflowRuns, inbox.Webhooks, inbox.SystemEvents:
	default:
		return nil, false, fmt.Errorf("inboxstore: %q has no ids to complete", f)
	}
	ids = []string{}
	if len(prefix) > len(uuid.Nil.String()) || strings.Trim(prefix, "0123456789abcdef-") != "" {
		return ids, false, nil
	}
	page, err := db.opts.Table.Query(ctx, store.Query{
		Partition: space(ws).records(f, ""), Prefix: prefix, Backward: true, Limit: n + 1,
	})
	if err != nil {
		return ids, false, failure(err, string(f), "")
	}
	for _, item := range page.Items {
		if !item.Expired(db.opts.Now()) {
			ids = append(ids, item.Sort)
		}
	}
	more = page.Next != "" || len(ids) > n
	return ids[:min(n, len(ids))], more, nil
}

// record is the record of [Get], for those who only read.
func record[T Record](ctx context.Context, db *DB, ws access.WorkspaceID, ref string) (T, error) {
	found, err := Get[T](ctx, db, ws, ref)
	return found.Record, err
}

// idOf returns the id of the record that an argument of that name refers to;
// no argument, no id.
func idOf[T Record](ctx context.Context, db *DB, ws access.WorkspaceID, ref, argument string) (string, error) {
	if ref == "" {
		return "", nil
	}
	f := familyOf[T]()
	found, err := resolve[T](ctx, db, ws, ref, argument)
	_, id := f.key(&found.Record)
	return string(id), err
}
