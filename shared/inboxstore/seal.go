package inboxstore

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// What is confidential is sealed with AES-256-GCM:
//
//	version (1 byte) | key id (8) | nonce (12) | ciphertext and tag (16)
//
// where version, key id and the item's own key are authenticated too, so that a
// sealed value is good in its own place only. Nonces are random.
const (
	sealVersion = 1
	keyIDBytes  = 8
	sealHeader  = 1 + keyIDBytes
)

var errNoKeys = errors.New("inboxstore: no keys are configured")

// Confidential keeps what no reader of records may see beside the webhook or
// secret of that id, replacing what was there. It is written as JSON, sealed.
func Confidential(of inbox.ID, value any) Change {
	return func(t *transaction) error {
		item := store.Item{Key: t.space.confidential(of)}
		var err error
		item.Value, err = t.seal(item.Key, value)
		t.add(store.Put(item), nil)
		return err
	}
}

// reveal reads what is kept [Confidential] into value, which stays as it is
// when there is nothing.
func (db *DB) reveal(ctx context.Context, ws access.WorkspaceID, of inbox.ID, value any) error {
	item, err := db.get(ctx, space(ws).confidential(of))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return unavailable(err)
	}
	return db.open(ctx, item, value)
}

// seal returns value as it is kept at k.
func (db *DB) seal(ctx context.Context, k store.Key, value any) ([]byte, error) {
	keys, err := db.keys(ctx)
	if err != nil {
		return nil, err
	}
	plain, err := encode(value)
	if err != nil {
		return nil, errors.New("inboxstore: what is to be sealed has no JSON") // the cause may quote it
	}
	header := append([]byte{sealVersion}, keys[0].id[:]...)
	return append(header, keys[0].aead.Seal(nil, nil, plain, sealedWith(header, k))...), nil
}

// open reads an item that was sealed into value.
func (db *DB) open(ctx context.Context, item store.Item, value any) error {
	keys, err := db.keys(ctx)
	if err != nil {
		return err
	}
	if len(item.Value) < sealHeader || item.Value[0] != sealVersion {
		return fmt.Errorf("inboxstore: item %q %q is not sealed", item.Partition, item.Sort)
	}
	header, box := item.Value[:sealHeader], item.Value[sealHeader:]
	for _, key := range keys {
		if !bytes.Equal(key.id[:], header[1:]) {
			continue
		}
		plain, err := key.aead.Open(nil, nil, box, sealedWith(header, item.Key))
		if err == nil {
			err = json.Unmarshal(plain, value)
		}
		if err != nil {
			return fmt.Errorf("inboxstore: item %q %q cannot be opened", item.Partition, item.Sort)
		}
		return nil
	}
	return fmt.Errorf("inboxstore: item %q %q was sealed with a key that is not there", item.Partition, item.Sort)
}

// sealedWith is what is authenticated beside the value; no two headers and keys
// run together, as keys of the table hold no zero byte where they are made of
// parts.
func sealedWith(header []byte, k store.Key) []byte {
	return fmt.Appendf(header[:len(header):len(header)], "%s\x00%s", k.Partition, k.Sort)
}

// sealingKey is a key ready for use.
type sealingKey struct {
	id   [keyIDBytes]byte
	aead cipher.AEAD
}

// keys returns the configured keys, one at least.
func (db *DB) keys(ctx context.Context) ([]sealingKey, error) {
	err := errNoKeys
	var secrets [][]byte
	if db.opts.Keys != nil {
		secrets, err = db.opts.Keys(ctx)
	}
	if err == nil && len(secrets) == 0 {
		err = errNoKeys
	}
	if err != nil {
		return nil, &inbox.Error{Code: inbox.CodeUnavailable, Err: err,
			Message: "Nothing confidential can be read or written now: the keys that seal it are out of reach. Nothing was changed. Try again later."}
	}
	keys := make([]sealingKey, len(secrets))
	for i, secret := range secrets {
		sum := sha256.Sum256(append([]byte("kobana-inbox-mcp/confidential\x00"), secret...))
		copy(keys[i].id[:], sum[:])
		if len(secret) != 32 {
			return nil, fmt.Errorf("inboxstore: sealing key %d has %d bytes, not 32", i+1, len(secret))
		}
		block, err := aes.NewCipher(secret)
		if err != nil {
			return nil, err
		}
		if keys[i].aead, err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	return keys, nil
}
