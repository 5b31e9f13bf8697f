package confirm

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
)

const (
	// sealPurpose keeps these seals apart from any other use of the same keys.
	sealPurpose = "kobana-inbox-mcp/confirm"
	// sealVersion is the first byte of a seal; another layout gets another one.
	sealVersion = 1
	// maxSealed is the most characters that a requestState has.
	maxSealed = 4096
)

// errUnreadable: the text is not a seal of ours. It never says why.
var errUnreadable = errors.New("confirm: not a seal of ours")

// sealer encrypts and authenticates with AES-256-GCM. A seal is the canonical
// unpadded base64url of
//
//	version (1 byte) | length of key id (1 byte) | key id | nonce (12) | ciphertext and tag (16)
//
// where all before the nonce is authenticated too, together with context: the
// purpose and the audience. Nonces are random: good for 2^32 seals by one key.
type sealer struct {
	keys    *keyring
	context string
}

// seal returns the sealed text of plain, or errKeys.
func (s sealer) seal(ctx context.Context, plain []byte) (string, error) {
	key, err := s.keys.sealing(ctx)
	if err != nil {
		return "", err
	}
	header := append([]byte{sealVersion, byte(len(key.id))}, key.id...)
	text := base64.RawURLEncoding.EncodeToString(key.aead.Seal(header, nil, plain, s.bound(header)))
	if len(text) > maxSealed {
		return "", fmt.Errorf("confirm: a seal of %d characters is over the limit of %d", len(text), maxSealed)
	}
	return text, nil
}

// open returns what text seals, or errUnreadable or errKeys.
func (s sealer) open(ctx context.Context, text string) ([]byte, error) {
	if len(text) > maxSealed {
		return nil, errUnreadable
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	// Decoding forgives line breaks and spare bits; only the text that was
	// given out may come back.
	if err != nil || base64.RawURLEncoding.EncodeToString(data) != text {
		return nil, errUnreadable
	}
	if len(data) < 2 || data[0] != sealVersion {
		return nil, errUnreadable
	}
	headerLen := 2 + int(data[1])
	if len(data) < headerLen {
		return nil, errUnreadable
	}
	header, box := data[:headerLen], data[headerLen:]
	key, err := s.keys.find(ctx, string(header[2:]))
	if err != nil {
		return nil, err
	}
	plain, err := key.aead.Open(nil, nil, box, s.bound(header))
	if err != nil {
		return nil, errUnreadable
	}
	return plain, nil
}

// bound is the additional data: the header says its own length, so no two
// headers and contexts run together.
func (s sealer) bound(header []byte) []byte {
	return append(header[:len(header):len(header)], s.context...)
}

// newAEAD makes AES-256-GCM that draws a random nonce for each seal and puts
// it in front of the ciphertext.
func newAEAD(secret []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
