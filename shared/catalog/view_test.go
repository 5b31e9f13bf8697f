package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// hidden is text that people do not see and models do: bidi override, zero
// width, tag characters.
const hidden = "\u202e\u200b\U000e0041"

var hostile = jsontext.Value(`{"a` + hidden + `":{"b":["x` + hidden + `",1,true,null,12345678901234567890]},"a":"second"}`)

const cleaned = `{"a":{"b":["x",1,true,null,12345678901234567890]}}`

func hostileService() *fake {
	s := "s" + hidden
	email := inbox.Email{
		ID: id1, MessageID: s, Subject: &s, From: s, FromName: s, To: []string{s}, Cc: []string{s}, Bcc: []string{s}, HeaderTo: []string{s},
		ForwardedFor: &s, RejectionReason: &s,
		SESMetadata: hostile, CustomMetadata: hostile, AgentMetadata: hostile, Metadata: hostile,
		Attachments: []inbox.Attachment{{Filename: s, ContentType: s, ContentID: s}},
	}
	headers := hostile
	return &fake{
		email:   email,
		content: inbox.EmailContent{Headers: []inbox.Header{{Name: s, Value: s}}, Text: &s, HTML: new("<p>" + s + "</p>")},
		run:     inbox.AgentRun{Error: &s, Output: &s},
		flow:    inbox.WorkflowRun{Steps: []inbox.Step{{Result: &s}}},
		deliver: inbox.Delivery{RequestHeaders: hostile, RequestBody: hostile, ResponseHeaders: &headers, ResponseBody: &s, Error: &s},
		event:   inbox.SystemEvent{Slug: "email.received", Payload: hostile},
	}
}

// What strangers wrote is cleaned in every answer, and the service's own
// record stays as it was.
func TestHostileTextIsCleaned(t *testing.T) {
	f := hostileService()
	c := newTest(f)
	for _, e := range everyCall {
		r := call(t, c, owner, e.tool, e.args)
		if strings.ContainsAny(r.text(), hidden) || strings.Contains(r.text(), "second") {
			t.Errorf("%s: %s", e.tool, r.text())
		}
	}
	if diff := cmp.Diff(hostileService().email, f.email); diff != "" {
		t.Errorf("the service's record was changed: %s", diff)
	}
	for _, test := range []struct{ tool, want string }{
		{"emails_list", `"agent_metadata":` + cleaned}, {"emails_list", `"filename":"s"`}, {"emails_list", `"from_name":"s"`},
		{"webhooks_deliveries_list", `"response_headers":` + cleaned}, {"webhooks_deliveries_list", `"response_body":` + quoted(untrusted.Mark("s", "nonce"))},
		{"system_events_list", `"payload":` + cleaned}, {"workflow_runs_list", `"result":"s"`},
	} {
		args := "{}"
		if test.tool == "webhooks_deliveries_list" {
			args = `{"webhook_id":"` + id1 + `"}`
		}
		if r := call(t, c, owner, test.tool, args); !strings.Contains(r.text(), test.want) {
			t.Errorf("%s: no %s in %s", test.tool, test.want, r.text())
		}
	}
}

func TestCleanJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                         `{}`,
		`{"a":"plain","n":1.50}`:     `{"a":"plain","n":1.50}`,
		`{"a":"\u200b\u202ex\ny"}`:   `{"a":"x\ny"}`,
		`[{"é":"\u0000"},[],{}]`:     `[{"é":""},[],{}]`,
		"{\"a\":\"\xff\"}":           "{\"a\":\"\ufffd\"}",
		`{"broken":"` + hidden + `"`: ``,
		string(hostile):              cleaned,
	} {
		if got := cleanJSON(jsontext.Value(in)); string(got) != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func getEmail(t *testing.T, f *fake, args string) (e struct {
	Headers          []inbox.Header
	HeadersTruncated bool `json:"headers_truncated"`
	Body             map[string]any
	Attachments      []map[string]any
}) {
	t.Helper()
	decode(t, call(t, newTest(f), owner, "emails_get", `{"id":"`+id1+`"`+args+`}`).Structured, &e)
	return e
}

// The body is marked as untrusted with the nonce; HTML comes only on request.
func TestEmailBody(t *testing.T) {
	mark := func(s string) string { return untrusted.Mark(s, "nonce") }
	html := new("<p>from <b>HTML</b></p>")
	for _, test := range []struct {
		name    string
		content inbox.EmailContent
		args    string
		want    map[string]any
	}{
		{"text", inbox.EmailContent{Text: new("hello"), HTML: html}, "",
			map[string]any{"text": mark("hello"), "truncated": false, "untrusted": true}},
		{"html asked for", inbox.EmailContent{Text: new("hello"), HTML: html, Truncated: true}, `,"include_html":true`,
			map[string]any{"text": mark("hello"), "html": mark(untrusted.CleanHTML(*html)), "truncated": true, "untrusted": true}},
		{"html asked for, none there", inbox.EmailContent{Text: new("hello")}, `,"include_html":true`,
			map[string]any{"text": mark("hello"), "truncated": false, "untrusted": true}},
		{"no text part", inbox.EmailContent{HTML: html}, "",
			map[string]any{"text": mark(untrusted.HTMLToText(*html)), "truncated": false, "untrusted": true}},
		{"blank text part", inbox.EmailContent{Text: new(" \r\n"), HTML: html}, "",
			map[string]any{"text": mark(untrusted.HTMLToText(*html)), "truncated": false, "untrusted": true}},
		{"no body", inbox.EmailContent{}, "",
			map[string]any{"text": "", "truncated": false, "untrusted": true}},
	} {
		if diff := cmp.Diff(test.want, getEmail(t, &fake{content: test.content}, test.args).Body); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// Each answer has a nonce of its own, which no earlier answer gave away.
func TestNonceIsNewForEveryCall(t *testing.T) {
	n := 0
	c := newTest(&fake{content: inbox.EmailContent{Text: new("x"), HTML: new("x")}}, func(o *Options) {
		o.Nonce = func() string { n++; return fmt.Sprintf("nonce%d", n) }
	})
	for i := range 2 {
		r := call(t, c, owner, "emails_get", `{"id":"`+id1+`","include_html":true}`)
		if own := strings.Count(r.text(), fmt.Sprintf("nonce%d ", i+1)); own != 4 || n != i+1 {
			t.Errorf("call %d: its nonce is in %d marks, %d nonces were made: %s", i, own, n, r.text())
		}
	}
}

func TestEmailHeadersAreBounded(t *testing.T) {
	many := make([]inbox.Header, 300)
	for i := range many {
		many[i] = inbox.Header{Name: "X", Value: strings.Repeat("v", 5000)}
	}
	e := getEmail(t, &fake{content: inbox.EmailContent{Headers: many}}, "")
	if len(e.Headers) != 8 || !e.HeadersTruncated || len([]rune(e.Headers[0].Value)) != maxHeaderValue {
		t.Errorf("%d headers of %d characters, truncated: %v", len(e.Headers), len([]rune(e.Headers[0].Value)), e.HeadersTruncated)
	}
	for i := range many {
		many[i] = inbox.Header{Name: fmt.Sprintf("X-%03d", i), Value: "v"}
	}
	e = getEmail(t, &fake{content: inbox.EmailContent{Headers: many}}, "")
	if len(e.Headers) != maxHeaders || !e.HeadersTruncated || e.Headers[0].Name != "X-000" || e.Headers[199].Name != "X-199" {
		t.Errorf("%d short headers, truncated: %v", len(e.Headers), e.HeadersTruncated)
	}
	e = getEmail(t, &fake{content: inbox.EmailContent{Headers: many[:maxHeaders]}}, "")
	if len(e.Headers) != maxHeaders || e.HeadersTruncated {
		t.Errorf("%d of %d headers, truncated: %v", len(e.Headers), maxHeaders, e.HeadersTruncated)
	}
}

// Case 35: attachments are metadata, whatever their size.
func TestAttachmentsAreMetadata_case_35(t *testing.T) {
	f := &fake{email: inbox.Email{Attachments: []inbox.Attachment{{Filename: "report.pdf", ContentType: "application/pdf", Size: 2 << 20, SHA256: "00"}}}}
	r := call(t, newTest(f), owner, "emails_get", `{"id":"`+id1+`"}`)
	if len(r.text()) > 4000 {
		t.Errorf("an e-mail with a 2 MB attachment takes %d bytes", len(r.text()))
	}
	want := []map[string]any{{"filename": "report.pdf", "content_type": "application/pdf", "size": float64(2 << 20), "inline": false, "sha256": "00"}}
	if diff := cmp.Diff(want, getEmail(t, f, "").Attachments); diff != "" {
		t.Error(diff)
	}
}

func TestListsCarryNoBodies(t *testing.T) {
	f := hostileService()
	if r := call(t, newTest(f), owner, "emails_list", `{}`); strings.Contains(r.text(), `"body"`) || strings.Contains(r.text(), `"headers"`) {
		t.Error(r.text())
	}
}

// An agent's output is marked as untrusted, and short in lists.
func TestAgentRunOutput(t *testing.T) {
	long := strings.Repeat("é", 1001)
	output := func(f *fake, tool, args string) string {
		var r struct {
			Output jsontext.Value
			Data   []struct{ Output jsontext.Value }
		}
		decode(t, call(t, newTest(f), owner, tool, args).Structured, &r)
		if r.Data != nil {
			return string(r.Data[0].Output)
		}
		return string(r.Output)
	}
	shows := func(text string, truncated bool) string {
		return fmt.Sprintf(`{"text":%s,"truncated":%v,"untrusted":true}`, quoted(untrusted.Mark(text, "nonce")), truncated)
	}
	f := &fake{run: inbox.AgentRun{Output: &long}}
	if got, want := output(f, "agent_runs_get", `{"id":"`+id1+`"}`), shows(long, false); got != want {
		t.Errorf("get: %s, want %s", got, want)
	}
	if got, want := output(f, "agent_runs_list", `{}`), shows(long[:2000], true); got != want {
		t.Errorf("list: %s, want %s", got, want)
	}
	f.run.Output = new(long[:2000])
	if got, want := output(f, "agent_runs_list", `{}`), shows(long[:2000], false); got != want {
		t.Errorf("list of exactly as much: %s, want %s", got, want)
	}
	if got := output(&fake{}, "agent_runs_get", `{"id":"`+id1+`"}`); got != "null" {
		t.Errorf("no output: %s", got)
	}
}

// R4: events of secrets carry tool, person and outcome only.
func TestSecretEvents_R4(t *testing.T) {
	const rest = `,"arguments":{"name":"API_KEY"},"id":"x"}`
	for _, test := range []struct{ slug, payload, want string }{
		{"secret.created", `{"tool":"secrets_create","person":{"subject":"ana"},"outcome":"success"` + rest,
			`{"tool":"secrets_create","person":{"subject":"ana"},"outcome":"success"}`},
		{"tool.executed", `{"tool":"secrets_delete","person":"ana","outcome":"started"` + rest,
			`{"tool":"secrets_delete","person":"ana","outcome":"started"}`},
		{"secrets", `{"tool":7` + rest, `{}`},
		{"secret.deleted", `["API_KEY"]`, `{}`},
		{"tool.executed", `{"tool":"inboxes_update","person":"ana"` + rest, `{"tool":"inboxes_update","person":"ana"` + rest},
		{"email.received", `{"tool":7}`, `{"tool":7}`},
	} {
		f := &fake{event: inbox.SystemEvent{Slug: test.slug, Payload: jsontext.Value(test.payload)}}
		for _, call := range []result{
			call(t, newTest(f), owner, "system_events_get", `{"id":"`+id1+`"}`),
			call(t, newTest(f), owner, "system_events_list", `{}`),
		} {
			if !strings.Contains(call.text(), `"payload":`+test.want) {
				t.Errorf("%s: %s, want payload %s", test.slug, call.text(), test.want)
			}
		}
	}
}

func TestTimesAreUTC(t *testing.T) {
	if r := call(t, newTest(&fake{}), owner, "inboxes_get", `{"id":"`+id1+`"}`); !strings.Contains(r.text(), `"created_at":"2026-12-02T12:00:00Z"`) {
		t.Error(r.text())
	}
}

// Case 5: an answer too large for the gateway is refused with a code and what
// to do instead.
func TestTooLarge_case_5(t *testing.T) {
	f := &fake{content: inbox.EmailContent{Text: new(strings.Repeat("five", 5<<20/4)), HTML: new("x")}}
	c := newTest(f)
	r := call(t, c, owner, "emails_get", `{"id":"`+id1+`"}`)
	if !r.IsError || r.Code != "response_too_large" || !strings.Contains(r.text(), "emails_get_eml") || len(r.text()) > 300 {
		t.Errorf("%.300s", r.text())
	}
	f.content.Text = new(strings.Repeat("x", maxResult/2))
	_, err := c.Read(t.Context(), owner, "emails_get", map[string]string{"id": id1})
	if e, ok := errors.AsType[*inbox.Error](err); !ok || e.Code != CodeTooLarge {
		t.Errorf("read: %v", err)
	}
	f.inboxes = []inbox.Inbox{{Label: strings.Repeat("x", 2<<20)}}
	if r := call(t, c, owner, "inboxes_list", `{}`); r.Code != "response_too_large" || !strings.Contains(r.text(), "limit") {
		t.Errorf("a list: %.300s", r.text())
	}
}

// A write that was done says so, however large what it made is.
func TestTooLargeWrite_case_5(t *testing.T) {
	r := success(&Tool{Hints: updates}, Output{JSON: jsontext.Value(`{"a":"` + strings.Repeat("x", maxResult/2) + `"}`)}, mcp.V20260728)
	if !strings.Contains(string(r.Fields), "response_too_large: It was done, but") {
		t.Errorf("%.300s", r.Fields)
	}
}

// A page of as many bytes as the service may fill fits the answer, even where
// every byte is escaped.
func TestFullPageFits(t *testing.T) {
	f := &fake{inboxes: []inbox.Inbox{{Label: strings.Repeat(`\`, (maxPage-1000)/2)}}}
	r, err := send(t.Context(), newTest(f), owner, mcp.V20260728, "tools/call", `{"name":"inboxes_list"}`)
	if err != nil || strings.Contains(string(r.Fields), "response_too_large") || len(r.Fields) > 2_500_000 {
		t.Errorf("%d bytes: %v", len(r.Fields), err)
	}
}

// A text for the person only says so.
func TestForUser(t *testing.T) {
	tool := &Tool{Name: "x"}
	var r result
	decode(t, success(tool, Output{JSON: jsontext.Value(`{"a":1}`), ForUser: []string{"The \"secret\""}}, mcp.V20260728).Fields, &r)
	if len(r.Content) != 2 || r.Content[1].Text != `The "secret"` || !cmp.Equal(r.Content[1].Annotations.Audience, []string{"user"}) {
		t.Errorf("%+v", r)
	}
	if strings.Contains(string(r.Structured), "secret") {
		t.Errorf("structuredContent: %s", r.Structured)
	}
}
