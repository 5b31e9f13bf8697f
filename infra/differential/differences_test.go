package differential_test

import (
	"slices"
	"strings"
)

// difference is where the product answers otherwise than the SDK, on purpose.
type difference struct {
	id  string // of the checklist
	why string
	// twist are the requests it is about, nil for all. Then one of these:
	twist []string
	// instead changes the request into the one that the SDK answers as we do,
	// and reports whether it did.
	instead func(q *request) bool
	// status and code are what we answer.
	status, code int
	// settle makes the SDK's answer ours where the difference accounts for it.
	settle func(q request, ours outcome, theirs *outcome) bool
}

var differences = []difference{
	{id: "1.02", why: "a foreign origin is refused", twist: []string{"Origin foreign"}, status: 403, code: -32600},
	{id: "1.04", why: "a response is no request", twist: []string{"response posted"}, status: 400, code: -32600},
	{id: "1.19", why: "Mcp-Name may be base64", twist: []string{"Mcp-Name in base64"}, instead: func(q *request) bool { return q.set("Mcp-Name", q.name()) }},
	{id: "1.22", why: "the space around a header's value is not a part of it", twist: []string{"Mcp-Method spaced"}, instead: func(q *request) bool { return q.set("Mcp-Method", q.method) }},
	{id: "1.31", why: "Last-Event-ID is ignored", twist: []string{"Last-Event-ID"}, instead: func(q *request) bool {
		q.header.Del("Last-Event-ID")
		return true
	}},
	{id: "3.06 large", why: "large ids are echoed as they are", twist: []string{"id large"}, settle: func(_ request, ours outcome, theirs *outcome) bool {
		theirs.ID = strings.Replace(theirs.ID, "9007199254740992", "9007199254740993", 1)
		return theirs.ID == ours.ID
	}},
	{id: "3.06", why: "an id is a string or an integer", twist: []string{"id fraction"}, status: 400, code: -32600},
	{id: "13.06", why: "an unknown log level is refused", twist: []string{"_meta logLevel"}, status: 200, code: -32602},
	{id: "14.12", why: "a missing Accept or Content-Type breaks nothing", twist: []string{"Accept missing", "Content-Type missing"}, instead: func(q *request) bool {
		return q.set("Accept", "application/json, text/event-stream") && q.set("Content-Type", "application/json")
	}},
	{id: "14.24", why: "a malformed clientInfo is ignored", twist: []string{"_meta client text"}, instead: func(q *request) bool {
		delete(q.meta(), "io.modelcontextprotocol/clientInfo")
		return true
	}},
	{id: "§0 step 6, notification", why: "what has no id is a notification", twist: []string{"id missing"}, status: 202},
	{id: "§0 step 6, method", why: "what has no method is no message", twist: []string{"method missing"}, status: 400, code: -32600},
	{id: "§15 names", why: "names are case-sensitive", twist: []string{"member in capitals"}, status: 400, code: -32600},
	{id: "§15 duplicates", why: "no name stands twice", twist: []string{"member twice"}, status: 400, code: -32700},
	{id: "6.01", why: "a resource asks nothing here, so answers are not looked at", twist: []string{"inputResponses", "requestState"}, instead: func(q *request) bool {
		if q.method != "resources/read" {
			return false
		}
		delete(q.params, "inputResponses")
		delete(q.params, "requestState")
		return true
	}},
	{id: "10.02", why: "a cursor is one that was given out", twist: []string{"cursor"}, status: 200, code: -32602},

	{id: "§0 step 8", why: "the envelope is judged before the method", settle: func(_ request, ours outcome, theirs *outcome) bool {
		return ours.Status == 400 && theirs.is(404, -32601) && theirs.become(ours)
	}},
	{id: "§4 text", why: "an error is JSON-RPC, never plain text", settle: func(_ request, ours outcome, theirs *outcome) bool {
		return ours.Code != 0 && ours.Status == 400 && theirs.Text && theirs.Status == 400 && theirs.become(ours)
	}},
	{id: "§4 params", why: "bad params are no header mismatch", settle: func(_ request, ours outcome, theirs *outcome) bool {
		return ours.is(200, -32602) && theirs.is(400, -32020) && theirs.become(ours)
	}},
	{id: "§4 capability", why: "2025 has no code for a missing capability", settle: func(q request, ours outcome, theirs *outcome) bool {
		return !q.version.Modern() && ours.is(200, -32603) && theirs.is(200, -32021) && theirs.become(ours)
	}},
	{id: "5.16", why: "params are what the method takes", twist: []string{
		"params null", "params array", "params text", "params missing", "arguments array", "_meta text", "uri number", "protocolVersion",
	}, settle: func(q request, ours outcome, theirs *outcome) bool {
		return (ours.is(200, -32602) || ours.is(200, -32601)) && theirs.become(ours)
	}},
	{id: "11.03", why: "what a person reads is private", settle: func(q request, _ outcome, theirs *outcome) bool {
		return q.method == "resources/read" && theirs.replace("cacheScope", "public", "private")
	}},
	{id: "11.02", why: "server/discover may be kept for five minutes", settle: func(q request, _ outcome, theirs *outcome) bool {
		return q.method == "server/discover" && theirs.replace("ttlMs", 0.0, 300000.0)
	}},
	{id: "3.08", why: "no caching hints in 2025", settle: func(q request, _ outcome, theirs *outcome) (settled bool) {
		for _, o := range append(theirs.Batch, *theirs) {
			settled = !q.modern() && o.remove("ttlMs", "cacheScope") || settled
		}
		return settled
	}},
	{id: "6.02", why: "an interim result has no content", settle: func(_ request, _ outcome, theirs *outcome) bool {
		return theirs.Result["resultType"] == "input_required" && theirs.remove("content", "messages")
	}},
	{id: "14.5", why: "2024-11-05 is not served", settle: func(_ request, _ outcome, theirs *outcome) bool {
		data, _ := theirs.Data.(object)
		return withoutOldest(theirs.Result, "supportedVersions") || withoutOldest(data, "supported")
	}},
	{id: "14.4", why: "an error of a method is HTTP 200", settle: func(q request, ours outcome, theirs *outcome) bool {
		if !q.modern() || !ours.is(200, -32602) || !theirs.is(400, -32602) {
			return false
		}
		theirs.Status = 200
		return true
	}},
	{id: "7.07", why: "a resource that is not there is -32002 in 2025", settle: func(q request, ours outcome, theirs *outcome) bool {
		if q.modern() || ours.Code != -32002 || theirs.Code != -32602 {
			return false
		}
		theirs.Code = ours.Code
		return true
	}},
	{id: "2.16", why: "what is not offered is not found", settle: func(q request, ours outcome, theirs *outcome) bool {
		offered := !slices.Contains([]string{"logging/setLevel", "subscriptions/listen", "no/such"}, q.method)
		status := 200
		if q.modern() {
			status = 404
		}
		return !offered && ours.is(status, -32601) && theirs.become(ours)
	}},
}

// explain settles what it can of the difference between the two answers: it
// returns the SDK's answer as ours should be, and the ids of why.
func explain(q request, ours, theirs outcome, sdk func(request) outcome) (outcome, []string) {
	var ids []string
	for _, d := range differences {
		if d.twist != nil && !slices.Contains(d.twist, q.what) {
			continue
		}
		settled := false
		switch {
		case d.instead != nil:
			q.header = q.header.Clone()
			if settled = d.instead(&q); settled {
				theirs = sdk(q)
			}
		case d.settle != nil:
			settled = d.settle(q, ours, &theirs)
		default:
			settled = ours.is(d.status, d.code) && theirs.become(ours)
		}
		if settled {
			ids = append(ids, d.id)
		}
	}
	return theirs, ids
}

// modern reports whether the request is served in 2026-07-28, as its headers
// say after the twist.
func (q request) modern() bool { return q.header.Get("Mcp-Protocol-Version") == "2026-07-28" }

func (q request) set(header, value string) bool {
	q.header.Set(header, value)
	return true
}

// name is what Mcp-Name repeats.
func (q request) name() string {
	for _, member := range []string{"name", "uri"} {
		if name, ok := q.params[member].(string); ok {
			return name
		}
	}
	return ""
}

func (o outcome) is(status, code int) bool { return o.Status == status && o.Code == code }

func (o *outcome) become(other outcome) bool {
	*o = other
	return true
}

func (o *outcome) replace(member string, old, new any) bool {
	if o.Result[member] != old {
		return false
	}
	o.Result[member] = new
	return true
}

func (o *outcome) remove(members ...string) (removed bool) {
	for _, m := range members {
		if _, ok := o.Result[m]; ok {
			delete(o.Result, m)
			removed = true
		}
	}
	return removed
}

func withoutOldest(o object, member string) bool {
	versions, _ := o[member].([]any)
	n := slices.Index(versions, any("2024-11-05"))
	if n < 0 {
		return false
	}
	o[member] = slices.Delete(versions, n, n+1)
	return true
}
