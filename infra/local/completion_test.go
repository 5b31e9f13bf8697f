package local

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// complete asks for values of an argument, which must not be an error.
func (c client) complete(t *testing.T, kind, ref, argument, typed string) (values []string, more bool) {
	t.Helper()
	member := "name"
	if kind == "ref/resource" {
		member = "uri"
	}
	result := c.result(t, "completion/complete", object{
		"ref": object{"type": kind, member: ref}, "argument": object{"name": argument, "value": typed}})
	completion := result["completion"].(object)
	for _, v := range completion["values"].([]any) { // null would panic
		values = append(values, v.(string))
	}
	return values, completion["hasMore"] == true
}

// identified are the arguments that take ids, with the tool that lists them.
func identified() (all []struct{ kind, ref, argument, list string }) {
	for _, d := range documents {
		if d.list != "" {
			all = append(all, struct{ kind, ref, argument, list string }{"ref/resource", d.uri, "id", d.list})
		}
	}
	return append(all,
		struct{ kind, ref, argument, list string }{"ref/prompt", "inbox_overview", "inbox_id", "inboxes_list"},
		struct{ kind, ref, argument, list string }{"ref/prompt", "review_failed_runs", "agent_id", "agents_list"})
}

// TestR9_Ids: the ids are those of the list, newest first, by what is typed.
func TestR9_Ids(t *testing.T) {
	t.Parallel()
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		for _, token := range []string{"demo-owner", "demo-other"} {
			c := as(token).in(v)
			for _, a := range identified() {
				if token == "demo-other" && hasNone(a.list) {
					continue
				}
				var ids []string
				for _, r := range c.list(t, a.list, object{"limit": 200}) {
					ids = append(ids, r["id"].(string))
				}
				typed := []string{"", "0", "ffff", "ÿ", "{id}", "' OR 1=1", strings.Repeat("0", 5000)}
				for _, id := range []string{ids[0], ids[len(ids)-1]} {
					typed = append(typed, id, id[:13], strings.ToUpper(id[:18]), id+"0")
				}
				for _, typed := range typed {
					var want []string
					for _, id := range ids {
						if strings.HasPrefix(id, strings.ToLower(typed)) {
							want = append(want, id)
						}
					}
					got, more := c.complete(t, a.kind, a.ref, a.argument, typed)
					if diff := cmp.Diff(want, got); diff != "" || more {
						t.Errorf("%s %s, %q, more %v (-want +got):\n%s", a.ref, a.argument, typed, more, diff)
					}
				}
			}
		}
	})
}

func TestR10_Months_And_NoSource(t *testing.T) {
	now := time.Now().UTC()
	var months []string
	for i := range 12 {
		months = append(months, time.Date(now.Year(), now.Month()-time.Month(i), 1, 0, 0, 0, 0, time.UTC).Format("2006-01"))
	}
	year := now.Format("2006-")
	thisYear := slices.DeleteFunc(slices.Clone(months), func(m string) bool { return !strings.HasPrefix(m, year) })
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-readonly").in(v)
		for _, a := range []struct {
			ref, argument, typed string
			want                 []string
		}{
			{"usage_report", "month", "", months},
			{"usage_report", "month", year, thisYear},
			{"usage_report", "month", months[11], months[11:]},
			{"usage_report", "month", "1999", nil},
			{"review_failed_runs", "since", "", nil},
			{"review_failed_runs", "since", "2026", nil},
		} {
			got, more := c.complete(t, "ref/prompt", a.ref, a.argument, a.typed)
			if diff := cmp.Diff(a.want, got); diff != "" || more {
				t.Errorf("%s %q, more %v (-want +got):\n%s", a.argument, a.typed, more, diff)
			}
		}
	})
}

// TestCase19_References: by template URI, by the URI of a record, by a fixed
// URI; what is missing or unknown is -32602, never a crash.
func TestCase19_References(t *testing.T) {
	eachVersion(t, func(t *testing.T, v mcp.Version) {
		c := as("demo-owner").in(v)
		id := c.id(t, "emails_list", nil)
		for uri, want := range map[string][]string{
			"kobana://inbox/emails/{id}":  {id},
			"kobana://inbox/emails/" + id: {id},
			"kobana://inbox/models":       nil,
			"kobana://inbox/usage":        nil,
		} {
			if got, _ := c.complete(t, "ref/resource", uri, "id", id); !slices.Equal(got, want) {
				t.Errorf("%s: %v", uri, got)
			}
		}
		value := object{"name": "id", "value": ""}
		email := object{"type": "ref/resource", "uri": "kobana://inbox/emails/{id}"}
		for name, params := range map[string]object{
			"no ref":                  {"argument": value},
			"null ref":                {"ref": nil, "argument": value},
			"ref is no object":        {"ref": "kobana://inbox/emails/{id}", "argument": value},
			"ref without type":        {"ref": object{"uri": "kobana://inbox/emails/{id}"}, "argument": value},
			"unknown type":            {"ref": object{"type": "ref/tool", "name": "emails_get"}, "argument": value},
			"prompt without name":     {"ref": object{"type": "ref/prompt"}, "argument": value},
			"unknown prompt":          {"ref": object{"type": "ref/prompt", "name": "nope"}, "argument": value},
			"resource by name":        {"ref": object{"type": "ref/resource", "name": "email"}, "argument": value},
			"unknown uri":             {"ref": object{"type": "ref/resource", "uri": "kobana://inbox/secrets/{id}"}, "argument": value},
			"other spelling":          {"ref": object{"type": "ref/resource", "uri": "kobana://inbox/emails/{ID}"}, "argument": value},
			"unknown argument":        {"ref": email, "argument": object{"name": "nope", "value": ""}},
			"unknown prompt argument": {"ref": object{"type": "ref/prompt", "name": "webhook_health"}, "argument": value},
			"no argument":             {"ref": email},
			"null argument":           {"ref": email, "argument": nil},
			"argument is no object":   {"ref": email, "argument": "id"},
			"no value":                {"ref": email, "argument": object{"name": "id"}},
			"value is no text":        {"ref": email, "argument": object{"name": "id", "value": 1}},
			"context is no object":    {"ref": email, "argument": value, "context": 1},
		} {
			r := c.send(t, "completion/complete", params)
			if r.status != http.StatusOK || r.Error == nil || r.Error.Code != -32602 {
				t.Errorf("%s: HTTP %d %s", name, r.status, r.body)
			}
		}
		// What was chosen before is accepted.
		r := c.send(t, "completion/complete", object{"ref": email, "argument": value, "context": object{"arguments": object{"other": "x"}}})
		if r.Error != nil {
			t.Errorf("context: %s", r.body)
		}
	})
}
