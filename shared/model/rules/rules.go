// Package rules answers e-mails by a small table of rules, for the demo: no
// language model, no network, no cost, the same answer each time. It imports
// model only.
package rules

import (
	"context"
	"regexp"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
)

// ID is the model's id in the catalogue; rules is the provider, demo the model.
const ID = "rules/demo"

// Model is a [model.Model] of rules.
type Model struct{}

// Answer implements [model.Model]. It goes by the e-mail alone, not by the
// instructions. A token is four bytes, begun ones included.
func (Model) Answer(_ context.Context, r model.Request) (model.Answer, error) {
	asked := model.Count(tokens(r.System)+tokens(r.Message), 0, 0, 0)
	if "rules/"+r.Model != ID {
		return model.Answer{}, &model.Error{Sentence: "The rules have only the model " + ID + "."}
	}
	e := read(r.Message)
	for _, rule := range table {
		for _, variant := range rule.variants {
			if variant.match.MatchString(e.text) {
				answer := rule.answer(variant.say, e)
				return model.Finish(answer, false, model.Count(asked.InputTokens, tokens(answer), 0, 0))
			}
		}
	}
	return model.Answer{Tokens: asked}, &model.Error{Sentence: "None of the demo's rules fits this e-mail."}
}

func tokens(s string) int64 { return int64(len(s)+3) / 4 }

// email is what rules look at.
type email struct {
	from string // the sender's name, else the address
	text string // subject and body, without what is quoted
}

// marked matches the e-mail in a message of [model.NewRequest]: between its two
// marks, header fields and a body.
var marked = regexp.MustCompile(`(?s)\n\[untrusted content [^\n]* begins:[^\n]*\n(.*?)\n\n(.*)\n\[untrusted content [^\n]* ends\]\s*$`)

var (
	fromField    = regexp.MustCompile(`(?m)^From: (?:([^<\n]*[^<\s]) )?<?([^>\n]*)>?$`)
	subjectField = regexp.MustCompile(`(?m)^Subject: (.*)$`)
	isReply      = regexp.MustCompile(`(?i)^(re|res|aw|sv|antw|enc|fwd?)\s*:`) // whose subject is of an earlier e-mail
	quoted       = regexp.MustCompile(`(?m)^\s*>.*$`)
)

// read finds the e-mail in a message; any other message is a body.
func read(message string) email {
	m := marked.FindStringSubmatch(message)
	if m == nil {
		return email{text: message}
	}
	e := email{text: quoted.ReplaceAllString(m[2], "")}
	if from := fromField.FindStringSubmatch(m[1]); from != nil {
		e.from = from[1]
		if e.from == "" {
			e.from = from[2]
		}
	}
	if subject := subjectField.FindStringSubmatch(m[1]); subject != nil && !isReply.MatchString(subject[1]) {
		e.text = subject[1] + "\n" + e.text
	}
	e.text = strings.TrimSpace(e.text)
	return e
}
