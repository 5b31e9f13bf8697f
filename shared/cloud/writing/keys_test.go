package writing

import (
	"encoding/hex"
	"log/slog"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
)

// TestStateKeys: the first secret named seals; its id tells nothing of it.
func TestStateKeys(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	one, two := strings.Repeat("1", 32), strings.Repeat("2", 32)
	secrets := cloudtest.NewSecrets(map[string]string{"a": one, "b": two})
	defer secrets.Close()
	env := map[string]string{"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_SECRETS_MANAGER": secrets.URL, "STATE_KEYS": "b a"}
	f := cloud.New(func(name string) string { return env[name] }, slog.New(slog.DiscardHandler))
	keys, err := stateKeys(t.Context(), f)
	if err != nil || len(keys) != 2 {
		t.Fatal(keys, err)
	}
	first, err := records.Keys(t.Context(), f, "confirmations", "b")
	if err != nil || keys[0].Secret != [32]byte(first[0]) || keys[0].ID == keys[1].ID || len(keys[0].ID) != 16 {
		t.Error(keys, err)
	}
	if strings.Contains(hex.EncodeToString(keys[0].Secret[:]), keys[0].ID) {
		t.Error("the id is a part of the key")
	}
	secrets.Set("a", "")
	if keys, err := stateKeys(t.Context(), f); err == nil || keys != nil {
		t.Error("one secret is gone:", keys, err)
	}
}
