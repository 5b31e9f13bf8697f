package dynamo_test

import (
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Table { return dynamotest.Table(t) })
}
