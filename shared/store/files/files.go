// Package files keeps blobs in a directory, one file each: [store.Blobs] for
// one machine. Directories are 0700 and files 0600. Keys keep to names that no
// file system treats specially, except that one which ignores case (macOS,
// Windows) takes keys that differ in case for one.
//
// It imports package store, nothing else of this module.
package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"syscall"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// temporary is the directory of files being written. No key begins with a
// dot.
const temporary = ".tmp"

// Blobs is a [store.Blobs] in a directory that belongs to this process.
type Blobs struct {
	// root opens nothing outside of the directory, not through symbolic links
	// either: a second line of defence behind [store.ValidateBlobKey].
	root *os.Root
}

var _ store.Blobs = (*Blobs)(nil)

// Open opens the directory, creating it when absent, and removes what a crash
// left half written.
func Open(dir string) (*Blobs, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	if err := errors.Join(root.RemoveAll(temporary), root.Mkdir(temporary, 0o700)); err != nil {
		return nil, errors.Join(fmt.Errorf("files: %w", err), root.Close())
	}
	return &Blobs{root: root}, nil
}

// Close gives the directory free.
func (b *Blobs) Close() error { return b.root.Close() }

// Get implements [store.Blobs].
func (b *Blobs) Get(ctx context.Context, key string) ([]byte, error) {
	if err := check(ctx, key); err != nil {
		return nil, err
	}
	data, err := b.root.ReadFile(key)
	if isAbsent(err) {
		return nil, store.ErrNotFound
	}
	return data, unavailable(err)
}

// Put implements [store.Blobs]. Whoever reads meanwhile, or after a crash,
// finds the old blob or the new one, never a part.
func (b *Blobs) Put(ctx context.Context, key string, data []byte) error {
	if err := check(ctx, key); err != nil {
		return err
	}
	temp := path.Join(temporary, rand.Text())
	err := b.place(temp, key, data)
	if err != nil {
		b.root.Remove(temp) // at best; Open does it otherwise
	}
	return unavailable(err)
}

func (b *Blobs) place(temp, key string, data []byte) error {
	if err := b.writeSynced(temp, data); err != nil {
		return err
	}
	if err := b.root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return err
	}
	if err := b.root.Rename(temp, key); err != nil {
		return err
	}
	return b.syncDirs(key)
}

func (b *Blobs) writeSynced(name string, data []byte) error {
	f, err := b.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Delete implements [store.Blobs]. Directories stay.
func (b *Blobs) Delete(ctx context.Context, key string) error {
	if err := check(ctx, key); err != nil {
		return err
	}
	err := b.root.Remove(key)
	if isAbsent(err) {
		return nil
	}
	if err == nil {
		err = b.syncDirs(key)
	}
	return unavailable(err)
}

// syncDirs makes the names in all directories of key durable, the upper ones
// too: another call may have made one just now and not have synced it yet.
func (b *Blobs) syncDirs(key string) error {
	if runtime.GOOS == "windows" {
		return nil // it cannot sync directories, and does so by itself
	}
	for dir := path.Dir(key); ; dir = path.Dir(dir) {
		f, err := b.root.Open(dir)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
		if dir == "." {
			return nil
		}
	}
}

func check(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return store.ValidateBlobKey(key)
}

// isAbsent reports whether no file is there: nothing at all, a directory
// (EISDIR), or a file where a directory would be (ENOTDIR).
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR)
}

// unavailable tells what the operating system refused as the contract does.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: files: %w", store.ErrUnavailable, err)
}
