package catalog

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// What every destructive tool is called with here. R11 says which they are.
func destructive() map[string]string {
	one := `{"id":"` + id1 + `"}`
	return map[string]string{
		"inboxes_delete": one, "emails_delete": one, "agents_delete": one, "webhooks_delete": one, "secrets_delete": one,
		"webhooks_test": one, "webhooks_deliveries_replay": `{"webhook_id":"` + id1 + `","id":"` + id2 + `"}`, "emails_reprocess": one,
		"webhooks_rotate_secret":   one,
		"inboxes_add_recipient":    `{"id":"` + id1 + `","email":"eva@example.com"}`,
		"inboxes_remove_recipient": `{"id":"` + id1 + `","email":"ana@example.com"}`,
	}
}

// eachDestructive runs a test for every destructive tool, in a lab of its own.
func eachDestructive(t *testing.T, test func(l *lab, tool, args string)) {
	for tool, args := range destructive() {
		t.Run(tool, func(t *testing.T) { test(newLab(t), tool, args) })
	}
}

func TestDestructiveTools_R11(t *testing.T) {
	for _, tool := range New(Options{}).Tools() {
		_, want := destructive()[tool.Name]
		if tool.Hints.Destructive != want {
			t.Errorf("%s is destructive: %v, want %v", tool.Name, tool.Hints.Destructive, want)
		}
		if strings.HasSuffix(tool.Description, confirmNote) != want {
			t.Errorf("%s: %s", tool.Name, tool.Description)
		}
	}
}

// R12: the first call asks, and does nothing; asking again is always possible
// (6.21).
func TestFirstCallAsks_R12_6_02_6_22(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		for range 2 {
			r := l.call(tool, args, "")
			l.wantAsked(r)
			q := r.Result.InputRequests["confirm"]
			const schema = `{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, run this action","description":"It runs only with a yes, once, for exactly this call. The question expires in 5 min."}},"required":["confirm"]}`
			if q.Method != "elicitation/create" || q.Params.Mode != "form" || string(q.Params.Schema) != schema {
				l.Errorf("6.03 and 6.07: %s", r.Body)
			}
			if strings.Contains(r.Body, "ttlMs") {
				l.Errorf("6.23: %s", r.Body)
			}
		}
		// 6.22: consent without a verified state is worthless.
		l.wantAsked(l.call(tool, args, `,"inputResponses":`+sayYes))
		l.wantWrites()
		l.wantRecorded()
	})
}

// R13, cases 25 and 26: only an explicit yes executes.
func TestOnlyAYesExecutes_R13_case_25_case_26(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		for _, said := range []string{sayFalse, sayDecline, sayCancel} {
			state := l.ask(tool, args)
			l.wantError(l.answer(tool, args, state, said), "user_declined", "Nothing was executed")
			l.wantError(l.answer(tool, args, state, sayYes), "confirmation_replayed", "already answered with no", "Nothing was executed")
		}
		for _, said := range []string{
			`{}`, `{"confirm":{"action":"accept"}}`, `{"confirm":{"action":"accept","content":{}}}`,
			`{"confirm":{"action":"accept","content":{"confirm":"yes"}}}`, `{"confirm":{"action":"accept","content":{"confirm":1}}}`, `{"other":{"action":"accept"}}`,
		} {
			l.wantAsked(l.answer(tool, args, l.ask(tool, args), said))
		}
		for _, said := range []string{`null`, `[]`, `"yes"`, `{"confirm":12345}`, `{"confirm":{"action":"maybe"}}`, `{"confirm":{}}`} {
			if r := l.answer(tool, args, l.ask(tool, args), said); r.Error == nil || r.Error.Code != mcp.CodeInvalidParams {
				l.Errorf("6.18 %s: %s", said, r.Body)
			}
		}
		l.wantWrites()
		o := inbox.OutcomeDeclined
		l.wantRecorded(o, inbox.OutcomeReplayed, o, inbox.OutcomeReplayed, o, inbox.OutcomeReplayed)

		const extra = `{"zzz":{"action":"decline"},"confirm":{"action":"accept","note":1,"content":{"confirm":true,"remember":true}}}`
		if r := l.answer(tool, args, l.ask(tool, args), extra); r.Result.ResultType != "complete" || r.Result.IsError {
			l.Errorf("case 26: %s", r.Body)
		}
		if len(l.wrote) != 1 {
			l.Errorf("case 26: %d changes", len(l.wrote))
		}
	})
}

// R15, case 23: the identical call succeeds once, then fails because it was
// spent; without requestState it asks again.
func TestReplay_R15_case_23(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		state := l.ask(tool, args)
		l.answer(tool, args, state, sayYes)
		for range 2 {
			l.now = l.now.Add(time.Minute)
			l.wantError(l.answer(tool, args, state, sayYes), "confirmation_replayed", "already used at 2026-12-02 12:00:00 UTC", "Nothing was executed now")
		}
		l.wantWrites(l.wrote[0].Method)
		l.wantRecorded(inbox.OutcomeReplayed, inbox.OutcomeReplayed)
		if id := l.wrote[0].By.Confirmation; id == "" || l.recorded[0].By.Confirmation != id {
			l.Errorf("confirmations %q and %q", id, l.recorded[0].By.Confirmation)
		}
		l.confirmed(tool, args)
		l.wantWrites(l.wrote[0].Method, l.wrote[0].Method)
	})
}

// R14 and R15: what does not match is asked again, whatever else is right.
func TestMismatchAsksAgain_R14_and_R15(t *testing.T) {
	const tool, args = "inboxes_delete", `{"id":"` + id1 + `"}`
	for name, change := range map[string]func(l *lab){
		"case 22 person":  func(l *lab) { l.caller = person("bia") },
		"issuer":          func(l *lab) { l.caller = person("ana"); l.caller.Person.Issuer = "https://other.example" },
		"client":          func(l *lab) { l.caller = person("ana"); l.caller.Client = "other" },
		"organization":    func(l *lab) { l.caller = person("ana"); l.caller.Organization = "org-2" },
		"workspace":       func(l *lab) { l.caller = person("ana"); l.caller.Membership.Workspace = there },
		"case 28 expired": func(l *lab) { l.now = l.now.Add(5 * time.Minute) },
		"one second ago":  func(l *lab) { l.now = l.now.Add(5*time.Minute + time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			state := l.ask(tool, args)
			change(l)
			l.wantAsked(l.answer(tool, args, state, sayYes))
			l.wantWrites()
		})
	}
	l := newLab(t)
	state := l.ask(tool, args)
	l.wantAsked(l.answer(tool, `{"id":"`+id2+`"}`, state, sayYes))
	l.wantAsked(l.answer("agents_delete", args, state, sayYes))
	l.wantAsked(l.answer(tool, args, "x"+state[1:], sayYes))
	l.wantAsked(l.call(tool, args, `,"requestState":null,"inputResponses":`+sayYes))
	l.wantAsked(l.call(tool, args, `,"requestState":7,"inputResponses":`+sayYes))
	l.wantWrites()
	// A forger cannot burn somebody's question, and spelling is no matter.
	if r := l.answer(tool, ` { "id" : "`+id1+`" } `, state, sayYes); r.Result.IsError {
		t.Error(r.Body)
	}
	l.wantWrites("DeleteInbox")
}

// R16, case 24 and case 27: who cannot be asked cannot execute, and is told
// which of the two it is; 2.19, 3.03: by this request's capabilities alone.
func TestNobodyElseCanExecute_R16_2_19_3_03_case_24_case_27(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		state := l.ask(tool, args) // 3.03: what an earlier request declared does not count
		const (
			says = "confirmation_required: This action needs a yes from the person, and this client cannot ask for it: that takes protocol 2026-07-28 and a client that declares form elicitation. Nobody was asked, and nothing was executed."
			body = `{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"` + says + `","data":{"code":"confirmation_required","requiredCapabilities":{"elicitation":{"form":{}}}}}}`
		)
		outcomes := []inbox.Outcome{}
		for _, caps := range []string{`{}`, `{"elicitation":{"url":{}}}`, `{"sampling":{}}`} {
			for _, client := range []string{"probe", "claude-desktop", "kobana"} {
				l.caps, l.client = caps, client
				for _, extra := range []string{"", answered(state, sayYes)} {
					if r := l.call(tool, args, extra); r.Status != 400 || r.Body != body {
						l.Errorf("2.19 and 6.06 %s: HTTP %d %s", caps, r.Status, r.Body)
					}
					outcomes = append(outcomes, inbox.OutcomeRequired)
				}
			}
		}
		for _, v := range []mcp.Version{mcp.V20251125, mcp.V20250618, mcp.V20250326} {
			for _, extra := range []string{"", answered(state, sayYes), `,"_meta":{"io.modelcontextprotocol/clientCapabilities":` + forms + `}`} {
				r := l.at(v, tool, args, extra)
				l.wantError(r, "confirmation_required")
				if r.Result.text() != says || r.Result.ResultType != "" {
					l.Errorf("6.24 %s: %s", v, r.Body)
				}
				outcomes = append(outcomes, inbox.OutcomeRequired)
			}
		}
		l.wantWrites()
		l.wantRecorded(outcomes...)
		l.caps = `{"elicitation":{}}` // which is form (6.05)
		l.wantAsked(l.call(tool, args, ""))
	})
}

// R17: what cannot be recorded does not happen.
func TestUnavailable_R17(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		state := l.ask(tool, args)
		l.table.Inject(storetest.Injection{Effect: storetest.Fail, Err: errDown})
		l.wantError(l.answer(tool, args, state, sayYes), "confirmation_unavailable", "Nothing was executed", "Try again later")
		l.wantWrites()
		l.wantRecorded(inbox.OutcomeUnavailable)
		if !strings.Contains(l.log.String(), errDown.Error()) {
			l.Errorf("the cause is not logged: %s", l.log.String())
		}
		l.table.Reset()
		if r := l.answer(tool, args, state, sayYes); r.Result.IsError {
			l.Errorf("what was not spent does not count: %s", r.Body)
		}
	})
	for name, without := range map[string]func(o *Options){
		"no confirmer": func(o *Options) { o.Confirmer = nil }, "no way to admit anew": func(o *Options) { o.Readmit = nil },
	} {
		l := newLab(t)
		without(&l.opts)
		l.Catalog = New(l.opts)
		for tool, args := range destructive() {
			l.wantError(l.call(tool, args, ""), "confirmation_unavailable", "Nothing was executed")
		}
		l.wantWrites()
		if l.recorded == nil {
			t.Error(name)
		}
	}
}

// Case 29: a lost reply to one's own write is no replay.
func TestLostReply_case_29(t *testing.T) {
	for _, effect := range []storetest.Effect{storetest.LoseReply, storetest.Resend} {
		l := newLab(t)
		const tool, args = "webhooks_test", `{"id":"` + id1 + `"}`
		state := l.ask(tool, args)
		l.table.Inject(storetest.Injection{Effect: effect, Method: storetest.Write, Nth: 1})
		if r := l.answer(tool, args, state, sayYes); r.Result.IsError {
			t.Errorf("effect %v: %s", effect, r.Body)
		}
		l.wantWrites("TestWebhook")
	}
}

// Case 30: asked on one instance, confirmed on another, and again on a third.
func TestInstances_case_30(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		state := l.ask(tool, args)
		l.restart()
		l.answer(tool, args, state, sayYes)
		l.restart()
		l.wantError(l.answer(tool, args, state, sayYes), "confirmation_replayed")
		l.wantWrites(l.wrote[0].Method)
	})
}

// Case 31: identical calls at once execute once.
func TestManyAtOnce_case_31(t *testing.T) {
	for _, n := range []int{3, 20, 64} {
		l := newLab(t)
		const tool, args = "emails_delete", `{"id":"` + id1 + `"}`
		state := l.ask(tool, args)
		replies := make([]reply, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { replies[i] = l.answer(tool, args, state, sayYes) })
		}
		wg.Wait()
		l.wantWrites("DeleteEmail")
		count := map[string]int{}
		for _, r := range replies {
			count[r.Result.Meta.Error.Code]++
		}
		if diff := cmp.Diff(map[string]int{"": 1, "confirmation_replayed": n - 1}, count); diff != "" {
			t.Error(diff)
		}
	}
}

// R11: an operator may add tools, which ask like the others, and no wrong names.
func TestConfirmAlso_R11(t *testing.T) {
	also := []string{"inboxes_update", "secrets_create"}
	if err := CheckConfirmAlso(also); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"inboxes_get", "nope", "", "inboxes_delete "} {
		if err := CheckConfirmAlso([]string{"inboxes_update", name}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	l := newLab(t, func(o *Options) { o.ConfirmAlso = also })
	for tool, args := range map[string]string{
		"inboxes_update": `{"id":"` + id1 + `","label":"New"}`, "secrets_create": `{"name":"TOKEN","value":"v4lue"}`,
	} {
		if !l.byName[tool].Hints.Destructive || !strings.HasSuffix(l.byName[tool].Description, confirmNote) {
			t.Errorf("%s is not marked", tool)
		}
		l.confirmed(tool, args)
	}
	if len(l.wrote) != 2 || slices.ContainsFunc(l.wrote, func(w wrote) bool { return w.By.Confirmation == "" }) {
		t.Errorf("%+v", l.wrote)
	}
	for tool, args := range destructive() { // none is taken away
		l.wantAsked(l.call(tool, args, ""))
	}
	if c := newLab(t, func(o *Options) { o.ConfirmAlso = []string{"inboxes_get"} }); c.byName["inboxes_get"].Hints != reads {
		t.Error("a tool that reads asks")
	}
}
