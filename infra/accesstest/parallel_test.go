package accesstest

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/time/rate"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
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

// TestAlternatingPeople: people of two organizations, with tokens that may write
// and that may not, one with two workspaces, and one by another's name at
// another issuer take turns on one warm process; each sees what they see where
// they are alone.
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
		"owner's name": w.as(w.token(t, access.Person{Issuer: otherIssuer, Subject: demo.Owner.Subject}, all, nil)),
		"no token":     w.as(""),
	} {
		from := w.theirs
		if strings.HasSuffix(who, "stranger") || strings.HasSuffix(who, "Bosque") {
			from = w.mine
		}
		alone := w.instance(t, access.RateLimit{PerSecond: rate.Inf})
		for _, r := range answersOf(c, from) {
			r.want = stable(r.client.at(alone).send(t, r.method, r.params))
			requests = append(requests, r)
		}
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for _, n := range rand.New(rand.NewPCG(uint64(worker), 0)).Perm(len(requests)) {
				r := requests[n]
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
		requests = append(requests, request{client: c, method: method, params: params})
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
