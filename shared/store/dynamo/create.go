package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// createWait bounds how long [CreateTable] waits for the table.
const createWait = time.Minute

// CreateTable creates a table as this driver needs it, billed by request and
// with its TTL attribute, and waits until it can be used. In the cloud the
// template creates the tables; this is for emulators and tests.
func CreateTable(ctx context.Context, client *dynamodb.Client, name string) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: new(partitionAttribute), KeyType: types.KeyTypeHash},
			{AttributeName: new(sortAttribute), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: new(partitionAttribute), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: new(sortAttribute), AttributeType: types.ScalarAttributeTypeS},
		},
	})
	if err != nil {
		return fmt.Errorf("dynamo: create table %s: %w", name, err)
	}
	exists := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, time.Second
	})
	if err := exists.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, createWait); err != nil {
		return fmt.Errorf("dynamo: wait for table %s: %w", name, err)
	}
	_, err = client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: new(expiresAttribute), Enabled: new(true)},
	})
	if err != nil {
		return fmt.Errorf("dynamo: set the TTL attribute of table %s: %w", name, err)
	}
	return nil
}
