package confirm

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Decision is what became of a [Call].
type Decision struct {
	Outcome Outcome
	// ID names the confirmation that was asked for or answered, for the audit;
	// "" when there is none.
	ID string
	// Result is the interim result of Asked: inputRequests and requestState
	// (checklist 6.02).
	Result jsontext.Value
	// Message is for the person: what happened, and what did not.
	Message string
	// Reason says why the person is asked, for the log.
	Reason Reason
	// Cause is what broke, for the log only.
	Cause error
}

// Outcome is the kind of a [Decision]. Those that a tool answers with an error
// are that error's code.
type Outcome string

// The outcomes. Only in Confirmed was the action executed, and only if
// Confirm returned no error.
const (
	Asked       Outcome = "input_required"           // R12
	Confirmed   Outcome = "confirmed"                // R13: an explicit yes was spent
	Declined    Outcome = "user_declined"            // R13
	Replayed    Outcome = "confirmation_replayed"    // R15
	Required    Outcome = "confirmation_required"    // R16
	Unavailable Outcome = "confirmation_unavailable" // R17
	Malformed   Outcome = "invalid_params"           // -32602 (checklist 6.18)
)

// RequiredData is the data of the JSON-RPC error that tells a modern client
// what [Required] asks of it (R16, checklist 6.06).
const RequiredData = `{"code":"confirmation_required","requiredCapabilities":{"elicitation":{"form":{}}}}`

// Reason says why a person is asked.
type Reason string

// The reasons to ask.
const (
	ReasonFirst      Reason = "first"      // no requestState came
	ReasonUnreadable Reason = "unreadable" // the requestState is not one of ours
	ReasonMismatch   Reason = "mismatch"   // it was sealed for another call, person or workspace
	ReasonExpired    Reason = "expired"    // it is too old
	ReasonFuture     Reason = "future"     // it was issued by a clock too far ahead
	ReasonUnanswered Reason = "unanswered" // the answer is missing, or neither yes nor no
	ReasonChanged    Reason = "changed"    // the target is not what was shown
)

func unavailable(l Language, cause error) Decision {
	return Decision{Outcome: Unavailable, Message: textUnavailable.In(l), Cause: cause}
}

func replayed(st state, e entry) Decision {
	text := textReplayed
	if e.Answer == no {
		text = textReplayedNo
	}
	return Decision{
		Outcome: Replayed, ID: st.ID,
		Message: text.format(st.Language, e.At.UTC().Format("2006-01-02 15:04:05 UTC")),
	}
}
