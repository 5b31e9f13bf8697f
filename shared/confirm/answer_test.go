package confirm

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Design §7.5, checklist 6.16 to 6.20, field cases 25 and 26: inputResponses,
// and what becomes of a call that carries a valid requestState with it.
func answerCases() map[string]struct {
	responses string // "" is absent
	want      Outcome
} {
	return map[string]struct {
		responses string
		want      Outcome
	}{
		"yes":                            {sayYes, Confirmed},
		"case 26 extra keys":             {`{"zzz":{"action":"accept"},"confirm":{"action":"accept","x":1,"content":{"confirm":true,"note":"ok"}},"b":null}`, Confirmed},
		"case 25 accept + false":         {sayFalse, Declined},
		"case 25 decline":                {sayDecline, Declined},
		"case 25 cancel":                 {sayCancel, Declined},
		"decline that says true":         {`{"confirm":{"action":"decline","content":{"confirm":true}}}`, Declined},
		"cancel with null content":       {`{"confirm":{"action":"cancel","content":null}}`, Declined},
		"6.16 absent":                    {``, Asked},
		"6.16 empty":                     {`{}`, Asked},
		"our key absent":                 {`{"other":{"action":"accept","content":{"confirm":true}}}`, Asked},
		"key in another case":            {`{"Confirm":{"action":"accept","content":{"confirm":true}}}`, Asked},
		"case 25 accept, no content":     {`{"confirm":{"action":"accept"}}`, Asked},
		"case 25 accept, empty content":  {`{"confirm":{"action":"accept","content":{}}}`, Asked},
		"accept, null content":           {`{"confirm":{"action":"accept","content":null}}`, Asked},
		"accept, content is an array":    {`{"confirm":{"action":"accept","content":[true]}}`, Asked},
		"accept, content is true":        {`{"confirm":{"action":"accept","content":true}}`, Asked},
		"6.19 accept + \"yes\"":          {`{"confirm":{"action":"accept","content":{"confirm":"yes"}}}`, Asked},
		"case 25 accept + \"true\"":      {`{"confirm":{"action":"accept","content":{"confirm":"true"}}}`, Asked},
		"case 25 accept + 1":             {`{"confirm":{"action":"accept","content":{"confirm":1}}}`, Asked},
		"accept + null":                  {`{"confirm":{"action":"accept","content":{"confirm":null}}}`, Asked},
		"accept + [true]":                {`{"confirm":{"action":"accept","content":{"confirm":[true]}}}`, Asked},
		"accept + Confirm":               {`{"confirm":{"action":"accept","content":{"Confirm":true}}}`, Asked},
		"6.18 null":                      {`null`, Malformed},
		"array":                          {`[]`, Malformed},
		"string":                         {`"yes"`, Malformed},
		"true":                           {`true`, Malformed},
		"6.18 entry is a number":         {`{"confirm":12345}`, Malformed},
		"entry is null":                  {`{"confirm":null}`, Malformed},
		"entry is true":                  {`{"confirm":true}`, Malformed},
		"entry is an array":              {`{"confirm":[]}`, Malformed},
		"case 25 unknown action":         {`{"confirm":{"action":"approve","content":{"confirm":true}}}`, Malformed},
		"action in another case":         {`{"confirm":{"action":"Accept","content":{"confirm":true}}}`, Malformed},
		"action member in another case":  {`{"confirm":{"Action":"accept","content":{"confirm":true}}}`, Malformed},
		"no action":                      {`{"confirm":{"content":{"confirm":true}}}`, Malformed},
		"action is null":                 {`{"confirm":{"action":null,"content":{"confirm":true}}}`, Malformed},
		"action is a number":             {`{"confirm":{"action":1,"content":{"confirm":true}}}`, Malformed},
		"entry twice":                    {`{"confirm":{"action":"decline"},"confirm":{"action":"accept","content":{"confirm":true}}}`, Malformed},
		"the answer twice":               {`{"confirm":{"action":"accept","content":{"confirm":false,"confirm":true}}}`, Malformed},
		"the answer twice, in a decline": {`{"confirm":{"action":"decline","content":{"confirm":false,"confirm":true}}}`, Malformed},
		"not JSON":                       {`{"confirm":{"action":"accept","content":{"confirm":true}`, Malformed},
		"a yes with something behind":    {sayYes + `,`, Malformed},
		"a broken name":                  {"{\"\xff\":1}", Malformed},
	}
}

func TestR13_Answers(t *testing.T) {
	for name, c := range answerCases() {
		t.Run(name, func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			call := l.ask(exampleCall(), a, c.responses)
			if c.responses == "" {
				call.InputResponses = nil
			}
			d := l.confirm(call, a, c.want)
			executed, writes := 0, 0
			switch c.want {
			case Confirmed:
				executed, writes = 1, 1
			case Declined:
				writes = 1
			case Asked:
				if d.Reason != ReasonUnanswered {
					t.Errorf("reason %q, want unanswered", d.Reason)
				}
			}
			l.wantExecuted(a, executed)
			l.wantWrites(writes)
		})
	}
}

// Without a verified state no answer is worth anything, and a malformed one
// stays malformed (checklist 6.18, 6.22).
func TestR13_AnswersWithoutState(t *testing.T) {
	for name, c := range answerCases() {
		t.Run(name, func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			call := exampleCall()
			if c.responses != "" {
				call.InputResponses = jsontext.Value(c.responses)
			}
			want := Asked
			if c.want == Malformed {
				want = Malformed
			}
			l.confirm(call, a, want)
			l.wantExecuted(a, 0)
		})
	}
}
