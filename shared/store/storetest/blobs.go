package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// RunBlobs tests the contract of [store.Blobs], each rule on blobs from open,
// which must be empty and usable until the end of the test.
func RunBlobs(t *testing.T, open func(t *testing.T) store.Blobs) {
	rules := []struct {
		name string
		test func(t *testing.T, blobs store.Blobs)
	}{
		{"what was put is read, whole", blobsReadBack},
		{"Put replaces", func(t *testing.T, blobs store.Blobs) {
			putBlob(t, blobs, "a/b", "a long value")
			putBlob(t, blobs, "a/b", "short")
			wantBlob(t, blobs, "a/b", "short")
		}},
		{"what goes in and comes out is copied", func(t *testing.T, blobs store.Blobs) {
			data := []byte("value")
			if err := blobs.Put(t.Context(), "a", data); err != nil {
				t.Fatal(err)
			}
			data[0] = 'X'
			got, _ := blobs.Get(t.Context(), "a")
			got[0] = 'Y'
			wantBlob(t, blobs, "a", "value")
		}},
		{"what is not there is ErrNotFound", func(t *testing.T, blobs store.Blobs) {
			putBlob(t, blobs, "a/b", "")
			wantNoBlob(t, blobs, "b", "a", "a/c", "a/b/c")
		}},
		{"Delete removes, and does not mind an absent key", func(t *testing.T, blobs store.Blobs) {
			putBlob(t, blobs, "a/b", "1")
			putBlob(t, blobs, "a/c", "2")
			for _, k := range []string{"a/b", "a/b", "z", "y/z"} {
				if err := blobs.Delete(t.Context(), k); err != nil {
					t.Errorf("Delete(%q): %v", k, err)
				}
			}
			wantNoBlob(t, blobs, "a/b")
			wantBlob(t, blobs, "a/c", "2")
			putBlob(t, blobs, "a/b", "3")
			wantBlob(t, blobs, "a/b", "3")
		}},
		{"keys that could lead elsewhere are refused", func(t *testing.T, blobs store.Blobs) {
			for _, k := range []string{
				"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", ".a", "a/.b",
				`a\b`, `..\a`, "C:", "c:/a", "a b", "a\x00", "a\n", "é", "a\xff", "a%2fb", "~", "a*", "a:b",
			} {
				wantBlobErr(t, blobs, store.ErrInvalid, k)
			}
			wantBlobErr(t, blobs, store.ErrLimit, strings.Repeat("n", store.MaxBlobNameBytes+1))
			wantBlobErr(t, blobs, store.ErrLimit, strings.Repeat("nn/", store.MaxBlobKeyBytes/3)+"nn")
		}},
		{"a context that ended stops the call before it does anything", func(t *testing.T, blobs store.Blobs) {
			putBlob(t, blobs, "a", "old")
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := blobs.Get(ctx, "a")
			for _, err := range []error{err, blobs.Put(ctx, "a", nil), blobs.Delete(ctx, "a")} {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%v, want context.Canceled", err)
				}
			}
			wantBlob(t, blobs, "a", "old")
		}},
		{"of 64 that put one key, one is stored whole", func(t *testing.T, blobs store.Blobs) {
			for _, err := range race(func(n int) error {
				return blobs.Put(t.Context(), "a/b/c", bytes.Repeat([]byte{byte(n)}, 10_000))
			}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			got, err := blobs.Get(t.Context(), "a/b/c")
			if err != nil || len(got) != 10_000 || !bytes.Equal(got, bytes.Repeat(got[:1], 10_000)) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
		}},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.test(t, open(t)) })
	}
}

func blobsReadBack(t *testing.T, blobs store.Blobs) {
	everyByte := make([]byte, 3<<20)
	for n := range everyByte {
		everyByte[n] = byte(n)
	}
	values := map[string]string{
		"a":                               "",
		"raw/01934f2e-aaaa-7bbb/mail.eml": "From: a@example.com\r\n\r\n\x00\xff",
		"A-Z_0.9/x..y/-":                  string(everyByte),
		strings.Repeat("n", store.MaxBlobNameBytes):            "long name",
		strings.Repeat("nn/", store.MaxBlobKeyBytes/3-1) + "n": "long key",
	}
	for k, v := range values {
		putBlob(t, blobs, k, v)
	}
	for k, v := range values {
		wantBlob(t, blobs, k, v)
	}
}

func putBlob(t *testing.T, blobs store.Blobs, key, value string) {
	t.Helper()
	if err := blobs.Put(t.Context(), key, []byte(value)); err != nil {
		t.Fatalf("Put(%q): %v", key, err)
	}
}

func wantBlob(t *testing.T, blobs store.Blobs, key, want string) {
	t.Helper()
	got, err := blobs.Get(t.Context(), key)
	if err != nil || string(got) != want {
		t.Fatalf("Get(%q) = %d bytes, %v, want %d", key, len(got), err, len(want))
	}
}

func wantNoBlob(t *testing.T, blobs store.Blobs, keys ...string) {
	t.Helper()
	for _, k := range keys {
		if got, err := blobs.Get(t.Context(), k); !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("Get(%q) = %q, %v, want ErrNotFound", k, got, err)
		}
	}
}

func wantBlobErr(t *testing.T, blobs store.Blobs, want error, key string) {
	t.Helper()
	_, err := blobs.Get(t.Context(), key)
	for _, err := range []error{err, blobs.Put(t.Context(), key, []byte("x")), blobs.Delete(t.Context(), key)} {
		if !errors.Is(err, want) {
			t.Errorf("key %q: %v, want %v", key, err, want)
		}
	}
}
