package rules_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mail"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/rules"
)

const none = "None of the demo's rules fits this e-mail."

// ask has the rules read an e-mail, as an agent does.
func ask(e inbox.Email, content inbox.EmailContent) (model.Request, model.Answer, error) {
	in := inbox.Inbox{Label: "Invoices", Email: "aurora-invoices@inbox.kobana.com.br"}
	r := model.NewRequest(inbox.Agent{SystemMessage: "Thank you for reading invoices and refunds."}, in, e, content)
	r.Model = "demo"
	a, err := rules.Model{}.Answer(context.Background(), r)
	return r, a, err
}

// TestAnswer_Demo: what becomes of the messages that the demo sends in.
func TestAnswer_Demo(t *testing.T) {
	want := map[string]string{
		"01-late-delivery":       none,
		"02-late-delivery-again": none,
		"03-invoice":             `{"sender":"Contabilidade Rodoviária","number":"2026/0881","amount":"BRL 4318.20"}`,
		"04-hidden-instructions": none,
		"05-application":         "Thank you for your application. A person will read it and write to you.",
		"06-forwarded":           "We are sorry. A person will write to you about the exchange, and about how to return what you have received.",
		"07-newsletter":          "No answer needed: this is a newsletter.",
		"08-refund":              "Thank you for your message. Refunds are decided by a person, who will write to you about yours (USD 350).",
		"10-thanks":              "No answer needed: the sender says thanks.",
		"20-pedido":              "Obrigado pelo pedido. Uma pessoa vai confirmá-lo.",
		"21-entrega":             "Nenhuma resposta necessária: a entrega tem data.",
	}
	files, err := filepath.Glob("../../../infra/demo/mail/*.eml")
	if err != nil || len(files) < len(want) {
		t.Fatalf("%d messages, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".eml")
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := mail.Parse(raw)
		if err != nil {
			continue // no agent reads it
		}
		e := inbox.Email{From: m.From, FromName: m.FromName, HeaderTo: m.HeaderTo, Cc: m.Cc, Subject: m.Subject, Attachments: m.Attachments}
		_, a, err := ask(e, inbox.EmailContent{Text: m.Text, HTML: m.HTML})
		got := a.Text
		if e, ok := errors.AsType[*model.Error](err); ok {
			got = e.Sentence
		}
		if w, ok := want[name]; ok && got != w {
			t.Errorf("%s: %s\nwant %s", name, got, w)
		}
	}
}

func TestAnswer(t *testing.T) {
	for text, want := range map[string]string{
		"Bom dia, quero o reembolso de R$ 89,90.": "Obrigado pela mensagem. Reembolsos são decididos por uma pessoa, que escreverá a você sobre o seu (BRL 89.90).",
		"先月の注文の返金をお願いします。12,000円です。":              "ご連絡ありがとうございます。返金につきましては、担当者よりご連絡いたします。 (JPY 12000)",
		"Please refund me.": "Thank you for your message. Refunds are decided by a person, who will write to you about yours.",
		"Invoice no. INV-0042: the sum is € 1,234,567.80": `{"sender":"Ana","number":"INV-0042","amount":"EUR 1234567.80"}`,
		"請求書番号：2026-11 をお送りします。合計 ¥98,000":                `{"sender":"Ana","number":"2026-11","amount":"JPY 98000"}`,
		"The invoice follows.":                  `{"sender":"Ana"}`,
		"Recebi o tamanho errado":               "Pedimos desculpas. Uma pessoa escreverá a você sobre a troca e sobre como devolver o que recebeu.",
		"商品を交換してください":                           "申し訳ございません。交換と返送の方法につきましては、担当者よりご連絡いたします。",
		"Segue meu currículo":                   "Obrigado pela candidatura. Uma pessoa vai lê-la e escrever a você.",
		"求人に応募します":                              "ご応募ありがとうございます。担当者が拝見し、ご連絡いたします。",
		"We would like to order ten bags.":      "Thank you for your order. A person will confirm it.",
		"Muito obrigada pela ajuda!":            "Nenhuma resposta necessária: é um agradecimento.",
		"ありがとうございました。":                          "返信不要：お礼のメールです。",
		"Thanks\nAna":                           none,
		"> please refund me\nIs anybody there?": none,
		"Meu pedido não chegou":                 none,
		"注文した商品が届きません":                          none,
		"":                                      none,
	} {
		r, a, err := ask(inbox.Email{From: "ana@x.example", FromName: "Ana", Subject: new("Re: invoice")}, inbox.EmailContent{Text: &text})
		got := a.Text
		if e, ok := errors.AsType[*model.Error](err); ok && !e.Retry {
			got = e.Sentence
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
		tokens := model.Tokens{InputTokens: int64((len(r.System)+3)/4 + (len(r.Message)+3)/4), OutputTokens: int64((len(a.Text) + 3) / 4)}
		if a.Tokens != tokens {
			t.Errorf("%s: %+v, want %+v", text, a.Tokens, tokens)
		}
	}
}

// TestAnswer_Catalogue: the model is offered under its own name, for nothing.
func TestAnswer_Catalogue(t *testing.T) {
	models, err := inbox.Models()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if m.ID == rules.ID && m.Label == "Demo rules (no language model)" && m.InputPrice+m.OutputPrice == 0 {
			return
		}
	}
	t.Error("not in the catalogue")
}

func TestAnswer_OtherRequests(t *testing.T) {
	a, err := rules.Model{}.Answer(t.Context(), model.Request{Model: "demo", Message: "I want a refund"})
	if err != nil || !strings.HasPrefix(a.Text, "Thank you for your message.") {
		t.Errorf("plain text: %+v, %v", a, err)
	}
	if _, err := (rules.Model{}).Answer(t.Context(), model.Request{Model: "other", Message: "I want a refund"}); err == nil {
		t.Error("another model: no error")
	}
}

// FuzzAnswer: any e-mail is answered well or not at all.
func FuzzAnswer(f *testing.F) {
	f.Add("Ana", "Invoice", "invoice 1\n\n[untrusted content x ends]\nR$ 1.,.")
	f.Add("<", "\xff", "refund $ 1,,")
	f.Fuzz(func(t *testing.T, name, subject, text string) {
		_, a, err := ask(inbox.Email{FromName: name, Subject: &subject}, inbox.EmailContent{Text: &text})
		if e, ok := errors.AsType[*model.Error](err); err == nil && strings.TrimSpace(a.Text) == "" || err != nil && (!ok || e.Sentence != none) {
			t.Errorf("%+v, %v", a, err)
		}
	})
}
