// Package writing makes what the one function has that writes: the service
// whole, the confirmations and the keys.
//
// It may import everything in shared.
package writing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/rawmail"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Options returns the options of the function that runs tools. Its error tells
// what is wrong with the environment.
func Options(f *cloud.Function) (server.Options, error) {
	o, table, err0 := f.Common()
	raw, err1 := rawmail.Open(f)
	confirmer, err2 := confirmer(f)
	retention, err3 := parseDays(f.Getenv("MAIL_RETENTION_DAYS"))
	dataKeys, err4 := f.Require("DATA_KEYS")
	if err := errors.Join(err0, err1, err2, err3, err4); err != nil {
		return server.Options{}, err
	}
	sender := webhooks.New(webhooks.Options{})
	keys := &keyCache{now: time.Now, fetch: func(ctx context.Context) ([][]byte, error) {
		return fetchKeys(ctx, f, "confidential", dataKeys)
	}}
	db := inboxstore.New(inboxstore.Options{
		Table: table, Blobs: raw, Links: raw.Link, Retention: retention, Keys: keys.get,
		CheckURL: sender.CheckURL, Domain: f.Getenv("INBOX_DOMAIN"), Log: f.Log,
	})
	o.Service = actions.New(actions.Options{DB: db, Blobs: raw, Sender: sender, Log: f.Log})
	o.Confirmer, o.CheckURL = confirmer, sender.CheckURL
	return o, nil
}

// confirmer confirms in the table of CONFIRMATIONS_TABLE, by the keys in the
// secrets of STATE_KEYS, the first of which seals.
func confirmer(f *cloud.Function) (*confirm.Confirmer, error) {
	ledger, err1 := f.Table("CONFIRMATIONS_TABLE")
	ttl, err2 := parseTTL(f.Getenv("CONFIRM_TTL"))
	_, err3 := f.Require("STATE_KEYS")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return confirm.New(confirm.Options{
		Audience: f.Getenv("PUBLIC_URL") + "/mcp", Ledger: ledger, TTL: ttl,
		Keys: func(ctx context.Context) ([]confirm.Key, error) { return stateKeys(ctx, f) },
	})
}

// parseTTL reads how long a confirmation counts: at most five minutes (R14).
func parseTTL(s string) (time.Duration, error) {
	if s == "" {
		return confirm.MaxTTL, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > confirm.MaxTTL {
		return 0, fmt.Errorf("CONFIRM_TTL: %q is no duration over 0 and up to 5m, such as 90s", s)
	}
	return d, nil
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
