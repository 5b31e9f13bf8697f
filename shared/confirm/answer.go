package confirm

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answerKey names our one question in inputRequests and inputResponses, and
// its one field.
const answerKey = "confirm"

// answer is what the person said. It is recorded in the ledger by its text.
type answer string

const (
	unanswered answer = ""
	yes        answer = "yes"
	no         answer = "no"
)

// Errors of parseAnswer: they are shown to the client.
var (
	errResponses = errors.New("inputResponses must be an object")
	errEntry     = errors.New(`inputResponses["confirm"] must be an object`)
	errAction    = errors.New(`inputResponses["confirm"].action must be "accept", "decline" or "cancel"`)
)

// parseAnswer reads inputResponses, nil when absent. Only accept with a
// literal true is a yes; what is no answer at all is unanswered; what no
// client may send is an error (R13, checklist 6.16 to 6.20, field cases 25
// and 26). Members it does not know are ignored.
func parseAnswer(responses jsontext.Value) (answer, error) {
	if responses == nil {
		return unanswered, nil
	}
	entries, ok := object(responses)
	if !ok {
		return unanswered, errResponses
	}
	raw, ok := entries[answerKey]
	if !ok {
		return unanswered, nil
	}
	entry, ok := object(raw)
	if !ok {
		return unanswered, errEntry
	}
	var action string
	if json.Unmarshal(entry["action"], &action) != nil {
		return unanswered, errAction
	}
	switch action {
	case "accept":
		content, _ := object(entry["content"])
		switch content[answerKey].Kind() {
		case jsontext.KindTrue:
			return yes, nil
		case jsontext.KindFalse:
			return no, nil
		}
		return unanswered, nil
	case "decline", "cancel":
		return no, nil
	}
	return unanswered, errAction
}

// object reads a JSON object: valid UTF-8, no name twice.
func object(v jsontext.Value) (members map[string]jsontext.Value, ok bool) {
	if v.Kind() != jsontext.KindBeginObject || json.Unmarshal(v, &members) != nil {
		return nil, false
	}
	return members, true
}
