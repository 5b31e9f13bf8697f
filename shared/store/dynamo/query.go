package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// queryInput puts q in DynamoDB's terms, or says that no item can be in its
// range. The range makes the key condition, and After the start key, which
// must lie within. Items at to, if not "", are not q's: BETWEEN includes them.
func queryInput(q store.Query) (in *dynamodb.QueryInput, to string, ok bool) {
	if from, to := q.Range(); to != "" && from >= to {
		return nil, "", false
	}
	after := q.After
	q.After = ""
	from, to := q.Range()

	condition := "pk = :pk"
	values := map[string]types.AttributeValue{":pk": text(q.Partition)}
	_, prefixTo := store.Query{Prefix: q.Prefix}.Range()
	switch { // no bound is longer than a sort key but prefixTo, below which are only keys with the prefix
	case q.Prefix != "" && from == q.Prefix && to == prefixTo:
		condition += " AND begins_with(sk, :from)"
		values[":from"] = text(from)
	case from != "" && to != "":
		condition += " AND sk BETWEEN :from AND :to"
		values[":from"], values[":to"] = text(from), text(to)
	case from != "":
		condition += " AND sk >= :from"
		values[":from"] = text(from)
	case to != "":
		condition += " AND sk < :to"
		values[":to"] = text(to)
	}
	in = &dynamodb.QueryInput{
		KeyConditionExpression:    &condition,
		ExpressionAttributeValues: values,
		ScanIndexForward:          new(!q.Backward),
	}
	if q.Limit > 0 {
		in.Limit = new(int32(min(q.Limit, 1<<31-1)))
	}
	if after != "" && after >= from && (to == "" || after < to) {
		in.ExclusiveStartKey = encodeKey(store.Key{Partition: q.Partition, Sort: after})
	}
	return in, to, true
}

// page is a page that is being filled.
type page struct {
	store.Page
	to   string // as queryInput gave it
	size int    // of the items, in bytes
}

// fill adds what DynamoDB gave, but for what [store.MaxPageBytes] leaves no
// room for: DynamoDB measures otherwise.
func (p *page) fill(out *dynamodb.QueryOutput) error {
	p.Next = ""
	for _, attributes := range out.Items {
		item, err := decode(attributes)
		if err != nil {
			return err
		}
		if p.to != "" && item.Sort >= p.to {
			continue
		}
		if p.size += item.Size(); p.size > store.MaxPageBytes {
			p.Next = p.Items[len(p.Items)-1].Sort
			return nil
		}
		p.Items = append(p.Items, item)
	}
	if out.LastEvaluatedKey != nil {
		last, err := decode(out.LastEvaluatedKey)
		if err != nil {
			return err
		}
		p.Next = last.Sort
	}
	return nil
}
