package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func pageRules() []rule {
	return []rule{
		{"Limit is the most items in a page", func(t *testing.T, table store.Table) {
			putKeys(t, table, "a", "b", "c", "d", "e")
			for limit := range 7 {
				for _, backward := range []bool{false, true} {
					q := store.Query{Partition: "p", Limit: limit, Backward: backward}
					want := []string{"a", "b", "c", "d", "e"}
					if backward {
						slices.Reverse(want)
					}
					wantSorts(t, table, q, want...)
					if limit > 0 {
						want = want[:min(limit, len(want))]
					}
					if diff := diff(want, sorts(query(t, table, q).Items)); diff != "" {
						t.Errorf("first page of %+v (-want +got):\n%s", q, diff)
					}
				}
			}
		}},
		{"After resumes past a key in both directions, stored or not", func(t *testing.T, table store.Table) {
			putKeys(t, table, "b", "d", "f")
			for after, want := range map[string]string{"a": "bdf", "b": "df", "b\x00": "df", "c": "df", "d": "f", "f": "", "g": "", "\U0010FFFF": ""} {
				wantSorts(t, table, store.Query{Partition: "p", After: after}, strings.Split(want, "")...)
			}
			for after, want := range map[string]string{"a": "", "b": "", "b\x00": "b", "c": "b", "d": "b", "f": "db", "g": "fdb", "\U0010FFFF": "fdb"} {
				wantSorts(t, table, store.Query{Partition: "p", After: after, Backward: true}, strings.Split(want, "")...)
			}
		}},
		{"After outside the range is no error", func(t *testing.T, table store.Table) {
			putKeys(t, table, "a", "ba", "bb", "c")
			for _, q := range []store.Query{{Prefix: "b"}, {From: "b", To: "c"}} {
				q.Partition = "p"
				for after, want := range map[string]string{"a": "ba bb", "b": "ba bb", "ba": "bb", "c": "", "z": ""} {
					q.After = after
					wantSorts(t, table, q, strings.Fields(want)...)
				}
				q.Backward = true
				for after, want := range map[string]string{"z": "bb ba", "c": "bb ba", "bb": "ba", "ba": "", "a": ""} {
					q.After = after
					wantSorts(t, table, q, strings.Fields(want)...)
				}
			}
		}},
		{"deletes and inserts between pages neither repeat nor hide what stays", func(t *testing.T, table store.Table) {
			for _, backward := range []bool{false, true} {
				putKeys(t, table, "b", "d", "f", "h", "j")
				first := query(t, table, store.Query{Partition: "p", Limit: 2, Backward: backward})
				last := first.Items[1].Sort
				write(t, table, store.Delete(key(last)), store.Put(item(last+"0", "")), store.Put(item("a", "")), store.Put(item("k", "")))
				want := []string{"d0", "f", "h", "j", "k"}
				if backward {
					want = []string{"f", "d", "b", "a"}
				}
				wantSorts(t, table, store.Query{Partition: "p", After: first.Next, Limit: 2, Backward: backward}, want...)
				write(t, table, store.Delete(key(last+"0")), store.Delete(key("a")), store.Delete(key("k")))
			}
		}},
		{"a page is at most 1 MB, and has an item if one is left", func(t *testing.T, table store.Table) {
			// Both sizes: pages of three of the largest items, and of many.
			for partition, count := range map[string]int{"large": 7, "small": 60} {
				value := 60 << 10
				if partition == "large" {
					value = store.MaxItemBytes - 200
				}
				var want []string
				for n := range count {
					i := store.Item{Key: store.Key{Partition: partition, Sort: fmt.Sprintf("%03d", n)}, Value: make([]byte, value)}
					write(t, table, store.Put(i))
					want = append(want, i.Sort)
				}
				for _, backward := range []bool{false, true} {
					q := store.Query{Partition: partition, Backward: backward}
					pages := 0
					for q.After != "" || pages == 0 {
						page := query(t, table, q)
						if size := len(page.Items) * value; size > store.MaxPageBytes {
							t.Errorf("a page of %d bytes", size)
						}
						q.After = page.Next
						pages++
					}
					if least := (count*value + store.MaxPageBytes - 1) / store.MaxPageBytes; pages < least {
						t.Errorf("%d pages of %d %s items, want %d or more", pages, count, partition, least)
					}
					wantSorts(t, table, store.Query{Partition: partition, Backward: backward}, want...)
					slices.Reverse(want)
				}
			}
		}},
	}
}
