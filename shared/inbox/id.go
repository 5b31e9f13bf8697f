package inbox

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// ID is the UUIDv7 of a record, in lower case (RFC 9562 §5.7): ids sort by
// the time they were made for.
type ID string

// NewID returns a new id for the time t. Ids of later milliseconds sort after
// it, and within one millisecond those of later fractions do, to 1/4096.
func NewID(t time.Time) ID {
	u := uuid.New()
	fraction := t.Nanosecond() % 1e6 * 4096 / 1e6
	binary.BigEndian.PutUint64(u[:8], millis(t)<<16|0x7000|uint64(fraction))
	return ID(u.String())
}

// Valid reports whether the id is a UUIDv7 as [NewID] writes it.
func (id ID) Valid() bool {
	u, err := uuid.Parse(string(id))
	return err == nil && u.Version() == 7 && u.Variant() == uuid.RFC4122 && u.String() == string(id)
}

// Time is the millisecond that the id was made for; zero for an id that is
// not valid.
func (id ID) Time() time.Time {
	if !id.Valid() {
		return time.Time{}
	}
	ms, _ := hex.DecodeString("0000" + string(id[:8]) + string(id[9:13]))
	return time.UnixMilli(int64(binary.BigEndian.Uint64(ms))).UTC()
}

// FirstID is a lower bound of the ids made for t or later, by the millisecond:
// it sorts before all of them and after all others. It is no id itself.
func FirstID(t time.Time) string {
	s := fmt.Sprintf("%012x", millis(t.Add(time.Millisecond-1)))
	return s[:8] + "-" + s[8:]
}

// millis returns the time as an id holds it: within 48 bits.
func millis(t time.Time) uint64 { return uint64(min(max(t.UnixMilli(), 0), 1<<48-1)) }
