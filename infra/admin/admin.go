// Package admin is the operator's command line: it makes organizations,
// workspaces and members, says who may do what there, and which inboxes answer
// their mail. What it changes of members takes effect at once for calls that a
// person confirms, and within 30 s for others, which is how long an instance
// remembers a membership.
//
// It may import access, inbox, inboxstore and store.
package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Books are what the commands read and write, on whatever store.
type Books struct {
	Directory *access.Directory
	DB        *inboxstore.DB
	Now       func() time.Time
}

// now is the time as records have it.
func (b *Books) now() time.Time { return b.Now().UTC().Truncate(time.Millisecond) }

func (b *Books) createOrganization(ctx context.Context, id, name string) (access.Organization, error) {
	o := access.Organization{ID: access.OrganizationID(id), Name: name, CreatedAt: b.now()}
	if err := errors.Join(checkName("id of an organization", id), checkLine("name of an organization", name)); err != nil {
		return o, err
	}
	err := b.Directory.CreateOrganization(ctx, o)
	if errors.Is(err, store.ErrCondition) {
		err = fmt.Errorf("there is an organization %q already", id)
	}
	return o, err
}

// createWorkspace makes a workspace of the draft, which has no id yet.
func (b *Books) createWorkspace(ctx context.Context, organization string, draft inbox.Workspace) (inboxstore.Workspace, error) {
	w := inboxstore.Workspace{Workspace: draft, Organization: access.OrganizationID(organization)}
	w.CreatedAt = b.now()
	w.UpdatedAt = w.CreatedAt
	w.ID, w.Source = access.WorkspaceID(inbox.NewID(w.CreatedAt)), "kobana_autonomous_inbox"
	if w.ExternalID == nil {
		w.ExternalID = new(string(w.ID))
	}
	if err := errors.Join(inbox.CheckExternalID(*w.ExternalID), w.Validate()); err != nil {
		return w, err
	}
	_, err := b.Directory.Organization(ctx, w.Organization)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no organization %q: organizations list has those that exist", organization)
	}
	if err != nil {
		return w, err
	}
	return w, b.DB.Apply(ctx, w.ID, inboxstore.Insert(w))
}

// workspaces returns the workspaces that keep says, oldest first.
func (b *Books) workspaces(ctx context.Context, keep func(inboxstore.Workspace) bool) ([]inboxstore.Workspace, error) {
	ids, err := b.DB.WorkspaceIDs(ctx)
	if err != nil {
		return nil, err
	}
	found := []inboxstore.Workspace{}
	for _, id := range ids {
		w, err := inboxstore.Get[inboxstore.Workspace](ctx, b.DB, id, string(id))
		if err != nil {
			return nil, err
		}
		if keep(w.Record) {
			found = append(found, w.Record)
		}
	}
	return found, nil
}

// workspace returns the workspace that ref names by its id or external_id.
func (b *Books) workspace(ctx context.Context, ref string) (inboxstore.Workspace, error) {
	found, err := b.workspaces(ctx, func(w inboxstore.Workspace) bool {
		return string(w.ID) == ref || w.ExternalID != nil && *w.ExternalID == ref
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no workspace %q: workspaces list has those that exist", ref)
	}
	if err != nil {
		return inboxstore.Workspace{}, err
	}
	return found[0], nil
}

func (b *Books) members(ctx context.Context, ref string) ([]access.Membership, error) {
	w, err := b.workspace(ctx, ref)
	if err != nil {
		return nil, err
	}
	return b.Directory.Members(ctx, w.ID)
}

// addMember makes a person a member. Explicit permissions, unless nil, replace
// those of the role.
func (b *Books) addMember(ctx context.Context, ref string, p access.Person, role access.Role, explicit []string) (access.Membership, error) {
	m := access.Membership{Person: p, Role: role, Explicit: explicit, CreatedAt: b.now()}
	if err := errors.Join(checkName("issuer", p.Issuer), checkName("subject", p.Subject), checkRole(role)); err != nil {
		return m, err
	}
	w, err := b.workspace(ctx, ref)
	if err != nil {
		return m, err
	}
	m.Workspace, m.Organization = w.ID, w.Organization
	err = b.Directory.AddMember(ctx, m)
	if errors.Is(err, store.ErrCondition) {
		err = fmt.Errorf("%s of %s is a member already: members role changes what a member may do", p.Subject, p.Issuer)
	}
	return m, err
}

// changeMember changes a membership by change.
func (b *Books) changeMember(ctx context.Context, ref string, p access.Person, change func(*access.Membership)) (access.Membership, error) {
	w, err := b.workspace(ctx, ref)
	if err != nil {
		return access.Membership{}, err
	}
	m, err := b.Directory.UpdateMember(ctx, p, w.ID, change)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%s of %s is no member of this workspace: members list has those who are, as their tokens spell them", p.Subject, p.Issuer)
	}
	return m, err
}

// roles are those that a member may have, each more than the one before.
var roles = []access.Role{access.Viewer, access.Operator, access.Admin, access.Owner}

func checkRole(r access.Role) error {
	if slices.Contains(roles, r) {
		return nil
	}
	return fmt.Errorf("there is no role %q: it is one of %s", r, strings.Join(oneOf(roles), ", "))
}

// maxName is how long what a token says may be, in bytes (package oauth).
const maxName = 512

// checkName refuses what no token could say, or no key hold.
func checkName(what, s string) error {
	if s == "" || len(s) > maxName || strings.TrimSpace(s) != s || !isText(s) {
		return fmt.Errorf("the %s must be text of 1 to %d bytes, without spaces around it", what, maxName)
	}
	return nil
}

// checkLine refuses what cannot be shown to people in one line.
func checkLine(what, s string) error {
	if strings.TrimSpace(s) == "" || utf8.RuneCountInString(s) > inbox.MaxLabel || !isText(s) {
		return fmt.Errorf("the %s must be one line of 1 to %d characters", what, inbox.MaxLabel)
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// inboxes returns those of a workspace, oldest first.
func (b *Books) inboxes(ctx context.Context, ref string) ([]inbox.Inbox, error) {
	w, err := b.workspace(ctx, ref)
	if err != nil {
		return nil, err
	}
	page, err := b.DB.Inboxes(ctx, w.ID, inbox.PageRequest{Limit: inbox.MaxLimit}) // which is more than there can be
	slices.Reverse(page.Data)
	return page.Data, err
}

// setReply switches an inbox's answers on or off.
func (b *Books) setReply(ctx context.Context, ref, in string, to inbox.Switch) (inbox.Inbox, error) {
	if to != inbox.On && to != inbox.Off {
		return inbox.Inbox{}, fmt.Errorf("an inbox's replies are %s or %s, not %q", inbox.On, inbox.Off, to)
	}
	w, err := b.workspace(ctx, ref)
	if err != nil {
		return inbox.Inbox{}, err
	}
	if strings.Contains(in, "@") {
		found, err := b.DB.InboxByAddress(ctx, in)
		if err != nil || found.WorkspaceID != w.ID {
			return inbox.Inbox{}, fmt.Errorf("there is no inbox %q in this workspace: inboxes list has those that exist", in)
		}
		in = string(found.ID)
	}
	return b.DB.SetReply(ctx, w.ID, in, to)
}
