package local

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/time/rate"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func TestConfigFrom(t *testing.T) {
	from := func(env map[string]string) (Config, error) {
		return ConfigFrom(func(name string) string { return env[name] })
	}
	noFuncs := cmpopts.IgnoreFields(Config{}, "Models", "OAuth")
	got, err := from(nil)
	if want := (Config{Port: 3000, SMTPPort: new(2525), DataDir: ".data", ConfirmTTL: 5 * time.Minute}); cmp.Diff(want, got, cmpopts.EquateEmpty(), noFuncs) != "" || err != nil {
		t.Errorf("by default: %+v, %v", got, err)
	}
	got, err = from(map[string]string{"PORT": "0", "SMTP_PORT": "25", "DATA_DIR": "/x", "CONFIRM_TTL": "90s", "READ_ONLY": "1", "RATE_LIMIT": "5/7",
		"CONFIRM_ALSO": "inboxes_update, agents_update", "WEBHOOK_ALLOW_LOOPBACK": "1"})
	if want := (Config{Port: 0, SMTPPort: new(25), DataDir: "/x", ConfirmTTL: 90 * time.Second, ReadOnly: true, RateLimit: access.RateLimit{PerSecond: 5, Burst: 7},
		ConfirmAlso: []string{"inboxes_update", "agents_update"}, WebhookAllowLoopback: true}); cmp.Diff(want, got, cmpopts.EquateEmpty(), noFuncs) != "" || err != nil {
		t.Errorf("all set: %+v, %v", got, err)
	}
	got, err = from(map[string]string{"READ_ONLY": "0", "RATE_LIMIT": "off", "CONFIRM_TTL": "5m"})
	if got.ReadOnly || got.RateLimit.PerSecond != rate.Inf || got.ConfirmTTL != 5*time.Minute || err != nil {
		t.Errorf("off: %+v, %v", got, err)
	}
}

// Who takes a free port for clients runs beside others, and takes one for mail.
func TestConfigFrom_SMTPPort(t *testing.T) {
	for _, c := range []struct {
		port, smtp string
		want       *int
	}{
		{"", "", new(2525)}, {"3001", "", new(2525)}, {"0", "", new(0)}, {"0", "2525", new(2525)}, {"", "0", new(0)}, {"", "off", nil}, {"0", "off", nil},
	} {
		got, err := ConfigFrom(func(name string) string { return map[string]string{"PORT": c.port, "SMTP_PORT": c.smtp}[name] })
		if diff := cmp.Diff(c.want, got.SMTPPort); diff != "" || err != nil {
			t.Errorf("%+v: %s, %v", c, diff, err)
		}
	}
}

// TestConfigFrom_Errors name the variable and what it takes; R14: no
// confirmation counts for more than five minutes.
func TestConfigFrom_Errors(t *testing.T) {
	for name, values := range map[string][]string{
		"PORT":                   {"x", "-1", "65536", "3000 ", "0x10", "1.5"},
		"SMTP_PORT":              {"x", "-1", "65536", "OFF", "2525 "},
		"CONFIRM_TTL":            {"x", "5", "0s", "-1s", "5m1ns", "300001ms", "1h"},
		"READ_ONLY":              {"true", "yes", "2", " 1"},
		"CONFIRM_ALSO":           {"nope", "emails_get"},
		"WEBHOOK_ALLOW_LOOPBACK": {"true", "2"},
		"RATE_LIMIT":             {"x", "20", "20/", "/60", "0/1", "1/0", "-1/5", "20/60/1", "OFF"},
	} {
		for _, value := range values {
			_, err := ConfigFrom(func(asked string) string { return map[string]string{name: value}[asked] })
			if err == nil || !strings.HasPrefix(err.Error(), name) || !strings.Contains(err.Error(), value) || len(err.Error()) < len(name)+len(value)+15 {
				t.Errorf("%s=%q: %v", name, value, err)
			}
		}
	}
}

// TestOpen_Bedrock: a server refuses a region that is none, or that nobody could
// be asked in, and tells where Bedrock is asked; a command beside it does not.
func TestOpen_Bedrock(t *testing.T) {
	env := map[string]string{"BEDROCK_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDTEST"}
	c := testConfig(dataDir(t))
	c.Models = func(name string) string { return env[name] }
	if _, err := Open(t.Context(), c, quiet()); err == nil || !strings.HasPrefix(err.Error(), "BEDROCK_REGION: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are needed") {
		t.Errorf("without a key: %v", err)
	}
	env["AWS_SECRET_ACCESS_KEY"], env["BEDROCK_REGION"] = "a-secret-key", "Virginia"
	if _, err := Open(t.Context(), c, quiet()); err == nil || !strings.HasPrefix(err.Error(), "BEDROCK_REGION: it takes the name of a region") {
		t.Errorf("no region: %v", err)
	}
	env["BEDROCK_REGION"] = "us-east-1"
	var log bytes.Buffer
	told := slog.New(slog.NewTextHandler(&log, nil))
	s, err := Open(t.Context(), c, told)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Import(t.Context(), c, write(t, "one.eml", message("one")), support, io.Discard, told); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), `level=INFO msg="models of Bedrock are on" region=us-east-1`); n != 1 || strings.Contains(log.String(), "a-secret-key") {
		t.Errorf("told %d times:\n%s", n, &log)
	}
}
