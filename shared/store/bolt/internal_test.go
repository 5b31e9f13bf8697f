package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func TestASecondProcessHearsWithinASecond(t *testing.T) {
	if lockWait >= time.Second {
		t.Errorf("lockWait is %v", lockWait)
	}
}

func temp(t *testing.T) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "store.db"), NoSync())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A killed process does not show a missing sync; a machine without power does.
func TestWritesAreSynced(t *testing.T) {
	for _, opts := range [][]Option{nil, {NoSync()}} {
		db, err := Open(filepath.Join(t.TempDir(), "store.db"), opts...)
		if err != nil {
			t.Fatal(err)
		}
		if db.file.NoSync != (opts != nil) {
			t.Errorf("NoSync is %t with %d options", db.file.NoSync, len(opts))
		}
		db.Close()
	}
}

func TestWaitingForTheWriterEndsWithTheContext(t *testing.T) {
	db := temp(t)
	db.writer <- struct{}{} // a write that does not end
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- db.Table("t").Write(ctx, store.Put(store.Item{Key: store.Key{Partition: "p", Sort: "a"}}))
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Write = %v", err)
	}
	<-db.writer
}

func full() store.Item {
	return store.Item{
		Key: store.Key{Partition: "p", Sort: "a"}, Value: []byte("value"), Version: -3,
		Counts: map[string]int64{"a": 1, "b": -1 << 40}, Expires: time.Unix(1<<31, 0).UTC(),
	}
}

func TestCorruptItemsAreErrors(t *testing.T) {
	good := encode(full())
	var bad [][]byte
	for n := range good {
		flipped := bytes.Clone(good)
		flipped[n] ^= 0x10
		bad = append(bad, flipped, good[:n])
	}
	for _, raw := range bad {
		db := temp(t)
		table := db.Table("t")
		item := full()
		if err := table.Write(t.Context(), store.Put(item)); err != nil {
			t.Fatal(err)
		}
		if err := db.file.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("items/t")).Put(itemKey(item.Key), raw)
		}); err != nil {
			t.Fatal(err)
		}
		_, getErr := table.Get(t.Context(), item.Key)
		_, queryErr := table.Query(t.Context(), store.Query{Partition: "p"})
		writeErr := table.Write(t.Context(), store.Put(item))
		for _, err := range []error{getErr, queryErr, writeErr} {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%x: %v, want ErrCorrupt", raw, err)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(full())[headerSize:])
	f.Add(encode(store.Item{})[headerSize:])
	f.Add([]byte{0, 1})
	f.Add([]byte{0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Add([]byte{0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, rest []byte) {
		raw := make([]byte, headerSize, headerSize+len(rest))
		raw[0] = format
		binary.BigEndian.PutUint32(raw[1:], checksum(rest))
		raw = append(raw, rest...)
		item, err := decode(store.Key{Partition: "p", Sort: "s"}, raw)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		again, err := decode(item.Key, encode(item))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(item, again); diff != "" {
			t.Fatalf("decoded, encoded, decoded (-first +again):\n%s", diff)
		}
	})
}

// No partition bleeds into another, whatever the bytes of the keys.
func FuzzItemKey(f *testing.F) {
	f.Add("a", "b", "a\x00", "b")
	f.Add("a", "\x00b", "a\x00", "b")
	f.Add("", "", "\x00\x01", "\xff")
	f.Add("\xff", "\xff", "\xff\xff", "")
	f.Fuzz(func(t *testing.T, p1, s1, p2, s2 string) {
		if len(p1) > store.MaxPartitionBytes || len(p2) > store.MaxPartitionBytes {
			return
		}
		k1, k2 := store.Key{Partition: p1, Sort: s1}, store.Key{Partition: p2, Sort: s2}
		if got, err := keyOf(itemKey(k1)); err != nil || got != k1 {
			t.Errorf("keyOf(itemKey(%q)) = %q, %v", k1, got, err)
		}
		inFirst := bytes.HasPrefix(itemKey(k2), itemKey(store.Key{Partition: p1}))
		if inFirst != (p1 == p2) {
			t.Errorf("%q lies in partition %q: %t", k2, p1, inFirst)
		}
		if p1 == p2 && bytes.Compare(itemKey(k1), itemKey(k2)) != bytes.Compare([]byte(s1), []byte(s2)) {
			t.Errorf("%q and %q are not ordered by sort key", k1, k2)
		}
	})
}
