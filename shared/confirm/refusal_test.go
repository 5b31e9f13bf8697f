package confirm

import (
	"context"
	"errors"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestR16_Case24_ClientThatCannotAsk(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := exampleCall()
	call.ElicitForm = false
	l.confirm(call, a, Required)
	// A client may drop the capability between the two calls (checklist 3.03).
	call = l.ask(exampleCall(), a, sayYes)
	a.steps = nil
	call.ElicitForm = false
	d := l.confirm(call, a, Required)
	l.wantWrites(0)
	if len(a.steps) > 0 {
		t.Errorf("steps %v for a client that cannot ask", a.steps)
	}
	// Case 27: it must not read as if somebody had declined.
	if !strings.Contains(d.Message, "this client cannot ask") || !strings.Contains(d.Message, "Nobody was asked") {
		t.Errorf("message %q", d.Message)
	}
	if declined := textDeclined.EN; !strings.Contains(declined, "The person was asked") {
		t.Errorf("declined reads %q", declined)
	}
}

func TestR17_LedgerDown(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.breakWrites(storetest.Fail, spendTries)
	d := l.confirm(call, a, Unavailable)
	if d.Cause == nil || !strings.Contains(d.Message, "Nothing was executed") {
		t.Errorf("decision %+v", d)
	}
	l.wantExecuted(a, 0)
	l.confirm(call, a, Confirmed)
	l.wantExecuted(a, 1)
}

// A ledger that hangs ends with the call's deadline.
func TestR17_LedgerHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, a := newLab(t), newDeletion()
		call := l.ask(exampleCall(), a, sayYes)
		l.breakWrites(storetest.Hang, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d, err := l.Confirm(ctx, call, a)
		if err != nil || d.Outcome != Unavailable || !errors.Is(d.Cause, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", d, err)
		}
		l.wantExecuted(a, 0)
	})
}

func TestR17_KeysDown(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.keys = nil
	l.restart()
	l.confirm(exampleCall(), a, Unavailable)
	l.confirm(call, a, Unavailable)
	l.wantExecuted(a, 0)
}

func TestR17_EntryThatCannotBeRead(t *testing.T) {
	l, a := newLab(t), newDeletion()
	asked := l.confirm(exampleCall(), a, Asked)
	putLedger(t, l.table, asked.ID, "not JSON")
	d := l.confirm(answered(exampleCall(), asked, sayYes), a, Unavailable)
	if d.Cause == nil {
		t.Error("no cause for the log")
	}
	l.wantExecuted(a, 0)
}

func TestR13_DeclineSpendsTheQuestion(t *testing.T) {
	for _, say := range []string{sayFalse, sayDecline, sayCancel} {
		l, a := newLab(t), newDeletion()
		call := l.ask(exampleCall(), a, say)
		d := l.confirm(call, a, Declined)
		if d.ID == "" || !strings.Contains(d.Message, "nothing changed") {
			t.Errorf("decision %+v", d)
		}
		l.confirm(call, a, Declined) // said twice, it still is a no
		call.InputResponses = jsontext.Value(sayYes)
		if d := l.confirm(call, a, Replayed); !strings.Contains(d.Message, "answered with no") {
			t.Errorf("message %q", d.Message)
		}
		l.wantExecuted(a, 0)
	}
}

func TestR13_DeclineIsBestEffort(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayDecline)
	l.breakWrites(storetest.Fail, spendTries)
	if d := l.confirm(call, a, Declined); d.Cause == nil {
		t.Error("what broke is not told to the log")
	}
}

func TestR13_NoAfterYesDoesNotClaimThatNothingChanged(t *testing.T) {
	l, a := newLab(t), newDeletion()
	call := l.ask(exampleCall(), a, sayYes)
	l.confirm(call, a, Confirmed)
	call.InputResponses = jsontext.Value(sayDecline)
	l.confirm(call, a, Replayed)
}
