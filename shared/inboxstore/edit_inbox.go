package inboxstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// CreateInbox implements inbox.Editor.
func (db *DB) CreateInbox(ctx context.Context, by inbox.Actor, draft inbox.Inbox) (inbox.Inbox, error) {
	r := draft
	var err error
	if r.ID, r.ExternalID, r.CreatedAt, err = db.newRecord(draft.ExternalID); err != nil {
		return inbox.Inbox{}, err
	}
	r.WorkspaceID, r.UpdatedAt, r.Status, r.Reply = by.Workspace, r.CreatedAt, inbox.Active, inbox.Off
	r.AttachmentsMaxFileNumber = cmp.Or(r.AttachmentsMaxFileNumber, inbox.DefaultAttachments)
	r.AttachmentsMaxFileSize = cmp.Or(r.AttachmentsMaxFileSize, inbox.DefaultAttachmentSize)
	r.AttachmentsMaxTotalSize = cmp.Or(r.AttachmentsMaxTotalSize, inbox.DefaultAttachmentsSum)
	if r.Email, err = db.newAddress(ctx, by.Workspace, draft); err != nil {
		return inbox.Inbox{}, err
	}
	if err = r.Validate(); err != nil {
		return inbox.Inbox{}, err
	}
	r.AllowedRecipients, _ = inbox.Recipients(r.AllowedRecipients)
	return written(r, db.inTurn(ctx, by.Workspace, func(turn Change) error {
		if err := room[inbox.Inbox](ctx, db, by.Workspace, inbox.MaxInboxes); err != nil {
			return err
		}
		changes := []Change{turn, Insert(r)}
		if r.AgentID != nil {
			changes = append(changes, present[inbox.Agent]("agent_id", *r.AgentID))
		}
		return db.Audited(ctx, by, inboxEvent(inbox.EventInboxCreated, r), changes...)
	}))
}

// UpdateInbox implements inbox.Editor.
func (db *DB) UpdateInbox(ctx context.Context, by inbox.Actor, was, now inbox.Inbox) (r inbox.Inbox, err error) {
	err = db.inTurn(ctx, by.Workspace, func(turn Change) error {
		old, err := Current(ctx, db, by.Workspace, was)
		if err != nil {
			return err
		}
		r = old.Record
		r.Label, r.AgentID, r.Status, r.Filters, r.AttachmentsAllow = now.Label, now.AgentID, now.Status, now.Filters, now.AttachmentsAllow
		r.AttachmentsMaxFileNumber, r.AttachmentsMaxFileSize, r.AttachmentsMaxTotalSize =
			now.AttachmentsMaxFileNumber, now.AttachmentsMaxFileSize, now.AttachmentsMaxTotalSize
		r.UpdatedAt = db.later(r.UpdatedAt)
		if err := r.Validate(); err != nil {
			return err
		}
		changes := []Change{Update(old, r)}
		if r.AgentID != nil && text(r.AgentID) != text(old.Record.AgentID) {
			changes = append(changes, turn, present[inbox.Agent]("agent_id", *r.AgentID))
		}
		return db.Audited(ctx, by, inboxEvent(inbox.EventInboxUpdated, r), changes...)
	})
	return written(r, err)
}

// DeleteInbox implements inbox.Editor.
func (db *DB) DeleteInbox(ctx context.Context, by inbox.Actor, was inbox.Inbox, bound int) error {
	return db.inTurn(ctx, by.Workspace, func(turn Change) error {
		old, err := Current(ctx, db, by.Workspace, was)
		if err != nil {
			return err
		}
		hooks, err := db.boundWebhooks(ctx, by.Workspace, was.ID)
		if err != nil {
			return err
		}
		if len(hooks) != bound { // not what was agreed to
			return changed("inbox")
		}
		e := inboxEvent(inbox.EventInboxDeleted, was)
		changes := []Change{turn, Delete(old)}
		for _, hook := range hooks {
			r := hook.Record
			r.Status, r.UpdatedAt = inbox.Inactive, db.later(r.UpdatedAt)
			changes = append(changes, along(Update(hook, r)))
			e.Also = append(e.Also, r.ID)
		}
		return db.Audited(ctx, by, e, changes...)
	})
}

// BoundWebhooks implements inbox.Editor.
func (db *DB) BoundWebhooks(ctx context.Context, ws access.WorkspaceID, in inbox.ID) (int, error) {
	hooks, err := db.boundWebhooks(ctx, ws, in)
	return len(hooks), err
}

// boundWebhooks are those that deleting the inbox switches off.
func (db *DB) boundWebhooks(ctx context.Context, ws access.WorkspaceID, in inbox.ID) ([]Stored[inbox.Webhook], error) {
	hooks, err := bound[inbox.Webhook](ctx, db, ws, "inbox", in, inbox.MaxWebhooks)
	hooks = slices.DeleteFunc(hooks, func(h Stored[inbox.Webhook]) bool { return h.Record.Status != inbox.Active })
	if err == nil && tooMany(hooks) {
		err = inbox.Errorf(inbox.CodeLimit, "", "Too many active webhooks are bound to this inbox: delete some or bind them to another one first. Nothing was changed.")
	}
	return hooks, err
}

// SetRecipients implements inbox.Editor.
func (db *DB) SetRecipients(ctx context.Context, by inbox.Actor, was inbox.Inbox, allowed []string) (inbox.Inbox, error) {
	old, err := Current(ctx, db, by.Workspace, was)
	if err != nil {
		return inbox.Inbox{}, err
	}
	r := old.Record
	if r.AllowedRecipients, err = inbox.Recipients(allowed); err != nil {
		return inbox.Inbox{}, err
	}
	r.UpdatedAt = db.later(r.UpdatedAt)
	slug := inbox.EventInboxUpdated
	switch more := len(r.AllowedRecipients) - len(old.Record.AllowedRecipients); {
	case more > 0:
		slug = inbox.EventRecipientAdded
	case more < 0:
		slug = inbox.EventRecipientRemoved
	}
	return written(r, db.Audited(ctx, by, inboxEvent(slug, r), Update(old, r)))
}

func inboxEvent(slug string, r inbox.Inbox) Event {
	return Event{Slug: slug, Target: r.ID, Inbox: r.ID}
}

// The parts of a generated address; a local part has at most 64 characters
// (RFC 5321 §4.5.3.1.1).
const (
	maxLocalPart = 64
	tokenLength  = 8
	maxSlug      = 24
	maxInPrefix  = maxLocalPart - tokenLength - maxSlug - 2
)

// localPart is what a chosen address may begin with: plain names.
var localPart = regexp.MustCompile(`^[a-z0-9]([a-z0-9._+-]{0,62}[a-z0-9])?$`)

// reservedNames are those that a domain's keeper is reached by, and that
// authorities send certificates to (RFC 2142).
var reservedNames = strings.Fields("abuse admin administrator hostmaster mailer-daemon noc noreply no-reply postmaster root security ssladmin webmaster")

// newAddress returns the address of a draft, or makes one: prefix of the
// workspace, label and token.
func (db *DB) newAddress(ctx context.Context, ws access.WorkspaceID, draft inbox.Inbox) (string, error) {
	if draft.Email == "" {
		w, err := Get[Workspace](ctx, db, ws, string(ws))
		if err != nil {
			return "", err
		}
		parts := []string{slug(w.Record.EmailPrefix, maxInPrefix), slug(draft.Label, maxSlug), strings.ToLower(rand.Text()[:tokenLength])}
		parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
		return strings.Join(parts, "-") + "@" + db.opts.Domain, nil
	}
	email := inbox.NormalAddress(draft.Email)
	local, _, _ := strings.Cut(email, "@")
	switch {
	case !inbox.SameAddress(email, local+"@"+db.opts.Domain):
		return "", inbox.Errorf(inbox.CodeInvalid, "email", "The address of an inbox must end in @%s. Nothing was changed.", db.opts.Domain)
	case !localPart.MatchString(local):
		return "", inbox.Errorf(inbox.CodeInvalid, "email", "Before the @, the address must have 1 to %d of a-z, 0-9 and . _ + -. Nothing was changed.", maxLocalPart)
	case slices.Contains(reservedNames, local):
		return "", inbox.Errorf(inbox.CodeInvalid, "email", "This address is reserved. Nothing was changed.")
	}
	return email, nil
}

// slug writes s in lower-case letters without accents and digits, with single
// hyphens in between, at most n bytes.
func slug(s string, n int) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r): // an accent
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == n {
			break
		}
	}
	return strings.TrimSuffix(b.String(), "-")
}

// SetReply switches on or off that what the agent of an inbox writes is sent to
// the sender. It is the operator's, and not among what a tool can do: an
// assistant that was talked into it would write to strangers.
func (db *DB) SetReply(ctx context.Context, ws access.WorkspaceID, ref string, to inbox.Switch) (inbox.Inbox, error) {
	old, err := Get[inbox.Inbox](ctx, db, ws, ref)
	if err != nil {
		return inbox.Inbox{}, err
	}
	r := old.Record
	r.Reply, r.UpdatedAt = to, db.later(r.UpdatedAt)
	return written(r, db.Apply(ctx, ws, Update(old, r)))
}
