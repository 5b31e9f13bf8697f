package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// model is the contract in its simplest form: what a table holds, and what it
// answers.
type model map[store.Key]store.Item

func (m model) write(ops []store.Op) *store.ConditionError {
	for n, op := range ops {
		var old *store.Item
		if i, ok := m[op.Item.Key]; ok {
			old = &i
		}
		if !op.If.Holds(old) {
			return &store.ConditionError{Op: n, Old: old}
		}
	}
	for _, op := range ops {
		switch k := op.Item.Key; op.Action {
		case store.ActionPut:
			m[k] = clone(op.Item)
		case store.ActionDelete:
			delete(m, k)
		case store.ActionAdd:
			i := clone(m[k])
			i.Key = k
			if i.Counts == nil {
				i.Counts = make(map[string]int64)
			}
			for name, n := range op.Item.Counts {
				i.Counts[name] += n
			}
			if !op.Item.Expires.IsZero() {
				i.Expires = op.Item.Expires
			}
			m[k] = i
		}
	}
	return nil
}

func (m model) query(q store.Query) []store.Item {
	items := slices.SortedFunc(maps.Values(m), func(a, b store.Item) int { return cmp.Compare(a.Sort, b.Sort) })
	if q.Backward {
		slices.Reverse(items)
	}
	return slices.DeleteFunc(items, func(i store.Item) bool {
		passed := q.After != "" && (!q.Backward && i.Sort <= q.After || q.Backward && i.Sort >= q.After)
		return i.Partition != q.Partition || !strings.HasPrefix(i.Sort, q.Prefix) ||
			i.Sort < q.From || q.To != "" && i.Sort >= q.To || passed
	})
}

// dice makes requests that meet the same few keys again and again.
type dice struct{ *rand.Rand }

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

func (d dice) text() string {
	var b strings.Builder
	for range d.IntN(4) {
		b.WriteString(pick(d, "\x00", "a", "b", "\x7f", "é", "\ud7ff", "\ue000", "\uffff", "\U0010FFFF"))
	}
	return b.String()
}

func (d dice) key() store.Key {
	return store.Key{Partition: pick(d, "p", "p\x00", "q"), Sort: pick(d, "a", "\x00", "é", "\U0010FFFF") + d.text()}
}

func (d dice) op() store.Op {
	if d.IntN(4) == 0 {
		var expires time.Time
		if d.IntN(2) == 0 {
			expires = time.Unix(d.Int64N(1<<32), 0).UTC()
		}
		return store.Add(d.key(), map[string]int64{pick(d, "x", "y"): d.Int64N(100) - 50}, expires)
	}
	i := store.Item{Key: d.key(), Value: []byte(d.text()), Version: d.Int64N(3)}
	if d.IntN(3) == 0 {
		i.Expires = time.Unix(d.Int64N(1<<32), 0).UTC()
	}
	if d.IntN(3) == 0 {
		i.Counts = map[string]int64{"x": d.Int64N(10)}
	}
	var c store.Condition
	if d.IntN(4) == 0 {
		c = pick(d, store.Absent(), store.Present(), store.VersionIs(d.Int64N(3)))
	}
	return pick(d, store.Put(i, c), store.Put(i, c), store.Delete(i.Key, c), store.Check(i.Key, store.Condition{Kind: pick(d, store.KindAbsent, store.KindPresent)}))
}

func (d dice) ops() []store.Op {
	seen := make(map[store.Key]bool)
	var ops []store.Op
	for range 1 + d.IntN(4) {
		if op := d.op(); !seen[op.Item.Key] {
			seen[op.Item.Key] = true
			ops = append(ops, op)
		}
	}
	return ops
}

func (d dice) query() store.Query {
	q := store.Query{Partition: d.key().Partition, Backward: d.IntN(2) == 0, Limit: d.IntN(5)}
	for _, bound := range []*string{&q.Prefix, &q.From, &q.To, &q.After} {
		if d.IntN(3) == 0 {
			*bound = d.text()
		}
	}
	return q
}

func modelRules() []rule {
	var rules []rule
	for seed := range uint64(3) {
		rules = append(rules, rule{fmt.Sprint("random requests, seed ", seed), func(t *testing.T, table store.Table) {
			compare(t, table, dice{rand.New(rand.NewPCG(seed, 0))})
		}})
	}
	return rules
}

// compare sends the same requests to the table and to a model.
func compare(t *testing.T, table store.Table, d dice) {
	m := make(model)
	for range 250 {
		ops := d.ops()
		want := m.write(ops)
		err := table.Write(t.Context(), ops...)
		failed, _ := errors.AsType[*store.ConditionError](err)
		if (err == nil) != (want == nil) || failed == nil && err != nil {
			t.Fatalf("Write(%+v) = %v, want %v", ops, err, want)
		}
		if diff := diff(want, failed); diff != "" {
			t.Fatalf("Write(%+v) (-want +got):\n%s", ops, diff)
		}
		q := d.query()
		if diff := diff(m.query(q), queryAll(t, table, q)); diff != "" {
			t.Fatalf("Query(%+v) (-want +got):\n%s", q, diff)
		}
		if k := d.key(); m[k].Key == k {
			wantItem(t, table, m[k])
		} else {
			wantNone(t, table, k)
		}
	}
	for _, p := range []string{"p", "p\x00", "q"} {
		q := store.Query{Partition: p}
		if diff := diff(m.query(q), queryAll(t, table, q)); diff != "" {
			t.Fatalf("at the end, partition %q (-want +got):\n%s", p, diff)
		}
	}
}
