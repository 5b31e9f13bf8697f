package store

import (
	"fmt"
	"unicode/utf8"
)

// Limits that every driver enforces, so that what works on one machine works
// in DynamoDB. An item and a transaction are measured by [Item.Size].
const (
	MaxItemBytes        = 390 << 10
	MaxTransactionItems = 100
	MaxTransactionBytes = 4 << 20
	MaxPartitionBytes   = 2048
	MaxSortBytes        = 1024
	MaxPageBytes        = 1 << 20
	// MaxCounts and MaxCountNameBytes keep an [Add] within one update
	// expression.
	MaxCounts         = 100
	MaxCountNameBytes = 255
)

// What [Item.Size] allows for the names of the fixed attributes with the
// numbers in two of them, and for the number in one count.
const (
	itemOverhead  = 64
	countOverhead = 16
)

// Size is what the item counts towards the limits, in bytes: the keys, the
// value, the names of the counts, and fixed allowances for the rest. It is a
// little more than DynamoDB's own measure (attribute names + values, a number
// being a byte per two digits and one more).
func (i Item) Size() int {
	size := itemOverhead + len(i.Partition) + len(i.Sort) + len(i.Value)
	for name := range i.Counts {
		size += countOverhead + len(name)
	}
	return size
}

// Validate returns [ErrInvalid] or [ErrLimit] unless k may address an item.
func (k Key) Validate() error {
	if k.Partition == "" || k.Sort == "" {
		return fmt.Errorf("%w: empty key part in %q", ErrInvalid, k)
	}
	if err := validateText("partition key", k.Partition, MaxPartitionBytes); err != nil {
		return err
	}
	return validateText("sort key", k.Sort, MaxSortBytes)
}

// Validate returns [ErrInvalid] or [ErrLimit] unless q is a query that every
// driver can run.
func (q Query) Validate() error {
	if q.Partition == "" {
		return fmt.Errorf("%w: query without a partition", ErrInvalid)
	}
	if q.Limit < 0 {
		return fmt.Errorf("%w: limit %d", ErrInvalid, q.Limit)
	}
	if err := validateText("partition key", q.Partition, MaxPartitionBytes); err != nil {
		return err
	}
	for _, bound := range []string{q.Prefix, q.From, q.To, q.After} {
		if err := validateText("bound of a query", bound, MaxSortBytes); err != nil {
			return err
		}
	}
	return nil
}

// ValidateOps returns [ErrInvalid] or [ErrLimit] unless ops may be one write.
func ValidateOps(ops []Op) error {
	if len(ops) > MaxTransactionItems {
		return fmt.Errorf("%w: transaction of %d items", ErrLimit, len(ops))
	}
	seen := make(map[Key]bool, len(ops))
	total := 0
	for _, op := range ops {
		if err := op.validate(); err != nil {
			return err
		}
		if seen[op.Item.Key] {
			return fmt.Errorf("%w: two ops on %q", ErrInvalid, op.Item.Key)
		}
		seen[op.Item.Key] = true
		total += op.Item.Size()
	}
	if len(ops) > 1 && total > MaxTransactionBytes {
		return fmt.Errorf("%w: transaction of %d bytes", ErrLimit, total)
	}
	return nil
}

func (o Op) validate() error {
	if o.Action < ActionPut || o.Action > ActionCheck || o.If.Kind < Always || o.If.Kind > KindVersion {
		return fmt.Errorf("%w: action %d with condition %d", ErrInvalid, o.Action, o.If.Kind)
	}
	if err := o.Item.Key.Validate(); err != nil {
		return err
	}
	if len(o.Item.Counts) > MaxCounts {
		return fmt.Errorf("%w: %d counts in an item", ErrLimit, len(o.Item.Counts))
	}
	for name := range o.Item.Counts {
		if name == "" {
			return fmt.Errorf("%w: count without a name", ErrInvalid)
		}
		if err := validateText("name of a count", name, MaxCountNameBytes); err != nil {
			return err
		}
	}
	if size := o.Item.Size(); size > MaxItemBytes {
		return fmt.Errorf("%w: item of %d bytes", ErrLimit, size)
	}
	return nil
}

func validateText(what, s string, limit int) error {
	if len(s) > limit {
		return fmt.Errorf("%w: %s of %d bytes", ErrLimit, what, len(s))
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %s is not UTF-8: %q", ErrInvalid, what, s)
	}
	return nil
}

// Range folds Prefix, From, To and After into the one range of sort keys that
// the query is about: from (inclusive) up to to (exclusive, "" is no bound).
// It is empty when to is not "" and from is not below it. Both are UTF-8, and
// can be a byte longer than [MaxSortBytes].
func (q Query) Range() (from, to string) {
	from, to = max(q.From, q.Prefix), lower(q.To, pastPrefix(q.Prefix))
	switch {
	case q.After == "":
	case q.Backward:
		to = lower(to, q.After)
	default:
		from = max(from, q.After+"\x00") // the very next string
	}
	return from, to
}

// lower returns the lower of two upper bounds, "" being none.
func lower(a, b string) string {
	if a == "" || b == "" {
		return max(a, b)
	}
	return min(a, b)
}

// pastPrefix returns the lowest UTF-8 string above all those that begin with
// prefix, or "" if there is none: its last character is replaced by the next
// one. (Adding one to the last byte would not give UTF-8.)
func pastPrefix(prefix string) string {
	for prefix != "" {
		last, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		switch last {
		case utf8.MaxRune:
			continue
		case 0xD7FF: // the surrogates that follow have no UTF-8
			return prefix + "\uE000"
		}
		return prefix + string(last+1)
	}
	return ""
}
