package access

import (
	"slices"
	"strings"
)

// Permission lets a member read or write one record family. It is written
// "family:read" or "family:write".
type Permission uint8

// The permissions. Deliveries belong to webhooks; an e-mail's raw message to
// emails.
const (
	ModelsRead Permission = iota
	UsageRead
	WorkspacesRead
	WorkspacesWrite
	InboxesRead
	InboxesWrite
	EmailsRead
	EmailsWrite
	AgentsRead
	AgentsWrite
	AgentRunsRead
	WorkflowRunsRead
	WebhooksRead
	WebhooksWrite
	SystemEventsRead
	SecretsRead
	SecretsWrite
	permissionCount
)

var permissionNames = [permissionCount]string{
	ModelsRead: "models:read", UsageRead: "usage:read",
	WorkspacesRead: "workspaces:read", WorkspacesWrite: "workspaces:write",
	InboxesRead: "inboxes:read", InboxesWrite: "inboxes:write",
	EmailsRead: "emails:read", EmailsWrite: "emails:write",
	AgentsRead: "agents:read", AgentsWrite: "agents:write",
	AgentRunsRead: "agent_runs:read", WorkflowRunsRead: "workflow_runs:read",
	WebhooksRead: "webhooks:read", WebhooksWrite: "webhooks:write",
	SystemEventsRead: "system_events:read",
	SecretsRead:      "secrets:read", SecretsWrite: "secrets:write",
}

func (p Permission) String() string { return permissionNames[p] }

// Permissions is a set of [Permission].
type Permissions uint32

// Has reports whether p is in the set.
func (s Permissions) Has(p Permission) bool { return s&(1<<p) != 0 }

func permissionSet(ps ...Permission) (s Permissions) {
	for _, p := range ps {
		s |= 1 << p
	}
	return s
}

// parsePermissions reads the names it knows; an unknown name grants nothing.
func parsePermissions(names []string) (s Permissions) {
	for _, n := range names {
		if i := slices.Index(permissionNames[:], n); i >= 0 {
			s |= 1 << i
		}
	}
	return s
}

// Role is a member's place in a workspace.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads all but secrets
	Operator Role = "operator" // viewer, and writes e-mails and webhooks
	Admin    Role = "admin"    // operator, and writes all but workspaces
	Owner    Role = "owner"    // everything
)

// Permissions are those of the role; an unknown role has none.
func (r Role) Permissions() Permissions {
	viewer := permissionSet(ModelsRead, UsageRead, WorkspacesRead, InboxesRead, EmailsRead, AgentsRead,
		AgentRunsRead, WorkflowRunsRead, WebhooksRead, SystemEventsRead)
	operator := viewer | permissionSet(EmailsWrite, WebhooksWrite)
	admin := operator | permissionSet(InboxesWrite, AgentsWrite, SecretsRead, SecretsWrite)
	switch r {
	case Viewer:
		return viewer
	case Operator:
		return operator
	case Admin:
		return admin
	case Owner:
		return admin | permissionSet(WorkspacesWrite)
	}
	return 0
}

// Scopes is the set of this product's scopes in a token.
type Scopes uint8

// The scopes. ScopeWrite implies ScopeRead ([Scopes.Allow]).
const (
	ScopeRead Scopes = 1 << iota
	ScopeWrite
)

// The scopes as OAuth writes them.
const (
	ScopeReadName  = "inbox.read"
	ScopeWriteName = "inbox.write"
)

// ParseScopes reads a space-separated scope list; foreign scopes are ignored.
func ParseScopes(list string) (s Scopes) {
	for f := range strings.FieldsSeq(list) {
		switch f {
		case ScopeReadName:
			s |= ScopeRead
		case ScopeWriteName:
			s |= ScopeWrite
		}
	}
	return s
}

// Allow reports whether the token's scopes satisfy need: inbox.write implies
// inbox.read (checklist 12.14).
func (s Scopes) Allow(need Scopes) bool {
	if s&ScopeWrite != 0 {
		s |= ScopeRead
	}
	return s&need == need
}

// String writes the scopes as OAuth does.
func (s Scopes) String() string {
	var names []string
	if s&ScopeRead != 0 {
		names = append(names, ScopeReadName)
	}
	if s&ScopeWrite != 0 {
		names = append(names, ScopeWriteName)
	}
	return strings.Join(names, " ")
}
