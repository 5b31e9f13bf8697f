// Package demo fills a new local store with two organizations to try the
// product on. All but the organizations and what people set up in them is made
// by really running it: messages arrive at the intake, a worker has them read
// and tells receivers of them, as they would have in the weeks before, by a
// clock of the demo's own.
//
// It may import everything in shared but the handlers.
package demo

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

// The people of the demo. Owner, Operator and Viewer work in the organization
// Aurora Coffee, Other is the owner of another one, Bosque Verde.
var (
	Owner    = person("owner")
	Operator = person("operator")
	Viewer   = person("viewer")
	Other    = person("other")
)

// Issuer is who vouches for them: the identity provider that can be run beside
// the local server (infra/oidc), where they sign in. A demo token stands for
// the same person.
const Issuer = "http://127.0.0.1:3001"

func person(name string) access.Person { return access.Person{Issuer: Issuer, Subject: name} }

// The organizations of the demo.
const (
	Aurora access.OrganizationID = "aurora"
	Bosque access.OrganizationID = "bosque"
)

// Seeder fills a store.
type Seeder struct {
	Directory *access.Directory
	DB        *inboxstore.DB
	Log       *slog.Logger
	Now       time.Time // what the demo's past is counted from

	clock *clock         // of the organization that is being made
	db    *inboxstore.DB // by that clock
}

// clock is the demo's: each look at it takes a millisecond.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) tick() time.Time { return c.set(c.at().Add(time.Millisecond)) }

func (c *clock) at() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// set puts the clock forward.
func (c *clock) set(t time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.now) {
		c.now = t
	}
	return c.now
}

// Seed fills an empty store. When it fails, the store holds a part of the demo
// and cannot be seeded again.
func (s *Seeder) Seed(ctx context.Context) error {
	for _, seed := range []func(context.Context) error{s.aurora, s.bosque} {
		s.clock = &clock{}
		s.db = s.DB.At(s.clock.tick)
		if err := seed(ctx); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	return nil
}

// ago is the time before the demo's now.
func (s *Seeder) ago(d time.Duration) time.Time {
	return s.Now.Add(-d).UTC().Truncate(time.Millisecond)
}

// workspace makes an organization with one workspace and its members.
func (s *Seeder) workspace(ctx context.Context, org access.Organization, label string, locale inbox.Locale,
	members map[access.Person]access.Role) (access.WorkspaceID, error) {
	made := s.ago(90 * 24 * time.Hour)
	org.CreatedAt = made
	if err := s.Directory.CreateOrganization(ctx, org); err != nil {
		return "", err
	}
	id := access.WorkspaceID(inbox.NewID(made))
	w := inbox.Workspace{
		ID: id, ExternalID: new(string(id)), Source: "kobana_autonomous_inbox", Label: label, EmailPrefix: string(org.ID), Locale: locale,
		MonthlyCostLimit: new(50.0), MonthlyEmailsLimit: new(int64(5000)), CreatedAt: made, UpdatedAt: made,
	}
	if err := s.db.Apply(ctx, id, inboxstore.Insert(inboxstore.Workspace{Workspace: w, Organization: org.ID})); err != nil {
		return "", err
	}
	for p, role := range members {
		m := access.Membership{Person: p, Organization: org.ID, Workspace: id, Role: role, CreatedAt: made}
		if err := s.Directory.AddMember(ctx, m); err != nil {
			return "", err
		}
	}
	return id, nil
}

// inbox makes an inbox of a workspace.
func (s *Seeder) inbox(ctx context.Context, ws access.WorkspaceID, label, address string, agent *inbox.ID, change func(*inbox.Inbox)) (inbox.Inbox, error) {
	made := s.ago(80 * 24 * time.Hour)
	id := inbox.NewID(made)
	in := inbox.Inbox{
		ID: id, ExternalID: new(string(id)), WorkspaceID: ws, AgentID: agent, Label: label, Email: address, Status: inbox.Active,
		AllowedRecipients: []string{}, Filters: []inbox.Object{}, AttachmentsAllow: true,
		AttachmentsMaxFileNumber: 10, AttachmentsMaxFileSize: 10 << 20, AttachmentsMaxTotalSize: 25 << 20,
		Reply: inbox.Off, CreatedAt: made, UpdatedAt: made,
	}
	if change != nil {
		change(&in)
	}
	return in, s.db.Apply(ctx, ws, inboxstore.Insert(in))
}
