package e2e

import (
	"context"
	"log/slog"
	"maps"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/universokobana/kobana-inbox-mcp/infra/demo"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/actions"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/cloudtest"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud/writing"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/s3/s3test"
)

// instances is how many there are of each function.
const instances = 4

// functions are all of them, and how long they may run.
var functions = map[string]time.Duration{
	"tools": 25 * time.Second, "resources": 25 * time.Second, "prompts": 25 * time.Second, "completion": 25 * time.Second,
	"router": 29 * time.Second,
}

// families are the functions that have a route of their own.
var families = map[string]bool{"tools": true, "resources": true, "prompts": true, "completion": true}

// Stack is everything that a deployment has, running.
type Stack struct {
	dir     string
	env     map[string]string // of all functions
	issuer  *mockoidc.MockOIDC
	secrets *cloudtest.Secrets
	queue   *cloudtest.Queue
	raw     *s3test.Server
	lanes   []*lane
	db      *inboxstore.DB // the functions' records, from this process
}

// lane is one instance of each function: what comes in at its gateway stays in
// it.
type lane struct {
	instances map[string]*emulator
	api       *httptest.Server // of HTTP
	lambda    *httptest.Server // Lambda's, for its router
	// fault, unless nil, stands between the router and the families.
	fault atomic.Pointer[fault]
}

// fault calls a function in a way of its own.
type fault func(call func() ([]byte, error)) ([]byte, error)

func newStack(t *testing.T) (s *Stack, err error) {
	os.Setenv("AWS_ACCESS_KEY_ID", "test") // for what this process reads and writes
	os.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	os.Setenv("DYNAMODB_EMULATOR", "1")
	tables := dynamotest.Client(t)
	s = &Stack{
		secrets: cloudtest.NewSecrets(map[string]string{
			"state-a": strings.Repeat("a", 64), "state-b": strings.Repeat("b", 64), "data": strings.Repeat("d", 64),
		}),
		queue: cloudtest.NewQueue(cloudtest.QueueURL),
		raw:   s3test.New(),
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "kobana-e2e"); err != nil {
		return nil, err
	}
	if err := build(s.dir); err != nil {
		return nil, err
	}
	if s.issuer, err = mockoidc.Run(); err != nil {
		return nil, err
	}
	for range instances {
		s.lanes = append(s.lanes, newLane())
	}
	s.env = map[string]string{
		"GOMAXPROCS": "1", "GOGC": "400", // as the template has it
		"AWS_REGION": "us-east-1", "PUBLIC_URL": s.lanes[0].api.URL, "OAUTH_ISSUERS": s.issuer.Issuer(),
		"ALLOWED_ORIGINS": "https://app.example.com", "RATE_LIMIT": "off", "METRICS_NAMESPACE": "e2e",
		"DATA_TABLE": "data", "CONFIRMATIONS_TABLE": "confirmations", "RAW_BUCKET": s3test.Bucket, "QUEUE_URL": cloudtest.QueueURL,
		"STATE_KEYS": "state-a state-b", "DATA_KEYS": "data",
		"AWS_ENDPOINT_URL_DYNAMODB":        *tables.Options().BaseEndpoint,
		"AWS_ENDPOINT_URL_S3":              s.raw.URL,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": s.secrets.URL,
		"AWS_ENDPOINT_URL_SQS":             s.queue.URL,
	}
	for name := range families {
		s.env[strings.ToUpper(name)+"_FUNCTION"] = "arn:aws:lambda:us-east-1:123456789012:function:inbox-" + name + ":live"
	}
	if err := s.fill(t.Context(), tables); err != nil {
		return nil, err
	}
	for _, l := range s.lanes {
		for name := range functions {
			if l.instances[name], err = s.start(name, "AWS_ENDPOINT_URL_LAMBDA="+l.lambda.URL); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// Close ends all that runs.
func (s *Stack) Close() {
	if s == nil {
		return
	}
	for _, l := range s.lanes {
		l.Close()
	}
	if s.issuer != nil {
		s.issuer.Shutdown()
	}
	s.raw.Close()
	s.secrets.Close()
	s.queue.Close()
	os.RemoveAll(s.dir)
}

// tellErrors tells what the functions logged as errors, since the beginning.
func (s *Stack) tellErrors(t *testing.T) {
	for _, l := range s.lanes {
		for _, e := range l.instances {
			for _, line := range e.lines(t) {
				if strings.Contains(line, `"level":"ERROR"`) {
					t.Log(line)
				}
			}
		}
	}
}

// start starts an instance of a function, its environment changed as said.
func (s *Stack) start(name string, changes ...string) (*emulator, error) {
	env := maps.Clone(s.env)
	for _, c := range changes {
		variable, value, _ := strings.Cut(c, "=")
		env[variable] = value
	}
	return startEmulator(s.dir, name, functions[name], env)
}

func newLane() *lane {
	l := &lane{instances: map[string]*emulator{}}
	invoke := func(ctx context.Context, function string, event []byte) ([]byte, error) {
		return l.instances[function].Invoke(ctx, event)
	}
	l.api = httptest.NewServer(gateway{invoke})
	l.lambda = httptest.NewServer(lambdatest.Service(func(ctx context.Context, function string, event []byte) ([]byte, error) {
		name, _ := strings.CutPrefix(function, "arn:aws:lambda:us-east-1:123456789012:function:inbox-")
		name, _ = strings.CutSuffix(name, ":live")
		call := func() ([]byte, error) { return invoke(ctx, name, event) }
		if f := l.fault.Load(); f != nil {
			return (*f)(call)
		}
		return call()
	}))
	return l
}

// Close ends the lane.
func (l *lane) Close() {
	l.api.Close()
	l.lambda.Close()
	for _, e := range l.instances {
		if e != nil {
			e.Close()
		}
	}
}

// with returns a lane whose router and tools are of the test's own, their
// environment changed as said. They end with the test.
func (s *Stack) with(t *testing.T, changes ...string) *lane {
	t.Helper()
	l := newLane()
	t.Cleanup(l.api.Close)
	t.Cleanup(l.lambda.Close)
	maps.Copy(l.instances, s.lanes[0].instances)
	for _, name := range []string{"router", "tools"} {
		e, err := s.start(name, append(changes, "AWS_ENDPOINT_URL_LAMBDA="+l.lambda.URL)...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		l.instances[name] = e
	}
	return l
}

// people are those who have tokens here, each in the place of one of the demo.
var people = map[string]access.Person{
	"owner": demo.Owner, "operator": demo.Operator, "viewer": demo.Viewer, "other": demo.Other,
}

// fill makes the tables, puts the demo into them, and gives the issuer's people
// the memberships of the demo's.
func (s *Stack) fill(ctx context.Context, tables *dynamodb.Client) error {
	for _, name := range []string{"data", "confirmations"} {
		if err := dynamo.CreateTable(ctx, tables, name); err != nil {
			return err
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	f := cloud.New(func(name string) string { return s.env[name] }, quiet)
	o, err := writing.Options(f)
	if err != nil {
		return err
	}
	s.db = o.Service.(*actions.Service).DB
	directory := access.NewDirectory(dynamo.New(tables, "data"))
	seeder := demo.Seeder{Directory: directory, DB: s.db, Log: quiet, Now: time.Now()}
	if err := seeder.Seed(ctx); err != nil {
		return err
	}
	for subject, person := range people {
		memberships, err := directory.Memberships(ctx, person)
		if err != nil {
			return err
		}
		for _, m := range memberships {
			m.Person = access.Person{Issuer: s.issuer.Issuer(), Subject: subject}
			if err := directory.AddMember(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// claims are those of a person's token.
type claims = jwt.MapClaims

// token signs a token of one of the people, with claims changed as said; nil
// takes one away.
func (s *Stack) token(t *testing.T, subject, scopes string, changes claims) string {
	t.Helper()
	c := claims{
		"iss": s.issuer.Issuer(), "sub": subject, "aud": s.env["PUBLIC_URL"] + "/mcp", "client_id": "e2e",
		"scope": scopes, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	token, err := s.issuer.Keypair.SignJWT(c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// get sends a request without a body.
func get(t *testing.T, method, url string, headers ...string) reply {
	t.Helper()
	return exchange(t, method, url, "", headers...)
}
