package inboxstore

import (
	"context"
	"slices"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// The rotation of signing secrets.
const (
	// overlap is how long a secret goes on signing beside the one that took its
	// place.
	overlap = 24 * time.Hour
	// maxOverlap bounds how many of those there are, and signatures with them.
	maxOverlap = 5
)

// signing is what is kept of a webhook in confidence.
type signing struct {
	Secrets     []signingSecret   `json:"secrets"` // newest first
	Credentials inbox.Credentials `json:"credentials"`
}

type signingSecret struct {
	Value      webhooks.Secret `json:"value"`
	CreatedAt  time.Time       `json:"created_at"`
	ValidUntil time.Time       `json:"valid_until,omitzero"` // zero: until another takes its place
}

// inForce returns the secrets that sign at now.
func (s signing) inForce(now time.Time) []signingSecret {
	return slices.DeleteFunc(slices.Clone(s.Secrets), func(x signingSecret) bool {
		return !x.ValidUntil.IsZero() && !now.Before(x.ValidUntil)
	})
}

// Signing keeps in confidence what a new webhook's deliveries are signed and
// authenticated with. Whoever inserts a webhook puts it in the same
// transaction; inbox.Editor's CreateWebhook does.
func Signing(webhook inbox.ID, s webhooks.Secret, c inbox.Credentials, at time.Time) Change {
	return Confidential(webhook, signing{Secrets: []signingSecret{{Value: s, CreatedAt: at}}, Credentials: c})
}

// SigningOf reads what the deliveries of a webhook are signed and authenticated
// with now: the secrets in force, newest first, and the credentials. It is for
// who sends them; no tool may show any of it.
func (db *DB) SigningOf(ctx context.Context, ws access.WorkspaceID, webhook inbox.ID) ([]webhooks.Secret, inbox.Credentials, error) {
	var kept signing
	if err := db.reveal(ctx, ws, webhook, &kept); err != nil {
		return nil, inbox.Credentials{}, err
	}
	var secrets []webhooks.Secret
	for _, s := range kept.inForce(db.opts.Now()) {
		secrets = append(secrets, s.Value)
	}
	return secrets, kept.Credentials, nil
}

// RotateSecret implements inbox.Editor.
func (db *DB) RotateSecret(ctx context.Context, by inbox.Actor, was inbox.Webhook) (string, time.Time, error) {
	fresh := webhooks.NewSecret()
	var until time.Time
	err := anew(ctx, func() error {
		old, err := Current(ctx, db, by.Workspace, was)
		if err != nil {
			return err
		}
		var kept signing
		if err := db.reveal(ctx, by.Workspace, was.ID, &kept); err != nil {
			return err
		}
		now := db.now()
		until = now // there may be no secret to take the place of
		secrets := kept.inForce(now)
		if len(secrets) > 0 {
			until = now.Add(overlap)
			secrets[0].ValidUntil = until
		}
		if len(secrets) > maxOverlap {
			return inbox.Errorf(inbox.CodeLimit, "", "The secret of this webhook was rotated %d times within a day, and all of those before it still sign. Nothing was changed. Try again later.", maxOverlap)
		}
		kept.Secrets = slices.Insert(secrets, 0, signingSecret{Value: fresh, CreatedAt: now})
		r := old.Record
		r.UpdatedAt = db.later(r.UpdatedAt)
		return db.Audited(ctx, by, webhookEvent(inbox.EventWebhookSecretRotated, r), along(Update(old, r)), Confidential(r.ID, kept))
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return string(fresh), until, nil
}
