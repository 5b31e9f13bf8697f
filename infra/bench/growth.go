package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// The numbers of records over which lists and completions must cost the same,
// and how much they may differ.
const (
	fewRecords  = 100
	manyRecords = 1_000_000
	flatness    = 0.20
)

// growth compares lists and completions over few and many records.
func (b *bench) growth(ctx context.Context) error {
	defer b.asInstance()()
	var worlds []*world
	var names []string
	for _, n := range []int{fewRecords, 10_000, manyRecords} {
		w, err := newWorld(ctx, b.dir)
		if err != nil {
			return err
		}
		defer w.Close()
		if err := load(ctx, w, n); err != nil {
			return err
		}
		worlds, names = append(worlds, w), append(names, fmt.Sprint(n))
	}
	b.section("lists and completions, by the number of e-mails in the workspace, by the clock, against 100 (embedded store)")
	for _, of := range []func(*world) request{
		func(w *world) request {
			return request{"emails_list", "tools/call", object{"name": "emails_list", "arguments": object{}}, token}
		},
		func(w *world) request {
			return request{"emails_list by sender", "tools/call", object{"name": "emails_list", "arguments": object{"from": "ana@example.com"}}, token}
		},
		func(w *world) request {
			return request{"complete an id", "completion/complete", object{
				"ref": object{"type": "ref/resource", "uri": "kobana://inbox/emails/{id}"}, "argument": object{"name": "id", "value": string(w.email)[:6]},
			}, token}
		},
	} {
		used, wall := make([][]float64, len(worlds)), make([][]float64, len(worlds))
		for run := range 45 {
			for i, w := range worlds {
				const n = 20
				start, begun := cpu(), time.Now()
				for range n {
					if _, err := w.answer(ctx, of(w)); err != nil {
						return err
					}
				}
				if run > 3 { // the first ones warm up
					used[i], wall[i] = append(used[i], (cpu()-start)/n), append(wall[i], time.Since(begun).Seconds()/n)
				}
			}
		}
		for i := 1; i < len(worlds); i++ {
			b.flat(of(worlds[i]).name+", "+names[i], wall[i], wall[0])
			b.flat("  processor time", used[i], used[0])
		}
	}
	return nil
}

// flat adds a row of runs over many records and over few, in turns.
func (b *bench) flat(what string, many, few []float64) {
	ratio := ratios(many, few)
	b.add(what, median(duration, many), median(duration, few), ratio, within(ratio, flatness))
}

// load puts n e-mails into a world, the newest last, with all copies that lists
// are read from. One is written by the product; the others are like it but for
// their ids.
func load(ctx context.Context, w *world, n int) error {
	first := time.Now().UTC().Truncate(time.Millisecond).Add(-time.Duration(n) * time.Millisecond)
	model := inbox.NewID(first)
	var sample capture
	db := inboxstore.New(inboxstore.Options{Table: &sample})
	if err := db.Apply(ctx, w.workspace, inboxstore.Insert(email(w.workspace, model, inbox.NewID(first), first))); err != nil {
		return err
	}
	var ops []store.Op
	for i := range n {
		id := inbox.NewID(first.Add(time.Duration(i) * time.Millisecond))
		for _, op := range sample.ops {
			item := op.Item
			if item.Sort == string(model) {
				item.Sort = string(id)
			}
			item.Value = bytes.ReplaceAll(item.Value, []byte(model), []byte(id))
			ops = append(ops, store.Put(item))
		}
		if len(ops)+len(sample.ops) > store.MaxTransactionItems || i == n-1 {
			if err := w.table.Write(ctx, ops...); err != nil {
				return err
			}
			ops = ops[:0]
		}
	}
	return nil
}

// capture is a table that keeps what is written to it, and does nothing.
type capture struct {
	store.Table
	ops []store.Op
}

// Write implements [store.Table].
func (c *capture) Write(_ context.Context, ops ...store.Op) error {
	c.ops = append(c.ops, ops...)
	return nil
}
