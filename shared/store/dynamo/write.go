package dynamo

import (
	"context"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// Write implements [store.Table]. The SDK sends a write again when a reply was
// lost. A transaction still happens once: DynamoDB knows it by its token, which
// is the same in each attempt. Of single ops the watch of [attempts] keeps what
// would count or mean something else the second time.
func (t *Table) Write(ctx context.Context, ops ...store.Op) error {
	if err := store.ValidateOps(ops); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil || len(ops) == 0 {
		return err
	}
	if len(ops) == 1 && ops[0].Action != store.ActionCheck {
		return t.single(ctx, ops[0])
	}
	in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: t.capacity()} // the SDK sets the token
	for _, op := range ops {
		in.TransactItems = append(in.TransactItems, t.request(op))
	}
	out, err := t.client.TransactWriteItems(ctx, in)
	if err != nil {
		return t.transactionFailure(ctx, err)
	}
	var capacity []*types.ConsumedCapacity
	for i := range out.ConsumedCapacity {
		capacity = append(capacity, &out.ConsumedCapacity[i])
	}
	t.observe(ctx, "TransactWriteItems", capacity...)
	return nil
}

// single carries out one op, at half the cost of a transaction of one.
func (t *Table) single(ctx context.Context, op store.Op) error {
	watch := &attempts{Retryer: t.retryer, once: op.Action == store.ActionAdd}
	watched := func(o *dynamodb.Options) { o.Retryer = watch }
	switch r := t.request(op); op.Action {
	case store.ActionPut:
		out, err := t.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &t.name, Item: r.Put.Item,
			ConditionExpression: r.Put.ConditionExpression, ExpressionAttributeValues: r.Put.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: showOld, ReturnConsumedCapacity: t.capacity(),
		}, watched)
		if err != nil {
			return t.singleFailure(ctx, watch, err)
		}
		t.observe(ctx, "PutItem", out.ConsumedCapacity)
	case store.ActionDelete:
		out, err := t.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &t.name, Key: r.Delete.Key,
			ConditionExpression: r.Delete.ConditionExpression, ExpressionAttributeValues: r.Delete.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: showOld, ReturnConsumedCapacity: t.capacity(),
		}, watched)
		if err != nil {
			return t.singleFailure(ctx, watch, err)
		}
		t.observe(ctx, "DeleteItem", out.ConsumedCapacity)
	case store.ActionAdd:
		out, err := t.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &t.name, Key: r.Update.Key, UpdateExpression: r.Update.UpdateExpression,
			ConditionExpression:      r.Update.ConditionExpression,
			ExpressionAttributeNames: r.Update.ExpressionAttributeNames, ExpressionAttributeValues: r.Update.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: showOld, ReturnConsumedCapacity: t.capacity(),
		}, watched)
		if err != nil {
			return t.singleFailure(ctx, watch, err)
		}
		t.observe(ctx, "UpdateItem", out.ConsumedCapacity)
	}
	return nil
}

// showOld makes a refusal by a condition show the stored item.
const showOld = types.ReturnValuesOnConditionCheckFailureAllOld

// request puts an op in DynamoDB's terms, as a part of a transaction.
func (t *Table) request(op store.Op) types.TransactWriteItem {
	values := make(map[string]types.AttributeValue)
	condition := conditionExpression(op.If, values)
	switch op.Action {
	case store.ActionPut:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: &t.name, Item: encode(op.Item),
			ConditionExpression: condition, ExpressionAttributeValues: orNil(values), ReturnValuesOnConditionCheckFailure: showOld,
		}}
	case store.ActionDelete:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: &t.name, Key: encodeKey(op.Item.Key),
			ConditionExpression: condition, ExpressionAttributeValues: orNil(values), ReturnValuesOnConditionCheckFailure: showOld,
		}}
	case store.ActionAdd:
		names := make(map[string]string)
		update := updateExpression(op.Item, names, values)
		return types.TransactWriteItem{Update: &types.Update{
			TableName: &t.name, Key: encodeKey(op.Item.Key), UpdateExpression: &update,
			ConditionExpression: condition, ExpressionAttributeNames: orNil(names), ExpressionAttributeValues: orNil(values),
			ReturnValuesOnConditionCheckFailure: showOld,
		}}
	}
	if condition == nil { // a check must have one
		condition = new("attribute_exists(pk) OR attribute_not_exists(pk)")
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &t.name, Key: encodeKey(op.Item.Key),
		ConditionExpression: condition, ExpressionAttributeValues: orNil(values), ReturnValuesOnConditionCheckFailure: showOld,
	}}
}

// conditionExpression returns nil for a condition that always holds.
func conditionExpression(c store.Condition, values map[string]types.AttributeValue) *string {
	switch {
	case c.Kind == store.KindAbsent:
		return new("attribute_not_exists(pk)")
	case c.Kind == store.KindPresent:
		return new("attribute_exists(pk)")
	case c.Kind == store.KindVersion && c.Version == 0: // not stored
		return new("attribute_exists(pk) AND attribute_not_exists(ver)")
	case c.Kind == store.KindVersion:
		values[":ver"] = number(c.Version)
		return new("ver = :ver")
	}
	return nil
}

// updateExpression adds the counts of an item and sets its expiry. A name can
// be anything, so each has a placeholder.
func updateExpression(i store.Item, names map[string]string, values map[string]types.AttributeValue) string {
	var adds, sets []string
	for name, n := range i.Counts {
		placeholder := strconv.Itoa(len(adds))
		names["#"+placeholder], values[":"+placeholder] = countPrefix+name, number(n)
		adds = append(adds, "#"+placeholder+" :"+placeholder)
	}
	if !i.Expires.IsZero() {
		sets, values[":exp"] = append(sets, "exp = :exp"), number(i.Expires.Unix())
	}
	if len(adds)+len(sets) == 0 { // something must be done for an item to be created
		sets, values[":v"] = append(sets, "v = if_not_exists(v, :v)"), &types.AttributeValueMemberB{Value: []byte{}}
	}
	var expression []string
	if len(adds) > 0 {
		expression = append(expression, "ADD "+strings.Join(adds, ", "))
	}
	if len(sets) > 0 {
		expression = append(expression, "SET "+strings.Join(sets, ", "))
	}
	return strings.Join(expression, " ")
}

// orNil returns nil for a map with nothing in it, which DynamoDB refuses.
func orNil[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	return m
}
