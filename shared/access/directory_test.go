package access

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func newDirectory(t *testing.T) (*Directory, *countedTable) {
	t.Helper()
	table := newTable(t)
	d := NewDirectory(table)
	if err := d.CreateOrganization(t.Context(), Organization{ID: "acme", Name: "Acme", CreatedAt: year(2020)}); err != nil {
		t.Fatal(err)
	}
	return d, table
}

func member(p Person, ws WorkspaceID) Membership {
	return Membership{Person: p, Organization: "acme", Workspace: ws, Role: Viewer, CreatedAt: year(2024)}
}

func TestOrganizations(t *testing.T) {
	d, _ := newDirectory(t)
	agro := Organization{ID: "agro", Name: "Agro", CreatedAt: year(2021)}
	if err := d.CreateOrganization(t.Context(), agro); err != nil {
		t.Fatal(err)
	}
	if err := d.CreateOrganization(t.Context(), agro); !errors.Is(err, store.ErrCondition) {
		t.Errorf("a second time: %v", err)
	}
	if err := d.CreateOrganization(t.Context(), Organization{ID: "x"}); err == nil {
		t.Error("without a name")
	}
	if got, err := d.Organization(t.Context(), "agro"); err != nil || got != agro {
		t.Errorf("got %v %v", got, err)
	}
	if _, err := d.Organization(t.Context(), "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	got, err := d.Organizations(t.Context())
	if err != nil || len(got) != 2 || got[0].ID != "acme" || got[1] != agro {
		t.Errorf("got %v %v", got, err)
	}
}

func TestMembershipsOldestFirstInOneQuery(t *testing.T) {
	d, table := newDirectory(t)
	var want []Membership
	for i, ws := range []WorkspaceID{"c", "a", "d", "b"} {
		m := member(ana, ws)
		m.CreatedAt = year(2020 + i)
		want = append(want, m)
	}
	for _, i := range []int{2, 0, 3, 1} {
		if err := d.AddMember(t.Context(), want[i]); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Memberships(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := table.queries.Load(); n != 1 {
		t.Errorf("%d queries", n)
	}
}

func TestAddMemberRefuses(t *testing.T) {
	d, _ := newDirectory(t)
	with := func(change func(*Membership)) Membership {
		m := member(ana, "shop")
		change(&m)
		return m
	}
	if err := d.AddMember(t.Context(), member(ana, "shop")); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]Membership{
		"a second time":        member(ana, "shop"),
		"unknown organization": with(func(m *Membership) { m.Organization, m.Workspace = "x", "y" }),
		"no organization":      with(func(m *Membership) { m.Organization = "" }),
		"no workspace":         with(func(m *Membership) { m.Workspace = "" }),
		"no subject":           with(func(m *Membership) { m.Person.Subject = "" }),
		"no time":              with(func(m *Membership) { m.CreatedAt = time.Time{} }),
		"unknown role":         with(func(m *Membership) { m.Role = "boss" }),
		"unknown permission":   with(func(m *Membership) { m.Workspace, m.Explicit = "z", []string{"emails:read", "emails:shred"} }),
	} {
		if err := d.AddMember(t.Context(), m); err == nil {
			t.Errorf("%s: added", name)
		}
	}
	if got, _ := d.Memberships(t.Context(), ana); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestUpdateMember(t *testing.T) {
	d, _ := newDirectory(t)
	for _, p := range []Person{bia, ana} {
		if err := d.AddMember(t.Context(), member(p, "shop")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.UpdateMember(t.Context(), ana, "shop", func(m *Membership) {
		m.Role, m.Suspended, m.Explicit = Admin, true, []string{}
		m.Person, m.Workspace, m.Organization, m.CreatedAt = bia, "farm", "agro", year(1999) // stay
	})
	if err != nil {
		t.Fatal(err)
	}
	want := member(ana, "shop")
	want.Role, want.Suspended, want.Explicit = Admin, true, []string{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Both places tell the same, and an explicit list of nothing stays one.
	byPerson, _ := d.Memberships(t.Context(), ana)
	if diff := cmp.Diff([]Membership{want}, byPerson); diff != "" {
		t.Error(diff)
	}
	byWorkspace, _ := d.Members(t.Context(), "shop")
	if diff := cmp.Diff([]Membership{want, member(bia, "shop")}, byWorkspace); diff != "" {
		t.Error(diff)
	}
	if _, err := d.UpdateMember(t.Context(), caio, "shop", func(*Membership) {}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := d.UpdateMember(t.Context(), ana, "shop", func(m *Membership) { m.Role = "boss" }); err == nil {
		t.Error("unknown role")
	}
}

func TestUpdateMemberLosesNoChange(t *testing.T) {
	d, _ := newDirectory(t)
	if err := d.AddMember(t.Context(), member(ana, "shop")); err != nil {
		t.Fatal(err)
	}
	attempts := 0
	got, err := d.UpdateMember(t.Context(), ana, "shop", func(m *Membership) {
		m.Suspended = true
		if attempts++; attempts > 1 {
			return
		}
		// Somebody else is faster.
		if _, err := d.UpdateMember(t.Context(), ana, "shop", func(m *Membership) { m.Role = Operator }); err != nil {
			t.Error(err)
		}
	})
	if err != nil || attempts != 2 || got.Role != Operator || !got.Suspended {
		t.Errorf("after %d attempts: %v %v", attempts, got, err)
	}
	if stored, _ := d.Memberships(t.Context(), ana); !cmp.Equal([]Membership{got}, stored) {
		t.Errorf("stored %v", stored)
	}
}

// Issuer and subject are the issuer's bytes: no two people share a key.
func TestPeopleDoNotCollide(t *testing.T) {
	d, _ := newDirectory(t)
	people := []Person{
		{"a", "b"}, {"a#b", ""}, {"", "a#b"}, {"a#", "b"}, {"a", "#b"}, {"a%23", "b"}, {"a ", "b"}, {"a+", "b"}, {"A", "b"}, {"workspace", "shop"},
	}
	added := 0
	for i, p := range people {
		if p.Subject == "" {
			continue
		}
		m := member(p, "shop")
		m.CreatedAt = m.CreatedAt.AddDate(0, 0, i)
		if err := d.AddMember(t.Context(), m); err != nil {
			t.Fatalf("%q: %v", p, err)
		}
		added++
		if got, err := d.Memberships(t.Context(), p); err != nil || len(got) != 1 || got[0].Person != p {
			t.Errorf("%q: %v %v", p, got, err)
		}
	}
	if got, err := d.Members(t.Context(), "shop"); err != nil || len(got) != added {
		t.Errorf("%d members, %v", len(got), err)
	}
}

func TestPersonTooLongToStore(t *testing.T) {
	d, _ := newDirectory(t)
	if got, err := d.Memberships(t.Context(), Person{"i", strings.Repeat("x", 10_000)}); err != nil || len(got) != 0 {
		t.Errorf("got %v %v", got, err)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("a", "b#c", "a#b", "c")
	f.Add("a%", "23", "a#", "")
	f.Fuzz(func(t *testing.T, i1, s1, i2, s2 string) {
		p, q := Person{i1, s1}, Person{i2, s2}
		if p != q && personPartition(p) == personPartition(q) {
			t.Fatalf("%q and %q share %q", p, q, personPartition(p))
		}
		if personPartition(p) == workspacePartition(WorkspaceID(s2)) {
			t.Fatalf("%q and workspace %q share a partition", p, s2)
		}
	})
}
