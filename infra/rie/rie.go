// Package rie runs functions in the official Lambda runtime interface emulator,
// for the end-to-end tests and the benchmark. An [Instance] is one execution
// environment. The emulator itself is pinned in tool, a module of its own.
//
// It needs Linux. It may import lambdatest, whose errors it shares.
package rie

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
)

// command is the emulator's.
const command = "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie"

// Build builds the emulator into a file; root is the repository's folder.
func Build(root, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-C", filepath.Join(root, "infra/rie/tool"), "-o", file, command).CombinedOutput(); err != nil {
		return fmt.Errorf("build the emulator: %w\n%s", err, out)
	}
	return nil
}

// Options configure [Start].
type Options struct {
	Emulator string        // what Build made
	Path     string        // the function's executable
	Name     string        // of the function
	Timeout  time.Duration // of an invocation, in whole seconds
	Env      []string      // all that it has beside its name and credentials, as "NAME=value"
	Output   io.Writer     // takes the emulator's lines and the function's; nil: nobody does
}

// Instance is one instance of a function. It is safe for concurrent use: the
// emulator takes one call at a time, a second one would crash it, so calls wait.
type Instance struct {
	url string
	cmd *exec.Cmd
	mu  sync.Mutex // held during a call
}

// Start starts an emulator and waits until it listens. The function is started
// by the first call. Close ends both.
func Start(o Options) (*Instance, error) {
	address, err1 := freeAddress()
	runtime, err2 := freeAddress()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	i := &Instance{url: "http://" + address + "/2015-03-31/functions/function/invocations"}
	i.cmd = exec.Command(o.Emulator, "--log-level", "error",
		"--runtime-interface-emulator-address", address, "--runtime-api-address", runtime, o.Path)
	i.cmd.Stdout, i.cmd.Stderr = o.Output, o.Output
	i.cmd.Env = append([]string{
		"AWS_LAMBDA_FUNCTION_NAME=" + o.Name, "AWS_LAMBDA_FUNCTION_TIMEOUT=" + strconv.Itoa(int(o.Timeout.Seconds())),
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
	}, o.Env...)
	if err := i.cmd.Start(); err != nil {
		return nil, err
	}
	for _, a := range []string{address, runtime} { // it listens at the second one a little later, and a function that is too early ends
		if err := awaitListener(a); err != nil {
			return nil, errors.Join(err, i.Close())
		}
	}
	return i, nil
}

// awaitListener waits until somebody listens at an address.
func awaitListener(address string) error {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("the emulator does not listen: %w", err)
		}
	}
}

// nextPort is the port to try next. It lies below those that the system gives
// to connections, one of which could take it before the emulator does.
var nextPort = func() *atomic.Int64 {
	n := new(atomic.Int64)
	n.Store(10_000 + rand.Int64N(20_000))
	return n
}()

// freeAddress is an address on loopback that nobody listens at, and that is not
// returned again.
func freeAddress() (string, error) {
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", nextPort.Add(1)))
		if err != nil {
			continue
		}
		return l.Addr().String(), l.Close()
	}
	return "", errors.New("no port is free")
}

// Invoke hands the function an event and returns its answer, or a
// [*lambdatest.FunctionError]. A call that its caller gave up goes on, and the
// next one waits for it.
func (i *Instance) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.url, bytes.NewReader(event))
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"errorType"`)) || bytes.HasPrefix(body, []byte("Task timed out")):
		return nil, &lambdatest.FunctionError{Payload: fmt.Appendf(nil, "HTTP %d %.500s", resp.StatusCode, body)}
	}
	return body, nil
}

// PID is the id of the function's process, 0 while there is none.
func (i *Instance) PID() int {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", i.cmd.Process.Pid))
	for _, file := range files {
		children, _ := os.ReadFile(file) // of a thread that may have ended
		for _, word := range strings.Fields(string(children)) {
			if pid, err := strconv.Atoi(word); err == nil {
				return pid
			}
		}
	}
	return 0
}

// Close ends the instance.
func (i *Instance) Close() error {
	function := i.PID()
	i.cmd.Process.Kill()
	i.cmd.Wait() // which tells that it was killed
	if function == 0 {
		return nil
	}
	return syscall.Kill(function, syscall.SIGKILL) // it would end by itself, a little later
}
