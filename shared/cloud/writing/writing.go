// Package writing makes what the one function has that writes for people: the
// service whole, and the confirmations.
//
// It may import everything in shared.
package writing

import (
	"context"
	"errors"
	"fmt"

	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

// Options returns the options of the function that runs tools. Its error tells
// what is wrong with the environment.
func Options(f *cloud.Function) (server.Options, error) {
	o, _, err0 := f.Common()
	r, sender, err1 := records.OpenSealed(f)
	confirmer, err2 := confirmer(f)
	if err := errors.Join(err0, err1, err2); err != nil {
		return server.Options{}, err
	}
	r.Links, r.Domain = r.Raw.Link, f.Getenv("INBOX_DOMAIN")
	o.Service = actions.New(actions.Options{DB: inboxstore.New(r.Options), Blobs: r.Raw, Sender: sender, Log: f.Log})
	o.Confirmer, o.AuditKey, o.CheckURL = confirmer, r.AuditKey, sender.CheckURL
	return o, nil
}

// confirmer confirms in the table of CONFIRMATIONS_TABLE, by the keys in the
// secrets of STATE_KEYS, the first of which seals.
func confirmer(f *cloud.Function) (*confirm.Confirmer, error) {
	ledger, err1 := f.Table("CONFIRMATIONS_TABLE")
	ttl, err2 := confirm.ParseTTL(f.Getenv("CONFIRM_TTL"))
	if err2 != nil {
		err2 = fmt.Errorf("CONFIRM_TTL: %w", err2)
	}
	_, err3 := f.Require("STATE_KEYS")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	return confirm.New(confirm.Options{
		Audience: f.Getenv("PUBLIC_URL") + "/mcp", Ledger: ledger, TTL: ttl,
		Keys: func(ctx context.Context) ([]confirm.Key, error) { return stateKeys(ctx, f) },
	})
}
