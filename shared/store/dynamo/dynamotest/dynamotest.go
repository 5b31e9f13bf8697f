// Package dynamotest gives tests tables in an emulator of DynamoDB, the one in
// infra/dynalite. It needs Node.js with the emulator's modules installed (npm
// ci), so a test that asks for it is skipped unless DYNAMODB_EMULATOR is 1;
// then what is missing fails it. DYNALITE names another server.mjs.
//
// It imports packages dynamo, store and storetest.
package dynamotest

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// Open returns a new, empty table for a suite that runs on either driver: in
// the emulator if DYNAMODB_EMULATOR is 1, or else embedded.
func Open(t testing.TB) store.Table {
	t.Helper()
	if enabled() {
		return Table(t)
	}
	return storetest.Temp(t).Table("t")
}

func enabled() bool { return os.Getenv("DYNAMODB_EMULATOR") == "1" }

// server is a running emulator. It ends when its input does, with this process.
type server struct {
	url   string
	input io.Closer // held: a pipe nobody refers to is closed
}

// emulator starts the one emulator of the tests of a package.
var emulator = sync.OnceValues(func() (s server, err error) {
	path, err := script()
	if err != nil {
		return s, err
	}
	cmd := exec.Command("node", path, "--until-eof")
	cmd.Stderr = os.Stderr
	if s.input, err = cmd.StdinPipe(); err != nil {
		return s, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	if err := cmd.Start(); err != nil {
		return s, err
	}
	if s.url, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		return s, fmt.Errorf("node %s ended without telling its address (run `npm ci` in its directory): %w", path, err)
	}
	s.url = strings.TrimSpace(s.url)
	return s, nil
})

// script returns the path of the emulator.
func script() (string, error) {
	if path := os.Getenv("DYNALITE"); path != "" {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "infra", "dynalite", "server.mjs"), nil
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("the test runs outside of the module: set DYNALITE to the path of server.mjs")
		}
		dir = filepath.Dir(dir)
	}
}

// patience is how long an answer may take: an emulator beside other tests is
// slower than DynamoDB, and slowness is no subject of the tests that use it.
const patience = time.Minute

// Client returns a new client of the emulator, with connections of its own.
func Client(t testing.TB) *dynamodb.Client {
	t.Helper()
	if !enabled() {
		t.Skip("needs the emulator of DynamoDB: make test-dynamodb")
	}
	server, err := emulator()
	if err != nil {
		t.Fatalf("start the emulator of DynamoDB: %v", err)
	}
	return dynamo.NewClient(dynamo.Options{
		Region:         "us-east-1",
		Endpoint:       server.url,
		AttemptTimeout: patience,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
	})
}

// Table returns a new, empty table of the emulator.
func Table(t testing.TB) *dynamo.Table {
	t.Helper()
	client, name := Client(t), rand.Text()
	if err := dynamo.CreateTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	return dynamo.New(client, name)
}
