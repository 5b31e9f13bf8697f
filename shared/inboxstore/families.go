package inboxstore

import (
	"fmt"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Record is a record of one of the families.
type Record interface {
	inbox.SystemEvent | Mutable
}

// Mutable is a record that can be changed and deleted: all but the entries of
// the append-only event log.
type Mutable interface {
	Workspace | inbox.Inbox | inbox.Email | inbox.Agent | inbox.AgentRun | inbox.WorkflowRun |
		inbox.Webhook | inbox.Delivery | inbox.Secret
}

// Workspace is a workspace with the organization that owns it, which callers
// are not shown.
type Workspace struct {
	inbox.Workspace
	Organization access.OrganizationID `json:"organization_id"`
}

// The families that have no ids to complete.
const (
	workspacesFamily inbox.Family = "workspaces"
	deliveriesFamily inbox.Family = "deliveries"
	secretsFamily    inbox.Family = "secrets"
)

// family is all that the table knows of a kind of record: one value of it
// decides where records are written, found and filtered.
type family[T Record] struct {
	name inbox.Family
	noun string // what messages call one
	key  func(r *T) (access.WorkspaceID, inbox.ID)
	// scope, when set, is the record that the records are listed under.
	scope func(r *T) inbox.ID
	// indexes are the filters, in the order of preference for a list by
	// several of them.
	indexes []index[T]
	// externalID, when set, is the field that refs may name a record by.
	externalID func(r *T) *string
	// names, when set, are further values that are unique.
	names func(s space, r *T) []name
	// beside, when set, are the items that go when the record is deleted.
	beside func(s space, r *T) []store.Key
	// still, when set, takes out what moves by itself: it makes no other state of
	// the record.
	still func(r *T)
	// tombstone: a deleted record is kept out of sight, with its names.
	tombstone bool
	// retained: the record has something of an e-mail in it, and expires after
	// the retention period.
	retained bool
}

// index is one way to filter a list, by the value that it has in a record; a
// record in which that is "" is not in the index.
type index[T Record] struct {
	name string
	of   func(r *T) string
	// common is the value that most records have: a list by it takes any other
	// index first.
	common string
}

// name is a unique value of a record, with the field that has it.
type name struct {
	field string
	key   store.Key
}

var workspaces = family[Workspace]{
	name: workspacesFamily, noun: "workspace",
	key: func(r *Workspace) (access.WorkspaceID, inbox.ID) { return r.ID, inbox.ID(r.ID) },
	names: func(_ space, r *Workspace) []name {
		names := []name{{"id", workspaceEntry(r.ID)}}
		if r.ExternalID != nil {
			names = append(names, name{"external_id", workspaceName(*r.ExternalID)})
		}
		return names
	},
	beside: func(_ space, r *Workspace) []store.Key {
		return []store.Key{workspaceEntry(r.ID)}
	},
	still:     func(r *Workspace) { r.MonthlyCostUsed, r.MonthlyEmailsUsed = 0, 0 },
	tombstone: true,
}

var inboxes = family[inbox.Inbox]{
	name: inbox.Inboxes, noun: "inbox",
	key:        func(r *inbox.Inbox) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	indexes:    []index[inbox.Inbox]{{name: "agent", of: func(r *inbox.Inbox) string { return text(r.AgentID) }}},
	externalID: func(r *inbox.Inbox) *string { return r.ExternalID },
	names: func(_ space, r *inbox.Inbox) []name {
		return []name{{"email", address(r.Email)}}
	},
	tombstone: true,
}

var emails = family[inbox.Email]{
	name: inbox.Emails, noun: "e-mail",
	key: func(r *inbox.Email) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	indexes: []index[inbox.Email]{
		{name: "from", of: func(r *inbox.Email) string { return inbox.NormalAddress(r.From) }},
		{name: "status", of: func(r *inbox.Email) string { return string(r.Status) }, common: string(inbox.EmailProcessed)},
		{name: "inbox", of: func(r *inbox.Email) string { return string(r.InboxID) }},
	},
	beside: func(s space, r *inbox.Email) []store.Key {
		return []store.Key{s.content(r.ID)}
	},
	retained: true,
}

var agents = family[inbox.Agent]{
	name: inbox.Agents, noun: "agent",
	key:        func(r *inbox.Agent) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	externalID: func(r *inbox.Agent) *string { return r.ExternalID },
	tombstone:  true,
}

var agentRuns = family[inbox.AgentRun]{
	name: inbox.AgentRuns, noun: "agent run",
	key: func(r *inbox.AgentRun) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	indexes: []index[inbox.AgentRun]{
		{name: "email", of: func(r *inbox.AgentRun) string { return string(r.EmailID) }},
		{name: "status", of: func(r *inbox.AgentRun) string { return string(r.Status) }, common: string(inbox.RunSuccess)},
		{name: "agent", of: func(r *inbox.AgentRun) string { return string(r.AgentID) }},
		{name: "inbox", of: func(r *inbox.AgentRun) string { return string(r.InboxID) }},
	},
	retained: true,
}

var workflowRuns = family[inbox.WorkflowRun]{
	name: inbox.WorkflowRuns, noun: "workflow run",
	key: func(r *inbox.WorkflowRun) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	indexes: []index[inbox.WorkflowRun]{
		{name: "email", of: func(r *inbox.WorkflowRun) string { return string(r.EmailID) }},
	},
}

var hooks = family[inbox.Webhook]{
	name: inbox.Webhooks, noun: "webhook",
	key:        func(r *inbox.Webhook) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	indexes:    []index[inbox.Webhook]{{name: "inbox", of: func(r *inbox.Webhook) string { return text(r.InboxID) }}},
	externalID: func(r *inbox.Webhook) *string { return r.ExternalID },
	beside: func(s space, r *inbox.Webhook) []store.Key {
		return []store.Key{s.confidential(r.ID)}
	},
	still:     func(r *inbox.Webhook) { r.ConsecutiveFailures = 0 },
	tombstone: true,
}

// deliveries do not name their workspace; it is that of the transaction.
var deliveries = family[inbox.Delivery]{
	name: deliveriesFamily, noun: "delivery",
	key:   func(r *inbox.Delivery) (access.WorkspaceID, inbox.ID) { return "", r.ID },
	scope: func(r *inbox.Delivery) inbox.ID { return r.WebhookID },
	indexes: []index[inbox.Delivery]{
		{name: "status", of: func(r *inbox.Delivery) string { return string(r.Status) }},
	},
	retained: true,
}

var systemEvents = family[inbox.SystemEvent]{
	name: inbox.SystemEvents, noun: "system event",
	key: func(r *inbox.SystemEvent) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	indexes: []index[inbox.SystemEvent]{
		{name: "email", of: func(r *inbox.SystemEvent) string { return text(r.EmailID) }},
		{name: "slug", of: func(r *inbox.SystemEvent) string { return r.Slug }},
	},
}

// secrets give their name free when they are deleted.
var secrets = family[inbox.Secret]{
	name: secretsFamily, noun: "secret",
	key: func(r *inbox.Secret) (access.WorkspaceID, inbox.ID) { return r.WorkspaceID, r.ID },
	names: func(s space, r *inbox.Secret) []name {
		return []name{{"name", s.name(secretsFamily, "name", r.Name)}}
	},
	beside: func(s space, r *inbox.Secret) []store.Key {
		return []store.Key{s.confidential(r.ID), s.name(secretsFamily, "name", r.Name)}
	},
}

// text is an id that may be missing, as the value of an index.
func text(id *inbox.ID) string {
	if id == nil {
		return ""
	}
	return string(*id)
}

// familyOf returns the family of a type of record.
func familyOf[T Record]() family[T] {
	var f any
	switch any(*new(T)).(type) {
	case Workspace:
		f = workspaces
	case inbox.Inbox:
		f = inboxes
	case inbox.Email:
		f = emails
	case inbox.Agent:
		f = agents
	case inbox.AgentRun:
		f = agentRuns
	case inbox.WorkflowRun:
		f = workflowRuns
	case inbox.Webhook:
		f = hooks
	case inbox.Delivery:
		f = deliveries
	case inbox.SystemEvent:
		f = systemEvents
	case inbox.Secret:
		f = secrets
	}
	return f.(family[T])
}

// place is where a record is kept, and what is kept with it.
type place struct {
	family              inbox.Family
	noun                string
	id                  inbox.ID
	tombstone, retained bool
	primary             store.Key
	copies              []store.Key
	names               []name
	beside              []store.Key
}

// placeOf returns where a record belongs in the workspace, which must be its
// own.
func placeOf[T Record](s space, r *T) (place, error) {
	f := familyOf[T]()
	ws, id := f.key(r)
	if !id.Valid() || ws != "" && ws != access.WorkspaceID(s) {
		return place{}, fmt.Errorf("inboxstore: %s %q of workspace %q does not belong in workspace %q", f.noun, id, ws, s)
	}
	scope := ""
	if f.scope != nil {
		if scope = string(f.scope(r)); !inbox.ID(scope).Valid() {
			return place{}, fmt.Errorf("inboxstore: %s %s belongs to %q", f.noun, id, scope)
		}
	}
	at := func(partition string) store.Key { return store.Key{Partition: partition, Sort: string(id)} }
	p := place{
		family: f.name, noun: f.noun, id: id, tombstone: f.tombstone, retained: f.retained,
		primary: at(s.records(f.name, scope)),
	}
	for _, ix := range f.indexes {
		if v := ix.of(r); v != "" {
			p.copies = append(p.copies, at(s.listed(f.name, scope, ix.name, v)))
		}
	}
	if f.externalID != nil {
		if v := f.externalID(r); v != nil {
			p.names = append(p.names, name{"external_id", s.name(f.name, "external_id", *v)})
		}
	}
	if f.names != nil {
		p.names = append(p.names, f.names(s, r)...)
	}
	if f.beside != nil {
		p.beside = f.beside(s, r)
	}
	return p, nil
}
