package cloud_test

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/arriving"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/rawmail"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/routing"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/working"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/writing"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

// environment is all that functions are told, changed as said: "NAME=value".
func environment(changes ...string) map[string]string {
	env := map[string]string{
		"AWS_REGION": "us-east-1", "PUBLIC_URL": "https://inbox.example.com", "DATA_TABLE": "data",
		"OAUTH_ISSUERS": "https://login.example.com", "RAW_BUCKET": "raw", "QUEUE_URL": cloudtest.QueueURL,
		"CONFIRMATIONS_TABLE": "confirmations", "STATE_KEYS": "a b", "DATA_KEYS": "d",
		"TOOLS_FUNCTION": "t", "RESOURCES_FUNCTION": "r", "PROMPTS_FUNCTION": "p", "COMPLETION_FUNCTION": "c",
	}
	for _, c := range changes {
		name, value, _ := strings.Cut(c, "=")
		env[name] = value
	}
	return env
}

func function(env map[string]string) *cloud.Function {
	return cloud.New(func(name string) string { return env[name] }, slog.New(slog.DiscardHandler))
}

// starts is how each function starts, as its main does.
var starts = map[string]func(*cloud.Function) (http.Handler, error){
	"router": routing.Handler,
	"tools": func(f *cloud.Function) (http.Handler, error) {
		o, err := writing.Options(f)
		if err != nil {
			return nil, err
		}
		return server.Family(o, "tools"), nil
	},
	"resources": func(f *cloud.Function) (http.Handler, error) {
		raw, err := rawmail.Open(f)
		if err != nil {
			return nil, err
		}
		return family(f, "resources", inboxstore.Options{Links: raw.Link})
	},
	"prompts":    func(f *cloud.Function) (http.Handler, error) { return family(f, "prompts", inboxstore.Options{}) },
	"completion": func(f *cloud.Function) (http.Handler, error) { return family(f, "completion", inboxstore.Options{}) },
}

// opens is how the functions start that answer no requests, as their mains do.
var opens = map[string]func(*cloud.Function) (cloud.EventFunc, error){
	"ingest": arriving.Open,
	"worker": working.Open,
}

// start starts a function and returns its error.
func start(name string, f *cloud.Function) (err error) {
	if open, ok := opens[name]; ok {
		_, err = open(f)
		return err
	}
	_, err = starts[name](f)
	return err
}

// everyFunction are the names of all functions.
func everyFunction() []string {
	return slices.Concat(slices.Sorted(maps.Keys(starts)), slices.Sorted(maps.Keys(opens)))
}

func family(f *cloud.Function, name string, records inboxstore.Options) (http.Handler, error) {
	o, err := f.Reader(records)
	if err != nil {
		return nil, err
	}
	return server.Family(o, name), nil
}

// TestEnvironment: what is missing or malformed is told by its name, all of it
// at once, by every function that needs it.
func TestEnvironment(t *testing.T) {
	all := "completion prompts resources router tools"
	for _, test := range []struct{ change, who string }{
		{"PUBLIC_URL=", all},
		{"PUBLIC_URL=inbox.example.com", all},
		{"DATA_TABLE=", all + " ingest worker"},
		{"OAUTH_ISSUERS=", all},
		{"OAUTH_ISSUERS=http://login.example.com", all},
		{"OAUTH_INTROSPECTION_SECRET=+OAUTH_INTROSPECTION_URL=https://login.example.com/introspect", all},
		{"ALLOWED_ORIGINS=https://*.example.com", all},
		{"RATE_LIMIT=fast", all},
		{"READ_ONLY=yes", all},
		{"CONFIRM_ALSO=emails_get", all},
		{"RAW_BUCKET=", "resources tools ingest worker"},
		{"QUEUE_URL=", "tools ingest worker"},
		{"CONFIRMATIONS_TABLE=", "tools"},
		{"CONFIRM_TTL=6m", "tools"},
		{"CONFIRM_TTL=0s", "tools"},
		{"STATE_KEYS=", "tools"},
		{"DATA_KEYS=", "tools worker"},
		{"MAIL_RETENTION_DAYS=-1", "tools ingest worker"},
		{"BEDROCK_PROFILES=us,eu", "worker"},
		{"BEDROCK_REGION=Virginia", "worker"},
		{"OPENAI_BASE_URL=x", "worker"},
		{"MODEL_TIMEOUT=5m", "worker"},
		{"REPLIES=yes", "worker"},
		{"TOOLS_FUNCTION=", "router"},
		{"COMPLETION_FUNCTION=", "router"},
	} {
		for _, name := range everyFunction() {
			err := start(name, function(environment(strings.Split(test.change, "+")...)))
			variable, _, _ := strings.Cut(test.change, "=")
			affected := strings.Contains(test.who, name)
			if affected != (err != nil) || affected && !strings.Contains(err.Error(), variable+": ") {
				t.Errorf("%s with %s: %v", name, test.change, err)
			}
		}
	}
	_, err := starts["tools"](function(environment("DATA_TABLE=", "RATE_LIMIT=fast", "CONFIRM_TTL=1h", "STATE_KEYS=")))
	for _, name := range []string{"DATA_TABLE", "RATE_LIMIT", "CONFIRM_TTL", "STATE_KEYS"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not told: %v", name, err)
		}
	}
}

// TestStartCallsNobody: starting, the handshakes' refusals and the metadata
// need nobody on AWS.
func TestStartCallsNobody(t *testing.T) {
	aws := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s %s", r.Method, r.URL, r.Header.Get("X-Amz-Target"))
	}))
	defer aws.Close()
	env := environment("OAUTH_INTROSPECTION_URL=https://login.example.com/introspect",
		"OAUTH_INTROSPECTION_CLIENT_ID=inbox", "OAUTH_INTROSPECTION_SECRET=introspection")
	for _, service := range []string{"DYNAMODB", "S3", "LAMBDA", "SECRETS_MANAGER", "SQS", "SESV2", "BEDROCK_RUNTIME"} {
		env["AWS_ENDPOINT_URL_"+service] = aws.URL
	}
	for name, start := range starts {
		h, err := start(function(env))
		if err != nil {
			t.Fatal(name, err)
		}
		w := httptest.NewRecorder()
		path, method := "/mcp/"+name, "tools/list"
		if name == "router" {
			path, method = "/mcp", "ping" // its own
		}
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)))
		if w.Code != http.StatusUnauthorized || !strings.Contains(w.Header().Get("WWW-Authenticate"), `"https://inbox.example.com/.well-known/oauth-protected-resource/mcp"`) {
			t.Errorf("%s: HTTP %d %v", name, w.Code, w.Header())
		}
	}
	for name, open := range opens {
		h, err := open(function(env))
		if err != nil {
			t.Fatal(name, err)
		}
		if _, err := h(t.Context(), []byte(`{}`)); err == nil {
			t.Errorf("%s takes anything for an event", name)
		}
	}
	h, _ := starts["router"](function(env))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/.well-known/oauth-protected-resource/mcp", nil))
	if !strings.Contains(w.Body.String(), `"https://login.example.com"`) {
		t.Error(w.Body)
	}
}

// TestSecretOfIntrospection: the secret is read when a token has to be judged,
// and reaches the issuer.
func TestSecretOfIntrospection(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	secrets := cloudtest.NewSecrets(map[string]string{"introspection": "the secret"})
	defer secrets.Close()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "inbox" || secret != "the+secret" {
			t.Errorf("%q %q", id, secret)
		}
		json.MarshalWrite(w, map[string]any{
			"active": true, "sub": "ana", "aud": "https://inbox.example.com/mcp", "scope": "inbox.read",
		})
	}))
	defer issuer.Close()
	env := environment("AWS_ENDPOINT_URL_SECRETS_MANAGER="+secrets.URL, "OAUTH_INTROSPECTION_SECRET=introspection",
		"OAUTH_ISSUERS="+issuer.URL, "OAUTH_INTROSPECTION_URL="+issuer.URL, "OAUTH_INTROSPECTION_CLIENT_ID=inbox")
	ping := func(env map[string]string) int {
		h, err := starts["router"](function(env))
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Header.Set("Authorization", "Bearer opaque")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	if status := ping(env); status != http.StatusOK {
		t.Errorf("HTTP %d", status)
	}
	if asked := secrets.Asked(); !maps.Equal(asked, map[string]int{"introspection": 1}) {
		t.Error(asked)
	}
	env["OAUTH_INTROSPECTION_SECRET"] = "gone"
	if status := ping(env); status != http.StatusServiceUnavailable {
		t.Errorf("without the secret: HTTP %d", status)
	}
}

// TestReaders: a function that only reads has no tool that writes; the tools'
// function has none either where the operator says so.
func TestReaders(t *testing.T) {
	for _, test := range []struct {
		name     string
		readOnly bool
		options  func(*cloud.Function) (server.Options, error)
		env      map[string]string
	}{
		{"a reader", true, func(f *cloud.Function) (server.Options, error) { return f.Reader(inboxstore.Options{}) }, environment()},
		{"tools", false, writing.Options, environment()},
		{"tools with READ_ONLY=0", false, writing.Options, environment("READ_ONLY=0")},
		{"tools with READ_ONLY=1", true, writing.Options, environment("READ_ONLY=1")},
	} {
		o, err := test.options(function(test.env))
		if err != nil || o.ReadOnly != test.readOnly {
			t.Errorf("%s: %v %v", test.name, o.ReadOnly, err)
		}
		if writes := test.name != "a reader"; (o.Confirmer != nil) != writes {
			t.Errorf("%s: %s", test.name, fmt.Sprint(o.Confirmer))
		}
	}
}
