package e2e

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
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
)

// emulator is one instance of a function: its binary in the runtime interface
// emulator, which takes one call at a time; a second one would crash it.
type emulator struct {
	name   string
	url    string
	cmd    *exec.Cmd
	output string // the file with what the function wrote
	begun  time.Time

	mu sync.Mutex // held during a call
}

// startEmulator starts an instance. The environment is all that it has.
func startEmulator(dir, name string, timeout time.Duration, env map[string]string) (*emulator, error) {
	address, err1 := freeAddress()
	runtime, err2 := freeAddress()
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(dir, name+"-*.log")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	e := &emulator{name: name, output: out.Name(), url: "http://" + address + "/2015-03-31/functions/function/invocations"}
	e.cmd = exec.Command(filepath.Join(dir, "rie"), "--log-level", "error",
		"--runtime-interface-emulator-address", address, "--runtime-api-address", runtime, filepath.Join(dir, name, "bootstrap"))
	e.cmd.Stdout, e.cmd.Stderr = out, out
	e.cmd.Env = []string{
		"AWS_LAMBDA_FUNCTION_NAME=" + name, "AWS_LAMBDA_FUNCTION_TIMEOUT=" + strconv.Itoa(int(timeout.Seconds())),
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
	}
	for name, value := range env {
		e.cmd.Env = append(e.cmd.Env, name+"="+value)
	}
	e.begun = time.Now()
	return e, e.cmd.Start()
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

// Close ends the instance. The function ends when its Runtime API does.
func (e *emulator) Close() {
	e.cmd.Process.Kill()
	e.cmd.Wait()
}

// invoke hands the function an event and returns its answer.
func (e *emulator) invoke(ctx context.Context, event []byte) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	// A call that its caller gave up goes on, and the next one waits for it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	resp, err := e.post(ctx, event)
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

// post makes the call, and again until the emulator listens.
func (e *emulator) post(ctx context.Context, event []byte) (*http.Response, error) {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(event))
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(r)
		refused, ok := errors.AsType[*net.OpError](err)
		if !ok || refused.Op != "dial" || time.Since(e.begun) > 10*time.Second {
			return resp, err
		}
		time.Sleep(time.Millisecond)
	}
}

// process is the id of the function's process, a child of the emulator's.
func (e *emulator) process(t *testing.T) int {
	t.Helper()
	for _, file := range glob(t, fmt.Sprintf("/proc/%d/task/*/children", e.cmd.Process.Pid)) {
		children, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that ended
		}
		for _, word := range strings.Fields(string(children)) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("%s has no process", e.name)
	return 0
}

// signal sends the function's process a signal: STOP, CONT or KILL.
func (e *emulator) signal(t *testing.T, name string) {
	t.Helper()
	if out, err := exec.Command("kill", "-"+name, strconv.Itoa(e.process(t))).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// lines are what the function wrote so far, without the emulator's own lines.
func (e *emulator) lines(t *testing.T) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(e.output)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "{") && strings.HasSuffix(line, "}\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
