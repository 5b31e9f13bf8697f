package dynamo

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// The attributes of an item. None is a reserved word of DynamoDB's
// expressions. What is zero or empty is not stored.
const (
	partitionAttribute = "pk"  // String
	sortAttribute      = "sk"  // String
	valueAttribute     = "v"   // Binary
	versionAttribute   = "ver" // Number
	expiresAttribute   = "exp" // Number, seconds since 1970: the table's TTL attribute
	// A count is a Number of its own, so that ADD can change it: the prefix and
	// its name.
	countPrefix = "#"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func encodeKey(k store.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{partitionAttribute: text(k.Partition), sortAttribute: text(k.Sort)}
}

func encode(i store.Item) map[string]types.AttributeValue {
	attributes := encodeKey(i.Key)
	if len(i.Value) > 0 {
		attributes[valueAttribute] = &types.AttributeValueMemberB{Value: i.Value}
	}
	if i.Version != 0 {
		attributes[versionAttribute] = number(i.Version)
	}
	if !i.Expires.IsZero() {
		attributes[expiresAttribute] = number(i.Expires.Unix())
	}
	for name, n := range i.Counts {
		attributes[countPrefix+name] = number(n)
	}
	return attributes
}

// decode undoes encode. It passes over attributes that it does not know, which
// a later version may have written.
func decode(attributes map[string]types.AttributeValue) (i store.Item, err error) {
	for name, a := range attributes {
		count, isCount := strings.CutPrefix(name, countPrefix)
		switch a := a.(type) {
		case *types.AttributeValueMemberS:
			switch name {
			case partitionAttribute:
				i.Partition = a.Value
			case sortAttribute:
				i.Sort = a.Value
			}
		case *types.AttributeValueMemberB:
			if name == valueAttribute {
				i.Value = a.Value
			}
		case *types.AttributeValueMemberN:
			if !isCount && name != versionAttribute && name != expiresAttribute {
				continue
			}
			n, err := strconv.ParseInt(a.Value, 10, 64) // an ADD can exceed it: DynamoDB has 38 digits
			if err != nil {
				return store.Item{}, fmt.Errorf("dynamo: attribute %q: %w", name, err)
			}
			switch {
			case name == versionAttribute:
				i.Version = n
			case name == expiresAttribute:
				i.Expires = time.Unix(n, 0).UTC()
			default:
				if i.Counts == nil {
					i.Counts = make(map[string]int64)
				}
				i.Counts[count] = n
			}
		}
	}
	return i, nil
}
