package catalog

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The records that a question is about: each by the label that people gave it,
// and by what it is whatever its label says. The confirmation
// cleans what is shown.

func workspaceTarget(w inbox.Workspace) confirm.Target {
	return confirm.Target{
		Kind: confirm.Text{EN: "Workspace", PT: "Workspace"}, ID: string(w.ID), Label: w.Label,
		Facts: []confirm.Fact{fact("Identifier", "Identificador", string(w.ID))},
	}
}

func inboxTarget(i inbox.Inbox) confirm.Target {
	return confirm.Target{
		Kind: confirm.Text{EN: "Inbox", PT: "Inbox"}, ID: string(i.ID), Label: i.Label,
		Facts: []confirm.Fact{fact("Address", "Endereço", i.Email)},
	}
}

func emailTarget(e inbox.Email) confirm.Target {
	subject := ""
	if e.Subject != nil {
		subject = *e.Subject
	}
	return confirm.Target{
		Kind: confirm.Text{EN: "E-mail", PT: "E-mail"}, ID: string(e.ID), Label: subject,
		Facts: []confirm.Fact{
			fact("From", "De", e.From),
			fact("Received", "Recebido em", minute(e.ReceivedAt)),
		},
	}
}

func agentTarget(a inbox.Agent) confirm.Target {
	return confirm.Target{
		Kind: confirm.Text{EN: "Agent", PT: "Agente"}, ID: string(a.ID), Label: a.Label,
		Facts: []confirm.Fact{fact("Created", "Criado em", minute(a.CreatedAt))},
	}
}

func webhookTarget(w inbox.Webhook) confirm.Target {
	return confirm.Target{
		Kind: confirm.Text{EN: "Webhook", PT: "Webhook"}, ID: string(w.ID), Label: w.Label,
		Facts: []confirm.Fact{fact("Host", "Host", w.URL)},
	}
}

func deliveryTarget(d inbox.Delivery) confirm.Target {
	var sent struct {
		Event struct {
			Slug string `json:"slug"`
		} `json:"event"`
	}
	_ = json.Unmarshal(d.RequestBody, &sent) // what cannot be read is not shown
	return confirm.Target{
		Kind: confirm.Text{EN: "Delivery", PT: "Entrega"}, ID: string(d.ID), Label: sent.Event.Slug,
		Facts: []confirm.Fact{
			fact("Event", "Evento", string(d.SystemEventID)),
			fact("Created", "Criada em", minute(d.CreatedAt)),
		},
	}
}

func secretTarget(s inbox.Secret) confirm.Target {
	return confirm.Target{
		Kind: confirm.Text{EN: "Secret", PT: "Secret"}, ID: string(s.ID), Label: s.Name,
		Facts: []confirm.Fact{fact("Created", "Criado em", minute(s.CreatedAt))},
	}
}

func fact(en, pt, value string) confirm.Fact {
	return confirm.Fact{Name: confirm.Text{EN: en, PT: pt}, Value: value}
}

// minute writes a time for people.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
