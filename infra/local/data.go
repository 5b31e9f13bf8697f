package local

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
)

// data is everything kept in DATA_DIR, opened: this process owns it.
type data struct {
	db        *bolt.DB
	table     store.Table
	directory *access.Directory
	inboxes   *inboxstore.DB
	intake    *intake.Intake
	links     *links
}

// openData opens the data directory, making it the first time. The links it
// signs lead to the given address.
func openData(c Config, url string, log *slog.Logger) (*data, error) {
	if err := c.prepare(); err != nil {
		return nil, err
	}
	linkKey, err := key(c.path("link.key"))
	if err != nil {
		return nil, err
	}
	blobs, err := files.Open(c.path("raw"))
	if err != nil {
		return nil, err
	}
	db, err := bolt.Open(c.path("inbox.db"))
	if err != nil {
		return nil, err
	}
	d := &data{db: db, table: db.Table("data"), links: &links{base: url, key: linkKey, blobs: blobs, now: time.Now}}
	d.directory = access.NewDirectory(d.table)
	d.inboxes = inboxstore.New(inboxstore.Options{Table: d.table, Blobs: blobs, Links: d.links.Link})
	d.intake = intake.New(intake.Options{DB: d.inboxes, Log: log})
	return d, nil
}

// seed fills a new store with the demo.
func (d *data) seed(ctx context.Context) error {
	s := demo.Seeder{Table: d.table, Directory: d.directory, DB: d.inboxes, Intake: d.intake, Now: time.Now()}
	return s.Seed(ctx)
}

// findInbox finds the inbox that ref names, in whatever workspace: by its
// address, id or external_id.
func (d *data) findInbox(ctx context.Context, ref string) (inbox.Inbox, error) {
	if strings.Contains(ref, "@") {
		return d.inboxes.InboxByAddress(ctx, ref)
	}
	workspaces, err := d.inboxes.WorkspaceIDs(ctx)
	if err != nil {
		return inbox.Inbox{}, err
	}
	for _, ws := range workspaces {
		in, err := d.inboxes.Inbox(ctx, ws, ref)
		if e, ok := errors.AsType[*inbox.Error](err); ok && e.Code == inbox.CodeNotFound {
			continue
		}
		return in, err
	}
	return inbox.Inbox{}, inbox.Errorf(inbox.CodeNotFound, "inbox", "No inbox has this address, id or external_id.")
}
