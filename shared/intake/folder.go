package intake

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// ImportFolder takes in every .eml file in a folder and its subfolders, by
// their names, as mail that arrives at an inbox now. It goes on after a file
// that cannot be taken, and returns how many e-mails the inbox has of the
// folder, with an error for each other file. Importing a folder again only
// adds the files that are new there or have new content.
func (in *Intake) ImportFolder(ctx context.Context, box inbox.Inbox, folder fs.FS) (kept int, err error) {
	var failures []error
	err = fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && entry.Type().IsRegular() && strings.EqualFold(path.Ext(name), ".eml"):
			err = in.importFile(ctx, box, folder, name)
			if err == nil {
				kept++
			} else if errors.Is(err, ErrDeleted) {
				err = nil
			}
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", name, err))
		}
		return nil
	})
	return kept, errors.Join(append(failures, err)...)
}

func (in *Intake) importFile(ctx context.Context, box inbox.Inbox, folder fs.FS, name string) error {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return err
	}
	if info.Size() > MaxRaw {
		return errTooLarge()
	}
	raw, err := fs.ReadFile(folder, name)
	if err != nil {
		return err
	}
	_, err = in.Receive(ctx, Delivery{
		ID:    fmt.Sprintf("import/%x/%s", sha256.Sum256(raw), name),
		Inbox: box, Raw: raw,
	})
	return err
}
