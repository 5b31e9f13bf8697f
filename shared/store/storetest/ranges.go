package storetest

import (
	"slices"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// orderedKeys are sort keys in the order of their bytes, with the characters
// where one could go wrong: NUL, the last of one, two and three bytes of
// UTF-8, both sides of the surrogates, and the last of all. (In UTF-16 the
// order would be another.)
var orderedKeys = [...]string{
	"\x00", "\x00\x00", "\x00a", "A", "a", "a\x00", "a\x00b", "a\x7f", "a\x7fz", "a\u0080", "a\u07ff", "a\u0800",
	"a\ud7ff", "a\ud7ffz", "a\ue000", "a\uffff", "a\U00010000", "a\U0010FFFF", "a\U0010FFFF\U0010FFFF", "b", "é", "\uffff", "\U0010FFFF",
}

func putKeys(t *testing.T, table store.Table, keys ...string) {
	t.Helper()
	for _, k := range keys {
		write(t, table, store.Put(item(k, k)))
	}
}

func rangeRules() []rule {
	// ranges tries queries on a table with orderedKeys, in both directions.
	ranges := func(cases map[store.Query][]string) func(*testing.T, store.Table) {
		return func(t *testing.T, table store.Table) {
			putKeys(t, table, orderedKeys[:]...)
			for q, want := range cases {
				q.Partition = "p"
				wantSorts(t, table, q, want...)
				q.Backward = true
				slices.Reverse(want)
				wantSorts(t, table, q, want...)
			}
		}
	}
	// withA are the keys that begin with "a".
	withA := orderedKeys[4:19]
	return []rule{
		{"sort keys are ordered by bytes, whatever order they came in", func(t *testing.T, table store.Table) {
			keys := slices.Clone(orderedKeys[:])
			slices.Reverse(keys)
			putKeys(t, table, keys...)
			wantSorts(t, table, store.Query{Partition: "p", Backward: true}, keys...)
			wantSorts(t, table, store.Query{Partition: "p"}, orderedKeys[:]...)
		}},
		{"From is inclusive, To is exclusive", ranges(map[store.Query][]string{
			{From: "a", To: "a\x7f"}: {"a", "a\x00", "a\x00b"},
			{From: "a\x00a"}:         slices.Clone(orderedKeys[6:]),
			{To: "A"}:                {"\x00", "\x00\x00", "\x00a"},
			{To: "A\x00"}:            {"\x00", "\x00\x00", "\x00a", "A"},
			{From: "b", To: "b"}:     {},
			{From: "b", To: "a"}:     {},
			{From: "b", To: "b\x00"}: {"b"},
			{From: "\U0010FFFF"}:     {"\U0010FFFF"},
			{To: "\x00"}:             {},
		})},
		{"Prefix keeps what begins with it, whatever its last character", ranges(map[store.Query][]string{
			{Prefix: "a"}:              slices.Clone(withA),
			{Prefix: "\x00"}:           {"\x00", "\x00\x00", "\x00a"},
			{Prefix: "a\x7f"}:          {"a\x7f", "a\x7fz"},
			{Prefix: "a\u07ff"}:        {"a\u07ff"},
			{Prefix: "a\ud7ff"}:        {"a\ud7ff", "a\ud7ffz"},
			{Prefix: "a\uffff"}:        {"a\uffff"},
			{Prefix: "a\U0010FFFF"}:    {"a\U0010FFFF", "a\U0010FFFF\U0010FFFF"},
			{Prefix: "\U0010FFFF"}:     {"\U0010FFFF"},
			{Prefix: "a\x00b"}:         {"a\x00b"},
			{Prefix: "a\x00bc"}:        {},
			{Prefix: "\U0010FFFF\x00"}: {},
		})},
		{"Prefix, From and To go together", ranges(map[store.Query][]string{
			{Prefix: "a", From: "a\uffff"}:                {"a\uffff", "a\U00010000", "a\U0010FFFF", "a\U0010FFFF\U0010FFFF"},
			{Prefix: "a", To: "a\x7f"}:                    {"a", "a\x00", "a\x00b"},
			{Prefix: "a", From: "a\x00", To: "a\x7f"}:     {"a\x00", "a\x00b"},
			{Prefix: "a", From: "A", To: "\U0010FFFF"}:    slices.Clone(withA),
			{Prefix: "a", From: "b"}:                      {},
			{Prefix: "b", To: "a"}:                        {},
			{Prefix: "a\U0010FFFF", From: "a\U0010FFFFa"}: {"a\U0010FFFF\U0010FFFF"},
		})},
		{"no partition shows another's items", func(t *testing.T, table store.Table) {
			partitions := []string{"a", "a\x00", "a\x00b", "ab", "b", "\x00", "\x00\x01", "\x01", "é", "\U0010FFFF", "a\U0010FFFF"}
			for _, p := range partitions {
				for _, s := range []string{"\x00", "b", "\x00b", "\U0010FFFF"} {
					write(t, table, store.Put(store.Item{Key: store.Key{Partition: p, Sort: s}, Value: []byte(p)}))
				}
			}
			for _, p := range partitions {
				wantSorts(t, table, store.Query{Partition: p}, "\x00", "\x00b", "b", "\U0010FFFF")
				wantSorts(t, table, store.Query{Partition: p, Backward: true}, "\U0010FFFF", "b", "\x00b", "\x00")
				for _, i := range queryAll(t, table, store.Query{Partition: p}) {
					if i.Partition != p || string(i.Value) != p {
						t.Errorf("partition %q has %+v", p, i)
					}
				}
			}
		}},
	}
}
