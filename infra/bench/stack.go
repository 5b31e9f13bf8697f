package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/records"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3/s3test"
)

// stack is what the functions need of the cloud: DynamoDB's emulator behind a
// counter, an issuer of tokens, secrets, a queue, a bucket.
type stack struct {
	about   subjects
	counter *counter
	token   string
	env     []string
	records records.Records // the functions', from this process
	mail    *mailbox

	emulator io.Closer
	api      *httptest.Server // DynamoDB's
	issuer   *mockoidc.MockOIDC
	secrets  *cloudtest.Secrets
	queue    *cloudtest.Queue
	raw      *s3test.Server
}

const publicURL = "https://inbox.example.com"

func newStack(ctx context.Context) (s *stack, err error) {
	s = &stack{secrets: cloudtest.NewSecrets(map[string]string{"state": strings.Repeat("s", 64), "data": strings.Repeat("d", 64)}),
		queue: cloudtest.NewQueue(cloudtest.QueueURL), raw: s3test.New()}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	url, err := s.emulate()
	if err != nil {
		return s, err
	}
	s.counter = &counter{emulator: url}
	s.api = httptest.NewServer(s.counter)
	if s.issuer, err = mockoidc.Run(); err != nil {
		return s, err
	}
	os.Setenv("AWS_ACCESS_KEY_ID", "test") // also for what this process writes
	os.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	s.env = []string{
		"AWS_REGION=us-east-1", "PUBLIC_URL=" + publicURL, "OAUTH_ISSUERS=" + s.issuer.Issuer(), "RATE_LIMIT=off", "CONFIRM_ALSO=" + alsoConfirmed,
		"DATA_TABLE=data", "CONFIRMATIONS_TABLE=confirmations", "STATE_KEYS=state", "DATA_KEYS=data", "RAW_BUCKET=" + s3test.Bucket,
		"QUEUE_URL=" + cloudtest.QueueURL, "AWS_ENDPOINT_URL_SQS=" + s.queue.URL, "AWS_ENDPOINT_URL_S3=" + s.raw.URL,
		"AWS_ENDPOINT_URL_DYNAMODB=" + s.api.URL, "AWS_ENDPOINT_URL_SECRETS_MANAGER=" + s.secrets.URL,
	}
	return s, s.fill(ctx)
}

// emulate starts DynamoDB's emulator, which ends with its input.
func (s *stack) emulate() (url string, err error) {
	cmd := exec.Command("node", "infra/dynalite/server.mjs", "--until-eof")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if s.emulator, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	if url, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		return "", fmt.Errorf("the emulator of DynamoDB does not start (npm ci in infra/dynalite): %w", err)
	}
	return strings.TrimSpace(url), nil
}

// fill makes the tables, a workspace with its owner, and the owner's token.
func (s *stack) fill(ctx context.Context) (err error) {
	client := dynamo.NewClient(dynamo.Options{Region: "us-east-1", Endpoint: s.counter.emulator})
	if err := errors.Join(dynamo.CreateTable(ctx, client, "data"), dynamo.CreateTable(ctx, client, "confirmations")); err != nil {
		return err
	}
	if s.records, _, err = records.OpenSealed(cloud.New(s.getenv, slog.New(slog.DiscardHandler))); err != nil {
		return err
	}
	person := access.Person{Issuer: s.issuer.Issuer(), Subject: owner.Subject}
	if s.about, err = furnish(ctx, s.records.Table, inboxstore.New(s.records.Options), person); err != nil {
		return err
	}
	s.token, err = s.issuer.Keypair.SignJWT(jwt.MapClaims{
		"iss": s.issuer.Issuer(), "sub": owner.Subject, "aud": publicURL + "/mcp", "scope": "inbox.read inbox.write", "client_id": "bench",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	})
	return err
}

// getenv is the environment of the functions.
func (s *stack) getenv(name string) string {
	for _, line := range s.env {
		if value, ok := strings.CutPrefix(line, name+"="); ok {
			return value
		}
	}
	return ""
}

// Close ends all that runs.
func (s *stack) Close() {
	if s.api != nil {
		s.api.Close()
	}
	if s.issuer != nil {
		s.issuer.Shutdown()
	}
	if s.emulator != nil {
		s.emulator.Close()
	}
	s.secrets.Close()
	s.queue.Close()
	s.raw.Close()
}

// counter passes requests on to DynamoDB's emulator and counts them.
type counter struct {
	emulator string
	mu       sync.Mutex
	calls    []call
}

// call is one request to DynamoDB, with the capacity units it took.
type call struct {
	operation, table string
	units            float64
}

// ServeHTTP implements [http.Handler].
func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if err := json.UnmarshalRead(r.Body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in["ReturnConsumedCapacity"] = "TOTAL"
	target := r.Header.Get("X-Amz-Target")
	forward, err := http.NewRequestWithContext(r.Context(), http.MethodPost, c.emulator, bytes.NewReader(marshal(in)))
	if err == nil {
		forward.Header = r.Header
		forward.Header.Del("Content-Length")
		err = c.pass(w, forward, strings.TrimPrefix(target, "DynamoDB_20120810."))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (c *counter) pass(w http.ResponseWriter, r *http.Request, operation string) error {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var out struct {
		ConsumedCapacity any
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return err
	}
	c.count(operation, out.ConsumedCapacity)
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, err = w.Write(body)
	return err
}

// count counts a call whose answer told what it consumed: of one table, or of
// several in a transaction.
func (c *counter) count(operation string, consumed any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch all := consumed.(type) {
	case map[string]any:
		table, _ := all["TableName"].(string)
		units, _ := all["CapacityUnits"].(float64)
		c.calls = append(c.calls, call{operation, table, units})
	case []any:
		for _, one := range all {
			table, _ := one.(map[string]any)["TableName"].(string)
			units, _ := one.(map[string]any)["CapacityUnits"].(float64)
			c.calls = append(c.calls, call{operation, table, units})
		}
	default: // refused
		c.calls = append(c.calls, call{operation: operation})
	}
}

// take returns the calls since the last time.
func (c *counter) take() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}
