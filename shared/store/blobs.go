package store

import (
	"context"
	"fmt"
	"strings"
)

// Limits on the key of a blob: S3's, and that of a file's name.
const (
	MaxBlobKeyBytes  = 1024
	MaxBlobNameBytes = 255
)

// Blobs keeps raw messages whole, by key. Keys are slash-separated names of
// ASCII letters, digits, '-', '_' and '.', no name beginning with a dot; no key is
// a directory of another ("a" and "a/b"). Other keys are [ErrInvalid] or
// [ErrLimit]; what the disk or the network refuses is [ErrUnavailable].
type Blobs interface {
	// Put stores data under key, durably, replacing what is there.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns what is stored under key, or [ErrNotFound].
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes key; an absent key is no error.
	Delete(ctx context.Context, key string) error
}

// ValidateBlobKey returns [ErrInvalid] or [ErrLimit] unless key is one that
// [Blobs] takes. Such a key cannot leave the directory that it is joined to.
func ValidateBlobKey(key string) error {
	if len(key) > MaxBlobKeyBytes {
		return fmt.Errorf("%w: blob key of %d bytes", ErrLimit, len(key))
	}
	for name := range strings.SplitSeq(key, "/") {
		switch {
		case name == "" || name[0] == '.' || strings.ContainsFunc(name, notInBlobName):
			return fmt.Errorf("%w: blob key %q", ErrInvalid, key)
		case len(name) > MaxBlobNameBytes:
			return fmt.Errorf("%w: name of %d bytes in a blob key", ErrLimit, len(name))
		}
	}
	return nil
}

func notInBlobName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_.", r)
}
