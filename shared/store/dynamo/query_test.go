package dynamo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// asked is what a query asks DynamoDB for: the condition with its values in
// place, and the rest.
func asked(r request) string {
	text := strings.TrimPrefix(r.KeyConditionExpression, "pk = :pk")
	for name, value := range r.ExpressionAttributeValues {
		text = strings.ReplaceAll(text, name, fmt.Sprint(value["S"]))
	}
	if r.ExclusiveStartKey != nil {
		text += fmt.Sprint(" START ", r.ExclusiveStartKey["sk"]["S"])
	}
	if r.Limit != nil {
		text += fmt.Sprint(" LIMIT ", *r.Limit)
	}
	if !*r.ScanIndexForward {
		text += " BACKWARD"
	}
	return text
}

func TestAQueryIsOneCallForItsRange(t *testing.T) {
	longest := strings.Repeat("k", store.MaxSortBytes)
	last := longest[1:] + "\x7f" // the next prefix has a byte more
	cases := []struct {
		query store.Query
		want  string
	}{
		{store.Query{}, ""},
		{store.Query{Limit: 7, Backward: true}, " LIMIT 7 BACKWARD"},
		{store.Query{Prefix: "b"}, " AND begins_with(sk, b)"},
		{store.Query{Prefix: "b", From: "a", To: "c"}, " AND begins_with(sk, b)"},
		{store.Query{Prefix: "b", From: "b1"}, " AND sk BETWEEN b1 AND c"},
		{store.Query{Prefix: "b", To: "b1"}, " AND sk BETWEEN b AND b1"},
		{store.Query{Prefix: "\U0010FFFF"}, " AND begins_with(sk, \U0010FFFF)"},
		{store.Query{From: "b"}, " AND sk >= b"},
		{store.Query{To: "b"}, " AND sk < b"},
		{store.Query{From: "b", To: "d"}, " AND sk BETWEEN b AND d"},
		{store.Query{After: "b"}, " START b"},
		{store.Query{After: "b", Backward: true}, " START b BACKWARD"},
		{store.Query{From: "b", To: "d", After: "b"}, " AND sk BETWEEN b AND d START b"},
		{store.Query{From: "b", To: "d", After: "a"}, " AND sk BETWEEN b AND d"},
		{store.Query{From: "b", To: "d", After: "d", Backward: true}, " AND sk BETWEEN b AND d BACKWARD"},
		{store.Query{From: "b", To: "d", After: "c", Backward: true}, " AND sk BETWEEN b AND d START c BACKWARD"},
		{store.Query{Prefix: "b", After: "b1"}, " AND begins_with(sk, b) START b1"},
		{store.Query{Prefix: "b", After: "a"}, " AND begins_with(sk, b)"},
		{store.Query{Prefix: last}, " AND begins_with(sk, " + last + ")"},
		{store.Query{Prefix: last, After: last}, " AND begins_with(sk, " + last + ") START " + last},
		{store.Query{After: longest}, " START " + longest},
		{store.Query{From: longest, To: "l", After: longest}, " AND sk BETWEEN " + longest + " AND l START " + longest},
	}
	for _, c := range cases {
		f := newFake(t, say(200, `{"Items":[]}`))
		c.query.Partition = "p"
		page, err := f.table(patient).Query(t.Context(), c.query)
		if err != nil || len(page.Items) > 0 || page.Next != "" {
			t.Errorf("Query(%+v) = %v, %v", c.query, page, err)
		}
		got := f.got()
		if len(got) != 1 || got[0].operation != "Query" || !got[0].ConsistentRead || got[0].ExpressionAttributeValues[":pk"]["S"] != "p" {
			t.Fatalf("Query(%+v) sends %+v", c.query, got)
		}
		if diff := cmp.Diff(c.want, asked(got[0])); diff != "" {
			t.Errorf("Query(%+v) (-want +got):\n%s", c.query, diff)
		}
	}
}

func TestAGetIsOneConsistentCall(t *testing.T) {
	f := newFake(t, ok)
	got, err := f.table(patient).Get(t.Context(), key)
	if diff := cmp.Diff(old, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if calls := f.got(); len(calls) != 1 || calls[0].operation != "GetItem" || !calls[0].ConsistentRead {
		t.Errorf("Get sends %+v", calls)
	}
}

func TestAnEmptyRangeIsNoCall(t *testing.T) {
	last := strings.Repeat("k", store.MaxSortBytes-1) + "\x7f"
	for _, q := range []store.Query{
		{From: "b", To: "b"}, {From: "c", To: "b"}, {Prefix: "b", From: "c"}, {Prefix: "b", To: "b"},
		{To: "b", After: "b"}, {Prefix: "b", After: "c"}, {From: "b", After: "b", Backward: true}, {From: "b", After: "a", Backward: true},
		{Prefix: last, From: "l"},
	} {
		q.Partition = "p"
		f := newFake(t, ok)
		page, err := f.table(patient).Query(t.Context(), q)
		if err != nil || page.Items != nil || page.Next != "" || len(f.got()) != 0 {
			t.Errorf("Query(%+v) = %v, %v after %d calls", q, page, err, len(f.got()))
		}
	}
}

// items is an answer to a query with items of these sort keys; next is the
// last key that was looked at, "" at the end.
func items(next string, sorts ...string) reply {
	var list []string
	for _, s := range sorts {
		list = append(list, fmt.Sprintf(`{"pk":{"S":"p"},"sk":{"S":%q}}`, s))
	}
	body := `"Items":[` + strings.Join(list, ",") + `]`
	if next != "" {
		body += fmt.Sprintf(`,"LastEvaluatedKey":{"pk":{"S":"p"},"sk":{"S":%q}}`, next)
	}
	return say(200, "{"+body+"}")
}

// BETWEEN includes the item at To.
func TestAPageLeavesOutTheItemAtTo(t *testing.T) {
	cases := []struct {
		name    string
		replies []reply
		want    string // sort keys / Next
		calls   int
	}{
		{"at the end", []reply{items("", "b", "c", "d")}, "bc/", 1},
		{"first of a page", []reply{items("c", "d", "c")}, "c/c", 1},
		{"alone, the last", []reply{items("", "d")}, "/", 1},
		{"alone, not the last", []reply{items("d", "d"), items("c", "c")}, "c/c", 2},
		{"alone, then nothing", []reply{items("d", "d"), items("")}, "/", 2},
		{"after nothing", []reply{items("z"), items("d", "d"), items("", "b")}, "b/", 3},
	}
	for _, c := range cases {
		f := newFake(t, c.replies...)
		page, err := f.table(patient).Query(t.Context(), store.Query{Partition: "p", From: "b", To: "d"})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := ""
		for _, i := range page.Items {
			got += i.Sort
		}
		if got += "/" + page.Next; got != c.want || len(f.got()) != c.calls {
			t.Errorf("%s: %q after %d calls, want %q after %d", c.name, got, len(f.got()), c.want, c.calls)
		}
	}
	f := newFake(t, items("d", "d"), items("", "c"))
	if _, err := f.table(patient).Query(t.Context(), store.Query{Partition: "p", From: "b", To: "d"}); err != nil {
		t.Fatal(err)
	}
	if got := asked(f.got()[1]); got != " AND sk BETWEEN b AND d START d" {
		t.Errorf("the second call asks for %q", got)
	}
}

// DynamoDB measures a page in its own way.
func TestAPageIsCutAt1MB(t *testing.T) {
	item := func(sort string) string {
		value := strings.Repeat("AAAA", store.MaxPageBytes/2/3) // half of it in base64
		return fmt.Sprintf(`{"pk":{"S":"p"},"sk":{"S":%q},"v":{"B":%q}}`, sort, value)
	}
	f := newFake(t, say(200, `{"Items":[`+item("a")+","+item("b")+`]}`))
	page, err := f.table(patient).Query(t.Context(), store.Query{Partition: "p"})
	if err != nil || len(page.Items) != 1 || page.Next != "a" {
		t.Errorf("%d items, Next %q, %v", len(page.Items), page.Next, err)
	}
}
