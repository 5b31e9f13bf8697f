package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// ErrCorrupt is returned for an item whose stored bytes are damaged, or were
// written by a newer version of this program.
var ErrCorrupt = errors.New("bolt: corrupt item")

// itemKey is the key of an item in its bucket: the length of the partition
// key in two bytes, the partition key, the sort key. With the length in front
// no partition's keys begin like another's, whatever bytes (NUL too) the keys
// hold, and a partition is one run of the B+tree, ordered by sort key.
//
// One flat bucket, rather than one nested bucket per partition: most
// partitions are small, and a bucket of their own costs each of them a header,
// or a page, and every access another descent.
func itemKey(k store.Key) []byte {
	return appendItemKey(make([]byte, 0, 2+len(k.Partition)+len(k.Sort)), k)
}

func appendItemKey(b []byte, k store.Key) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(k.Partition)))
	b = append(b, k.Partition...)
	return append(b, k.Sort...)
}

// sortOf returns the sort key in an item's key, whose partition is known.
func sortOf(partition string, key []byte) string { return string(key[2+len(partition):]) }

// keyOf undoes [itemKey].
func keyOf(key []byte) (store.Key, error) {
	if len(key) < 2 || len(key)-2 < int(binary.BigEndian.Uint16(key)) {
		return store.Key{}, fmt.Errorf("%w: key %q", ErrCorrupt, key)
	}
	n := 2 + int(binary.BigEndian.Uint16(key))
	return store.Key{Partition: string(key[2:n]), Sort: string(key[n:])}, nil
}

// expirySize is the length of the seconds in front of an expiry key.
const expirySize = 8

// expiryKey is the key of an item in the expiry bucket, which it orders by
// time: the seconds, then the item's key.
func expiryKey(i store.Item) []byte {
	b := make([]byte, 0, expirySize+2+len(i.Partition)+len(i.Sort))
	return appendItemKey(appendSeconds(b, i.Expires), i.Key)
}

// appendSeconds appends the seconds since 1970 so that bytes order like times,
// those before 1970 too.
func appendSeconds(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.Unix())^1<<63)
}

// The stored form of an item:
//
//	format (1 byte) · CRC-32C of the rest (4 bytes, big endian) ·
//	version (varint) · expires? (0 or 1) · its seconds, if so (varint) ·
//	number of counts (uvarint) · of each, by name: length and name, number
//	(uvarint, varint) · the value
const (
	format     = 1
	headerSize = 1 + crc32.Size
)

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func encode(i store.Item) []byte {
	b := make([]byte, headerSize, headerSize+i.Size())
	b = binary.AppendVarint(b, i.Version)
	if i.Expires.IsZero() {
		b = append(b, 0)
	} else {
		b = binary.AppendVarint(append(b, 1), i.Expires.Unix())
	}
	b = binary.AppendUvarint(b, uint64(len(i.Counts)))
	for _, name := range slices.Sorted(maps.Keys(i.Counts)) {
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		b = binary.AppendVarint(b, i.Counts[name])
	}
	b = append(b, i.Value...)
	b[0] = format
	binary.BigEndian.PutUint32(b[1:], checksum(b[headerSize:]))
	return b
}

// decode returns the item stored as raw under k, sharing no memory with raw.
func decode(k store.Key, raw []byte) (store.Item, error) {
	if len(raw) < headerSize {
		return store.Item{}, fmt.Errorf("%w at %q: %d bytes", ErrCorrupt, k, len(raw))
	}
	if raw[0] != format {
		return store.Item{}, fmt.Errorf("%w at %q: format %d is unknown to this version", ErrCorrupt, k, raw[0])
	}
	if checksum(raw[headerSize:]) != binary.BigEndian.Uint32(raw[1:]) {
		return store.Item{}, fmt.Errorf("%w at %q: checksum differs", ErrCorrupt, k)
	}
	r := reader{rest: raw[headerSize:]}
	item := store.Item{Key: k, Version: r.varint()}
	if r.flag() {
		item.Expires = time.Unix(r.varint(), 0).UTC()
	}
	for range r.uvarint() {
		name := string(r.take(r.uvarint()))
		n := r.varint()
		if r.failed {
			break
		}
		if item.Counts == nil {
			item.Counts = make(map[string]int64)
		}
		item.Counts[name] = n
	}
	if r.failed {
		return store.Item{}, fmt.Errorf("%w at %q: cut short", ErrCorrupt, k)
	}
	item.Value = append([]byte(nil), r.rest...) // nil when empty
	return item, nil
}

// reader takes fields off the front of rest. Once one was not there, all that
// follow are zero.
type reader struct {
	rest   []byte
	failed bool
}

func (r *reader) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.rest)) {
		r.failed = true
		return nil
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) flag() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] == 1
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.rest)
	r.skip(size)
	return n
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.skip(size)
	return n
}

// skip takes the size that package binary reports: 0 or less for no number.
func (r *reader) skip(size int) {
	if size <= 0 {
		r.failed = true
		return
	}
	r.take(uint64(size))
}
