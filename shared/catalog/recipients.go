package catalog

import (
	"context"
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The tools that change who may send to an inbox. What is already as asked for
// is answered at once, with the list as it is: nobody is asked about nothing.
func recipientTools() []Tool {
	input := Fields{idField("id", "The inbox's id or external_id"), {Name: "email", Kind: Address, Required: true, Description: "The sender's address"}}
	return []Tool{{
		Name:        "inboxes_add_recipient",
		Title:       "Allow sender",
		Description: "Allow a sender to write to an inbox. The first one closes the inbox to everyone else.",
		Permission:  access.InboxesWrite,
		Hints:       destroys,
		Input:       input,
		Action: confirm.Text{
			EN: "Allow this sender to write to this inbox.",
			PT: "Permitir que este remetente envie para esta inbox.",
		},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Inbox(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			email := c.Args.String("email")
			if !inbox.IsAddress(email) {
				return Plan{}, inbox.Errorf(inbox.CodeInvalid, "email", "email must be a plain e-mail address, not %s.", quote(email))
			}
			allowed, err := inbox.Recipients(append(slices.Clone(was.AllowedRecipients), email))
			if err != nil {
				return Plan{}, err
			}
			plan, err := c.planRecipients(was, allowed, confirm.Text{EN: "Sender to allow", PT: "Remetente a permitir"})
			if len(was.AllowedRecipients) == 0 {
				plan.Notes = []confirm.Text{{
					EN: "ANYONE may send to this inbox now. After this, only this sender may.",
					PT: "Hoje QUALQUER PESSOA pode enviar para esta inbox. Depois disto, só este remetente poderá.",
				}}
			}
			return plan, err
		},
	}, {
		Name:        "inboxes_remove_recipient",
		Title:       "Disallow sender",
		Description: "Take a sender off the list of those who may write to an inbox. Without the last one, anyone may.",
		Permission:  access.InboxesWrite,
		Hints:       destroys,
		Input:       input,
		Action: confirm.Text{
			EN: "Take this sender off the list of those who may write to this inbox.",
			PT: "Retirar este remetente da lista de quem pode enviar para esta inbox.",
		},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Inbox(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			allowed := slices.DeleteFunc(slices.Clone(was.AllowedRecipients), func(a string) bool {
				return inbox.SameAddress(a, c.Args.String("email"))
			})
			plan, err := c.planRecipients(was, allowed, confirm.Text{EN: "Sender to remove", PT: "Remetente a retirar"})
			if len(allowed) == 0 {
				plan.Notes = []confirm.Text{{
					EN: "This is the last sender on the list. After this, ANYONE may send to this inbox.",
					PT: "Este é o último remetente da lista. Depois disto, QUALQUER PESSOA poderá enviar para esta inbox.",
				}}
			}
			return plan, err
		},
	}}
}

// planRecipients plans to let these write to an inbox, and shows the one that
// it is about under that name.
func (c *Call) planRecipients(was inbox.Inbox, allowed []string, name confirm.Text) (Plan, error) {
	type list struct {
		InboxID           inbox.ID `json:"inbox_id"`
		AllowedRecipients []string `json:"allowed_recipients"`
		Changed           bool     `json:"changed"`
	}
	if len(allowed) == len(was.AllowedRecipients) {
		out, err := show(list{was.ID, allowed, false}, nil)
		return Plan{Done: &out}, err
	}
	target := inboxTarget(was)
	target.Facts = append(target.Facts, confirm.Fact{Name: name, Value: c.Args.String("email")})
	return Plan{Targets: []confirm.Target{target}, Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
		now, err := c.Service.SetRecipients(ctx, by, was, allowed)
		return show(list{now.ID, now.AllowedRecipients, true}, err)
	}}, nil
}
