package confirm

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// TestModel drives random sequences of everything that can happen and compares
// each outcome with a model that knows nothing of seals and ledgers. Above
// all: no execution without exactly one matching explicit yes, and at most one
// for each question.
func TestModel(t *testing.T) {
	seeds, steps := 40, 120
	met := map[string]int{}
	for seed := range seeds {
		m := newModel(t, uint64(seed))
		for range steps {
			m.step()
		}
		for outcome, n := range m.met {
			met[outcome] += n
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%v", seed, m.trace[max(0, len(m.trace)-12):])
		}
	}
	for _, outcome := range []Outcome{Asked, Confirmed, Declined, Replayed, Required, Unavailable, Malformed} {
		if met[string(outcome)] < seeds/5 {
			t.Errorf("the sequences met %q only %d times", outcome, met[string(outcome)])
		}
	}
	t.Logf("met %v", met)
}

// modelQuestion is a question that was asked, as the model knows it.
type modelQuestion struct {
	id, state string
	call      modelCall
	shown     string
	key       string
	issued    time.Time
	spent     answer
	runs      int // of Execute
}

// modelCall is what makes a call the same call.
type modelCall struct {
	tool, args, issuer, subject, client, org, workspace string
}

type model struct {
	*lab
	*rand.Rand
	world     *deletion
	questions []*modelQuestion
	answers   []string // names of answerCases
	trace     []string
	met       map[string]int
	generated int // keys so far

	ran     string // the id Execute ran for in this step
	execErr error  // what Execute answers in this step
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		lab: newLab(t), Rand: rand.New(rand.NewPCG(seed, 1)), world: newDeletion(),
		answers: slices.Sorted(maps.Keys(answerCases())), met: map[string]int{},
	}
	m.world.execute = func(g Grant) error {
		if m.ran != "" {
			t.Errorf("executed twice in one call")
		}
		m.ran = g.ID
		return m.execErr
	}
	return m
}

func (m *model) say(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf(format, args...)+"\n")
}

func (m *model) step() {
	switch n := m.IntN(100); {
	case n < 25 || len(m.questions) == 0:
		m.ask()
	case n < 75:
		m.answer()
	case n < 85:
		m.changeWorld()
	case n < 92:
		m.now = m.now.Add(time.Duration(m.IntN(200)-40) * time.Second)
		m.say("clock %v", m.now)
	case n < 97:
		m.rotate()
	default:
		m.say("restart")
		m.restart()
	}
}

func (m *model) changeWorld() {
	q := &m.world.question
	t := &q.Targets[0]
	switch m.IntN(7) {
	case 0:
		t.Label = fmt.Sprint("label ", m.IntN(2))
	case 1:
		t.ID = fmt.Sprint("id ", m.IntN(2))
	case 2:
		t.Facts[0].Value = fmt.Sprint("fact ", m.IntN(2))
	case 3:
		q.Cascades[0].Count = m.Int64N(2)
	case 4:
		q.Cascades[1].Count = m.Int64N(100) // voids nothing
	case 5:
		m.world.gone = m.IntN(3) == 0
	case 6:
		q.Language = []Language{English, Portuguese}[m.IntN(2)]
	}
	m.say("world %q gone %v", m.shown(), m.world.gone)
}

// shown is what the model takes for what a person is shown.
func (m *model) shown() string {
	q := m.world.question
	t := q.Targets[0]
	return fmt.Sprintf("%q %q %q %d", t.Label, t.ID, t.Facts[0].Value, q.Cascades[0].Count)
}

func (m *model) rotate() {
	switch n := m.IntN(6); {
	case len(m.keys) == 0:
		m.keys = []Key{testKey("k1")}
	case n < 2: // accept one more, behind or in front
		m.generated++
		m.keys = slices.Insert(m.keys, m.IntN(len(m.keys)+1), testKey(fmt.Sprint("g", m.generated)))
	case n < 4 && len(m.keys) > 1: // drop one
		i := m.IntN(len(m.keys))
		m.keys = slices.Delete(m.keys, i, i+1)
	case n == 4: // out of reach
		m.keys = nil
	}
	m.say("keys %v", m.keys)
	m.restart()
}

// randomCall is the usual call, or one that differs in something.
func (m *model) randomCall() (Call, modelCall) {
	pick := func(usual, other string) string {
		if m.IntN(20) == 0 {
			return other
		}
		return usual
	}
	c := modelCall{
		tool: pick("inboxes_delete", "emails_delete"), args: pick(`{"id":"a"}`, `{"id":"b"}`),
		issuer: pick("i1", "i2"), subject: pick("ana", "bob"), client: pick("editor", ""),
		org: pick("o1", "o2"), workspace: pick("w1", "w2"),
	}
	call := exampleCall()
	call.Tool, call.Arguments = c.tool, jsontext.Value(c.args)
	call.Person.Issuer, call.Person.Subject, call.Client = c.issuer, c.subject, c.client
	call.Organization, call.Workspace = access.OrganizationID(c.org), access.WorkspaceID(c.workspace)
	call.ElicitForm = m.IntN(25) > 0
	return call, c
}

func (m *model) ask() {
	call, c := m.randomCall()
	want := Asked
	if !call.ElicitForm {
		want = Required
	}
	m.say("ask %+v", c)
	m.run(call, c, want, "")
}

// answer repeats a call with the state of a question, perhaps not quite.
func (m *model) answer() {
	q := m.questions[max(m.IntN(len(m.questions)), m.IntN(len(m.questions)))]
	call, c := m.randomCall()
	name := "yes"
	if m.IntN(2) == 0 {
		name = m.answers[m.IntN(len(m.answers))]
	}
	said := answerCases()[name]
	call.InputResponses = nil
	if said.responses != "" {
		call.InputResponses = jsontext.Value(said.responses)
	}
	state := q.state
	tampered := len(m.keys) > 0 && m.IntN(12) == 0
	if tampered {
		b := []byte(state)
		b[m.IntN(len(b))] ^= 1 << m.IntN(7)
		state = string(b)
	}
	call.RequestState = quoteJSON(state)
	m.world.recheck, m.execErr = nil, nil
	if m.IntN(25) == 0 {
		m.world.recheck = errors.New("revoked")
	}
	switch m.IntN(12) {
	case 0:
		m.execErr = ErrChanged
	case 1:
		m.execErr = errors.New("conflict")
	}
	fault, times := []storetest.Effect{storetest.Fail, storetest.LoseReply, storetest.Resend}[m.IntN(3)], m.IntN(6)
	if m.IntN(4) > 0 {
		times = 0
	}
	m.breakWrites(fault, times)
	m.say("answer %q to %.6s, call %+v, tampered %v, recheck %v, execute %v, fault %v × %d", name, q.id, c, tampered, m.world.recheck, m.execErr, fault, times)

	// What must come of it.
	known := slices.ContainsFunc(m.keys, func(k Key) bool { return k.ID == q.key })
	lost := times >= spendTries && fault != storetest.Resend // no reply ever comes
	committed := !lost || fault == storetest.LoseReply
	spend := func(said answer) (before answer) {
		before = q.spent
		if before == "" && committed {
			q.spent = said
		}
		return before
	}
	switch {
	case !call.ElicitForm:
		m.run(call, c, Required, "")
	case said.want == Malformed:
		m.run(call, c, Malformed, "")
	case m.world.recheck != nil:
		m.run(call, c, "", "")
	case len(m.keys) == 0:
		m.run(call, c, Unavailable, "")
	case tampered, !known, c != q.call, !m.now.Before(q.issued.Add(MaxTTL)), q.issued.After(m.now.Add(time.Minute)), said.want == Asked:
		m.run(call, c, Asked, "")
	case said.want == Declined:
		if before := spend(no); before == yes && !lost {
			m.run(call, c, Replayed, "")
		} else {
			m.run(call, c, Declined, "")
		}
	default:
		before := spend(yes)
		switch {
		case lost:
			m.run(call, c, Unavailable, "")
		case before != "":
			m.run(call, c, Replayed, "")
		case m.world.gone:
			m.run(call, c, "", "")
		case m.shown() != q.shown:
			m.run(call, c, Asked, "")
		case m.execErr == ErrChanged:
			q.runs++
			m.run(call, c, Asked, q.id)
		case m.execErr != nil:
			q.runs++
			m.run(call, c, "", q.id)
		default:
			q.runs++
			m.run(call, c, Confirmed, q.id)
		}
		if q.runs > 1 {
			m.Errorf("question %s ran %d times", q.id, q.runs)
		}
	}
	m.world.recheck = nil
	m.table.Reset()
}

// run makes the call and compares: the outcome ("" is an error of the action),
// and the confirmation that Execute was called with ("" is not at all).
func (m *model) run(call Call, c modelCall, want Outcome, wantRan string) {
	m.ran = ""
	d, err := m.Confirm(m.Context(), call, m.world)
	if m.ran != wantRan {
		m.Errorf("executed %q, want %q", m.ran, wantRan)
	}
	if want == Asked && m.world.gone {
		want = "" // nobody is asked about what is gone
	} else if want == Asked && len(m.keys) == 0 {
		want = Unavailable
	}
	m.met[string(d.Outcome)]++
	if want == "" {
		if err == nil {
			m.Errorf("outcome %s, want an error", d.Outcome)
		}
		return
	}
	if err != nil || d.Outcome != want {
		m.Errorf("outcome %s (%s), %v, want %s", d.Outcome, d.Reason, err, want)
	}
	if d.Outcome == Asked {
		m.questions = append(m.questions, &modelQuestion{
			id: d.ID, state: stateOf(d), call: c, shown: m.shown(), key: m.keys[0].ID, issued: m.now,
		})
	}
}
