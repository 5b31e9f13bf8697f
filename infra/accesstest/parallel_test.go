package accesstest

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

// request is one that somebody makes again and again, with the answer that is
// theirs.
type request struct {
	client client
	method string
	params object
	want   string
}

// TestAlternatingPeople: two people, with tokens that may write and that may
// not, and one with two workspaces, take turns on one warm process; each sees
// what they see alone.
func TestAlternatingPeople(t *testing.T) {
	w := newWalk(t)
	both := person("both")
	w.join(t, access.Membership{Person: both, Workspace: w.aurora, Role: access.Viewer})
	w.join(t, access.Membership{Person: both, Workspace: w.bosque, Role: access.Admin})
	const all = "inbox.read inbox.write"
	inBoth := w.as(w.token(t, both, all, nil))
	var requests []request
	for who, c := range map[string]client{
		"owner":        w.owner,
		"read only":    w.as(w.token(t, demo.Owner, "inbox.read", nil)),
		"stranger":     w.stranger,
		"operator":     w.as(w.token(t, demo.Operator, all, nil)),
		"both, Aurora": inBoth.inWorkspace(string(w.aurora)),
		"both, Bosque": inBoth.inWorkspace(string(w.bosque)),
		"nobody":       w.as(w.token(t, person("nobody"), all, nil)),
		"no token":     w.as(""),
	} {
		from := w.theirs
		if strings.HasSuffix(who, "stranger") || strings.HasSuffix(who, "Bosque") {
			from = w.mine
		}
		for _, r := range answersOf(c, from) {
			r.want = stable(r.client.send(t, r.method, r.params))
			requests = append(requests, r)
		}
	}
	const workers = 4
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for n := range requests {
				r := requests[(n*7+worker*len(requests)/workers)%len(requests)] // each in another order
				if got := stable(r.client.send(t, r.method, r.params)); got != r.want {
					t.Errorf("%s %v in parallel: %s\nalone: %s", r.method, r.params, got, r.want)
				}
			}
		})
	}
	group.Wait()
}

// answersOf are requests for all that the client reads, with records to read.
func answersOf(c client, from map[string]ref) (requests []request) {
	add := func(method string, params object) {
		requests = append(requests, request{client: c.in(mcp.V20260728), method: method, params: params},
			request{client: c.in(mcp.V20250618), method: method, params: params})
	}
	for _, m := range methods {
		add(m.name, m.params)
	}
	for _, tool := range tools() {
		args := object{}
		for name, value := range filled(tool, from) {
			if name == "id" || name == "webhook_id" {
				args[name] = value
			}
		}
		if tool.Hints.ReadOnly {
			add("tools/call", object{"name": tool.Name, "arguments": args})
		}
	}
	for _, r := range resources.Table() {
		if r.Template() {
			add("completion/complete", object{"ref": object{"type": "ref/resource", "uri": r.URI}, "argument": object{"name": "id", "value": ""}})
			add("resources/read", object{"uri": strings.Replace(r.URI, resources.Placeholder, from[string(r.Family)].id, 1)})
		}
	}
	return requests
}

// nonce is the random part of the marks around untrusted text.
var nonce = regexp.MustCompile(`untrusted content [0-9a-f]{24} `)

// stable is an answer without what is new each time.
func stable(r reply) string {
	return nonce.ReplaceAllString(r.body, "") + r.challenge
}
