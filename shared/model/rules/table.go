package rules

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

// rule is what e-mails of one kind are answered.
type rule struct {
	variants []variant // one a language
	answer   func(say string, e email) string
}

// variant is how one language says it, and what it is answered.
type variant struct {
	match *regexp.Regexp
	say   string // {amount} stands for the sum of money in the e-mail
}

func in(pattern, say string) variant { return variant{regexp.MustCompile("(?i)" + pattern), say} }

// table are the rules; the first that fits counts, so that those which much
// mail would fit come last. There is none for an order that has not arrived:
// the demo shows what it looks like when an agent fails.
var table = []rule{
	{[]variant{
		in(`\brefund|money back|never (been )?returned`, "Thank you for your message. Refunds are decided by a person, who will write to you about yours{amount}."),
		in(`reembols|estorno|devolução do (valor|depósito)`, "Obrigado pela mensagem. Reembolsos são decididos por uma pessoa, que escreverá a você sobre o seu{amount}."),
		in(`返金|払い戻し`, "ご連絡ありがとうございます。返金につきましては、担当者よりご連絡いたします。{amount}"),
	}, withAmount},
	{[]variant{in(`\binvoice\b|\bfatura\b|nota fiscal|\bboleto\b|請求書`, "")}, invoice},
	{[]variant{
		in(`\bwrong (item|size|grind|product|goods)\b|\bexchange (it|them|this|the)\b|\bhow do (we|i) return\b`, "We are sorry. A person will write to you about the exchange, and about how to return what you have received."),
		in(`(item|produto|tamanho) errado|gostaria de trocar|\btroca (do|da|de)\b`, "Pedimos desculpas. Uma pessoa escreverá a você sobre a troca e sobre como devolver o que recebeu."),
		in(`交換|間違った商品`, "申し訳ございません。交換と返送の方法につきましては、担当者よりご連絡いたします。"),
	}, plain},
	{[]variant{
		in(`\bapply for\b|\bmy application\b|\bapplication:`, "Thank you for your application. A person will read it and write to you."),
		in(`candidat(o-me|ar-me|ura)|\bvaga de\b|\bcurrículo\b`, "Obrigado pela candidatura. Uma pessoa vai lê-la e escrever a você."),
		in(`応募|履歴書`, "ご応募ありがとうございます。担当者が拝見し、ご連絡いたします。"),
	}, plain},
	{[]variant{
		in(`\bwe (would like|want|wish) to order\b`, "Thank you for your order. A person will confirm it."),
		in(`\bpedido de\b|\bprecisamos de \d`, "Obrigado pelo pedido. Uma pessoa vai confirmá-lo."),
		in(`注文したい|注文をお願い`, "ご注文ありがとうございます。担当者よりご確認のご連絡をいたします。"),
	}, plain},
	{[]variant{
		in(`\bdelivery (is|has been|was) scheduled\b`, "No answer needed: the delivery has a date."),
		in(`\bentrega (foi )?agendada\b`, "Nenhuma resposta necessária: a entrega tem data."),
		in(`配送予定`, "返信不要：配送予定のお知らせです。"),
	}, plain},
	{[]variant{
		in(`\bunsubscribe\b|\bread on the web\b|\bnewsletter\b`, "No answer needed: this is a newsletter."),
		in(`descadastr|ver no navegador`, "Nenhuma resposta necessária: é um boletim."),
		in(`配信停止`, "返信不要：メールマガジンです。"),
	}, plain},
	{[]variant{
		in(`\bthank(s| you)( very much| so much)? for\b`, "No answer needed: the sender says thanks."),
		in(`\bobrigad[oa] (pel[oa]s?|por)\b`, "Nenhuma resposta necessária: é um agradecimento."),
		in(`ありがとうございま`, "返信不要：お礼のメールです。"),
	}, plain},
}

func plain(say string, _ email) string { return say }

func withAmount(say string, e email) string {
	amount := amount(e.text)
	if amount != "" {
		amount = " (" + amount + ")"
	}
	return strings.Replace(say, "{amount}", amount, 1)
}

// invoice reads an invoice: what is not found is left out.
func invoice(_ string, e email) string {
	var v struct {
		Sender string `json:"sender,omitzero"`
		Number string `json:"number,omitzero"`
		Amount string `json:"amount,omitzero"`
	}
	v.Sender, v.Amount = e.from, amount(e.text)
	if m := invoiceNumber.FindStringSubmatch(e.text); m != nil {
		v.Number = m[1]
	}
	line, err := json.Marshal(v)
	if err != nil { // not with valid UTF-8
		return "{}"
	}
	return string(line)
}

var (
	invoiceNumber = regexp.MustCompile(`(?i)(?:invoice|fatura|nota fiscal|boleto|請求書)(?:\s|番号|number|no\.|nº|n\.º|#|:|：)*([a-z]{0,5}-?\d[\w/-]*)`)
	money         = regexp.MustCompile(`(R\$|US\$|USD|BRL|EUR|JPY|GBP|€|£|¥|\$)\s?(\d[\d.,]*)|(\d[\d,]*)\s?円`)
	cents         = regexp.MustCompile(`[.,](\d\d)$`)
	currencies    = map[string]string{"R$": "BRL", "US$": "USD", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
)

// amount is the first sum of money in a text, as in "BRL 4318.20", or "".
func amount(text string) string {
	m := money.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	currency, number := m[1], strings.TrimRight(m[2], ".,")
	if m[3] != "" {
		currency, number = "JPY", m[3]
	}
	if code, ok := currencies[currency]; ok {
		currency = code
	}
	decimals := ""
	if c := cents.FindStringSubmatch(number); c != nil {
		number, decimals = number[:len(number)-3], "."+c[1]
	}
	return currency + " " + strings.NewReplacer(".", "", ",", "").Replace(number) + decimals
}
