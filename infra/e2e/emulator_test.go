package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/infra/rie"
)

// emulator is one instance of a function.
type emulator struct {
	*rie.Instance
	name   string
	output string // the file with what the function wrote
}

// startEmulator starts an instance. The environment is all that it has.
func startEmulator(dir, name string, timeout time.Duration, env map[string]string) (*emulator, error) {
	out, err := os.CreateTemp(dir, name+"-*.log")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	o := rie.Options{Emulator: filepath.Join(dir, "rie"), Path: filepath.Join(dir, name, "bootstrap"), Name: name, Timeout: timeout, Output: out}
	for name, value := range env {
		o.Env = append(o.Env, name+"="+value)
	}
	i, err := rie.Start(o)
	return &emulator{i, name, out.Name()}, err
}

// signal sends the function's process a signal.
func (e *emulator) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	pid := e.PID()
	if pid == 0 {
		t.Fatalf("%s has no process", e.name)
	}
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
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
