// Package dynamo is the DynamoDB driver of package store: a [Table] is a table
// of two string keys, as [CreateTable] makes it, without an index.
//
// Every read is strongly consistent, as the contract of package store demands:
// that an e-mail just deleted is gone from the list, that a membership just
// taken away is. It costs twice the units of an eventually consistent read, 1
// instead of ½ for each 4 KB; a rule that holds "usually" costs more.
//
// It imports packages store and awshttp and the AWS SDK, nothing else of this
// module.
package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Table is a [store.Table] in DynamoDB.
type Table struct {
	// Observe, unless nil, is told the capacity units that each successful
	// operation used: GetItem, Query, PutItem, and so on, read or write units as
	// the operation has it. (DynamoDB does not tell those of a write that a
	// condition refused.) Set it before the table is used.
	Observe func(ctx context.Context, operation string, units float64)

	client  *dynamodb.Client
	retryer aws.Retryer
	name    string
}

var _ store.Table = (*Table)(nil)

// New returns the table of that name. The client is [NewClient]'s, one for all
// tables of the process.
func New(client *dynamodb.Client, name string) *Table {
	return &Table{client: client, retryer: client.Options().Retryer, name: name}
}

// Get implements [store.Table].
func (t *Table) Get(ctx context.Context, k store.Key) (store.Item, error) {
	if err := k.Validate(); err != nil {
		return store.Item{}, err
	}
	if err := ctx.Err(); err != nil {
		return store.Item{}, err
	}
	out, err := t.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, Key: encodeKey(k), ConsistentRead: new(true), ReturnConsumedCapacity: t.capacity(),
	})
	if err != nil {
		return store.Item{}, t.failure(ctx, err)
	}
	t.observe(ctx, "GetItem", out.ConsumedCapacity)
	if out.Item == nil {
		return store.Item{}, store.ErrNotFound
	}
	return decode(out.Item)
}

// Query implements [store.Table]. It is one call, or none where the range is
// empty; only a page that would be empty without being the last takes another.
func (t *Table) Query(ctx context.Context, q store.Query) (store.Page, error) {
	if err := q.Validate(); err != nil {
		return store.Page{}, err
	}
	if err := ctx.Err(); err != nil {
		return store.Page{}, err
	}
	in, to, ok := queryInput(q)
	if !ok {
		return store.Page{}, nil
	}
	in.TableName, in.ConsistentRead, in.ReturnConsumedCapacity = &t.name, new(true), t.capacity()
	p := page{to: to}
	for {
		out, err := t.client.Query(ctx, in)
		if err != nil {
			return store.Page{}, t.failure(ctx, err)
		}
		t.observe(ctx, "Query", out.ConsumedCapacity)
		if err := p.fill(out); err != nil {
			return store.Page{}, err
		}
		if len(p.Items) > 0 || out.LastEvaluatedKey == nil {
			return p.Page, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// capacity asks for the consumed capacity only if somebody wants to know.
func (t *Table) capacity() types.ReturnConsumedCapacity {
	if t.Observe == nil {
		return types.ReturnConsumedCapacityNone
	}
	return types.ReturnConsumedCapacityTotal
}

func (t *Table) observe(ctx context.Context, operation string, capacity ...*types.ConsumedCapacity) {
	if t.Observe == nil {
		return
	}
	units := 0.0
	for _, c := range capacity {
		if c != nil {
			units += aws.ToFloat64(c.CapacityUnits)
		}
	}
	t.Observe(ctx, operation, units)
}
