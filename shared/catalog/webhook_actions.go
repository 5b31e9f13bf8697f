package catalog

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

func webhookActionTools() []Tool {
	return []Tool{{
		Name:        "webhooks_test",
		Title:       "Test webhook",
		Description: "Send a webhook.test event to a webhook now, and get its delivery.",
		Permission:  access.WebhooksWrite,
		Hints:       sends,
		Input:       Fields{idField("id", "id or external_id")},
		Action: confirm.Text{
			EN: "Send a test event to this webhook now.",
			PT: "Enviar agora um evento de teste para este webhook.",
		},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Webhook(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			target := webhookTarget(was) // one that is switched off may be tested, but not by an earlier yes
			target.Facts = append(target.Facts, fact("Status", "Status", string(was.Status)))
			return Plan{Targets: []confirm.Target{target}, Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
				d, err := c.Service.TestWebhook(ctx, by, was)
				return show(c.delivery(d, math.MaxInt), err)
			}}, c.Service.CanTest(ctx, was)
		},
	}, {
		Name:  "webhooks_rotate_secret",
		Title: "Rotate webhook secret",
		Description: "Give a webhook a new signing secret, shown to the user this once. " +
			"The old one goes on signing beside it until previous_secret_valid_until.",
		Permission: access.WebhooksWrite,
		Hints:      renews,
		Input:      Fields{idField("id", "id or external_id")},
		Action: confirm.Text{
			EN: "Give this webhook a new signing secret. Its receiver must know the new one before the old one stops signing.",
			PT: "Trocar o segredo de assinatura deste webhook. O destino precisa conhecer o novo antes que o antigo deixe de assinar.",
		},
		Plan: planRotation,
	}}
}

// planRotation plans to make a new signing secret.
func planRotation(ctx context.Context, c *Call) (Plan, error) {
	was, err := c.Service.Webhook(ctx, c.workspace(), c.Args.String("id"))
	if err != nil {
		return Plan{}, err
	}
	home, err := c.workspaceRecord(ctx)
	return Plan{Targets: []confirm.Target{webhookTarget(was)}, Do: func(ctx context.Context, by inbox.Actor) (Output, error) {
		secret, until, err := c.Service.RotateSecret(ctx, by, was)
		return showSecret(home.Locale, was, secret, struct {
			WebhookID inbox.ID  `json:"webhook_id"`
			Until     time.Time `json:"previous_secret_valid_until"`
		}{was.ID, until}, err)
	}}, err
}

// textSecret tells the person a webhook's signing secret, and who else reads it.
var textSecret = confirm.Text{
	EN: "Signing secret of the webhook %q, shown only this once:\n\n%s\n\n" +
		"Give it to the system that receives the deliveries, to verify their signatures. The assistant can read this text too.",
	PT: "Segredo de assinatura do webhook %q, exibido só desta vez:\n\n%s\n\n" +
		"Informe-o ao sistema que recebe as entregas, para verificar as assinaturas. O assistente também consegue ler este texto.",
}

// showSecret shows what a tool answers as [show] does, and a webhook's signing
// secret to the person only.
func showSecret[T any](l inbox.Locale, w inbox.Webhook, secret string, v T, err error) (Output, error) {
	out, err := show(v, err)
	out.ForUser = []string{fmt.Sprintf(textSecret.In(confirm.Language(l)), untrusted.Line(w.Label, 120), secret)}
	return out, err
}
