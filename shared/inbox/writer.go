package inbox

import (
	"context"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// Service is the inbox: all that the tools do, they do through it.
type Service interface {
	Reader
	Writer
}

// Writer is the part of [Service] that changes things. Every change works in
// the workspace of its [Actor] and leaves one system event that names the
// actor, in the same transaction as its effect; what goes out of
// the house leaves one before it and one after.
//
// Records to change are passed as they were read ("was"). When one is not in
// that state any more the change does nothing and returns a conflict that
// [ErrChanged] matches; one that is gone is not_found. Of "now", what an update
// says that it changes is taken, and the rest is left as it was. Errors that a
// caller can act on are [*Error]s, and say that nothing was changed.
type Writer interface {
	Editor
	Actions
}

// Editor is the part of [Writer] whose effects stay in the house.
type Editor interface {
	// UpdateWorkspace changes the actor's workspace: label, e-mail prefix,
	// locale, limits and both metadata.
	UpdateWorkspace(ctx context.Context, by Actor, was, now Workspace) (Workspace, error)

	// CreateInbox makes an inbox of the draft: its id, times and what is left
	// empty (external_id, e-mail address, attachment limits) are made here. It
	// is active.
	CreateInbox(ctx context.Context, by Actor, draft Inbox) (Inbox, error)
	// UpdateInbox changes label, agent, status, filters and attachment rules.
	UpdateInbox(ctx context.Context, by Actor, was, now Inbox) (Inbox, error)
	// DeleteInbox also switches off the webhooks that are bound to the inbox:
	// without it they would be told of every inbox. When there are not bound of
	// them any more, it does nothing, as if the inbox had changed.
	DeleteInbox(ctx context.Context, by Actor, was Inbox, bound int) error
	// BoundWebhooks counts those webhooks. More than can be switched off at once
	// are limit_exceeded, as they are when the inbox is deleted.
	BoundWebhooks(ctx context.Context, ws access.WorkspaceID, inbox ID) (int, error)
	// SetRecipients changes who may send to an inbox: these addresses, each
	// once without regard to case, or anyone when there are none.
	SetRecipients(ctx context.Context, by Actor, was Inbox, allowed []string) (Inbox, error)

	// CreateAgent makes an agent of the draft, with an id, times and, if it has
	// none, an external_id.
	CreateAgent(ctx context.Context, by Actor, draft Agent) (Agent, error)
	// UpdateAgent changes label, model, system message and skills.
	UpdateAgent(ctx context.Context, by Actor, was, now Agent) (Agent, error)
	// DeleteAgent also takes the agent from the inboxes that it reads, which must
	// be as many as given.
	DeleteAgent(ctx context.Context, by Actor, was Agent, inboxes int) error
	// AgentInboxes counts those inboxes, within a limit as BoundWebhooks does.
	AgentInboxes(ctx context.Context, ws access.WorkspaceID, agent ID) (int, error)

	// CreateWebhook makes an active webhook of the draft, as CreateAgent does,
	// and the secret that signs its deliveries. Without subscribed events it is
	// told of every one.
	CreateWebhook(ctx context.Context, by Actor, draft Webhook, c Credentials) (w Webhook, secret string, err error)
	// UpdateWebhook changes label, URL, inbox, subscribed events and status.
	// One with auth cannot change its host: that is a conflict.
	UpdateWebhook(ctx context.Context, by Actor, was, now Webhook) (Webhook, error)
	DeleteWebhook(ctx context.Context, by Actor, was Webhook) error
	// RotateSecret makes a new signing secret; the one before it goes on
	// signing beside it until oldValidUntil.
	RotateSecret(ctx context.Context, by Actor, was Webhook) (secret string, oldValidUntil time.Time, err error)

	// DeleteEmail removes the e-mail, its body, its raw message and what agents
	// wrote about it.
	DeleteEmail(ctx context.Context, by Actor, was Email) error

	// Secret returns what may be known of one secret. It is here because only
	// who writes secrets asks for one.
	Secret(ctx context.Context, ws access.WorkspaceID, id ID) (Secret, error)
	CreateSecret(ctx context.Context, by Actor, draft Secret, value string) (Secret, error)
	// UpdateSecret changes the description, and the value unless it is nil.
	UpdateSecret(ctx context.Context, by Actor, was, now Secret, value *string) (Secret, error)
	DeleteSecret(ctx context.Context, by Actor, was Secret) error

	// Record leaves a system event of something that was not done: a declined,
	// replayed or refused confirmation.
	Record(ctx context.Context, by Actor, o Outcome) error
}

// Actions is the part of [Writer] that sends something out or puts an agent to
// work.
type Actions interface {
	// TestWebhook sends a webhook.test event and returns its delivery.
	TestWebhook(ctx context.Context, by Actor, was Webhook) (Delivery, error)
	// ReplayDelivery sends the event of a delivery again, as a new delivery.
	ReplayDelivery(ctx context.Context, by Actor, webhook Webhook, was Delivery) (Delivery, error)
	// ReprocessEmail takes the stored raw message through the inbox's rules and
	// pipeline again.
	ReprocessEmail(ctx context.Context, by Actor, was Email) (WorkflowRun, error)

	// CanTest, CanReplay and CanReprocess return the error that the action would
	// refuse the records with, as they stand: nobody is asked about what cannot
	// run.
	CanTest(ctx context.Context, webhook Webhook) error
	CanReplay(ctx context.Context, webhook Webhook, d Delivery) error
	CanReprocess(ctx context.Context, e Email) error
}

// Actor is who changes something, and how: what its system event says.
type Actor struct {
	Workspace access.WorkspaceID
	Person    access.Person
	Client    string // OAuth client id, "" when the token has none: never what a client calls itself
	Tool      string
	// Confirmation is the id of the person's explicit yes, "" where none is
	// asked. Work that is sent out claims it as its job id.
	Confirmation string
	// Arguments is a keyed digest of the call's arguments without secret fields.
	Arguments string
}

// Outcome is how a call ended, in its system event.
type Outcome string

// The outcomes of system events.
const (
	OutcomeDone        Outcome = "done"
	OutcomeStarted     Outcome = "started" // something goes out; another event says how it went
	OutcomeFailed      Outcome = "failed"
	OutcomeDeclined    Outcome = "user_declined"
	OutcomeReplayed    Outcome = "confirmation_replayed"
	OutcomeRequired    Outcome = "confirmation_required"
	OutcomeUnavailable Outcome = "confirmation_unavailable"
)
