package confirm

import (
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// Key is one sealing key.
type Key struct {
	// ID names the key in the seals it makes: 1 to 32 of A-Z a-z 0-9 . _ -
	ID     string
	Secret [32]byte
}

// String names the key. Formatting a Key never shows its secret.
func (k Key) String() string { return "key " + k.ID }

// GoString is String.
func (k Key) GoString() string { return k.String() }

// Keys fetches the keys in force. The first one seals; all of them are
// accepted. To rotate: add the new key behind the old one and give every
// instance time to see it ([KeyMaxAge]); put it first; after 10 minutes drop
// the old one.
type Keys func(ctx context.Context) ([]Key, error)

// StaticKeys are keys that never change.
func StaticKeys(current Key, accepted ...Key) Keys {
	all := append([]Key{current}, accepted...)
	return func(context.Context) ([]Key, error) { return all, nil }
}

// KeyMaxAge is how long fetched keys are used without asking for them again.
// A key that no longer is the first seals at most that long, and what it
// sealed counts for [MaxTTL]: hence the 10 minutes of a rotation.
const KeyMaxAge = 5 * time.Minute

// unknownKeyPause is the least time between fetches for an unknown key id,
// since anybody can make one up.
const unknownKeyPause = time.Minute

// errKeys: the keys are out of reach.
var errKeys = errors.New("confirm: sealing keys unavailable")

// sealKey is a key ready for use.
type sealKey struct {
	id   string
	aead cipher.AEAD
}

// keySet is one fetched set of keys.
type keySet struct {
	first sealKey
	byID  map[string]sealKey
}

var keyID = lazy.Regexp(`^[A-Za-z0-9._-]{1,32}$`)

func newKeySet(keys []Key) (*keySet, error) {
	set := &keySet{byID: make(map[string]sealKey, len(keys))}
	for i, k := range keys {
		if !keyID().MatchString(k.ID) {
			return nil, fmt.Errorf("confirm: key %d: the id must be 1 to 32 of A-Z a-z 0-9 . _ -", i+1)
		}
		if _, twice := set.byID[k.ID]; twice {
			return nil, fmt.Errorf("confirm: two keys have the id %q", k.ID)
		}
		if k.Secret == ([32]byte{}) {
			return nil, fmt.Errorf("confirm: key %q is empty", k.ID)
		}
		aead, err := newAEAD(k.Secret[:])
		if err != nil {
			return nil, fmt.Errorf("confirm: key %q: %w", k.ID, err)
		}
		set.byID[k.ID] = sealKey{k.ID, aead}
	}
	if len(keys) == 0 {
		return nil, errors.New("confirm: no keys")
	}
	set.first = set.byID[keys[0].ID]
	return set, nil
}

// keyring keeps fetched keys for a while.
type keyring struct {
	fetch Keys
	now   func() time.Time
	// turn holds the one token that lets a call look at, and fetch, what is
	// below. A channel, so that waiting for it heeds the deadline.
	turn    chan struct{}
	set     *keySet
	fetched time.Time // when set was fetched
	tried   time.Time // when a fetch was last tried
}

func newKeyring(fetch Keys, now func() time.Time) *keyring {
	return &keyring{fetch: fetch, now: now, turn: make(chan struct{}, 1)}
}

// sealing returns the key that seals, or errKeys.
func (r *keyring) sealing(ctx context.Context) (sealKey, error) {
	set, err := r.current(ctx, func(*keySet) bool { return true })
	if err != nil {
		return sealKey{}, err
	}
	return set.first, nil
}

// find returns the key with the id, errUnreadable when there is none, or
// errKeys.
func (r *keyring) find(ctx context.Context, id string) (sealKey, error) {
	set, err := r.current(ctx, func(s *keySet) bool { _, known := s.byID[id]; return known })
	if err != nil {
		return sealKey{}, err
	}
	key, known := set.byID[id]
	if !known {
		return sealKey{}, errUnreadable
	}
	return key, nil
}

// current returns the keys in force, fetched anew when they are too old, or
// when they do not suffice and the last attempt was not just now.
func (r *keyring) current(ctx context.Context, suffices func(*keySet) bool) (*keySet, error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", errKeys, ctx.Err())
	}
	now := r.now()
	fresh := r.set != nil && within(now, r.fetched, KeyMaxAge)
	if fresh && (suffices(r.set) || within(now, r.tried, unknownKeyPause)) {
		return r.set, nil
	}
	r.tried = now
	keys, err := r.fetch(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeys, err)
	}
	set, err := newKeySet(keys)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeys, err)
	}
	r.set, r.fetched = set, now
	return set, nil
}

// within reports whether now is less than d after t, and not before it.
func within(now, t time.Time, d time.Duration) bool {
	age := now.Sub(t)
	return age >= 0 && age < d
}
