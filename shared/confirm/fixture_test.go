package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

const audience = "https://mcp.example.com/mcp"

// lab is a confirmer with everything around it in the test's hand.
type lab struct {
	*testing.T
	now   time.Time
	keys  []Key
	table *storetest.Fault
	*Confirmer
}

func newLab(t *testing.T) *lab {
	l := &lab{
		T:     t,
		now:   time.Date(2026, 12, 2, 9, 30, 0, 0, time.UTC),
		keys:  []Key{testKey("k1")},
		table: storetest.NewFault(dynamotest.Open(t)),
	}
	l.restart()
	return l
}

// restart puts another confirmer on the same keys and ledger: a new process,
// or another instance.
func (l *lab) restart() {
	l.Helper()
	c, err := New(Options{
		Audience: audience, Ledger: l.table, Now: func() time.Time { return l.now },
		Keys: func(context.Context) ([]Key, error) {
			if len(l.keys) == 0 {
				return nil, errors.New("the secret store is down")
			}
			return slices.Clone(l.keys), nil
		},
	})
	if err != nil {
		l.Fatal(err)
	}
	l.Confirmer = c
}

// breakWrites makes the next n writes to the ledger go wrong.
func (l *lab) breakWrites(e storetest.Effect, n int) {
	l.table.Reset()
	for i := range n {
		l.table.Inject(storetest.Injection{Effect: e, Method: storetest.Write, Nth: i + 1})
	}
}

// wantWrites requires the number of calls of the ledger so far: no reads, one
// write for a confirmation.
func (l *lab) wantWrites(n int) {
	l.Helper()
	calls := l.table.Calls()
	if len(calls) != n {
		l.Errorf("%d calls of the ledger (%v), want %d", len(calls), calls, n)
	}
	for _, c := range calls {
		if c.Method != storetest.Write {
			l.Errorf("a %s of the ledger", c.Method)
		}
	}
}

func testKey(id string) Key {
	k := Key{ID: id}
	copy(k.Secret[:], "secret of "+id)
	return k
}

// confirm lets the call through and requires the outcome.
func (l *lab) confirm(call Call, a *deletion, want Outcome) Decision {
	l.Helper()
	d, err := l.Confirm(l.Context(), call, a)
	if err != nil {
		l.Fatalf("Confirm: %v", err)
	}
	if d.Outcome != want {
		l.Fatalf("outcome %s (%s) %q, want %s", d.Outcome, d.Reason, d.Message, want)
	}
	return d
}

// ask makes the first call and returns the second, with the answer.
func (l *lab) ask(call Call, a *deletion, answer string) Call {
	l.Helper()
	return answered(call, l.confirm(call, a, Asked), answer)
}

// Answers, as inputResponses.
const (
	sayYes     = `{"confirm":{"action":"accept","content":{"confirm":true}}}`
	sayFalse   = `{"confirm":{"action":"accept","content":{"confirm":false}}}`
	sayDecline = `{"confirm":{"action":"decline"}}`
	sayCancel  = `{"confirm":{"action":"cancel"}}`
)

// answered is the call repeated with the state of d and an answer.
func answered(call Call, d Decision, answer string) Call {
	call.RequestState = quoteJSON(stateOf(d))
	call.InputResponses = jsontext.Value(answer)
	return call
}

func quoteJSON(s string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return v
}

// stateOf returns the requestState of a decision that asks.
func stateOf(d Decision) string {
	var r inputRequired
	if err := json.Unmarshal(d.Result, &r); err != nil {
		panic(fmt.Sprintf("result %s: %v", d.Result, err))
	}
	return r.RequestState
}

// messageOf returns what the person reads.
func messageOf(d Decision) string {
	var r inputRequired
	if err := json.Unmarshal(d.Result, &r); err != nil {
		panic(fmt.Sprintf("result %s: %v", d.Result, err))
	}
	return r.InputRequests[answerKey].Params.Message
}

func exampleCall() Call {
	return Call{
		Tool:         "inboxes_delete",
		Arguments:    jsontext.Value(`{"id":"support"}`),
		Person:       access.Person{Issuer: "https://id.example.com", Subject: "ana"},
		Client:       "editor",
		Organization: "org-1",
		Workspace:    "ws-1",
		ElicitForm:   true,
	}
}

// deletion is an [Action] on one record. It counts what happens.
type deletion struct {
	mu       sync.Mutex
	question Question
	gone     bool
	executed []string // confirmation ids
	steps    []string

	recheck error
	execute func(g Grant) error // instead of succeeding
}

func newDeletion() *deletion {
	return &deletion{question: Question{
		Language: English,
		Action:   Text{EN: "Delete this inbox for good.", PT: "Excluir esta inbox em definitivo."},
		Targets: []Target{{
			Kind: Text{EN: "Inbox", PT: "Inbox"}, ID: "0197-inbox", Label: "Support",
			Facts: []Fact{{Name: Text{EN: "Address", PT: "Endereço"}, Value: "support@acme.example"}},
		}},
		Cascades: []Cascade{
			{One: Text{"agent", "agente"}, Many: Text{"agents", "agentes"}, Count: 2},
			{One: Text{"e-mail", "e-mail"}, Many: Text{"e-mails", "e-mails"}, Count: 140, Moving: true},
		},
		Organization: "Acme Inc",
		Workspace:    "Acme",
	}}
}

var errGone = errors.New("not_found: no such inbox")

func (a *deletion) step(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.steps = append(a.steps, name)
}

func (a *deletion) Recheck(context.Context) error {
	a.step("recheck")
	return a.recheck
}

func (a *deletion) Question(context.Context) (*Question, error) {
	a.step("question")
	if a.gone {
		return nil, errGone
	}
	q := a.question
	q.Targets, q.Cascades = slices.Clone(q.Targets), slices.Clone(q.Cascades)
	return &q, nil
}

func (a *deletion) Execute(_ context.Context, g Grant) error {
	a.step("execute")
	if a.execute != nil {
		return a.execute(g)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.executed = append(a.executed, g.ID)
	return nil
}

// wantExecuted requires the number of executions so far.
func (l *lab) wantExecuted(a *deletion, n int) {
	l.Helper()
	if len(a.executed) != n {
		l.Fatalf("executed %d times (%v), want %d", len(a.executed), a.executed, n)
	}
}

func unquote(v jsontext.Value) (s string) {
	if err := json.Unmarshal(v, &s); err != nil {
		panic(err)
	}
	return s
}
