package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func secretTools() []Tool {
	return []Tool{{
		Name:        "secrets_list",
		Title:       "List secrets",
		Description: "List the names and descriptions of the workspace's secrets, newest first. Values are never shown.",
		Permission:  access.SecretsRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Secrets(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "secrets_create",
		Title:       "Create secret",
		Description: "Keep a secret under a name that no other one has. Its value is never shown again.",
		Permission:  access.SecretsWrite,
		Hints:       creates,
		Input: Fields{
			{Name: "name", Required: true, Min: 1, Max: 64, Description: "Letters, digits and _ . -, beginning with a letter"},
			secretValue(true),
			secretDescription(),
		},
		Action: confirm.Text{EN: "Create a secret.", PT: "Criar um secret."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			draft := inbox.Secret{WorkspaceID: c.workspace(), Name: c.Args.String("name")}
			setNullable(c.Args, "description", &draft.Description, Args.String)
			value := c.Args.String("value")
			if err := inbox.CheckSecretValue(value); err != nil {
				return Plan{}, err
			}
			return create(draft, func(ctx context.Context, by inbox.Actor, draft inbox.Secret) (inbox.Secret, error) {
				return c.Service.CreateSecret(ctx, by, draft, value)
			}), draft.Validate()
		},
	}, {
		Name:        "secrets_update",
		Title:       "Update secret",
		Description: "Change a secret's value or description. What is left out stays as it is. The value is never shown again.",
		Permission:  access.SecretsWrite,
		Hints:       updates,
		Input:       Fields{idField("id", ""), secretValue(false), secretDescription(), expectedField()},
		Action:      confirm.Text{EN: "Change this secret.", PT: "Alterar este secret."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Secret(ctx, c.workspace(), c.id("id"))
			if err != nil {
				return Plan{}, err
			}
			if err := c.expect("secret", was.UpdatedAt); err != nil {
				return Plan{}, err
			}
			now := was
			setNullable(c.Args, "description", &now.Description, Args.String)
			var value *string
			setNullable(c.Args, "value", &value, Args.String)
			write := func(ctx context.Context, by inbox.Actor, was, now inbox.Secret) (inbox.Secret, error) {
				return c.Service.UpdateSecret(ctx, by, was, now, value)
			}
			if err := now.Validate(); err != nil {
				return Plan{}, err
			}
			if value == nil {
				return update(secretTarget(was), was, now, write)
			}
			// Nobody can see whether the value is another one.
			return change(secretTarget(was), was, now, write), inbox.CheckSecretValue(*value)
		},
	}, {
		Name:        "secrets_delete",
		Title:       "Delete secret",
		Description: "Delete a secret with its value. Its name is free again.",
		Permission:  access.SecretsWrite,
		Hints:       destroys,
		Input:       Fields{idField("id", "")},
		Action: confirm.Text{
			EN: "Delete this secret for good. Whatever uses it will not find it any more.",
			PT: "Excluir este secret definitivamente. Quem o usa não o encontrará mais.",
		},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Secret(ctx, c.workspace(), c.id("id"))
			return remove(secretTarget(was), was, c.Service.DeleteSecret), err
		},
	}}
}

func secretValue(required bool) Field {
	return Field{Name: "value", Required: required, Min: 1, Max: inbox.MaxSecretValue, Secret: true}
}

func secretDescription() Field {
	return Field{Name: "description", Nullable: true, Max: inbox.MaxDescription}
}
