package reply

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Outbox is a [Sender] that leaves messages in a folder, each in a file of its
// own, for a person to look at: on one machine nothing is sent.
type Outbox struct{ root *os.Root }

// OpenOutbox opens the folder, making it when it is not there. It is its owner's
// alone.
func OpenOutbox(dir string) (*Outbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("reply: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reply: %w", err)
	}
	return &Outbox{root: root}, nil
}

// Close gives the folder free.
func (o *Outbox) Close() error { return o.root.Close() }

// Send implements [Sender]: the file <id>.eml is there whole or not at all, and
// the first of an id stays.
func (o *Outbox) Send(ctx context.Context, m Message) error {
	if !m.ID.Valid() {
		return fmt.Errorf("%w: its id is none", ErrRefused)
	}
	err := ctx.Err()
	if err == nil {
		err = o.put(string(m.ID)+".eml", m.Raw)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return nil
}

// put gives a complete file its name.
func (o *Outbox) put(name string, data []byte) error {
	if _, err := o.root.Lstat(name); err == nil {
		return nil
	}
	temp := ".tmp-" + rand.Text()
	f, err := o.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer o.root.Remove(temp)
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := o.root.Link(temp, name); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
