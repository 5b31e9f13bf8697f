// Package records makes the records as those functions have them that write:
// the table, the raw messages beside it, the queue of the worker, and the keys
// of what is confidential for those that may have them.
//
// It may import cloud and the packages below it, inboxstore and webhooks.
package records

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/rawmail"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/waking"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Records are what a function that writes has of the environment.
type Records struct {
	inboxstore.Options
	Raw   rawmail.Bucket
	Queue *waking.Queue
	// AuditKey fetches the key of the digests in system events; [OpenSealed]
	// sets it.
	AuditKey func(ctx context.Context) ([]byte, error)
}

// Open returns the records without the keys of what is confidential. It calls
// nobody; its error tells what is wrong with the environment.
func Open(f *cloud.Function) (r Records, err error) {
	var errs [4]error
	r.Table, errs[0] = f.Table("DATA_TABLE")
	r.Raw, errs[1] = rawmail.Open(f)
	r.Queue, errs[2] = waking.Open(f)
	r.Retention, errs[3] = parseDays(f.Getenv("MAIL_RETENTION_DAYS"))
	r.Blobs, r.Wake, r.Log = r.Raw, r.Queue.Wake, f.Log
	return r, errors.Join(errs[:]...)
}

// OpenSealed returns the records with the keys of what is confidential, which
// are fetched when first needed, and the sender of deliveries.
func OpenSealed(f *cloud.Function) (Records, *webhooks.Sender, error) {
	r, err1 := Open(f)
	secret, err2 := f.Require("DATA_KEYS")
	data := &keyCache{now: time.Now, fetch: func(ctx context.Context) (string, error) { return f.Secret(ctx, secret) }}
	r.Keys = func(ctx context.Context) ([][]byte, error) { return data.keys(ctx, "confidential") }
	r.AuditKey = func(ctx context.Context) ([]byte, error) {
		keys, err := data.keys(ctx, "audit")
		if err != nil {
			return nil, err
		}
		return keys[0], nil
	}
	sender := webhooks.New(webhooks.Options{AllowHosts: f.Words("WEBHOOK_ALLOW_HOSTS")})
	r.CheckURL = sender.CheckURL
	return r, sender, errors.Join(err1, err2)
}

// parseDays reads how long mail is kept; "" and 0 are for ever.
func parseDays(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("MAIL_RETENTION_DAYS: %q is no number of days, from 0 to 65535", s)
	}
	return time.Duration(n) * 24 * time.Hour, nil
}
