package records

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
)

var (
	one = strings.Repeat("1", minText)
	two = strings.Repeat("2", minText)
)

func function(t *testing.T, secrets *cloudtest.Secrets) *cloud.Function {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	env := map[string]string{"AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_SECRETS_MANAGER": secrets.URL}
	return cloud.New(func(name string) string { return env[name] }, slog.New(slog.DiscardHandler))
}

// TestKeys_are_kept: what was sealed must open after an update of the product,
// so the same text makes the same key, each purpose its own.
func TestKeys_are_kept(t *testing.T) {
	for purpose, want := range map[string]string{
		"confidential":  "61dd25bbe3cda932d66bf2adaa9cd5d9324dd02536bb0fe2223a9de4d282bb28",
		"confirmations": "a76fd40e4cacfb4f0be04f11d92722459e51151b2ff90051eada4a5db1d91dfe",
	} {
		keys, err := keysOf(" "+one+"\n"+two+" ", purpose)
		if err != nil || len(keys) != 2 || len(keys[0]) != keyBytes {
			t.Fatal(keys, err)
		}
		if got := hex.EncodeToString(keys[0]); got != want {
			t.Errorf("%s: %s", purpose, got)
		}
	}
}

func TestKeys_refused(t *testing.T) {
	for _, secret := range []string{"", " ", one[1:], one + " short"} {
		if keys, err := keysOf(secret, "x"); !errors.Is(err, errText) {
			t.Errorf("%q: %v %v", secret, keys, err)
		}
	}
}

// TestKeyCache: keys are asked for once in five minutes, by the wall clock, and
// again at once where asking failed.
func TestKeyCache(t *testing.T) {
	secrets := cloudtest.NewSecrets(map[string]string{"d": one})
	defer secrets.Close()
	f := function(t, secrets)
	now := time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)
	c := &keyCache{now: func() time.Time { return now }, fetch: func(ctx context.Context) (string, error) { return f.Secret(ctx, "d") }}
	get := func(want string, asked int) {
		t.Helper()
		for range 2 {
			for _, purpose := range []string{"confidential", "audit"} {
				keys, err := c.keys(t.Context(), purpose)
				made, _ := keysOf(want, purpose)
				if fmt.Sprint(keys) != fmt.Sprint(made) || (err == nil) != (want != "") {
					t.Errorf("%s: %v %v, want %v", purpose, keys, err, made)
				}
			}
		}
		if got := secrets.Asked(); !maps.Equal(got, map[string]int{"d": asked}) {
			t.Error(got)
		}
	}
	get(one, 1)
	secrets.Set("d", two+" "+one)
	now = now.Add(keyMaxAge - time.Second)
	get(one, 1)
	now = now.Add(time.Second)
	get(two+" "+one, 2)
	secrets.Set("d", "")
	now = now.Add(keyMaxAge)
	get("", 6) // each time
	secrets.Set("d", "short")
	if keys, err := c.keys(t.Context(), "audit"); !errors.Is(err, errText) {
		t.Error(keys, err)
	}
	secrets.Set("d", one)
	get(one, 8)
	now = now.Add(-time.Hour) // the clock was set back
	get(one, 9)
}
