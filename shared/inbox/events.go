package inbox

import (
	"slices"
	"strings"
)

// The slugs of system events of mail: those that webhooks can be told of.
const (
	EventEmailReceived = "email.received"
	EventEmailApproved = "email.approved"
	EventEmailRejected = "email.rejected"
	EventEmailFailed   = "email.failed"
	// EventEmailProcessed: the agent, if there is one, has read it.
	EventEmailProcessed    = "email.processed"
	EventAgentRunSucceeded = "agent_run.succeeded"
	EventAgentRunFailed    = "agent_run.failed"
	// EventWebhookTest is what a test delivers; to the webhook that is tested
	// whatever it subscribed to.
	EventWebhookTest = "webhook.test"
)

// The slugs of system events of what happens by itself, which webhooks are not
// told of.
const (
	EventWebhookDisabled = "webhook.disabled" // switched off after failing again and again
	EventEmailReplied    = "email.replied"    // what its agent answered was sent
	EventEmailNotReplied = "email.not_replied"
)

// The slugs of system events of what a person did. They name the person and
// are for the workspace's own log only.
const (
	EventWorkspaceUpdated     = "workspace.updated"
	EventInboxCreated         = "inbox.created"
	EventInboxUpdated         = "inbox.updated"
	EventInboxDeleted         = "inbox.deleted"
	EventRecipientAdded       = "inbox.recipient_added"
	EventRecipientRemoved     = "inbox.recipient_removed"
	EventAgentCreated         = "agent.created"
	EventAgentUpdated         = "agent.updated"
	EventAgentDeleted         = "agent.deleted"
	EventWebhookCreated       = "webhook.created"
	EventWebhookUpdated       = "webhook.updated"
	EventWebhookDeleted       = "webhook.deleted"
	EventWebhookSecretRotated = "webhook.secret_rotated"
	EventWebhookTested        = "webhook.tested"
	EventDeliveryReplayed     = "webhook.delivery_replayed"
	EventEmailReprocessed     = "email.reprocessed"
	EventEmailDeleted         = "email.deleted"
	EventSecretCreated        = "secret.created"
	EventSecretUpdated        = "secret.updated"
	EventSecretDeleted        = "secret.deleted"
)

// Slug is that of the event which says that a call ended so, and that nothing
// was done: confirmation.user_declined, .replayed, .required, .unavailable.
func (o Outcome) Slug() string {
	return "confirmation." + strings.TrimPrefix(string(o), "confirmation_")
}

// AllEvents is what a webhook subscribes to that wants all of [WebhookEvents],
// those to come included.
const AllEvents = "*"

// Subscribes reports whether the webhook wants to be told of events with that
// slug.
func (w *Webhook) Subscribes(slug string) bool {
	wants := func(s string) bool { return slices.Contains(w.SubscribedEvents, s) }
	return slices.Contains(WebhookEvents(), slug) && (wants(slug) || wants(AllEvents))
}

// WebhookEvents returns the slugs that a webhook may subscribe to, beside
// [AllEvents].
func WebhookEvents() []string {
	return []string{
		EventEmailReceived, EventEmailApproved, EventEmailRejected, EventEmailProcessed, EventEmailFailed,
		EventAgentRunSucceeded, EventAgentRunFailed, EventWebhookTest,
	}
}
