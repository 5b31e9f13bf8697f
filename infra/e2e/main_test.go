// Package e2e runs the functions as they are deployed: the binaries that make
// build leaves, each in a real Lambda runtime interface emulator, several
// instances of each, behind a gateway and a Lambda API of its own. DynamoDB is
// an emulator (infra/dynalite), S3, Secrets Manager and the issuer of tokens
// are servers in the test's process.
//
// It needs Linux and Node.js with the emulator's modules (npm ci in
// infra/dynalite), so tests that need all that are skipped unless E2E is 1;
// then what is missing fails them. It may import everything.
package e2e

import (
	"errors"
	"os"
	"sync"
	"testing"
)

var shared struct {
	once  sync.Once
	stack *Stack
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	shared.stack.Close()
	os.Exit(code)
}

// use returns the stack that all tests use, or skips the test. When the test
// fails it is told what the functions logged as errors.
func use(t *testing.T) *Stack {
	t.Helper()
	if os.Getenv("E2E") != "1" {
		t.Skip("runs the functions in emulators: make e2e")
	}
	shared.once.Do(func() {
		shared.err = errors.New("the functions could not be started")
		shared.stack, shared.err = newStack(t)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			shared.stack.tellErrors(t)
		}
	})
	return shared.stack
}
