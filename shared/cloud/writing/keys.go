package writing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
)

// stateKeys fetches the keys that seal confirmations. A key is known by a
// digest of it.
func stateKeys(ctx context.Context, f *cloud.Function) (keys []confirm.Key, err error) {
	made, err := records.Keys(ctx, f, "confirmations", f.Words("STATE_KEYS")...)
	for _, key := range made {
		digest := sha256.Sum256(key)
		keys = append(keys, confirm.Key{ID: hex.EncodeToString(digest[:8]), Secret: [32]byte(key)})
	}
	return keys, err
}
