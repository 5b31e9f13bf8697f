package confirm

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Question is what a person is asked: the action, and what it acts on. The
// texts are the tool's own data; names, labels and values may be anybody's,
// and are shown so that they cannot pass for part of the question.
type Question struct {
	Language Language
	// Action is a sentence, such as "Delete this inbox for good."
	Action   Text
	Targets  []Target
	Cascades []Cascade
	// Notes are further sentences about consequences, such as that from now on
	// anyone may write to the inbox.
	Notes        []Text
	Organization string // its name
	Workspace    string // its name
	// Hide names the arguments whose values are not shown: those that hold
	// secrets (checklist 6.09).
	Hide []string
	// Labels are what people call the arguments, by name; one without a label
	// is shown by its name.
	Labels map[string]Text
}

// Target is a record that the action acts on.
type Target struct {
	Kind Text   // such as "Inbox"
	ID   string // resolved internal id
	// Label is the name people gave it, "" when it has none.
	Label string
	// Facts are what identifies the record whatever its label says: address,
	// host, sender and subject. URLs are shown as their host.
	Facts []Fact
}

// Fact is one immutable property of a [Target].
type Fact struct {
	Name  Text
	Value string
}

// Cascade counts other records that the action affects.
type Cascade struct {
	One, Many Text // the noun: "agent", "agents"
	Count     int64
	// Moving marks a count that changes by itself, such as of e-mails: it is
	// shown, but a change does not void the answer.
	Moving bool
}

func (q *Question) targetIDs() []string {
	ids := make([]string, len(q.Targets))
	for i, t := range q.Targets {
		ids[i] = t.ID
	}
	return ids
}

// digest identifies what the person is shown of the targets. It depends
// neither on the language nor on what moves by itself.
func (q *Question) digest() (sum digest) {
	h := sha256.New()
	fmt.Fprintf(h, "action %q\n", q.Action.EN)
	for _, t := range q.Targets {
		fmt.Fprintf(h, "target %q %q %q\n", t.Kind.EN, t.ID, t.Label)
		for _, f := range t.Facts {
			fmt.Fprintf(h, "fact %q %q\n", f.Name.EN, f.Value)
		}
	}
	for _, c := range q.Cascades {
		if !c.Moving {
			fmt.Fprintf(h, "cascade %q %d\n", c.Many.EN, c.Count)
		}
	}
	for _, n := range q.Notes {
		fmt.Fprintf(h, "note %q\n", n.EN)
	}
	return digest(h.Sum(nil))
}

// message is the question as plain text, a fact to a line.
func (q *Question) message(args jsontext.Value, why Reason) (string, error) {
	l := q.Language
	var lines []string
	add := func(format string, a ...any) { lines = append(lines, fmt.Sprintf(format, a...)) }

	switch why {
	case ReasonExpired:
		add("%s\n", textExpired.In(l))
	case ReasonChanged:
		add("%s\n", textChanged.In(l))
	}
	add("%s\n", q.Action.In(l))
	for _, t := range q.Targets {
		name := t.Label
		if name == "" {
			name = t.ID
		}
		add("%s: %s", t.Kind.In(l), quote(l, name))
		for _, f := range t.Facts {
			add("  %s: %s", f.Name.In(l), quote(l, f.Value))
		}
	}
	if c := q.cascades(); c != "" {
		add("%s: %s", textCascades.In(l), c)
	}
	for _, n := range q.Notes {
		add("%s", n.In(l))
	}
	add("%s: %s", textWorkspace.In(l), quote(l, q.Workspace))
	add("%s: %s\n", textOrganization.In(l), quote(l, q.Organization))

	shown, err := q.showArguments(args)
	if err != nil {
		return "", err
	}
	if len(shown) == 0 {
		add("%s", textNoArguments.In(l))
	} else {
		add("%s\n  %s", textArguments.In(l), strings.Join(shown, "\n  "))
	}
	return strings.Join(lines, "\n"), nil
}

func (q *Question) cascades() string {
	var parts []string
	for _, c := range q.Cascades {
		switch c.Count {
		case 0:
		case 1:
			parts = append(parts, "1 "+c.One.In(q.Language))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", c.Count, c.Many.In(q.Language)))
		}
	}
	return strings.Join(parts, ", ")
}

// inputRequired is the interim result that carries a question (checklist 6.02,
// 6.03, 6.07, 6.08).
type inputRequired struct {
	InputRequests map[string]elicitation `json:"inputRequests"`
	RequestState  string                 `json:"requestState"`
}

type elicitation struct {
	Method string `json:"method"`
	Params form   `json:"params"`
}

type form struct {
	Mode    string `json:"mode"`
	Message string `json:"message"`
	Schema  schema `json:"requestedSchema"`
}

type schema struct {
	Type       string           `json:"type"`
	Properties map[string]field `json:"properties"`
	Required   []string         `json:"required"`
}

type field struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

// result is the JSON of the interim result that asks q.
func (q *Question) result(args jsontext.Value, why Reason, ttl time.Duration, sealed string) (jsontext.Value, error) {
	message, err := q.message(args, why)
	if err != nil {
		return nil, err
	}
	return json.Marshal(inputRequired{
		InputRequests: map[string]elicitation{answerKey: {
			Method: "elicitation/create",
			Params: form{Mode: "form", Message: message, Schema: schema{
				Type: "object",
				Properties: map[string]field{answerKey: {
					Type:        "boolean",
					Title:       textField.In(q.Language),
					Description: textFieldHelp.format(q.Language, showDuration(ttl)),
				}},
				Required: []string{answerKey},
			}},
		}},
		RequestState: sealed,
	})
}

func showDuration(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
