// Package bolt is the embedded driver of package store: tables in one file of
// go.etcd.io/bbolt, owned by one process. A write that was acknowledged is on
// the disk: each is a transaction of its own, synced before it returns, and
// survives kill -9 and power loss.
//
// It imports package store and bbolt, nothing else of this module.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// lockWait is how long Open waits for the file, well under the second within
// which a second process must hear of the first.
const lockWait = 400 * time.Millisecond

// ErrLocked is what [Open] returns while another process, or another DB of
// this one, has the file open.
var ErrLocked = errors.New("bolt: database in use")

// DB is an open file with its tables.
type DB struct {
	file *bbolt.DB
	// writer holds a token while a write runs. bbolt has a mutex for that;
	// waiting for a channel can be given up when the context ends.
	writer chan struct{}
}

// Option changes how [Open] opens a file.
type Option func(*bbolt.Options)

// NoSync leaves it to the operating system when to write to the disk: a crash
// of the machine (not of the process) can lose or corrupt the whole file. It
// is for tests, and for loading many items into a benchmark.
func NoSync() Option { return func(o *bbolt.Options) { o.NoSync = true } }

// Open opens the file at path, creating it and its directory when absent,
// readable by its owner only. The file then belongs to this process until
// [DB.Close]; while it belongs to another, Open returns [ErrLocked], within a
// second.
func Open(path string, opts ...Option) (*DB, error) {
	options := &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, NoStatistics: true}
	for _, opt := range opts {
		opt(options)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("bolt: create the directory of the database: %w", err)
	}
	file, err := bbolt.Open(path, 0o600, options)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: another process has %s open; stop it, or give this one a file of its own", ErrLocked, path)
	}
	if err != nil {
		return nil, fmt.Errorf("bolt: open %s: %w", path, err)
	}
	return &DB{file: file, writer: make(chan struct{}, 1)}, nil
}

// Close waits for the calls that run and gives the file free. Later calls
// return [store.ErrUnavailable].
func (db *DB) Close() error {
	if err := db.file.Close(); err != nil {
		return fmt.Errorf("bolt: close: %w", err)
	}
	return nil
}

// view runs fn on a snapshot of the file.
func (db *DB) view(ctx context.Context, fn func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return run(db.file.View, fn)
}

// update runs fn as the one writer and makes what it did durable. The context
// can end the wait for the turn, not a write that has begun.
func (db *DB) update(ctx context.Context, fn func(*bbolt.Tx) error) error {
	select {
	case db.writer <- struct{}{}:
		defer func() { <-db.writer }()
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return run(db.file.Update, fn)
}

// run tells the errors of fn, which pass as they are, from bbolt's own.
func run(transact func(func(*bbolt.Tx) error) error, fn func(*bbolt.Tx) error) error {
	var refused error
	err := transact(func(tx *bbolt.Tx) error {
		refused = fn(tx)
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return fmt.Errorf("%w: bolt: %w", store.ErrUnavailable, err)
	}
	return nil
}
