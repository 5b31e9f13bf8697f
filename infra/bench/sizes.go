package main

import (
	"context"
	"os"
)

// maxList is how large tools/list may be, in bytes.
const maxList = 40_000

// sizes measures the binaries, and the answers of the lists.
func (b *bench) sizes(context.Context) error {
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
	b.section("lists, for a person who may run everything, against the official Go SDK's of the same definitions")
	both, err := b.startPair()
	if err != nil {
		return err
	}
	defer both.Close()
	for _, r := range requests(anyRecords, token) {
		if !lists[r.method] {
			continue
		}
		var bytes [2]float64
		for i, m := range both {
			c, err := m.run(r, 1)
			if err != nil {
				return err
			}
			bytes[i] = float64(len(c.Answer))
		}
		ours, sdks, limit := one(size, bytes[0]), one(size, bytes[1]), bar{}
		if r.method == "tools/list" {
			limit = atMost(ours, maxList)
		}
		b.add(r.name, ours, sdks, one(number, bytes[0]/bytes[1]), limit)
	}
	return nil
}

var lists = map[string]bool{"tools/list": true, "resources/list": true, "resources/templates/list": true, "prompts/list": true}
