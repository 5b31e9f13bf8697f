package admin

import (
	"context"
	"flag"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
)

// command is one command: two words, then what it needs, then flags.
type command struct {
	words string // noun and verb
	needs string // names of the arguments
	about string
	setup func(*flag.FlagSet) action
}

// action carries out a command that was parsed, with what it needs.
type action func(ctx context.Context, b *Books, args []string) (answer, error)

// commands are all there are, in the order that help shows them.
func commands() []command {
	return []command{
		{"organizations list", "", "List all organizations, by id.", noFlags(
			func(ctx context.Context, b *Books, _ []string) (answer, error) {
				return organizations(b.Directory.Organizations(ctx))
			})},
		{"organizations create", "ID NAME", "Make an organization. Tokens name it by its id, in the claim org_id; people see its name.", noFlags(
			func(ctx context.Context, b *Books, args []string) (answer, error) {
				return one(organizations)(b.createOrganization(ctx, args[0], args[1]))
			})},
		{"workspaces list", "", "List workspaces, oldest first.", func(fs *flag.FlagSet) action {
			organization := fs.String("organization", "", "only those that the organization `ID` owns")
			return func(ctx context.Context, b *Books, _ []string) (answer, error) {
				return workspaces(b.workspaces(ctx, func(w inboxstore.Workspace) bool {
					return *organization == "" || string(w.Organization) == *organization
				}))
			}
		}},
		{"workspaces create", "ORGANIZATION LABEL PREFIX", "Make a workspace of an organization. The addresses of its inboxes begin with the prefix: a-z, 0-9 and hyphens.", createWorkspace},
		{"members list", "WORKSPACE", "List the members of a workspace, oldest first.", noFlags(
			func(ctx context.Context, b *Books, args []string) (answer, error) {
				return memberships(b.members(ctx, args[0]))
			})},
		{"memberships list", "ISSUER SUBJECT", "List what a person is a member of, oldest first.", noFlags(
			func(ctx context.Context, b *Books, args []string) (answer, error) {
				return memberships(b.Directory.Memberships(ctx, person(args)))
			})},
		{"members add", "WORKSPACE ISSUER SUBJECT ROLE", "Make a person a member of a workspace.", addMember},
		{"members role", "WORKSPACE ISSUER SUBJECT ROLE", "Change what a member may do, permissions included.", changeRole},
		{"members suspend", "WORKSPACE ISSUER SUBJECT", "Take from a member all that they may do, until they are reinstated.", suspended(true)},
		{"members reinstate", "WORKSPACE ISSUER SUBJECT", "Give back to a suspended member what they may do.", suspended(false)},
		{"inboxes list", "WORKSPACE", "List the inboxes of a workspace, oldest first.", noFlags(
			func(ctx context.Context, b *Books, args []string) (answer, error) {
				return inboxes(b.inboxes(ctx, args[0]))
			})},
		{"inboxes reply", "WORKSPACE INBOX on|off", "Say whether what the agent of an inbox writes is sent to the sender. No tool can: an assistant that was talked into it would write to strangers.", noFlags(
			func(ctx context.Context, b *Books, args []string) (answer, error) {
				return one(inboxes)(b.setReply(ctx, args[0], args[1], inbox.Switch(args[2])))
			})},
	}
}

func noFlags(a action) func(*flag.FlagSet) action { return func(*flag.FlagSet) action { return a } }

func createWorkspace(fs *flag.FlagSet) action {
	locale := fs.String("locale", string(inbox.English), "language of the texts that its people are shown: en or pt-BR")
	externalID := fs.String("external-id", "", "`UUID` that other systems know it by (default its id)")
	cost := fs.Float64("cost-limit", 0, "limit of a month's cost in `USD` (default none)")
	emails := fs.Int64("emails-limit", 0, "limit of a month's e-mails (default none)")
	return func(ctx context.Context, b *Books, args []string) (answer, error) {
		draft := inbox.Workspace{Label: args[1], EmailPrefix: args[2], Locale: inbox.Locale(*locale)}
		if *externalID != "" {
			draft.ExternalID = externalID
		}
		if *cost != 0 {
			draft.MonthlyCostLimit = cost
		}
		if *emails != 0 {
			draft.MonthlyEmailsLimit = emails
		}
		return one(workspaces)(b.createWorkspace(ctx, args[0], draft))
	}
}

func addMember(fs *flag.FlagSet) action {
	explicit := permissions(fs)
	return func(ctx context.Context, b *Books, args []string) (answer, error) {
		return one(memberships)(b.addMember(ctx, args[0], person(args[1:]), access.Role(args[3]), *explicit))
	}
}

func changeRole(fs *flag.FlagSet) action {
	explicit := permissions(fs)
	return func(ctx context.Context, b *Books, args []string) (answer, error) {
		role := access.Role(args[3])
		if err := checkRole(role); err != nil {
			return answer{}, err
		}
		return one(memberships)(b.changeMember(ctx, args[0], person(args[1:]), func(m *access.Membership) {
			m.Role, m.Explicit = role, *explicit
		}))
	}
}

func suspended(yes bool) func(*flag.FlagSet) action {
	return noFlags(func(ctx context.Context, b *Books, args []string) (answer, error) {
		return one(memberships)(b.changeMember(ctx, args[0], person(args[1:]), func(m *access.Membership) { m.Suspended = yes }))
	})
}

// person is the one that the first two arguments name.
func person(args []string) access.Person { return access.Person{Issuer: args[0], Subject: args[1]} }

// permissions is the flag of a member's own permissions: nil when it is not
// given, and empty for none at all.
func permissions(fs *flag.FlagSet) *[]string {
	var list []string
	fs.Func("permissions", "`LIST` to have instead of the role's, such as emails:read,usage:read; empty for none", func(s string) error {
		list = append([]string{}, strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })...)
		return nil
	})
	return &list
}
