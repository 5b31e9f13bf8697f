package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func webhookTools() []Tool {
	return []Tool{{
		Name:        "webhooks_list",
		Title:       "List webhooks",
		Description: "List the workspace's outgoing webhooks, newest first: URL, events, status and consecutive failures.",
		Permission:  access.WebhooksRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Webhooks(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "webhooks_get",
		Title:       "Get webhook",
		Description: "Get an outgoing webhook: URL, events, status and consecutive failures. Credentials and signing secret are never shown.",
		Permission:  access.WebhooksRead,
		Hints:       reads,
		Input:       Fields{idField("id", "id or external_id")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Webhook(ctx, c.workspace(), c.Args.String("id")))
		},
	}, {
		Name:  "webhooks_create",
		Title: "Create webhook",
		Description: "Create an outgoing webhook. Its signing secret is shown to the user this once. " +
			"Credentials are never shown again; with them, the URL's host cannot change.",
		Permission: access.WebhooksWrite,
		Hints:      creates,
		Input: append(Fields{
			externalIDField(),
			{Name: "label", Required: true, Min: 1, Max: inbox.MaxLabel},
			{Name: "url", Kind: URI, Required: true, Description: "https"},
			webhookInbox(),
			webhookEvents("* when left out: all, those to come included"),
			{Name: "auth", Enum: oneOf(inbox.WebhookAuths()...), Description: "none when left out"},
		}, credentialFields()...),
		Action: confirm.Text{EN: "Create a webhook.", PT: "Criar um webhook."},
		Plan:   planWebhook,
	}, {
		Name:        "webhooks_update",
		Title:       "Update webhook",
		Description: "Change an outgoing webhook. What is left out stays as it is.",
		Permission:  access.WebhooksWrite,
		Hints:       updates,
		Input: Fields{
			idField("id", "id or external_id"),
			{Name: "label", Min: 1, Max: inbox.MaxLabel},
			{Name: "url", Kind: URI, Description: "https; a webhook with auth must keep its host"},
			webhookInbox(),
			webhookEvents("*: all, those to come included"),
			{Name: "status", Enum: oneOf(inbox.Active, inbox.Inactive)},
			expectedField(),
		},
		Action: confirm.Text{EN: "Change this webhook.", PT: "Alterar este webhook."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Webhook(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			if err := c.expect("webhook", was.UpdatedAt); err != nil {
				return Plan{}, err
			}
			now := was
			setText(c.Args, "status", &now.Status)
			if err := c.setWebhook(ctx, &now); err != nil {
				return Plan{}, err
			}
			if was.Auth != inbox.AuthNone && !inbox.SameHost(was.URL, now.URL) {
				return Plan{}, inbox.Errorf(inbox.CodeConflict, "url",
					"The webhook has credentials for its host, so its URL cannot lead to another one. Nothing was changed. Create another webhook.")
			}
			return update(webhookTarget(was), was, now, c.Service.UpdateWebhook)
		},
	}, {
		Name:        "webhooks_delete",
		Title:       "Delete webhook",
		Description: "Delete an outgoing webhook.",
		Permission:  access.WebhooksWrite,
		Hints:       destroys,
		Input:       Fields{idField("id", "id or external_id")},
		Action: confirm.Text{
			EN: "Delete this webhook for good. Its receiver will be told of nothing more.",
			PT: "Excluir este webhook definitivamente. O destino não será mais avisado de nada.",
		},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Webhook(ctx, c.workspace(), c.Args.String("id"))
			return remove(webhookTarget(was), was, c.Service.DeleteWebhook), err
		},
	}}
}

func webhookInbox() Field {
	return Field{Name: "inbox_id", Kind: UUID, Nullable: true, Description: "id or external_id; null: all inboxes"}
}

func webhookEvents(description string) Field {
	events := append(inbox.WebhookEvents(), inbox.AllEvents)
	return Field{Name: "subscribed_events", Kind: Array, Min: 1, Items: &Field{Enum: events}, Description: description}
}

// setWebhook sets what the arguments say of a webhook, which must then be valid.
func (c *Call) setWebhook(ctx context.Context, w *inbox.Webhook) error {
	setText(c.Args, "label", &w.Label)
	setText(c.Args, "url", &w.URL)
	set(c.Args, "subscribed_events", &w.SubscribedEvents, Args.Strings)
	if c.checkURL != nil && c.Args.Has("url") {
		if err := c.checkURL(w.URL); err != nil {
			return err
		}
	}
	if err := setRef(ctx, c, "inbox_id", &w.InboxID, c.Service.Inbox, func(i inbox.Inbox) inbox.ID { return i.ID }); err != nil {
		return err
	}
	return w.Validate()
}

// planWebhook plans to create a webhook.
func planWebhook(ctx context.Context, c *Call) (Plan, error) {
	draft := inbox.Webhook{
		WorkspaceID: c.workspace(), Status: inbox.Active, Auth: inbox.AuthNone, SubscribedEvents: []string{inbox.AllEvents},
	}
	setNullable(c.Args, "external_id", &draft.ExternalID, Args.String)
	setText(c.Args, "auth", &draft.Auth)
	if err := c.setWebhook(ctx, &draft); err != nil {
		return Plan{}, err
	}
	credentials, err := c.credentials(draft.Auth)
	if err != nil {
		return Plan{}, err
	}
	home, err := c.workspaceRecord(ctx)
	if err != nil {
		return Plan{}, err
	}
	return Plan{Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
		w, secret, err := c.Service.CreateWebhook(ctx, by, draft, credentials)
		return showSecret(home.Locale, w, secret, w, err)
	}}, nil
}
