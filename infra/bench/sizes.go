package main

import (
	"context"
	"os"
)

// maxList is how large tools/list may be, in bytes.
const maxList = 40_000

// sizes measures the binaries, and the answers of the lists.
func (b *bench) sizes(ctx context.Context) error {
	b.section("binaries, against an empty function's")
	empty, err := os.Stat(b.bin("empty"))
	if err != nil {
		return err
	}
	for _, name := range functions() {
		f, err := os.Stat(b.bin(name))
		if err != nil {
			return err
		}
		ours, baseline := float64(f.Size()), float64(empty.Size())
		b.add(name, one(size, ours), one(size, baseline), one(number, ours/baseline), bar{})
	}
	w, err := newWorld(ctx, b.dir)
	if err != nil {
		return err
	}
	defer w.Close()
	b.section("lists, for a person who may run everything")
	for _, r := range requests(w.subjects, token) {
		if !lists[r.method] {
			continue
		}
		answer, err := w.answer(ctx, r)
		if err != nil {
			return err
		}
		limit := bar{}
		if n := one(size, float64(len(answer))); r.method == "tools/list" {
			limit = atMost(n, maxList)
		}
		b.add(r.name, one(size, float64(len(answer))), figure{}, figure{}, limit)
	}
	return nil
}

var lists = map[string]bool{"tools/list": true, "resources/list": true, "resources/templates/list": true, "prompts/list": true}
