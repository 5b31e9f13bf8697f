package accesstest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// destructive are the tools that ask.
func destructive() []*catalog.Tool {
	return slices.DeleteFunc(tools(), func(t *catalog.Tool) bool { return !t.Hints.Destructive })
}

// unspent checks, after f, that no answer was spent: nothing can have run.
func (w *world) unspent(t *testing.T, f func()) {
	t.Helper()
	w.ledger.Reset()
	f()
	for _, call := range w.ledger.Calls() {
		if call.Method == storetest.Write {
			t.Errorf("an answer was spent: %v", call.Ops)
		}
	}
}

// sealed are the parts of a question that are new each time.
var sealed = regexp.MustCompile(`"requestState":"[^"]*"`)

// TestWalk_Confirmations: another's question, with a yes, is none in another
// workspace: about another's record there is nothing to ask, and about one's
// own it is asked anew.
func TestWalk_Confirmations(t *testing.T) {
	w := newWalk(t)
	for _, tool := range destructive() {
		theirs, mine, nobodys := filled(tool, w.theirs), filled(tool, w.mine), filled(tool, w.nobodys())
		if tool.Name == "inboxes_remove_recipient" {
			in := object{"id": mine["id"], "email": mine["email"]}
			w.stranger.confirmed(t, "inboxes_add_recipient", in)
		}
		question := w.owner.call(t, tool.Name, theirs)
		forged := question
		forged.state = strings.Repeat("A", len(question.state))
		w.unspent(t, func() {
			foreign := w.stranger.callWith(t, question.yes(tool.Name, theirs))
			never := w.stranger.callWith(t, forged.yes(tool.Name, nobodys))
			if foreign.failure != string(inbox.CodeNotFound) || foreign.body != never.body {
				t.Errorf("%s of another's record, with their question: %s\nwhat never existed: %s", tool.Name, foreign.body, never.body)
			}
			again := w.stranger.callWith(t, question.yes(tool.Name, mine))
			anew := w.stranger.callWith(t, forged.yes(tool.Name, mine))
			if !again.asks || sealed.ReplaceAllString(again.body, "") != sealed.ReplaceAllString(anew.body, "") {
				t.Errorf("%s of their own record, with another's question: %s\nwith none: %s", tool.Name, again.body, anew.body)
			}
		})
	}
}

// TestCase22_ApproverIsTheToken: whoever presents another's question with a
// yes, and whatever is said of who said it, is asked themselves; and the
// question is still its owner's to answer.
func TestCase22_ApproverIsTheToken(t *testing.T) {
	w := newWalk(t)
	const all = "inbox.read inbox.write"
	twin := access.Person{Issuer: otherIssuer, Subject: demo.Owner.Subject}
	colleague := person("colleague")
	for _, p := range []access.Person{twin, colleague} {
		w.join(t, access.Membership{Person: p, Workspace: w.aurora, Role: access.Owner})
	}
	for _, tool := range destructive() {
		args := filled(tool, w.theirs)
		question := w.owner.call(t, tool.Name, args)
		if !question.asks {
			t.Fatalf("%s does not ask: %s", tool.Name, question.body)
		}
		confirmed := question.yes(tool.Name, args)
		pretending := maps.Clone(confirmed)
		pretending["inputResponses"] = object{"confirm": object{
			"action": "accept", "content": object{"confirm": true, "person": demo.Owner.Subject, "approved_by": demo.Owner, "sub": demo.Owner.Subject},
		}}
		w.unspent(t, func() {
			for who, c := range map[string]client{
				"a colleague":                       w.as(w.token(t, colleague, all, nil)),
				"the same subject, another issuer":  w.as(w.token(t, twin, all, nil)),
				"the same person by another client": w.as(w.token(t, demo.Owner, all, object{"client_id": "another-client"})),
				"the same person by no client":      w.as(w.token(t, demo.Owner, all, object{"client_id": nil})),
			} {
				for _, params := range []object{confirmed, pretending} {
					if a := c.callWith(t, params); !a.asks {
						t.Errorf("%s: %s: HTTP %d %s", tool.Name, who, a.status, a.body)
					}
				}
			}
		})
		if tool.Name == "emails_delete" {
			if a := w.owner.callWith(t, confirmed); a.failed || a.asks {
				t.Errorf("its owner's answer: %s", a.body)
			}
		}
	}
}

// TestCase22_OtherWorkspace: a yes given in one workspace is none in another of
// the same person.
func TestCase22_OtherWorkspace(t *testing.T) {
	w := newWalk(t)
	w.join(t, access.Membership{Person: demo.Owner, Workspace: w.bosque, Role: access.Owner})
	w.clock.advance(30 * time.Second)
	for _, tool := range destructive() {
		args := filled(tool, w.theirs)
		question := w.owner.call(t, tool.Name, args)
		w.unspent(t, func() {
			a := w.owner.inWorkspace(string(w.bosque)).callWith(t, question.yes(tool.Name, args))
			if a.failure != string(inbox.CodeNotFound) {
				t.Errorf("%s: %s", tool.Name, a.body)
			}
		})
	}
}

// TestConfirmed_Unauthorized: an answer opens nothing: who may not run the tool
// gets the same answer with it as without.
func TestConfirmed_Unauthorized(t *testing.T) {
	w := newWalk(t)
	viewer := w.as(w.token(t, demo.Viewer, "inbox.read inbox.write", nil))
	readonly := w.as(w.token(t, demo.Owner, "inbox.read", nil))
	for _, tool := range destructive() {
		args := filled(tool, w.theirs)
		confirmed := w.owner.call(t, tool.Name, args).yes(tool.Name, args)
		w.unspent(t, func() {
			with, without := viewer.callWith(t, confirmed), viewer.call(t, tool.Name, args)
			if with.code() != mcp.CodeInvalidParams || with.body != without.body {
				t.Errorf("%s by a viewer: HTTP %d %s", tool.Name, with.status, with.body)
			}
			challenged(t, readonly.callWith(t, confirmed).reply, "inbox.write")
		})
	}
}
