package resources

import (
	"regexp"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// strangers are URIs that resemble one of ours and name nothing.
func strangers() []string {
	const emails = "kobana://inbox/emails/"
	upper := strings.ToUpper(id)
	return []string{
		"", "kobana:", "kobana://inbox", "kobana://inbox/", "kobana:/inbox/usage", "kobana://inbox//usage",
		"kobana://inbox/usage/", "kobana://inbox/usage?", "kobana://inbox/usage?days=1", "kobana://inbox/usage#", "kobana://inbox/usage#a",
		"kobana://inbox/usage\n", "kobana://inbox/usage\x00", " kobana://inbox/usage", "kobana://inbox/usage ",
		"KOBANA://inbox/usage", "kobana://INBOX/usage", "kobana://inbox/Usage", "kobana://inbox:80/usage", "kobana://a@inbox/usage",
		"kobana://inbox/%75sage", "kobana://inbox/./usage", "kobana://inbox/emails/../usage", "kobana://other/usage",
		"kobana://inbox/usage/" + id, "kobana://inbox/emails", emails, emails + "{id}", emails + "/", emails + "..",
		emails + upper, emails + id + "/", emails + id + "/eml/", emails + id + "/EML", emails + id + "//eml", emails + id + "/raw",
		emails + id + "?", emails + id + "#", emails + id + "%00", emails + id + "\x00", emails + id + "\r\n", emails + id + " ",
		emails + id[:35], emails + id + "0", emails + "{" + id + "}", emails + "urn:uuid:" + id, emails + strings.ReplaceAll(id, "-", ""),
		emails + "%30" + id[1:], emails + id[:35] + "%66", emails + id[:35] + "g", emails + id[:35] + "é", emails + "../usage",
		emails + "../emails/" + id, emails + "..%2Fusage", emails + id + "/../" + id, emails + id + "/eml/../eml",
		"kobana://inbox/emails%2F" + id, "kobana://inbox/agent_runs/" + id, "kobana://inbox/deliveries/" + id,
		"kobana://inbox/agents/" + id + "/eml", "https://inbox/usage", "file:///etc/passwd",
	}
}

func TestR3_7_09_StrangersNameNothing(t *testing.T) {
	for _, uri := range strangers() {
		f := &tools{allowed: all}
		if _, err := readURI(t, f, mcp.V20260728, uri); err == nil || f.reads != nil {
			t.Errorf("%q was read: %v, %v", uri, f.reads, err)
		}
	}
}

func TestFind(t *testing.T) {
	for _, want := range Table() {
		for _, uri := range []string{want.URI, address(want)} {
			if got, ok := Find(uri); !ok || got != want {
				t.Errorf("9.02 %s: %v, %t; want %v", uri, got, ok, want)
			}
		}
	}
	for _, uri := range strangers() {
		if uri == "kobana://inbox/emails/{id}" {
			continue // what [Match] must not take, and Find must
		}
		if r, ok := Find(uri); ok {
			t.Errorf("%q names %v", uri, r)
		}
	}
}

// FuzzURI compares Match with a pattern made another way: only the exact forms
// name a resource, and nothing panics.
func FuzzURI(f *testing.F) {
	forms := map[string]*regexp.Regexp{}
	for _, r := range Table() {
		f.Add(address(r))
		forms[r.URI] = regexp.MustCompile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(r.URI), `\{id\}`,
			`([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`) + `\z`)
	}
	for _, uri := range strangers() {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		var form, id string
		for u, re := range forms {
			if m := re.FindStringSubmatch(uri); m != nil {
				form, id = u, strings.Join(m[1:], "")
			}
		}
		r, gotID, ok := Match(uri)
		if ok != (form != "") || r.URI != form || gotID != id {
			t.Errorf("%q: %q with %q, %t; want %q with %q", uri, r.URI, gotID, ok, form, id)
		}
	})
}
