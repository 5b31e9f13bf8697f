package inboxstore

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// cursors are those of one list: a version, a checksum of what the list is of,
// and the position it goes on after. They are good in every process, for ever,
// and for no other workspace, family or filter. They authorize nothing.
type cursors [1 + 6]byte

const cursorVersion = 1

// cursorsOf makes the cursors of the list that these parts tell apart.
func cursorsOf(list ...string) (c cursors) {
	sum := sha256.Sum256([]byte(join(list...)))
	c[0] = cursorVersion
	copy(c[1:], sum[:])
	return c
}

// seal returns the cursor of a position.
func (c cursors) seal(position string) *string {
	return new(base64.RawURLEncoding.EncodeToString(append(c[:], position...)))
}

// open returns the position of a cursor; "" is that of the beginning, "".
func (c cursors) open(cursor string) (position string, err error) {
	if cursor == "" {
		return "", nil
	}
	b, _ := base64.RawURLEncoding.DecodeString(cursor)
	position, ok := strings.CutPrefix(string(b), string(c[:]))
	if !ok || position == "" || *c.seal(position) != cursor {
		return "", errCursor()
	}
	return position, nil
}

func errCursor() error {
	return inbox.Errorf(inbox.CodeInvalid, "cursor", "The cursor is not one that this list gave for these filters. Leave it out to begin anew.")
}
