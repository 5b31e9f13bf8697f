package dynamo

import (
	"math"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

func TestAnItemIsDecodedAsItWasEncoded(t *testing.T) {
	key := store.Key{Partition: "p", Sort: "\x00é"}
	for _, item := range []store.Item{
		{Key: key},
		{Key: key, Value: []byte{0, 0xff}, Version: math.MinInt64, Expires: time.Unix(-1, 0).UTC()},
		{Key: key, Version: math.MaxInt64, Expires: time.Unix(0, 0).UTC(), Counts: map[string]int64{"ver": math.MaxInt64, "#": math.MinInt64, "é": 0}},
	} {
		got, err := decode(encode(item))
		if diff := cmp.Diff(item, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
}

// An item that Add created has no version, and VersionIs(0) looks for none.
func TestWhatIsZeroIsNotStored(t *testing.T) {
	if got := encode(store.Item{Key: store.Key{Partition: "p", Sort: "s"}, Value: []byte{}}); len(got) != 2 {
		t.Errorf("attributes %v", got)
	}
}

func TestDecodePassesOverWhatItDoesNotKnow(t *testing.T) {
	item := store.Item{Key: store.Key{Partition: "p", Sort: "s"}, Value: []byte("v")}
	attributes := encode(item)
	attributes["later"] = text("x")
	attributes["number"] = number(1)
	attributes["flag"] = &types.AttributeValueMemberBOOL{Value: true}
	got, err := decode(attributes)
	if diff := cmp.Diff(item, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// DynamoDB's numbers have 38 digits: adding does not overflow there.
func TestANumberBeyondInt64IsAnError(t *testing.T) {
	attributes := encode(store.Item{Key: store.Key{Partition: "p", Sort: "s"}})
	attributes["#n"] = &types.AttributeValueMemberN{Value: "9223372036854775808"}
	if got, err := decode(attributes); err == nil {
		t.Errorf("decoded to %v", got)
	}
}
