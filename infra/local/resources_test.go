package local

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// document is a resource as the product page has it: its URI, the tool that
// reads it, and for a template the tool that lists its records.
type document struct{ uri, tool, list string }

var documents = []document{
	{"kobana://inbox/models", "models_list", ""},
	{"kobana://inbox/usage", "usage_get", ""},
	{"kobana://inbox/workspaces/{id}", "workspaces_get", "workspaces_list"},
	{"kobana://inbox/inboxes/{id}", "inboxes_get", "inboxes_list"},
	{"kobana://inbox/emails/{id}", "emails_get", "emails_list"},
	{"kobana://inbox/emails/{id}/eml", "emails_get_eml", "emails_list"},
	{"kobana://inbox/agents/{id}", "agents_get", "agents_list"},
	{"kobana://inbox/agent-runs/{id}", "agent_runs_get", "agent_runs_list"},
	{"kobana://inbox/workflow-runs/{id}", "workflow_runs_get", "workflow_runs_list"},
	{"kobana://inbox/webhooks/{id}", "webhooks_get", "webhooks_list"},
	{"kobana://inbox/system-events/{id}", "system_events_get", "system_events_list"},
}

func (d document) with(id string) string { return strings.ReplaceAll(d.uri, "{id}", id) }

// of is the URI of a record that the client can list, and its id.
func (d document) of(t *testing.T, c client) (uri, id string) {
	t.Helper()
	if d.list == "" {
		return d.uri, ""
	}
	id = c.id(t, d.list, nil)
	return d.with(id), id
}

// read reads a resource that must be there, and returns its text.
func (c client) read(t *testing.T, uri string) string {
	t.Helper()
	r := decode[struct{ Contents []map[string]string }](t, c.send(t, "resources/read", object{"uri": uri}).Result)
	if len(r.Contents) != 1 {
		t.Fatalf("%s has %d contents", uri, len(r.Contents))
	}
	want := map[string]string{"uri": uri, "mimeType": "application/json", "text": r.Contents[0]["text"]}
	if diff := cmp.Diff(want, r.Contents[0]); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", uri, diff)
	}
	return r.Contents[0]["text"]
}

func TestR1_R2_Lists(t *testing.T) {
	var fixed, templates []string
	for _, d := range documents {
		if d.list == "" {
			fixed = append(fixed, d.uri)
		} else {
			templates = append(templates, d.uri)
		}
	}
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		for _, l := range []struct {
			method, member, uri string
			want                []string
		}{
			{"resources/list", "resources", "uri", fixed},
			{"resources/templates/list", "resourceTemplates", "uriTemplate", templates},
		} {
			result := as("demo-owner").in(v).result(t, l.method, nil)
			var got []string
			for _, r := range result[l.member].([]any) {
				r := r.(object)
				got = append(got, r[l.uri].(string))
				if r["mimeType"] != "application/json" || r["name"] == "" || r["description"] == "" {
					t.Errorf("%s: %v", l.method, r)
				}
			}
			if diff := cmp.Diff(l.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", l.method, diff)
			}
			delete(result, l.member)
			want := object{}
			if v.Modern() {
				want = object{"resultType": "complete", "ttlMs": 30000.0, "cacheScope": "private", "_meta": result["_meta"]}
			}
			if diff := cmp.Diff(want, result); diff != "" {
				t.Errorf("%s beside its items (-want +got):\n%s", l.method, diff)
			}
		}
	})
}

// hasNone tells of what demo-other's workspace has no records.
func hasNone(list string) bool {
	return strings.HasPrefix(list, "agent") || strings.HasPrefix(list, "webhook") || list == "secrets_list"
}

// what differs between two answers about the same thing: nonces, and the times
// of links.
var volatile = regexp.MustCompile(`untrusted content [0-9a-f]+ |expires=\d+|signature=[\w-]+|"expires_at":"[^"]+"`)

func stable(s string) string { return volatile.ReplaceAllString(s, "~") }

// TestR1_R3_Case18_Read reads one real record of each template, with what
// tools/list says of it and what its tool answers.
func TestR1_R3_Case18_Read(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		for _, token := range []string{"demo-owner", "demo-other"} {
			c := as(token).in(v)
			for _, d := range documents {
				if token == "demo-other" && hasNone(d.list) {
					continue
				}
				uri, id := d.of(t, c)
				text := c.read(t, uri)
				args := object{}
				if id != "" {
					args["id"] = id
				}
				a := c.call(t, d.tool, args)
				if a.failed || stable(text) != stable(a.text) {
					t.Errorf("%s is %s\n%s is %s", uri, text, d.tool, a.text)
				}
				if record := decode[object](t, jsontext.Value(text)); id != "" && d.tool != "emails_get_eml" && record["id"] != id {
					t.Errorf("%s is the record %v", uri, record["id"])
				}
			}
		}
	})
}

func TestR1_Values(t *testing.T) {
	c := as("demo-owner")
	for uri, parts := range map[string][]string{
		"kobana://inbox/models": {`"Claude Sonnet 4.5"`, `"input_price":3`, `"currency":"USD"`},
		"kobana://inbox/usage":  {`"total":{"emails":10,"runs":7,"failed_runs":3,`, `"by_model":[{`, `"by_day":[{`},
		"kobana://inbox/workspaces/" + c.id(t, "workspaces_list", nil):                                               {`"label":"Aurora"`, `"monthly_cost_limit":50`},
		"kobana://inbox/inboxes/" + c.where(t, "inboxes_list", "label", "Invoices")["id"].(string):                   {`"email":"aurora-invoices@inbox.kobana.com.br"`, `"allowed_recipients":["faturas@rodoviaria.example","billing@paper-mill.example"]`, `"filters":[]`},
		"kobana://inbox/emails/" + c.where(t, "emails_list", "from", "faturas@rodoviaria.example")["id"].(string):    {`"Fatura 2026/0881 – vencimento dia 10"`, `"filename":"fatura-2026-0881.pdf"`, `Qualquer dúvida, estamos à disposição.`, `"headers":[{`, `"status":"processed"`},
		"kobana://inbox/agents/" + c.where(t, "agents_list", "label", "Helpdesk")["id"].(string):                     {`"system_message":"You answer customers`, `"skills_repo":null`},
		"kobana://inbox/agent-runs/" + c.where(t, "agent_runs_list", "status", "failed")["id"].(string):              {`"error":"None of the demo's rules fits this e-mail."`, `"total_cost":0`},
		"kobana://inbox/workflow-runs/" + c.where(t, "workflow_runs_list", "status", "failed")["id"].(string):        {`{"name":"run_agent","status":"failed","result":"None of the demo's rules`},
		"kobana://inbox/webhooks/" + c.where(t, "webhooks_list", "label", "CRM")["id"].(string):                      {`"url":"https://crm.aurora.example/kobana"`, `"subscribed_events":["email.processed","email.failed"]`, `"status":"active"`},
		"kobana://inbox/system-events/" + c.where(t, "system_events_list", "slug", "email.processed")["id"].(string): {`"payload":{"status":"processed","rejection_reason":null,"workflow_run_id":"`},
	} {
		if text := c.read(t, uri); !has(text, parts...) {
			t.Errorf("%s is %s", uri, text)
		}
	}
}

// forms are spellings of a URI that name nothing, for URIs compare byte for
// byte; checklist 7.09.
func forms(d document, id string) []string {
	uri := d.with(id)
	path := strings.TrimPrefix(uri, "kobana://inbox/")
	family, rest, _ := strings.Cut(path, "/")
	return []string{
		"", "/", "kobana:", "kobana://inbox", "kobana://inbox/", "KOBANA://inbox/" + path, "kobana://INBOX/" + path,
		"kobana://inbox//" + path, "kobana:///inbox/" + path, "kobana:inbox/" + path, "https://inbox/" + path, "file:///etc/passwd",
		uri + "/", uri + "?", uri + "#", uri + " ", " " + uri, uri + "\x00", uri + "\n", uri + "?a=b", uri + "/..", uri + "/eml/eml",
		"kobana://inbox/./" + path, "kobana://inbox/x/../" + path, "kobana://inbox/" + family + "/%2e%2e/" + path,
		"kobana://inbox/" + family + "%2F" + rest, "kobana://inbox/" + family + "/" + strings.ToUpper(rest) + "A",
		"kobana://inbox/" + strings.ToUpper(family) + "/" + rest, "kobana://user@inbox/" + path, "kobana://inbox:80/" + path,
		"kobana://inbox/" + family + "/{id}", "kobana://inbox/" + family + "/", "kobana://inbox/" + family + "/../secrets/" + rest,
		"kobana://inbox/" + family + "/" + strings.ReplaceAll(rest, "-", ""), "kobana://inbox/" + family + "/%" + rest, "\u202e" + uri,
		"kobana://inbox/" + family + "/aurora-support@inbox.kobana.com.br", "kobana://inbox/" + family + "/urn:uuid:" + rest,
	}
}

// missing is the answer to a read of what is not there.
func missing(t *testing.T, v mcp.Version, uri string) string {
	code := -32002
	if v.Modern() {
		code = -32602
	}
	return marshal(t, object{"jsonrpc": "2.0", "id": 1, "error": object{
		"code": code, "message": "no such resource", "data": object{"uri": uri}}})
}

func sameJSON(t *testing.T, want string, got []byte) bool {
	t.Helper()
	return cmp.Equal(decode[any](t, jsontext.Value(want)), decode[any](t, got))
}

func TestR3_R5_7_09_OtherFormsNameNothing(t *testing.T) {
	t.Parallel()
	eachEra(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-owner").in(v)
		for _, d := range documents {
			uri, id := d.of(t, c)
			for _, form := range forms(d, id) {
				r := c.send(t, "resources/read", object{"uri": form})
				if r.status != http.StatusOK || !sameJSON(t, missing(t, v, form), r.body) {
					t.Errorf("%q, near %s: HTTP %d %s", form, uri, r.status, r.body)
				}
			}
		}
	})
}

// TestR4_NoSecrets: there is no resource of secrets, not even for their owner.
func TestR4_NoSecrets(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-owner").in(v)
		secret := c.id(t, "secrets_list", nil)
		for _, uri := range []string{
			"kobana://inbox/secrets", "kobana://inbox/secrets/" + secret, "kobana://inbox/secret/" + secret,
			"kobana://inbox/inboxes/" + secret, "kobana://inbox/system-events/" + secret, "kobana://inbox/webhooks/" + secret + "/secret",
		} {
			if r := c.send(t, "resources/read", object{"uri": uri}); !sameJSON(t, missing(t, v, uri), r.body) {
				t.Errorf("%s: %s", uri, r.body)
			}
		}
		for _, method := range []string{"resources/list", "resources/templates/list"} {
			if r := c.send(t, method, nil); strings.Contains(string(r.body), "secret") {
				t.Errorf("%s: %s", method, r.body)
			}
		}
		for _, d := range documents {
			if uri, _ := d.of(t, c); strings.Contains(c.read(t, uri), "ERP_TOKEN") {
				t.Errorf("%s shows a secret's name", uri)
			}
		}
	})
}

// TestR5_SameAnswer: a record that never existed and one of another workspace
// have one answer, byte for byte but for the id.
func TestR5_SameAnswer(t *testing.T) {
	const never = "01a00000-0000-7000-8000-000000000000"
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		owner, other := as("demo-owner").in(v), as("demo-other").in(v)
		for _, d := range documents {
			if d.list == "" {
				continue
			}
			_, theirs := d.of(t, owner)
			r := other.send(t, "resources/read", object{"uri": d.with(never)})
			foreign := other.send(t, "resources/read", object{"uri": d.with(theirs)})
			if got := strings.ReplaceAll(string(foreign.body), theirs, never); got != string(r.body) || foreign.status != r.status {
				t.Errorf("a foreign %s: HTTP %d %s\nnone: HTTP %d %s", d.uri, foreign.status, got, r.status, r.body)
			}
			if !sameJSON(t, missing(t, v, d.with(never)), r.body) || r.status != http.StatusOK {
				t.Errorf("%s: HTTP %d %s", d.with(never), r.status, r.body)
			}
		}
	})
}

func TestR6_NoSubscriptions(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-owner").in(v)
		for _, method := range []string{"resources/subscribe", "resources/unsubscribe", "subscriptions/listen"} {
			r := c.send(t, method, object{"uri": "kobana://inbox/models", "notifications": object{}})
			want := http.StatusOK
			if v.Modern() {
				want = http.StatusNotFound
			}
			if r.status != want || r.Error == nil || r.Error.Code != -32601 {
				t.Errorf("%s: HTTP %d %s", method, r.status, r.body)
			}
		}
		method, params := "server/discover", object(nil)
		if !v.Modern() {
			method, params = "initialize", object{"protocolVersion": v, "capabilities": object{}, "clientInfo": object{"name": "t", "version": "1"}}
		}
		want := object{"tools": object{}, "resources": object{}, "prompts": object{}, "completions": object{}}
		if diff := cmp.Diff(want, c.result(t, method, params)["capabilities"].(object)); diff != "" {
			t.Errorf("capabilities (-want +got):\n%s", diff)
		}
	})
}
