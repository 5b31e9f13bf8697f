package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

func open(t *testing.T, dir string) *files.Blobs {
	t.Helper()
	blobs, err := files.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	return blobs
}

func TestContract(t *testing.T) {
	storetest.RunBlobs(t, func(t *testing.T) store.Blobs { return open(t, t.TempDir()) })
}

func TestBlobsAreKeptAcrossRestarts(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	if err := first.Put(t.Context(), "a/b", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	first.Close()
	got, err := open(t, dir).Get(t.Context(), "a/b")
	if err != nil || string(got) != "kept" {
		t.Errorf("Get = %q, %v", got, err)
	}
}

func TestOnlyTheOwnerMayRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	dir := filepath.Join(t.TempDir(), "new", "blobs")
	blobs := open(t, dir)
	if err := blobs.Put(t.Context(), "a/b/c", []byte("x")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAFailedPutLeavesTheOldBlobAndNoRemains(t *testing.T) {
	dir := t.TempDir()
	blobs := open(t, dir)
	if err := blobs.Put(t.Context(), "a", []byte("old")); err != nil {
		t.Fatal(err)
	}
	if err := blobs.Put(t.Context(), "a/b", []byte("x")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Put under a blob = %v", err)
	}
	if got, err := blobs.Get(t.Context(), "a"); err != nil || string(got) != "old" {
		t.Errorf("Get = %q, %v", got, err)
	}
	if left := glob(t, dir, ".tmp/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestOpenRemovesWhatACrashLeftHalfWritten(t *testing.T) {
	dir := t.TempDir()
	open(t, dir).Close()
	if err := os.WriteFile(filepath.Join(dir, ".tmp", "half"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	blobs := open(t, dir)
	if left := glob(t, dir, ".tmp/*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := blobs.Put(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
}

func TestSymbolicLinksDoNotLeadOut(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	blobs := open(t, dir)
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if got, err := blobs.Get(t.Context(), "link/secret"); err == nil {
		t.Errorf("Get gave %q", got)
	}
	if err := blobs.Put(t.Context(), "link/new", []byte("x")); err == nil {
		t.Error("Put wrote outside")
	}
	if err := blobs.Delete(t.Context(), "link/secret"); err == nil {
		t.Error("Delete removed outside")
	}
	if names := glob(t, outside, "*"); len(names) != 1 || !strings.HasSuffix(names[0], "secret") {
		t.Errorf("outside: %v", names)
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return names
}
