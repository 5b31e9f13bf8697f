// Package store is an ordered key-value table with conditional writes: the
// part of DynamoDB that this product uses, as one small interface. Package
// bolt (embedded) and package dynamo implement it, and package storetest
// holds the contract both pass.
//
// It imports nothing else of this module.
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Limits that every driver enforces, so that what works on one machine works
// in DynamoDB.
const (
	MaxItemBytes        = 390 << 10
	MaxTransactionItems = 100
	MaxTransactionBytes = 4 << 20
	MaxPartitionBytes   = 2048
	MaxSortBytes        = 1024
	MaxPageBytes        = 1 << 20
)

// Key addresses an item: the partition it lives in, and its place there.
// Within a partition, items are ordered by the bytes of Sort. Both parts are
// non-empty.
type Key struct {
	Partition string
	Sort      string
}

// Item is what a table holds at a [Key].
type Item struct {
	Key
	// Value is opaque to the table.
	Value []byte
	// Version is the writer's own count, compared by [VersionIs].
	Version int64
	// Counts are numbers that [Add] changes atomically.
	Counts map[string]int64
	// Expires is when the item stops counting, to the second; zero: never. The
	// table deletes it some time later, so readers judge with [Item.Expired].
	Expires time.Time
}

// Expired reports whether the item stopped counting at or before now.
func (i Item) Expired(now time.Time) bool {
	return !i.Expires.IsZero() && !now.Before(i.Expires)
}

// Table is an ordered key-value table. Its methods are safe for concurrent
// use, honour the context's deadline, and copy what they take and give.
type Table interface {
	// Get returns the item at k, strongly consistent, or [ErrNotFound].
	Get(ctx context.Context, k Key) (Item, error)
	// Query returns one page of a partition.
	Query(ctx context.Context, q Query) (Page, error)
	// Write carries out all ops or none: one op is a conditional write, several
	// are a transaction. At most one op may name a key. When a condition does
	// not hold it returns a [*ConditionError].
	Write(ctx context.Context, ops ...Op) error
}

// Query selects a range of one partition.
type Query struct {
	Partition string
	// Prefix keeps the sort keys that begin with it.
	Prefix string
	// From (inclusive) and To (exclusive) bound the sort keys; "" is no bound.
	From, To string
	// After resumes past this sort key, in the direction of the query.
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
	// carry Next and turn out to be the last.
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
// zero value always holds. Conditions never look at Expires.
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

// Put writes the item whole, replacing what is there.
func Put(i Item, c ...Condition) Op { return op(ActionPut, i, c) }

// Delete removes the item at k.
func Delete(k Key, c ...Condition) Op { return op(ActionDelete, Item{Key: k}, c) }

// Add adds counts to the item at k, creating it when absent; Value and Version
// stay as they are, and expires, when not zero, is set.
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
	// ErrLimit: a key, an item or a transaction is over the limits above.
	ErrLimit = errors.New("store: over a size limit")
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

// Blobs keeps raw messages whole, by key. Keys are slash-separated names of
// letters, digits, '-', '_' and '.', no part of which begins with a dot.
type Blobs interface {
	// Put stores data under key, durably, replacing what is there.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns what is stored under key, or [ErrNotFound].
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes key; an absent key is no error.
	Delete(ctx context.Context, key string) error
}
