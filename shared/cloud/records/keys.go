package records

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
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

// Keys makes keys of 32 bytes for one purpose of the texts in the named secrets,
// in their order. What was made for another purpose is of no use for it.
func Keys(ctx context.Context, f *cloud.Function, purpose string, names ...string) (keys [][]byte, err error) {
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

// keyCache keeps the fetched text of a secret for [keyMaxAge].
type keyCache struct {
	fetch func(context.Context) (string, error)
	now   func() time.Time
	last  atomic.Pointer[fetched]
}

type fetched struct {
	secret string
	at     time.Time
}

// keys returns the keys for one purpose. What no keys can be made of is not
// kept.
func (c *keyCache) keys(ctx context.Context, purpose string) ([][]byte, error) {
	now := c.now().Round(0) // the wall clock: a frozen instance's own one stands still
	if last := c.last.Load(); last != nil {
		if age := now.Sub(last.at); 0 <= age && age < keyMaxAge {
			return keysOf(last.secret, purpose)
		}
	}
	secret, err := c.fetch(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(secret, purpose)
	if err == nil {
		c.last.Store(&fetched{secret, now})
	}
	return keys, err
}
