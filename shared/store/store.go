// Package store is an ordered key-value table with conditional writes: the
// part of DynamoDB that this product uses, as one small interface. Package
// bolt (embedded) and package dynamo implement it, and package storetest
// holds the contract both pass. Beside it are the [Blobs] that keep raw
// messages; package files has them in a directory.
//
// It imports nothing else of this module.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Key addresses an item: the partition it lives in, and its place there.
// Within a partition, items are ordered by the bytes of Sort. Both parts are
// non-empty UTF-8 (U+0000 included): DynamoDB keeps them as String attributes,
// which the console can show, and orders those by their UTF-8 bytes.
type Key struct {
	Partition string
	Sort      string
}

// Item is what a table holds at a [Key].
type Item struct {
	Key
	// Value is opaque to the table. An empty one may come back nil.
	Value []byte
	// Version is the writer's own count, compared by [VersionIs].
	Version int64
	// Counts are numbers that [Add] changes atomically.
	Counts map[string]int64
	// Expires is when the item stops counting; zero: never. It is stored in
	// whole seconds, rounded down, and comes back in UTC. The table deletes the
	// item some time later (DynamoDB: within days), so readers judge with
	// [Item.Expired].
	Expires time.Time
}

// Expired reports whether the item stopped counting at or before now.
func (i Item) Expired(now time.Time) bool {
	return !i.Expires.IsZero() && !now.Before(i.Expires)
}

// Table is an ordered key-value table. Its methods are safe for concurrent
// use, honour the context's deadline, and copy what they take and give.
//
// The TTL read rule: an item is given as stored until the table has deleted
// it, expired or not. Neither Get nor Query nor a condition looks at Expires.
type Table interface {
	// Get returns the item at k, strongly consistent, or [ErrNotFound].
	// DynamoDB: GetItem with ConsistentRead.
	Get(ctx context.Context, k Key) (Item, error)
	// Query returns one page of a partition, strongly consistent; it is empty
	// only at the end of the range. DynamoDB: Query with ConsistentRead.
	Query(ctx context.Context, q Query) (Page, error)
	// Write carries out all ops or none: one op is a conditional write, several
	// are a transaction. At most one op may name a key. When a condition does
	// not hold it returns a [*ConditionError]; no op at all is no error. After
	// [ErrUnavailable] or an expired deadline, the ops may or may not have
	// happened: the reply may be what was lost. DynamoDB: PutItem, UpdateItem
	// and DeleteItem, or TransactWriteItems.
	Write(ctx context.Context, ops ...Op) error
}

// Query selects a range of one partition.
type Query struct {
	Partition string
	// Prefix keeps the sort keys that begin with it.
	Prefix string
	// From (inclusive) and To (exclusive) bound the sort keys; "" is no bound.
	From, To string
	// After resumes past this sort key, in the direction of the query, whether
	// or not an item is there (still).
	After string
	// Backward gives the highest sort key first.
	Backward bool
	// Limit is the most items in the page; 0 means as many as fit.
	Limit int
}

// Page is one answer to a [Query]: at most [MaxPageBytes] of items.
type Page struct {
	Items []Item
	// Next is the After that continues the query, "" at the end. A page may
	// carry Next and turn out to be the last: like DynamoDB, a table does not
	// look past a reached Limit.
	Next string
}

// Action is what an [Op] does to its key.
type Action int

// The actions of an [Op].
const (
	ActionPut    Action = iota // write Item whole
	ActionDelete               // remove the item, if there
	ActionAdd                  // add Item.Counts, creating the item if absent
	ActionCheck                // only judge the condition
)

// Op is one write. Make it with [Put], [Delete], [Add] or [Check].
type Op struct {
	Action Action
	Item   Item
	If     Condition
}

// Condition is what must hold of the stored item for an [Op] to happen. The
// zero value always holds. Conditions never look at Expires. In a transaction
// all are judged on what was stored before it.
type Condition struct {
	Kind    ConditionKind
	Version int64
}

// ConditionKind says what a [Condition] looks at.
type ConditionKind int

// The kinds of [Condition].
const (
	Always ConditionKind = iota
	KindAbsent
	KindPresent
	KindVersion
)

// Absent holds when no item is stored at the key, not even an expired one.
func Absent() Condition { return Condition{Kind: KindAbsent} }

// Present holds when an item is stored at the key.
func Present() Condition { return Condition{Kind: KindPresent} }

// VersionIs holds when the stored item has exactly this version.
func VersionIs(v int64) Condition { return Condition{Kind: KindVersion, Version: v} }

// Holds judges the condition on the stored item, nil when there is none.
func (c Condition) Holds(stored *Item) bool {
	switch c.Kind {
	case Always:
		return true
	case KindAbsent:
		return stored == nil
	case KindPresent:
		return stored != nil
	case KindVersion:
		return stored != nil && stored.Version == c.Version
	}
	return false
}

// Put writes the item whole, replacing what is there, Counts included.
func Put(i Item, c ...Condition) Op { return op(ActionPut, i, c) }

// Delete removes the item at k; an absent one is no error.
func Delete(k Key, c ...Condition) Op { return op(ActionDelete, Item{Key: k}, c) }

// Add adds counts to the item at k, creating it (with Version 0) when absent;
// Value and Version stay as they are, and expires, when not zero, is set.
// DynamoDB: UpdateItem with ADD.
func Add(k Key, counts map[string]int64, expires time.Time) Op {
	return op(ActionAdd, Item{Key: k, Counts: counts, Expires: expires}, nil)
}

// Check writes nothing; the transaction fails unless c holds at k.
func Check(k Key, c Condition) Op { return op(ActionCheck, Item{Key: k}, []Condition{c}) }

func op(a Action, i Item, c []Condition) Op {
	o := Op{Action: a, Item: i}
	if len(c) > 0 {
		o.If = c[0]
	}
	return o
}

// Errors of a [Table]; test with errors.Is.
var (
	// ErrNotFound: no item is stored at the key.
	ErrNotFound = errors.New("store: no such item")
	// ErrUnavailable: the table could not answer now; trying later may work.
	ErrUnavailable = errors.New("store: unavailable")
	// ErrLimit: a key, an item or a transaction is over a limit of this package.
	ErrLimit = errors.New("store: over a size limit")
	// ErrInvalid: a request that no table takes, such as an empty key or two
	// ops on one key. DynamoDB: ValidationException.
	ErrInvalid = errors.New("store: invalid request")
	// ErrCondition: a condition did not hold; see [ConditionError].
	ErrCondition = errors.New("store: condition not met")
)

// ConditionError says which op's condition did not hold, and what is stored
// there. Nothing was written.
type ConditionError struct {
	Op  int   // index of the first op that failed
	Old *Item // the stored item, nil when absent
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("%v (op %d)", ErrCondition, e.Op)
}

// Is makes errors.Is(err, ErrCondition) true.
func (e *ConditionError) Is(target error) bool { return target == ErrCondition }
