package confirm

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func TestR12_FirstCallAsksAndExecutesNothing(t *testing.T) {
	l, a := newLab(t), newDeletion()
	d := l.confirm(exampleCall(), a, Asked)
	l.wantExecuted(a, 0)
	l.wantWrites(0) // checklist 6.21
	if d.ID == "" || stateOf(d) == "" || d.Reason != ReasonFirst {
		t.Errorf("decision %+v lacks id, state or reason", d)
	}
	if diff := cmp.Diff([]string{"question"}, a.steps); diff != "" {
		t.Error(diff)
	}
}

func TestR13_OnlyAnExplicitYesExecutes(t *testing.T) {
	l, a := newLab(t), newDeletion()
	asked := l.confirm(exampleCall(), a, Asked)
	d := l.confirm(answered(exampleCall(), asked, sayYes), a, Confirmed)
	if diff := cmp.Diff([]string{asked.ID}, a.executed); diff != "" || d.ID != asked.ID {
		t.Errorf("executed under another id than was asked: %s", diff)
	}
	l.wantWrites(1)
}

// The caller is checked anew, the question compared and the yes spent, in that
// order, before anything runs.
func TestR14_OrderOfTheSecondCall(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	a.steps = nil
	a.execute = func(Grant) error { l.wantWrites(1); return nil } // spent before acting
	l.confirm(call, a, Confirmed)
	if diff := cmp.Diff([]string{"recheck", "question", "execute"}, a.steps); diff != "" {
		t.Error(diff)
	}
}

func TestR14_RecheckRefuses(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	a.recheck = errors.New("no longer a member")
	if _, err := l.Confirm(t.Context(), call, a); !errors.Is(err, a.recheck) {
		t.Fatalf("error %v, want that of Recheck", err)
	}
	l.wantWrites(0)
	a.recheck = nil
	l.confirm(call, a, Confirmed)
	l.wantExecuted(a, 1)
}

// Whatever differs from what was asked asks again, and spends nothing: the
// rightful call still goes through afterwards.
func TestR14_R15_MismatchAsksAgain(t *testing.T) {
	for name, change := range map[string]func(*lab, *Call){
		"tool":                            func(_ *lab, c *Call) { c.Tool = "inboxes_update" },
		"arguments":                       func(_ *lab, c *Call) { c.Arguments = jsontext.Value(`{"id":"sales"}`) },
		"more arguments":                  func(_ *lab, c *Call) { c.Arguments = jsontext.Value(`{"id":"support","force":true}`) },
		"case 22: person":                 func(_ *lab, c *Call) { c.Person.Subject = "bob" },
		"person of another issuer":        func(_ *lab, c *Call) { c.Person.Issuer = "https://other.example.com" },
		"client":                          func(_ *lab, c *Call) { c.Client = "other" },
		"no client":                       func(_ *lab, c *Call) { c.Client = "" },
		"organization":                    func(_ *lab, c *Call) { c.Organization = "org-2" },
		"workspace":                       func(_ *lab, c *Call) { c.Workspace = "ws-2" },
		"state is garbage":                func(_ *lab, c *Call) { c.RequestState = jsontext.Value(`"garbage"`) },
		"state is empty":                  func(_ *lab, c *Call) { c.RequestState = jsontext.Value(`""`) },
		"state is null":                   func(_ *lab, c *Call) { c.RequestState = jsontext.Value(`null`) },
		"state is a number":               func(_ *lab, c *Call) { c.RequestState = jsontext.Value(`1`) },
		"state is an object":              func(_ *lab, c *Call) { c.RequestState = jsontext.Value(`{}`) },
		"state is too long":               func(_ *lab, c *Call) { c.RequestState = quoteJSON(strings.Repeat("A", 5000)) },
		"state has a suffix":              func(_ *lab, c *Call) { c.RequestState = quoteJSON(unquote(c.RequestState) + "-TAMPERED") },
		"6.22: no state at all":           func(_ *lab, c *Call) { c.RequestState = nil },
		"case 28: exactly at its expiry":  func(l *lab, _ *Call) { l.now = l.now.Add(MaxTTL) },
		"a second after its expiry":       func(l *lab, _ *Call) { l.now = l.now.Add(MaxTTL + time.Second) },
		"issued over a minute in advance": func(l *lab, _ *Call) { l.now = l.now.Add(-time.Minute - time.Nanosecond) },
	} {
		t.Run(name, func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			rightful := l.ask(exampleCall(), a, sayYes)
			was := l.now
			wrong := rightful
			change(l, &wrong)
			d := l.confirm(wrong, a, Asked)
			l.wantWrites(0)
			if unquote(rightful.RequestState) == stateOf(d) {
				t.Error("asked again with the same state")
			}
			l.wantExecuted(a, 0)
			l.now = was
			l.confirm(rightful, a, Confirmed)
			l.wantExecuted(a, 1)
		})
	}
}

func TestR14_SameArgumentsWrittenDifferently(t *testing.T) {
	l, a := newLab(t), newDeletion()
	first := exampleCall()
	first.Arguments = jsontext.Value(`{"id":"é","n":1}`)
	call := l.ask(first, a, sayYes)
	call.Arguments = jsontext.Value(` {"n": 1.0, "id": "\u00e9"} `)
	l.confirm(call, a, Confirmed)
}

func TestR14_AlmostExpired(t *testing.T) {
	for name, shift := range map[string]time.Duration{
		"a nanosecond before its expiry": MaxTTL - time.Nanosecond,
		"issued a minute in advance":     -time.Minute,
	} {
		t.Run(name, func(t *testing.T) {
			l, a := newLab(t), newDeletion()
			call := l.ask(exampleCall(), a, sayYes)
			l.now = l.now.Add(shift)
			l.confirm(call, a, Confirmed)
		})
	}
}

func TestR14_OtherAudience(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	other, err := New(Options{
		Audience: "https://sandbox.example.com/mcp", Keys: StaticKeys(l.keys[0]), Ledger: l.table,
		Now: func() time.Time { return l.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := other.Confirm(t.Context(), call, a)
	if err != nil || d.Outcome != Asked || d.Reason != ReasonUnreadable {
		t.Errorf("%+v, %v: a seal of another audience must not even open", d, err)
	}
}

func TestR14_TTLMayOnlyBeShortened(t *testing.T) {
	l, a := newLab(t), newDeletion()
	o := Options{Audience: audience, Keys: StaticKeys(l.keys[0]), Ledger: l.table, Now: func() time.Time { return l.now }}
	for _, ttl := range []time.Duration{MaxTTL + 1, -1} {
		o.TTL = ttl
		if _, err := New(o); err == nil {
			t.Errorf("a TTL of %v was taken", ttl)
		}
	}
	o.TTL = 30 * time.Second
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	l.Confirmer = c
	call := l.ask(exampleCall(), a, sayYes)
	l.now = l.now.Add(o.TTL)
	if d := l.confirm(call, a, Asked); d.Reason != ReasonExpired || !strings.Contains(messageOf(d), textExpired.EN) {
		t.Errorf("asked for %q: %s", d.Reason, messageOf(d))
	}
}

func TestNew_NeedsWhatItCannotDoWithout(t *testing.T) {
	l := newLab(t)
	full := Options{Audience: audience, Keys: StaticKeys(l.keys[0]), Ledger: l.table}
	for name, remove := range map[string]func(*Options){
		"audience": func(o *Options) { o.Audience = "" },
		"keys":     func(o *Options) { o.Keys = nil },
		"ledger":   func(o *Options) { o.Ledger = nil },
	} {
		o := full
		remove(&o)
		if _, err := New(o); err == nil {
			t.Errorf("made without %s", name)
		}
	}
}

func TestArgumentsThatCannotBeTold(t *testing.T) {
	l, a := newLab(t), newDeletion()
	for _, args := range []string{``, `{"id":1`, `{"id":1,"id":2}`, `{"n":9007199254740993}`, `{"n":1e400}`, `[]`, `"x"`, `{"a":"` + "\xff" + `"}`} {
		call := exampleCall()
		call.Arguments = jsontext.Value(args)
		if d, err := l.Confirm(t.Context(), call, a); err == nil {
			t.Errorf("%s: %s, want an error", args, d.Outcome)
		}
	}
}

func TestLongIdentities(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := exampleCall()
	call.Person = access.Person{Issuer: "https://" + strings.Repeat("i", 300), Subject: strings.Repeat("s", 300)}
	call.Client = strings.Repeat("c", 300)
	d := l.confirm(call, a, Asked)
	if n := len(stateOf(d)); n > 4096 {
		t.Errorf("requestState of %d characters, want at most 4096", n)
	}
	l.confirm(answered(call, d, sayYes), a, Confirmed)

	call.Client = strings.Repeat("c", 4096)
	l.confirm(call, a, Unavailable) // over the limit: never executed
}
