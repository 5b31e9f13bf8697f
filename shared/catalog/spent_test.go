package catalog

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const deleteInbox = `{"id":"` + id1 + `"}`

// A target that is not any more as it was shown is asked about anew, and the
// new question shows what it is now.
func TestChangedTargetIsAskedAnew(t *testing.T) {
	for name, change := range map[string]struct {
		change func(l *lab)
		shows  string
	}{
		"renamed":          {func(l *lab) { l.things.inbox.Label = "Payroll" }, `Inbox: "Payroll"`},
		"another cascade":  {func(l *lab) { l.bound = 13 }, "13 webhooks bound to it"},
		"another by alias": {func(l *lab) { l.things.inbox.ID = id2 }, `Inbox: "Support"`},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			state := l.ask("inboxes_delete", deleteInbox)
			change.change(l)
			r := l.answer("inboxes_delete", deleteInbox, state, sayYes)
			l.wantAsked(r)
			l.wantWrites()
			if m := r.message(); !strings.Contains(m, change.shows) || !strings.HasPrefix(m, "Something changed after the earlier question, and nothing was executed.") {
				t.Errorf("asked %q", m)
			}
			l.wantError(l.answer("inboxes_delete", deleteInbox, state, sayYes), "confirmation_replayed")
			if r := l.answer("inboxes_delete", deleteInbox, r.Result.RequestState, sayYes); r.Result.IsError {
				t.Error(r.Body)
			}
			l.wantWrites("DeleteInbox")
		})
	}
	l := newLab(t) // what moves by itself is no change
	state := l.ask("webhooks_delete", deleteInbox)
	l.things.webhook.ConsecutiveFailures, l.things.webhook.Status, l.things.webhook.UpdatedAt = 7, inbox.Inactive, noon.Add(1)
	l.answer("webhooks_delete", deleteInbox, state, sayYes)
	l.wantWrites("DeleteWebhook")
	if was := l.wrote[0].Given[0].(inbox.Webhook); was.ConsecutiveFailures != 7 {
		t.Errorf("the effect is conditioned on %+v, which was read too early", was)
	}
}

// A lost race: the effect did not happen, and the person is asked anew.
func TestLostRaceIsAskedAnew(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		l.fault = func(n int) error {
			if n == 1 {
				return &inbox.Error{Code: inbox.CodeConflict, Message: "It changed.", Err: fmt.Errorf("x: %w", inbox.ErrChanged)}
			}
			return nil
		}
		state := l.ask(tool, args)
		r := l.answer(tool, args, state, sayYes)
		l.wantAsked(r)
		l.wantError(l.answer(tool, args, state, sayYes), "confirmation_replayed")
		if r := l.answer(tool, args, r.Result.RequestState, sayYes); r.Result.IsError {
			l.Error(r.Body)
		}
		if len(l.wrote) != 2 || l.wrote[0].By.Confirmation == l.wrote[1].By.Confirmation {
			l.Errorf("%+v", l.wrote)
		}
	})
}

// When the yes was spent and the action failed, the answer says so, what did
// not happen, and how to go on.
func TestErrorAfterTheYes(t *testing.T) {
	const usedUp = "The confirmation is used up; to try again, call the tool without requestState and answer the new question."
	for _, test := range []struct {
		err        error
		code, text string
	}{
		{inbox.Errorf(inbox.CodeLimit, "", "The limit of e-mails is reached. Nothing was changed."), "limit_exceeded",
			"limit_exceeded: The limit of e-mails is reached. Nothing was changed. "},
		{errDown, "internal", "internal: Something broke here; it is not certain what was done, so look before you repeat it. "},
		{fmt.Errorf("write: %w", context.DeadlineExceeded), "timeout", "timeout: This took too long and was given up; it is not certain what was done, so look before you repeat it. "},
		{&inbox.Error{Code: inbox.CodeUnavailable, Message: "The change could not be confirmed.", Err: errDown}, "unavailable", "unavailable: The change could not be confirmed. "},
	} {
		l := newLab(t)
		l.fault = func(int) error { return test.err }
		state := l.ask("emails_reprocess", deleteInbox)
		r := l.answer("emails_reprocess", deleteInbox, state, sayYes)
		l.wantError(r, test.code)
		if test.code == "limit_exceeded" { // refused before anything began
			l.wantRecorded(inbox.OutcomeFailed)
		} else {
			l.wantRecorded() // the writer audits what it began
		}
		if r.Result.text() != test.text+usedUp {
			t.Errorf("%v: %s", test.err, r.Result.text())
		}
		if strings.Contains(l.log.String(), errDown.Error()) != errors.Is(test.err, errDown) {
			t.Errorf("%v: logged %s", test.err, l.log.String())
		}
		l.wantError(l.answer("emails_reprocess", deleteInbox, state, sayYes), "confirmation_replayed")
		l.wantWrites("ReprocessEmail")
	}

	l := newLab(t) // the target is gone by then
	state := l.ask("inboxes_delete", deleteInbox)
	l.err = inbox.Errorf(inbox.CodeNotFound, "id", "There is no such inbox in this workspace.")
	r := l.answer("inboxes_delete", deleteInbox, state, sayYes)
	l.wantError(r, "not_found")
	if want := "not_found: id: There is no such inbox in this workspace. Nothing was changed. " + usedUp; r.Result.text() != want {
		t.Errorf("%s, want %s", r.Result.text(), want)
	}
	l.wantWrites()
	l.wantRecorded(inbox.OutcomeFailed)
}

// Nobody is asked about what cannot run.
func TestNeverAskAboutWhatCannotRun(t *testing.T) {
	eachDestructive(t, func(l *lab, tool, args string) {
		l.err = inbox.Errorf(inbox.CodeNotFound, "id", "There is no such record in this workspace.")
		l.wantError(l.call(tool, args, ""), "not_found", "Nothing was changed")
		l.err = nil
		l.wantError(l.call(tool, `{"id":"x"}`, ""), "invalid_arguments", "id must be a UUID", "Nothing was changed")
		l.caller = member(access.Viewer, access.ScopeWrite)
		if r := l.call(tool, args, ""); r.Error == nil || r.Error.Code != mcp.CodeInvalidParams || !strings.Contains(r.Error.Message, "unknown tool") {
			l.Errorf("not permitted: %s", r.Body)
		}
		l.caller = member(access.Owner, access.ScopeRead)
		if r := l.call(tool, args, ""); r.Status != http.StatusForbidden {
			l.Errorf("no scope: HTTP %d", r.Status)
		}
		l.wantRecorded()
	})
}

// Nor about what the records do not allow: a webhook that is off or has no
// secret, an e-mail whose inbox is gone, a cascade beyond the limit.
func TestNeverAskAboutWhatWouldBeRefused(t *testing.T) {
	for _, tool := range []string{"webhooks_test", "webhooks_deliveries_replay", "emails_reprocess", "inboxes_delete", "agents_delete"} {
		l := newLab(t)
		l.cannot = inbox.Errorf(inbox.CodeConflict, "", "It cannot be. Nothing was changed.")
		l.wantError(l.call(tool, destructive()[tool], ""), "conflict", "It cannot be. Nothing was changed.")
		l.wantWrites()
	}
}

// A test may go to a webhook that is switched off, but not by a yes given while
// it was on.
func TestTestOfAWebhookSwitchedOffIsAskedAnew(t *testing.T) {
	l := newLab(t)
	state := l.ask("webhooks_test", deleteInbox)
	l.things.webhook.Status = inbox.Inactive
	r := l.answer("webhooks_test", deleteInbox, state, sayYes)
	l.wantAsked(r)
	l.wantWrites()
	if !strings.Contains(r.message(), `Status: "inactive"`) {
		t.Error(r.message())
	}
	l.answer("webhooks_test", deleteInbox, r.Result.RequestState, sayYes)
	l.wantWrites("TestWebhook")
}

// The model that agents_update may change meanwhile is not what an agent is
// known by, and a yes does not depend on it.
func TestAnAgentIsKnownByWhatCannotChange(t *testing.T) {
	l := newLab(t)
	state := l.ask("agents_delete", deleteInbox)
	l.things.agent.LLMModel = "rules/other"
	l.answer("agents_delete", deleteInbox, state, sayYes)
	l.wantWrites("DeleteAgent")
}

// A yes counts for who the person is when it arrives, past all caches:
// refused, nothing is executed and the yes is not spent.
func TestJudgedAgainPastAllCaches(t *testing.T) {
	for name, test := range map[string]struct {
		fresh  func(*lab) (*access.Caller, error)
		status int
		says   string
	}{
		"token revoked": {func(*lab) (*access.Caller, error) {
			return nil, &mcp.Refusal{Status: 401, Header: http.Header{"Www-Authenticate": {"Bearer"}}, Err: mcp.Errorf(401, "revoked")}
		}, 401, "revoked"},
		"no membership": {func(*lab) (*access.Caller, error) {
			return nil, &mcp.Refusal{Status: 403, Err: mcp.Errorf(403, "not a member")}
		}, 403, "not a member"},
		"not permitted": {func(*lab) (*access.Caller, error) {
			c := person("ana")
			c.Permissions = access.Viewer.Permissions()
			return c, nil
		}, 200, "unknown tool"},
		"no scope": {func(*lab) (*access.Caller, error) {
			c := person("ana")
			c.Scopes = access.ScopeRead
			return c, nil
		}, 403, "inbox.write"},
		"another person":       {func(*lab) (*access.Caller, error) { return person("bia"), nil }, 200, "unknown tool"},
		"another organization": {func(*lab) (*access.Caller, error) { c := person("ana"); c.Organization = "x"; return c, nil }, 200, "unknown tool"},
		"another workspace":    {func(*lab) (*access.Caller, error) { c := person("ana"); c.Membership.Workspace = there; return c, nil }, 200, "unknown tool"},
		"broken":               {func(*lab) (*access.Caller, error) { return nil, errDown }, 200, "internal: Something broke here; nothing was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			state := l.ask("inboxes_delete", deleteInbox)
			l.fresh = func() (*access.Caller, error) { return test.fresh(l) }
			if r := l.answer("inboxes_delete", deleteInbox, state, sayYes); r.Status != test.status || !strings.Contains(r.Body, test.says) || r.Result.ResultType == "input_required" {
				t.Errorf("HTTP %d %s", r.Status, r.Body)
			}
			l.wantWrites()
			if calls := l.table.Calls(); len(calls) != 0 {
				t.Errorf("the ledger was asked: %v", calls)
			}
			l.fresh = nil
			l.answer("inboxes_delete", deleteInbox, state, sayYes)
			l.wantWrites("DeleteInbox")
		})
	}
}

// What the person may do is what they may do when the yes arrives.
func TestActsForTheFreshCaller(t *testing.T) {
	l := newLab(t, func(o *Options) { o.ConfirmAlso = []string{"workspaces_update"} })
	const args = `{"id":"` + id1 + `","label":"New"}`
	state := l.ask("workspaces_update", args)
	l.fresh = func() (*access.Caller, error) {
		c := person("ana")
		c.Memberships = append(c.Memberships, access.Membership{Workspace: there, Role: access.Owner})
		return c, nil
	}
	l.asked = nil
	l.answer("workspaces_update", args, state, sayYes)
	if want := fmt.Sprintf("Workspace [%s %s] %s", here, there, id1); l.asked[0] != want {
		t.Errorf("asked %v, want %s first", l.asked, want)
	}
	l.wantWrites("UpdateWorkspace")
}

// A change of another workspace than the connection's is asked about in its
// name and language, and all its events belong there.
func TestAskedAboutTheWorkspaceThatChanges(t *testing.T) {
	const args = `{"id":"` + string(there) + `","label":"New"}`
	l := newLab(t, func(o *Options) { o.ConfirmAlso = []string{"workspaces_update"} })
	l.things.workspace.ID, l.things.workspace.Label, l.things.workspace.Locale = there, "Bosque", inbox.Portuguese
	r := l.call("workspaces_update", args, "")
	l.wantAsked(r)
	if !strings.Contains(r.message(), `Workspace: "Bosque"`+"\nOrganização:") {
		t.Error(r.message())
	}
	for _, asked := range l.asked {
		if strings.HasSuffix(asked, " "+string(here)) {
			t.Errorf("looked at the connection's workspace: %s", asked)
		}
	}
	l.answer("workspaces_update", args, r.Result.RequestState, sayDecline)
	l.answer("workspaces_update", args, l.ask("workspaces_update", args), sayYes)
	l.wantRecorded(inbox.OutcomeDeclined)
	l.wantWrites("UpdateWorkspace")
	for _, by := range []inbox.Actor{l.recorded[0].By, l.wrote[0].By} {
		if by.Workspace != there {
			t.Errorf("the event belongs to %s, want %s", by.Workspace, there)
		}
	}
}

// A system event of what was not done is a courtesy: it changes no answer, nor
// holds one up.
func TestAuditIsBestEffort(t *testing.T) {
	l := newLab(t)
	state := l.ask("inboxes_delete", deleteInbox)
	l.err = errDown
	l.wantError(l.answer("inboxes_delete", deleteInbox, state, sayDecline), "user_declined")
	l.wantRecorded(inbox.OutcomeDeclined)
	want := inbox.Actor{Workspace: here, Person: l.caller.Person, Client: "editor", Tool: "inboxes_delete",
		Confirmation: l.recorded[0].By.Confirmation, Arguments: l.recorded[0].By.Arguments}
	if diff := cmp.Diff(want, l.recorded[0].By); diff != "" || want.Confirmation == "" || want.Arguments == "" {
		t.Errorf("%s %+v", diff, want)
	}
	if !strings.Contains(l.log.String(), "system event lost") || strings.Contains(l.log.String(), id1) || strings.Contains(l.log.String(), state) {
		t.Errorf("logged %s", l.log.String())
	}
}

// A client that hangs up does not stop a write that began; time does.
func TestWritesHaveTheirOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Timeout: 5 * time.Second})
		for _, test := range []struct {
			request, want time.Duration
		}{{0, 5 * time.Second}, {time.Minute, 5 * time.Second}, {time.Second, time.Second}} {
			ctx, hangUp := context.WithCancel(t.Context())
			if test.request > 0 {
				ctx, hangUp = context.WithTimeout(ctx, test.request)
			}
			write, cancel := c.writing(ctx)
			hangUp()
			if err := write.Err(); err != nil {
				t.Errorf("%+v: %v", test, err)
			}
			begin := time.Now()
			<-write.Done()
			if d := time.Since(begin); d != test.want || !errors.Is(write.Err(), context.DeadlineExceeded) {
				t.Errorf("ended after %v by %v, want %v", d, write.Err(), test.want)
			}
			cancel()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := furnished()
		f.wait = true
		r := call(t, newTest(f), owner, "inboxes_update", `{"id":"`+id1+`","label":"New"}`)
		if want := "timeout: This took too long and was given up; nothing was changed. Try again, or ask for less."; r.text() != want {
			t.Errorf("%s, want %s", r.text(), want)
		}
	})
}
