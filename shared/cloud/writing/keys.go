package writing

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
)

// Keys are made of random text, as Secrets Manager generates it: any number of
// texts in a secret, separated by spaces. To rotate, add the new text behind
// the old one, wait for [keyMaxAge], and put it first.

const (
	keyBytes = 32
	// minText is how long a text must be: 32 random letters and digits are
	// 190 bits.
	minText = 32
	// keyMaxAge is how long fetched keys are used without asking again.
	keyMaxAge = 5 * time.Minute
)

var errText = errors.New("a key in a secret is too short: 32 random characters at least, and spaces between keys")

// fetchKeys makes keys for one purpose of the texts in the named secrets, in
// their order. What was made for another purpose is of no use for it.
func fetchKeys(ctx context.Context, f *cloud.Function, purpose string, names ...string) (keys [][]byte, err error) {
	for _, name := range names {
		secret, err := f.Secret(ctx, name)
		if err != nil {
			return nil, err
		}
		made, err := keysOf(secret, purpose)
		if err != nil {
			return nil, err
		}
		keys = append(keys, made...)
	}
	return keys, nil
}

func keysOf(secret, purpose string) (keys [][]byte, err error) {
	for text := range strings.FieldsSeq(secret) {
		if len(text) < minText {
			return nil, errText
		}
		key, err := hkdf.Key(sha256.New, []byte(text), nil, "kobana-inbox-mcp "+purpose, keyBytes)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if keys == nil {
		return nil, errText
	}
	return keys, nil
}

// stateKeys fetches the keys that seal confirmations. A key is known by a
// digest of it.
func stateKeys(ctx context.Context, f *cloud.Function) (keys []confirm.Key, err error) {
	made, err := fetchKeys(ctx, f, "confirmations", f.Words("STATE_KEYS")...)
	for _, key := range made {
		digest := sha256.Sum256(key)
		keys = append(keys, confirm.Key{ID: hex.EncodeToString(digest[:8]), Secret: [keyBytes]byte(key)})
	}
	return keys, err
}

// keyCache keeps fetched keys for [keyMaxAge].
type keyCache struct {
	fetch func(context.Context) ([][]byte, error)
	now   func() time.Time
	last  atomic.Pointer[fetched]
}

type fetched struct {
	keys [][]byte
	at   time.Time
}

func (c *keyCache) get(ctx context.Context) ([][]byte, error) {
	now := c.now().Round(0) // the wall clock: a frozen instance's own one stands still
	if last := c.last.Load(); last != nil {
		if age := now.Sub(last.at); 0 <= age && age < keyMaxAge {
			return last.keys, nil
		}
	}
	keys, err := c.fetch(ctx)
	if err == nil {
		c.last.Store(&fetched{keys, now})
	}
	return keys, err
}
