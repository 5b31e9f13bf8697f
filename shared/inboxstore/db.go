// Package inboxstore is the domain on a store: [DB] implements inbox.Reader and
// inbox.Editor. Beneath them, [DB.Apply] writes any number of [Change]s in one
// transaction, and [DB.Audited] does so in a person's name.
//
// A record lives as an item in the partition of its family, and as a copy in
// one partition for each way to list it; families.go says which those are, and
// keys.go makes their keys. Work that outlives a call is a [Job] beside them.
// Nothing scans: a list reads one partition, newest first, because ids are
// UUIDv7.
//
// It may import inbox, access (for ids), store, and webhooks (for what signs and
// authenticates deliveries).
package inboxstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/webhooks"
)

// Options configure a [DB].
type Options struct {
	Table store.Table
	Blobs store.Blobs // raw messages
	// Links makes a short-lived signed URL of the blob at key. Without it,
	// [DB.EmailLink] is unavailable.
	Links func(ctx context.Context, key string) (inbox.Link, error)
	// Retention is how long e-mails are kept, from when they were received; 0
	// is for ever. The raw messages are the blob store's to expire likewise.
	Retention time.Duration
	// Keys are asked for the keys of 32 bytes that seal what is confidential:
	// the first one seals, all of them open. They are asked each time, so that
	// a start needs none. Without them, nothing confidential can be written.
	Keys func(ctx context.Context) ([][]byte, error)
	// CheckURL says by an [*inbox.Error] why deliveries cannot go to a URL;
	// default that of a webhooks.Sender in the cloud.
	CheckURL func(url string) error
	// Wake tells workers of jobs that were left, some of which are due later. It
	// need not succeed: rounds find every job. Default: nothing.
	Wake func(ctx context.Context, jobs ...Job)

	Domain string           // of inboxes' addresses; default [DefaultDomain]
	Now    func() time.Time // default time.Now
	Log    *slog.Logger     // default slog.Default
}

// DefaultDomain is where inboxes have their addresses.
const DefaultDomain = "inbox.kobana.com.br"

// DB is the domain's records in one table.
type DB struct{ opts Options }

var (
	_ inbox.Reader = (*DB)(nil)
	_ inbox.Editor = (*DB)(nil)
)

// New returns the domain on a store.
func New(o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.CheckURL == nil {
		o.CheckURL = webhooks.New(webhooks.Options{}).CheckURL
	}
	if o.Wake == nil {
		o.Wake = func(context.Context, ...Job) {}
	}
	o.Domain = cmp.Or(o.Domain, DefaultDomain)
	return &DB{opts: o}
}

// At returns the same records by another clock.
func (db *DB) At(now func() time.Time) *DB {
	o := db.opts
	o.Now = now
	return New(o)
}

// now is the time as records have it.
func (db *DB) now() time.Time { return db.opts.Now().UTC().Truncate(time.Millisecond) }

// Stored is a record as it was read, with the version that a change of it is
// conditioned on.
type Stored[T Record] struct {
	Record  T
	Version int64
	size    int // of its JSON, in bytes
}

// Get reads the record of a workspace that ref names by its id or, where the
// family has them, its external_id: one read by id, two by external_id.
// Deliveries are read by [DB.Delivery].
func Get[T Record](ctx context.Context, db *DB, ws access.WorkspaceID, ref string) (Stored[T], error) {
	return resolve[T](ctx, db, ws, ref, "id")
}

// resolve is [Get] for the argument of that name.
func resolve[T Record](ctx context.Context, db *DB, ws access.WorkspaceID, ref, argument string) (Stored[T], error) {
	f, s := familyOf[T](), space(ws)
	found, err := read[T](ctx, db, s.records(f.name, ""), ref)
	if errors.Is(err, store.ErrNotFound) && f.externalID != nil && ref != "" {
		var id string
		if _, id, err = db.named(ctx, s.name(f.name, "external_id", ref)); err == nil {
			found, err = read[T](ctx, db, s.records(f.name, ""), id)
		}
	}
	return found, failure(err, f.noun, argument)
}

// read reads the record with that id in a partition of primary items. What is
// no id, or expired, is not found.
func read[T Record](ctx context.Context, db *DB, partition, id string) (Stored[T], error) {
	if !inbox.ID(id).Valid() {
		return Stored[T]{}, store.ErrNotFound
	}
	item, err := db.get(ctx, store.Key{Partition: partition, Sort: id})
	if err != nil {
		return Stored[T]{}, err
	}
	return decode[T](item)
}

// get reads an item; an expired one is not found.
func (db *DB) get(ctx context.Context, k store.Key) (store.Item, error) {
	item, err := db.opts.Table.Get(ctx, k)
	if err == nil && item.Expired(db.opts.Now()) {
		err = store.ErrNotFound
	}
	return item, err
}

// named reads which record has a unique name.
func (db *DB) named(ctx context.Context, k store.Key) (ws access.WorkspaceID, id string, err error) {
	item, err := db.get(ctx, k)
	id, space, _ := strings.Cut(string(item.Value), "#")
	return access.WorkspaceID(space), id, err
}

// recordJSON is how records are written: nil objects as {}, and bytes that are
// not UTF-8 replaced, so that no hostile text can keep a record out.
var recordJSON = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true),
	json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, o inbox.Object) error {
		if len(o) == 0 {
			o = inbox.Object("{}")
		}
		return e.WriteValue(o)
	})),
)

func encode(r any) ([]byte, error) { return json.Marshal(r, recordJSON) }

func decode[T Record](i store.Item) (Stored[T], error) {
	s := Stored[T]{Version: i.Version, size: len(i.Value)}
	if err := json.Unmarshal(i.Value, &s.Record); err != nil {
		return s, fmt.Errorf("inboxstore: item %q %q: %w", i.Partition, i.Sort, err)
	}
	return s, nil
}

// failure turns an error of reading the table into one for the caller, who
// asked for the noun by that argument. Nil stays nil.
func failure(err error, noun, argument string) error {
	if errors.Is(err, store.ErrNotFound) {
		return inbox.Errorf(inbox.CodeNotFound, argument, "There is no such %s in this workspace.", noun)
	}
	return unavailable(err)
}

// unavailable tells the caller of a store that cannot answer now; other errors
// stay as they are, nil too.
func unavailable(err error) error {
	if errors.Is(err, store.ErrUnavailable) {
		return &inbox.Error{Code: inbox.CodeUnavailable, Message: "The data cannot be reached now. Try again later.", Err: err}
	}
	return err
}
