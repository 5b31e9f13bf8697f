package inboxstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// A delivery that tells of an e-mail has some of it in its request, and the
// receiver may have answered with it. It forgets that with the e-mail.

// Told adds the record of a delivery that tells of an e-mail. When the e-mail
// is gone by now, that is not_found: keep [Untold] of it.
func Told(d inbox.Delivery, email inbox.ID) Change {
	return func(t *transaction) error {
		if err := Insert(d)(t); err != nil {
			return err
		}
		t.add(store.Put(store.Item{Key: t.space.toldBy(d, email), Expires: t.expires(d.ID)}), nil)
		return present[inbox.Email]("email_id", email)(t)
	}
}

// Untold is a delivery without what it says of an e-mail.
func Untold(d inbox.Delivery) inbox.Delivery {
	var e webhooks.Envelope
	if json.Unmarshal(d.RequestBody, &e) != nil {
		d.RequestBody = nil
	} else {
		e.Data = inbox.Object("{}")
		d.RequestBody, _ = encode(e)
	}
	d.ResponseHeaders, d.ResponseBody = nil, nil
	return d
}

// eraseTold takes what deliveries say of an e-mail away from some of them, and
// reports whether there are no more.
func (db *DB) eraseTold(ctx context.Context, ws access.WorkspaceID, email inbox.ID) (done bool, err error) {
	var changes []Change
	n := 0
	for item, err := range db.items(ctx, store.Query{Partition: space(ws).told(email)}) {
		if err != nil {
			return false, unavailable(err)
		}
		webhook, id, _ := strings.Cut(item.Sort, "#")
		d, err := read[inbox.Delivery](ctx, db, space(ws).records(deliveriesFamily, webhook), id)
		switch {
		case err == nil:
			changes = append(changes, Update(d, Untold(d.Record)))
		case !errors.Is(err, store.ErrNotFound):
			return false, unavailable(err)
		}
		changes = append(changes, func(t *transaction) error { t.add(store.Delete(item.Key), nil); return nil })
		if n++; n == erasedAtOnce {
			break
		}
	}
	err = db.Apply(ctx, ws, changes...)
	if errors.Is(err, inbox.ErrChanged) {
		return false, nil // somebody else was as quick
	}
	if err != nil {
		return false, fmt.Errorf("inboxstore: erase what webhooks were told: %w", err)
	}
	return n < erasedAtOnce, nil
}
