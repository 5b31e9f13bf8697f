package inboxstore

import (
	"context"
	"iter"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// The table's items that a list reads: at most maxRead a call, in
// pages of filterPage when it has to leave some out.
const (
	maxRead    = 1000
	filterPage = 250
)

// listing says which records of a family a list is about.
type listing struct {
	space  space
	scope  string            // the record they are listed under, if the family has scopes
	values map[string]string // by index; "" does not filter
	since  time.Time         // by the time of the id; zero is no bound
	until  time.Time
}

// list returns one page, newest first. It reads the partition of one index
// and leaves out what the others refuse.
func list[T Record](ctx context.Context, db *DB, l listing, p inbox.PageRequest) (inbox.Page[T], error) {
	page, err := newSheet[T](p)
	if err != nil {
		return page.Page, err
	}
	if !l.since.IsZero() && !l.until.IsZero() && !l.since.Before(l.until) {
		return page.Page, inbox.Errorf(inbox.CodeInvalid, "until", "The time until must be after the time since.")
	}
	f := familyOf[T]()
	q := f.query(l, page.limit)
	cursors := cursorsOf(append(f.values(l), l.space.records(f.name, l.scope), q.From, q.To)...)
	if q.After, err = cursors.open(p.Cursor); err != nil {
		return page.Page, err
	}
	if q.After != "" && !inbox.ID(q.After).Valid() {
		return page.Page, errCursor()
	}

	read, last := 0, q.After
	for item, err := range db.items(ctx, q) {
		if err != nil {
			return page.Page, failure(err, f.noun, "")
		}
		read++
		if !item.Expired(db.opts.Now()) {
			r, err := decode[T](item)
			if err != nil {
				return page.Page, err
			}
			if f.match(l, &r.Record) && !page.add(r) {
				page.NextCursor = cursors.seal(last)
				break
			}
		}
		if last = item.Sort; read == maxRead {
			page.NextCursor = cursors.seal(last)
			break
		}
	}
	return page.Page, nil
}

// query reads the partition of the first index that there is a value for,
// other than a common one, or else of all records.
func (f *family[T]) query(l listing, limit int) store.Query {
	q := store.Query{Partition: l.space.records(f.name, l.scope), Backward: true, Limit: limit + 1}
	var chosen *index[T]
	for i := range f.indexes {
		ix := &f.indexes[i]
		if l.values[ix.name] == "" {
			continue
		}
		if chosen != nil {
			q.Limit = filterPage
		}
		if chosen == nil || l.values[chosen.name] == chosen.common && l.values[ix.name] != ix.common {
			chosen = ix
			q.Partition = l.space.listed(f.name, l.scope, ix.name, l.values[ix.name])
		}
	}
	if !l.since.IsZero() {
		q.From = inbox.FirstID(l.since)
	}
	if !l.until.IsZero() {
		q.To = inbox.FirstID(l.until)
	}
	return q
}

// values are the list's filters, in the order of the family's indexes.
func (f *family[T]) values(l listing) []string {
	values := make([]string, 0, len(f.indexes))
	for _, ix := range f.indexes {
		values = append(values, l.values[ix.name])
	}
	return values
}

// match reports whether a record has all values that the list is filtered by.
func (f *family[T]) match(l listing, r *T) bool {
	for _, ix := range f.indexes {
		if v := l.values[ix.name]; v != "" && v != ix.of(r) {
			return false
		}
	}
	return true
}

// sheet is a page that is being filled.
type sheet[T Record] struct {
	inbox.Page[T]
	limit, maxBytes, bytes int
}

// newSheet returns an empty page, or says what is wrong with the request.
func newSheet[T Record](p inbox.PageRequest) (*sheet[T], error) {
	s := &sheet[T]{limit: p.Limit, maxBytes: p.MaxBytes}
	s.Data = []T{}
	switch {
	case p.Limit == 0:
		s.limit = inbox.DefaultLimit
	case p.Limit < 0 || p.Limit > inbox.MaxLimit:
		return s, inbox.Errorf(inbox.CodeInvalid, "limit", "The limit must be from 1 to %d.", inbox.MaxLimit)
	}
	return s, nil
}

// add appends a record unless the page is full; the first one always fits, so
// that every page gets on.
func (s *sheet[T]) add(r Stored[T]) bool {
	s.bytes += r.size + 1
	if len(s.Data) == s.limit || s.maxBytes > 0 && s.bytes > s.maxBytes && len(s.Data) > 0 {
		return false
	}
	s.Data = append(s.Data, r.Record)
	return true
}

// items reads a query page by page.
func (db *DB) items(ctx context.Context, q store.Query) iter.Seq2[store.Item, error] {
	return func(yield func(store.Item, error) bool) {
		for {
			page, err := db.opts.Table.Query(ctx, q)
			if err != nil {
				yield(store.Item{}, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.After = page.Next
		}
	}
}
