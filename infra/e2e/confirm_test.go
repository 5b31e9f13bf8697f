package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// answered are the members of a retry that answers the question.
func answered(asked outcome, response object) object {
	return object{"requestState": asked.State, "inputResponses": object{"confirm": response}}
}

var yes = object{"action": "accept", "content": object{"confirm": true}}

// newInbox makes an inbox for a test.
func newInbox(t *testing.T, c client) (id string) {
	t.Helper()
	label := strings.ToLower(t.Name())
	return c.read(t, "inboxes_create", object{"label": label[:min(40, len(label))]})["id"].(string)
}

// ask calls a destructive tool, which asks.
func ask(t *testing.T, c client, tool string, arguments object) outcome {
	t.Helper()
	asked := c.call(t, tool, arguments)
	if asked.code() != "asked" || asked.State == "" || len(asked.Requests) != 1 {
		t.Fatalf("%s does not ask: %+v", tool, asked)
	}
	return asked
}

// recipients are who may send to an inbox.
func recipients(t *testing.T, c client, id string) string {
	t.Helper()
	return fmt.Sprint(c.read(t, "inboxes_get", object{"id": id})["allowed_recipients"])
}

var digest = regexp.MustCompile(`arguments_digest:[0-9a-f]{64}\b`)

// events counts the system events that name the record. Each must have the
// digest of the call's arguments.
func events(t *testing.T, c client, slug, record string) (n int) {
	t.Helper()
	for _, e := range c.list(t, "system_events_list", object{"slug": slug, "limit": 200}) {
		if strings.Contains(fmt.Sprint(e), record) {
			n++
			if !digest.MatchString(fmt.Sprint(e)) {
				t.Errorf("no digest in %v", e)
			}
		}
	}
	return n
}

// TestCase30: the question is asked on one instance, confirmed on another and
// sent again to a third: it runs once (R14, R15).
func TestCase30(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := newInbox(t, c)
	arguments := object{"id": id, "email": "new@example.com"}
	asked := ask(t, c.at(s.lanes[0]), "inboxes_add_recipient", arguments)
	if got := recipients(t, c, id); got != "[]" {
		t.Fatalf("it ran unasked: %s", got)
	}
	if o := c.at(s.lanes[1]).call(t, "inboxes_add_recipient", arguments, answered(asked, yes)); o.code() != "" {
		t.Fatalf("confirmed: %+v", o)
	}
	for i, l := range s.lanes {
		o := c.at(l).call(t, "inboxes_add_recipient", arguments, answered(asked, yes))
		if o.code() != "confirmation_replayed" || !strings.Contains(o.Content[0].Text, "othing was") {
			t.Errorf("again on %d: %+v", i, o)
		}
	}
	if got := recipients(t, c, id); got != "[new@example.com]" {
		t.Error(got)
	}
	if n := events(t, c, "inbox.recipient_added", id); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// TestCase30_restart: no process that saw the question, or its answer, is left
// when it is answered, and again.
func TestCase30_restart(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := newInbox(t, c)
	asked := ask(t, c.at(s.with(t)), "inboxes_delete", object{"id": id})
	if o := c.at(s.with(t)).call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "" {
		t.Fatalf("%+v", o)
	}
	if o := c.at(s.with(t)).call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "confirmation_replayed" {
		t.Errorf("%+v", o)
	}
}

// TestCase31: of 64 identical confirmed calls at once, over all instances, one
// runs. What it does twice would differ: each rotation makes
// another secret.
func TestCase31(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := c.read(t, "webhooks_create", object{"label": "case 31", "url": "https://hooks.example.com/in"})["id"].(string)
	asked := ask(t, c, "webhooks_rotate_secret", object{"id": id})
	var calls sync.WaitGroup
	outcomes := make(chan outcome, 64)
	for i := range cap(outcomes) {
		at := c.at(s.lanes[i%instances])
		if i%2 == 0 {
			at = at.family("tools") // as the edge has it
		}
		calls.Go(func() { outcomes <- at.call(t, "webhooks_rotate_secret", object{"id": id}, answered(asked, yes)) })
	}
	calls.Wait()
	close(outcomes)
	count := map[string]int{}
	for o := range outcomes {
		count[o.code()]++
	}
	if want := map[string]int{"": 1, "confirmation_replayed": 63}; !maps.Equal(count, want) {
		t.Errorf("outcomes: %v", count)
	}
	if n := events(t, c, "webhook.secret_rotated", id); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// TestConfirm_answers: only an explicit yes runs it (R13, R15).
func TestConfirm_answers(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := newInbox(t, c)
	for _, test := range []struct {
		response object
		code     string
	}{
		{object{"action": "decline"}, "user_declined"},
		{object{"action": "cancel"}, "user_declined"},
		{object{"action": "accept", "content": object{"confirm": false}}, "user_declined"},
		{object{"action": "accept"}, "asked"},
		{object{"action": "accept", "content": object{"confirm": "true"}}, "asked"},
		{object{"action": "accept", "content": object{"confirm": true, "more": 1}}, ""},
	} {
		asked := ask(t, c, "inboxes_delete", object{"id": id})
		if o := c.call(t, "inboxes_delete", object{"id": id}, answered(asked, test.response)); o.code() != test.code {
			t.Errorf("%v: %+v", test.response, o)
		}
		_, gone := c.call(t, "inboxes_get", object{"id": id}).Meta.Error.Code, test.code == ""
		if still := c.call(t, "inboxes_get", object{"id": id}).code() == ""; still == gone {
			t.Errorf("%v: there is such an inbox: %v", test.response, still)
		}
	}
}

// TestConfirm_binding: a yes counts for its person, tool and arguments; whatever
// else is asked about (R14, R15, field case 22).
func TestConfirm_binding(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id, other := newInbox(t, c), newInbox(t, c)
	asked := ask(t, c, "inboxes_delete", object{"id": id})
	tampered := asked
	tampered.State = asked.State[:len(asked.State)-4] + "AAAA"
	for what, o := range map[string]outcome{
		"another inbox":        c.call(t, "inboxes_delete", object{"id": other}, answered(asked, yes)),
		"another tool":         c.call(t, "inboxes_add_recipient", object{"id": id, "email": "a@example.com"}, answered(asked, yes)),
		"a tampered state":     c.call(t, "inboxes_delete", object{"id": id}, answered(tampered, yes)),
		"another client":       c.as(s.token(t, "owner", "inbox.write", claims{"client_id": "other"})).call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)),
		"an operator's e-mail": c.as(s.token(t, "operator", "inbox.write", nil)).call(t, "emails_delete", object{"id": c.id(t, "emails_list")}, answered(asked, yes)),
	} {
		if o.code() != "asked" {
			t.Errorf("%s: %+v", what, o)
		}
	}
	stranger := c.as(s.token(t, "other", "inbox.write", nil))
	if o := stranger.call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "not_found" {
		t.Errorf("another organization: %+v", o)
	}
	if o := c.call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "" {
		t.Errorf("the rightful call, after all that: %+v", o)
	}
}

// TestConfirm_R16: who cannot be asked cannot run it (field case 24).
func TestConfirm_R16(t *testing.T) {
	c := use(t).owner(t)
	id := newInbox(t, c)
	call := object{"name": "inboxes_delete", "arguments": object{"id": id}, "inputResponses": object{"confirm": yes}}
	for _, v := range mcp.Versions() {
		params := maps.Clone(call)
		if !v.Modern() {
			if o := c.in(v).call(t, "inboxes_delete", object{"id": id}); o.code() != "confirmation_required" || !o.IsError {
				t.Errorf("%s: %+v", v, o)
			}
			continue
		}
		params["_meta"] = object{"io.modelcontextprotocol/protocolVersion": v, "io.modelcontextprotocol/clientCapabilities": object{}}
		a := c.send(t, "tools/call", params)
		want := `{"code":"confirmation_required","requiredCapabilities":{"elicitation":{"form":{}}}}`
		if a.StatusCode != http.StatusBadRequest || a.Error == nil || a.Error.Code != mcp.CodeMissingCapability || string(a.Error.Data) != want {
			t.Errorf("%s: HTTP %d %s", v, a.StatusCode, a.body)
		}
	}
	if o := c.call(t, "inboxes_get", object{"id": id}); o.code() != "" {
		t.Errorf("%+v", o)
	}
}

// TestConfirm_R17: without keys nobody is asked, without the ledger nothing
// runs; the data's own tools go on.
func TestConfirm_R17(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := newInbox(t, c)
	asked := ask(t, c, "inboxes_delete", object{"id": id})
	keyless := c.at(s.with(t, "STATE_KEYS=no-such"))
	if o := keyless.call(t, "inboxes_delete", object{"id": id}); o.code() != "confirmation_unavailable" {
		t.Errorf("without keys, asking: %+v", o)
	}
	for what, broken := range map[string]client{
		"without keys": keyless, "without the ledger": c.at(s.with(t, "CONFIRMATIONS_TABLE=no-such")),
	} {
		if o := broken.call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "confirmation_unavailable" {
			t.Errorf("%s: %+v", what, o)
		}
		if o := broken.call(t, "inboxes_get", object{"id": id}); o.code() != "" {
			t.Errorf("%s: %+v", what, o)
		}
	}
	if o := c.call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "" {
		t.Errorf("later: %+v", o)
	}
}

// TestOperator: what the operator may set in the template reaches the tools.
func TestOperator(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := newInbox(t, c)
	t.Run("the other key seals, and what the first one sealed counts", func(t *testing.T) {
		asked := ask(t, c, "inboxes_add_recipient", object{"id": id, "email": "a@example.com"})
		rotated := c.at(s.with(t, "STATE_KEYS=state-b state-a"))
		if o := rotated.call(t, "inboxes_add_recipient", object{"id": id, "email": "a@example.com"}, answered(asked, yes)); o.code() != "" {
			t.Errorf("%+v", o)
		}
		asked = ask(t, rotated, "inboxes_add_recipient", object{"id": id, "email": "b@example.com"})
		if o := c.call(t, "inboxes_add_recipient", object{"id": id, "email": "b@example.com"}, answered(asked, yes)); o.code() != "" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("READ_ONLY", func(t *testing.T) {
		readOnly := c.at(s.with(t, "READ_ONLY=1"))
		if n := len(names(readOnly.result(t, "tools/list", nil), "tools", "name")); n != 22 {
			t.Errorf("%d tools", n)
		}
		if a := readOnly.send(t, "tools/call", object{"name": "inboxes_update", "arguments": object{"id": id, "label": "x"}}); a.Error == nil || a.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("%s", a.body)
		}
	})
	t.Run("CONFIRM_ALSO", func(t *testing.T) {
		ask(t, c.at(s.with(t, "CONFIRM_ALSO=inboxes_update, agents_update")), "inboxes_update", object{"id": id, "label": "x"})
	})
	t.Run("CONFIRM_TTL", func(t *testing.T) {
		brief := c.at(s.with(t, "CONFIRM_TTL=1ns"))
		asked := ask(t, brief, "inboxes_delete", object{"id": id})
		if o := brief.call(t, "inboxes_delete", object{"id": id}, answered(asked, yes)); o.code() != "asked" {
			t.Errorf("%+v", o)
		}
	})
	t.Run("RATE_LIMIT", func(t *testing.T) {
		slow := c.at(s.with(t, "RATE_LIMIT=1/1")).family("tools")
		if first, second := slow.send(t, "tools/list", nil), slow.send(t, "tools/list", nil); first.StatusCode != http.StatusOK || second.StatusCode != http.StatusTooManyRequests || second.Header.Get("Retry-After") == "" {
			t.Errorf("HTTP %d, %d", first.StatusCode, second.StatusCode)
		}
	})
}

// TestSDK: a client that others wrote asks its person by itself.
func TestSDK(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	id := newInbox(t, c)
	asks := 0
	session, err := sdk.NewClient(&sdk.Implementation{Name: "e2e", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asks++
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
		},
	}).Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: c.url, HTTPClient: &http.Client{Transport: bearer(c.token)}},
		&sdk.ClientSessionOptions{ProtocolVersion: string(mcp.V20260728)})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "inboxes_delete", Arguments: object{"id": id}})
	if err != nil || r.IsError || asks != 1 {
		t.Fatalf("asked %d times: %+v, %v", asks, r, err)
	}
	if o := c.call(t, "inboxes_get", object{"id": id}); o.code() != "not_found" {
		t.Errorf("%+v", o)
	}
}

// bearer adds a token to each request.
type bearer string

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
