package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Organization owns workspaces.
type Organization struct {
	ID        OrganizationID `json:"id"`
	Name      string         `json:"name"`
	CreatedAt time.Time      `json:"created_at"`
}

// Directory keeps organizations and memberships in a table that it shares with
// others: its partitions begin with "member#" and "org#".
//
// A membership is stored twice, in one transaction: under its person, where
// requests look, and under its workspace, where administrators do.
type Directory struct{ table store.Table }

// NewDirectory returns the directory in t.
func NewDirectory(t store.Table) *Directory { return &Directory{t} }

// Keys join escaped parts by "#", so that no two people share one, whatever
// bytes their issuers and subjects are made of.

const organizations = "org#"

func personPartition(p Person) string { return "member#person#" + personKey(p) }
func workspacePartition(ws WorkspaceID) string {
	return "member#workspace#" + url.QueryEscape(string(ws))
}
func personKey(p Person) string {
	return url.QueryEscape(p.Issuer) + "#" + url.QueryEscape(p.Subject)
}

func organizationKey(id OrganizationID) store.Key {
	return store.Key{Partition: organizations, Sort: url.QueryEscape(string(id))}
}

func membershipKey(p Person, ws WorkspaceID) store.Key {
	return store.Key{Partition: personPartition(p), Sort: url.QueryEscape(string(ws))}
}

// CreateOrganization stores a new organization. One that exists already is a
// [store.ErrCondition].
func (d *Directory) CreateOrganization(ctx context.Context, o Organization) error {
	if o.ID == "" || o.Name == "" {
		return errors.New("access: an organization needs an id and a name")
	}
	value, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return d.table.Write(ctx, store.Put(store.Item{Key: organizationKey(o.ID), Value: value}, store.Absent()))
}

// Organization returns an organization, or [store.ErrNotFound].
func (d *Directory) Organization(ctx context.Context, id OrganizationID) (o Organization, err error) {
	item, err := d.table.Get(ctx, organizationKey(id))
	if err == nil {
		err = json.Unmarshal(item.Value, &o)
	}
	return o, err
}

// Organizations returns all organizations, by id.
func (d *Directory) Organizations(ctx context.Context) ([]Organization, error) {
	return all[Organization](ctx, d.table, organizations)
}

// AddMember stores a new membership, in an organization that exists. One that
// exists already, or an unknown organization, is a [store.ErrCondition].
func (d *Directory) AddMember(ctx context.Context, m Membership) error {
	if m.CreatedAt.IsZero() {
		return errors.New("access: a membership needs its time of creation")
	}
	return d.write(ctx, m, 1, store.Absent(), store.Check(organizationKey(m.Organization), store.Present()))
}

// UpdateMember changes a membership, such as its role, by change, and returns
// the result. Its person, organization, workspace and time of creation stay.
// A membership that does not exist is [store.ErrNotFound].
func (d *Directory) UpdateMember(ctx context.Context, p Person, ws WorkspaceID, change func(*Membership)) (Membership, error) {
	for {
		item, err := d.table.Get(ctx, membershipKey(p, ws))
		if err != nil {
			return Membership{}, err
		}
		var old Membership
		if err := json.Unmarshal(item.Value, &old); err != nil {
			return Membership{}, err
		}
		m := old
		m.Explicit = slices.Clone(old.Explicit)
		change(&m)
		m.Person, m.Organization, m.Workspace, m.CreatedAt = old.Person, old.Organization, old.Workspace, old.CreatedAt
		err = d.write(ctx, m, item.Version+1, store.VersionIs(item.Version))
		if !errors.Is(err, store.ErrCondition) {
			return m, err
		}
		// Somebody else changed it meanwhile: look again.
	}
}

// write stores a membership at both its places, if c holds of what is there.
func (d *Directory) write(ctx context.Context, m Membership, version int64, c store.Condition, more ...store.Op) error {
	if m.Person.Subject == "" || m.Workspace == "" || m.Organization == "" {
		return errors.New("access: a membership needs a subject, a workspace and an organization")
	}
	if m.Role.Permissions() == 0 {
		return fmt.Errorf("access: unknown role %q", m.Role)
	}
	for _, name := range m.Explicit {
		if parsePermissions([]string{name}) == 0 {
			return fmt.Errorf("access: unknown permission %q", name)
		}
	}
	value, err := json.Marshal(m)
	if err != nil {
		return err
	}
	byWorkspace := store.Key{Partition: workspacePartition(m.Workspace), Sort: personKey(m.Person)}
	return d.table.Write(ctx, append(more,
		store.Put(store.Item{Key: membershipKey(m.Person, m.Workspace), Value: value, Version: version}, c),
		store.Put(store.Item{Key: byWorkspace, Value: value, Version: version}))...)
}

// Memberships returns all memberships of a person, oldest first, suspended
// ones too. It is one query.
func (d *Directory) Memberships(ctx context.Context, p Person) ([]Membership, error) {
	ms, err := all[Membership](ctx, d.table, personPartition(p))
	if errors.Is(err, store.ErrLimit) {
		return nil, nil // too long to be stored, so nobody's name
	}
	return oldestFirst(ms), err
}

// Members returns all memberships of a workspace, oldest first, suspended ones
// too.
func (d *Directory) Members(ctx context.Context, ws WorkspaceID) ([]Membership, error) {
	ms, err := all[Membership](ctx, d.table, workspacePartition(ws))
	return oldestFirst(ms), err
}

func oldestFirst(ms []Membership) []Membership {
	slices.SortFunc(ms, func(a, b Membership) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Workspace, b.Workspace),
			cmp.Compare(a.Person.Issuer, b.Person.Issuer), cmp.Compare(a.Person.Subject, b.Person.Subject))
	})
	return ms
}

// all reads a partition whole.
func all[T any](ctx context.Context, t store.Table, partition string) ([]T, error) {
	values := []T{}
	for q := (store.Query{Partition: partition}); ; {
		page, err := t.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			var v T
			if err := json.Unmarshal(item.Value, &v); err != nil {
				return nil, err
			}
			values = append(values, v)
		}
		if page.Next == "" {
			return values, nil
		}
		q.After = page.Next
	}
}
