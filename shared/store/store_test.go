package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func TestExpired(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	cases := map[string]struct {
		expires time.Time
		want    bool
	}{
		"case 28: one second ago":   {now.Add(-time.Second), true},
		"case 28: exactly now":      {now, true},
		"a nanosecond from now":     {now.Add(1), false},
		"in another zone, now":      {now.In(time.FixedZone("BRT", -3*60*60)), true},
		"never":                     {time.Time{}, false},
		"1970, which is not never":  {time.Unix(0, 0), true},
		"a second from now":         {now.Add(time.Second), false},
		"long ago, not yet deleted": {now.AddDate(-3, 0, 0), true},
	}
	for name, c := range cases {
		if got := (store.Item{Expires: c.expires}).Expired(now); got != c.want {
			t.Errorf("%s: Expired = %t", name, got)
		}
	}
}

func TestConditionErrorIsErrCondition(t *testing.T) {
	err := error(&store.ConditionError{Op: 3})
	if !errors.Is(err, store.ErrCondition) || errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "op 3") {
		t.Errorf("%v", err)
	}
}

// The measure must not be below DynamoDB's: names and values of the
// attributes, a number being up to 11 bytes.
func TestSizeIsNotBelowDynamoDBs(t *testing.T) {
	item := store.Item{
		Key: store.Key{Partition: "é", Sort: "s"}, Value: []byte("value"), Version: -1 << 63,
		Counts: map[string]int64{"emails": 1<<63 - 1, "runs": 0}, Expires: time.Unix(1<<33, 0),
	}
	const number = 11
	keysAndValue := len("pk") + 2 + len("sk") + 1 + len("value") + 5
	numbers := len("version") + number + len("expires") + number + len("#emails") + number + len("#runs") + number
	if got := item.Size(); got < keysAndValue+numbers {
		t.Errorf("Size = %d, DynamoDB counts %d", got, keysAndValue+numbers)
	}
	if got := (store.Item{Key: item.Key}).Size(); got > 100 {
		t.Errorf("an item with nothing in it counts %d", got)
	}
}

// Range bounds what a query selects: checked against the definition of the
// fields of a query.
func FuzzRange(f *testing.F) {
	for _, last := range []string{"a", "\x7f", "\u07ff", "\ud7ff", "\uffff", "\U0010FFFF", "a\U0010FFFF\U0010FFFF", ""} {
		f.Add(last, "", "", "", false, last+"x")
		f.Add(last, "a", "b", last, true, last)
		f.Add("", last, last, last, false, last+"\x00")
	}
	f.Fuzz(func(t *testing.T, prefix, from, to, after string, backward bool, sort string) {
		q := store.Query{Partition: "p", Prefix: prefix, From: from, To: to, After: after, Backward: backward}
		if q.Validate() != nil || (store.Key{Partition: "p", Sort: sort}).Validate() != nil {
			return
		}
		want := strings.HasPrefix(sort, prefix) && sort >= from && (to == "" || sort < to)
		if after != "" {
			want = want && (backward && sort < after || !backward && sort > after)
		}
		low, high := q.Range()
		if got := sort >= low && (high == "" || sort < high); got != want {
			t.Errorf("%+v has the range %q to %q; it has %q: %t", q, low, high, sort, got)
		}
		for _, bound := range []string{low, high} {
			if !utf8.ValidString(bound) || len(bound) > store.MaxSortBytes+1 {
				t.Errorf("%+v has the bound %q", q, bound)
			}
		}
	})
}

func FuzzValidateBlobKey(f *testing.F) {
	for _, key := range []string{"a/b.eml", "../a", "a/../b", "/a", `a\b`, "a\x00", "é", ".a", "a/"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if store.ValidateBlobKey(key) != nil {
			return
		}
		if len(key) > store.MaxBlobKeyBytes || strings.ContainsAny(key, "\\:\x00") || strings.HasPrefix(key, "/") {
			t.Errorf("took %q", key)
		}
		for name := range strings.SplitSeq(key, "/") {
			if name == "" || strings.HasPrefix(name, ".") {
				t.Errorf("took %q", key)
			}
		}
	})
}
