package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/providers"
	answers "github.com/universokobana/kobana-inbox-mcp/shared/reply"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/files"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
	"github.com/universokobana/kobana-inbox-mcp/shared/worker"
)

// data is everything kept in DATA_DIR, opened: this process owns it.
type data struct {
	db        *bolt.DB
	keys      keys
	sender    *webhooks.Sender
	directory *access.Directory
	inboxes   *inboxstore.DB
	service   *actions.Service
	intake    *intake.Intake
	models    model.Model
	outbox    *answers.Outbox
	worker    *worker.Worker
	wake      chan struct{} // a job was left
	links     *links
}

// openData opens the data directory. A server, whose address is given, makes it
// the first time, with the demo in it, and signs links that lead there; a command
// beside it has no address, and makes nothing.
func openData(ctx context.Context, c Config, url string, log *slog.Logger) (*data, error) {
	if err := c.prepare(url != ""); err != nil {
		return nil, err
	}
	db, err := bolt.Open(c.path(storeFile))
	if errors.Is(err, bolt.ErrLocked) {
		return nil, fmt.Errorf("another server is running on DATA_DIR %s; stop it, or set DATA_DIR to another folder: %w", c.DataDir, err)
	}
	if err != nil {
		return nil, err
	}
	d := &data{
		wake: make(chan struct{}, 1), db: db,
		sender: webhooks.New(webhooks.Options{AllowLoopback: c.WebhookAllowLoopback, LoopbackHint: loopbackHint}),
		links:  &links{base: url, now: time.Now},
	}
	if err := d.open(ctx, c, log); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// loopbackHint is for who tries a webhook on this machine.
const loopbackHint = "They do when the server is started with WEBHOOK_ALLOW_LOOPBACK=1."

// openFiles opens the keys, which are made the first time, and the raw messages.
func (d *data) openFiles(c Config, first bool) (err error) {
	if d.keys, err = openKeys(c, first); err != nil {
		return err
	}
	d.links.key = d.keys.link
	d.links.blobs, err = files.Open(c.path("raw"))
	return err
}

// openAgents opens what agents run on, which a server tells the log, and where
// their answers go.
func (d *data) openAgents(c Config, log *slog.Logger) (err error) {
	getenv := c.Models
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	o := providers.Options{}
	if id, key := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"); id != "" && key != "" {
		o.Credentials = credentials.NewStaticCredentialsProvider(id, key, getenv("AWS_SESSION_TOKEN"))
	}
	if d.links.base != "" {
		o.Log = log
	}
	if d.models, err = providers.FromEnv(getenv, o); err != nil {
		return err
	}
	d.outbox, err = answers.OpenOutbox(c.path("outbox"))
	return err
}

// close gives the data directory free.
func (d *data) close() error {
	err := d.db.Close()
	if d.outbox != nil {
		err = errors.Join(err, d.outbox.Close())
	}
	return err
}

// open opens the table that holds the data, and what is kept beside it. The first
// time it fills a new one with the demo, and names it only then: a first start that
// was interrupted leaves a table that nobody reads, never half a demo, or a double
// one.
func (d *data) open(ctx context.Context, c Config, log *slog.Logger) error {
	names, current := d.db.Table("names"), store.Key{Partition: "table", Sort: "data"}
	item, err := names.Get(ctx, current)
	first := errors.Is(err, store.ErrNotFound)
	switch {
	case err != nil && !first:
		return err
	case first && d.links.base == "": // a command, beside a first start that was interrupted
		return c.errNoData()
	}
	if err := errors.Join(d.openFiles(c, first), d.openAgents(c, log)); err != nil {
		return err
	}
	if !first {
		d.use(string(item.Value), log)
		return nil
	}
	name := "data-" + rand.Text()
	d.use(name, log)
	seeder := demo.Seeder{Directory: d.directory, DB: d.inboxes, Log: log, Now: time.Now()}
	if err := seeder.Seed(ctx); err != nil {
		return err
	}
	return names.Write(ctx, store.Put(store.Item{Key: current, Value: []byte(name)}))
}

// use makes the domain of the table of that name.
func (d *data) use(name string, log *slog.Logger) {
	table := d.db.Table(name)
	d.directory = access.NewDirectory(table)
	d.inboxes = inboxstore.New(inboxstore.Options{
		Table: table, Blobs: d.links.blobs, Links: d.links.Link, CheckURL: d.sender.CheckURL, Log: log,
		Keys: func(context.Context) ([][]byte, error) { return [][]byte{d.keys.data}, nil },
		Wake: func(context.Context, ...inboxstore.Job) {
			select {
			case d.wake <- struct{}{}:
			default: // it is to look already
			}
		},
	})
	d.service = actions.New(actions.Options{DB: d.inboxes, Blobs: d.links.blobs, Sender: d.sender, Log: log})
	d.intake = intake.New(intake.Options{DB: d.inboxes, Log: log})
	d.worker = worker.New(worker.Options{DB: d.inboxes, Models: d.models, Sender: d.sender, Replies: d.outbox, Log: log})
}

// findInbox finds the inbox that ref names, in whatever workspace: by its
// address, id or external_id.
func (d *data) findInbox(ctx context.Context, ref string) (inbox.Inbox, error) {
	if strings.Contains(ref, "@") {
		if in, err := d.inboxes.InboxByAddress(ctx, ref); inbox.CodeOf(err) != inbox.CodeNotFound {
			return in, err
		}
		return inbox.Inbox{}, errNoInbox(ref)
	}
	workspaces, err := d.inboxes.WorkspaceIDs(ctx)
	if err != nil {
		return inbox.Inbox{}, err
	}
	for _, ws := range workspaces {
		if in, err := d.inboxes.Inbox(ctx, ws, ref); inbox.CodeOf(err) != inbox.CodeNotFound {
			return in, err
		}
	}
	return inbox.Inbox{}, errNoInbox(ref)
}

// errNoInbox is what who named an inbox without its workspace is told.
func errNoInbox(ref string) error {
	return inbox.Errorf(inbox.CodeNotFound, "inbox", "No inbox has the address, id or external_id %q.", ref)
}
