package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func inboxTools() []Tool {
	return []Tool{{
		Name:        "inboxes_list",
		Title:       "List inboxes",
		Description: "List the workspace's inboxes, newest first: address, agent, who may send, filters and attachment rules.",
		Permission:  access.InboxesRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Inboxes(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "inboxes_get",
		Title:       "Get inbox",
		Description: "Get an inbox: address, agent, who may send (empty allowed_recipients: anyone), filters and attachment rules.",
		Permission:  access.InboxesRead,
		Hints:       reads,
		Input:       Fields{idField("id", "id or external_id")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Inbox(ctx, c.workspace(), c.Args.String("id")))
		},
	}, {
		Name:        "inboxes_create",
		Title:       "Create inbox",
		Description: "Create an inbox: an address where mail arrives for an agent. Without allowed_recipients anyone may send to it.",
		Permission:  access.InboxesWrite,
		Hints:       creates,
		Input: append(Fields{
			externalIDField(),
			{Name: "label", Required: true, Min: 1, Max: inbox.MaxLabel},
			{Name: "email", Kind: Address, Description: "Made from the label when left out"},
			{Name: "allowed_recipients", Kind: Array, Max: inbox.MaxRecipients, Items: &Field{Kind: Address}, Description: "Who may send"},
		}, inboxRules()...),
		Action: confirm.Text{EN: "Create an inbox.", PT: "Criar uma inbox."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			draft := inbox.Inbox{
				WorkspaceID: c.workspace(), Status: inbox.Active, AllowedRecipients: []string{}, Filters: []inbox.Object{}, AttachmentsAllow: true,
				AttachmentsMaxFileNumber: inbox.DefaultAttachments, AttachmentsMaxFileSize: inbox.DefaultAttachmentSize,
				AttachmentsMaxTotalSize: inbox.DefaultAttachmentsSum,
			}
			setNullable(c.Args, "external_id", &draft.ExternalID, Args.String)
			setText(c.Args, "email", &draft.Email)
			set(c.Args, "allowed_recipients", &draft.AllowedRecipients, Args.Strings)
			err := c.setInbox(ctx, &draft)
			return create(draft, c.Service.CreateInbox), err
		},
	}, {
		Name:  "inboxes_update",
		Title: "Update inbox",
		Description: "Change an inbox. What is left out stays as it is. Who may send is changed by inboxes_add_recipient " +
			"and inboxes_remove_recipient only.",
		Permission: access.InboxesWrite,
		Hints:      updates,
		Input: append(Fields{
			idField("id", "id or external_id"),
			{Name: "label", Min: 1, Max: inbox.MaxLabel},
			{Name: "status", Enum: oneOf(inbox.Active, inbox.Inactive)},
			expectedField(),
		}, inboxRules()...),
		Action: confirm.Text{EN: "Change this inbox.", PT: "Alterar esta inbox."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Inbox(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			if err := c.expect("inbox", was.UpdatedAt); err != nil {
				return Plan{}, err
			}
			now := was
			setText(c.Args, "status", &now.Status)
			if err := c.setInbox(ctx, &now); err != nil {
				return Plan{}, err
			}
			return update(inboxTarget(was), was, now, c.Service.UpdateInbox)
		},
	}, {
		Name:        "inboxes_delete",
		Title:       "Delete inbox",
		Description: "Delete an inbox: it receives no more mail, and the webhooks bound to it are switched off.",
		Permission:  access.InboxesWrite,
		Hints:       destroys,
		Input:       Fields{idField("id", "id or external_id")},
		Action: confirm.Text{
			EN: "Delete this inbox for good. It will receive no more mail.",
			PT: "Excluir esta inbox definitivamente. Ela deixará de receber e-mails.",
		},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Inbox(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			bound, err := c.Service.BoundWebhooks(ctx, c.workspace(), was.ID)
			plan := remove(inboxTarget(was), was, func(ctx context.Context, by inbox.Actor, was inbox.Inbox) error {
				return c.Service.DeleteInbox(ctx, by, was, bound)
			})
			plan.Cascades = []confirm.Cascade{{
				One:   confirm.Text{EN: "webhook bound to it (switched off)", PT: "webhook vinculado a ela (será desativado)"},
				Many:  confirm.Text{EN: "webhooks bound to it (switched off)", PT: "webhooks vinculados a ela (serão desativados)"},
				Count: int64(bound),
			}}
			return plan, err
		},
	}}
}

// inboxRules are the arguments that inboxes are made with and changed by.
func inboxRules() Fields {
	return Fields{
		{Name: "agent_id", Kind: UUID, Nullable: true, Description: "id or external_id; null: none"},
		{Name: "filters", Kind: Array, Max: inbox.MaxFilters, Items: &Field{Kind: Object, Members: filterFields()}, Description: "Reject mail that any of them matches"},
		{Name: "attachments_allow", Kind: Boolean},
		{Name: "attachments_max_file_number", Kind: Integer, Min: 1, Max: inbox.MaxAttachments},
		{Name: "attachments_max_file_size", Kind: Integer, Min: 1, Max: inbox.MaxMessage, Description: "Bytes"},
		{Name: "attachments_max_total_size", Kind: Integer, Min: 1, Max: inbox.MaxMessage, Description: "Bytes"},
	}
}

// filterFields are those of an [inbox.Filter].
func filterFields() Fields {
	return Fields{
		{Name: "field", Required: true, Enum: oneOf(inbox.FilterFields()...)},
		{Name: "name", Max: inbox.MaxHeaderName, Description: "Of the header"},
		{Name: "operator", Required: true, Enum: oneOf(inbox.FilterOperators()...)},
		{Name: "value", Required: true, Min: 1, Max: inbox.MaxFilterValue},
		{Name: "action", Enum: oneOf(inbox.FilterReject)},
	}
}

// setInbox sets what the arguments say of an inbox, which must then be valid.
func (c *Call) setInbox(ctx context.Context, i *inbox.Inbox) error {
	setText(c.Args, "label", &i.Label)
	set(c.Args, "filters", &i.Filters, Args.Objects)
	set(c.Args, "attachments_allow", &i.AttachmentsAllow, Args.Bool)
	set(c.Args, "attachments_max_file_number", &i.AttachmentsMaxFileNumber, Args.Int)
	set(c.Args, "attachments_max_file_size", &i.AttachmentsMaxFileSize, Args.Int)
	set(c.Args, "attachments_max_total_size", &i.AttachmentsMaxTotalSize, Args.Int)
	if err := setRef(ctx, c, "agent_id", &i.AgentID, c.Service.Agent, func(a inbox.Agent) inbox.ID { return a.ID }); err != nil {
		return err
	}
	valid := *i
	if valid.Email == "" { // it gets an address when it is made
		valid.Email = "an@address.example"
	}
	return valid.Validate()
}

// externalIDField is the id that another system has for a new record.
func externalIDField() Field {
	return Field{Name: "external_id", Kind: UUID, Description: "Your own id; made when left out"}
}
