package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// process is a local server with a new demo.
type process struct {
	cmd *exec.Cmd
	url string   // of /mcp
	log *os.File // what it wrote on standard error
}

// start starts a server that keeps its data in dir, and waits until it says
// where it is.
func start(ctx context.Context, binary, dir string) (*process, error) {
	log, err := os.Create(dir + ".log")
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, binary), log: log}
	p.cmd.Env = append(os.Environ(), "PORT=0", "DATA_DIR="+dir, "RATE_LIMIT=off", "GOTRACEBACK=all")
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url := regexp.MustCompile(`http://[^ ]*/mcp`).FindString(lines.Text()); url != "" {
			p.url = url
			go io.Copy(io.Discard, out)
			return p, nil
		}
	}
	p.kill()
	return nil, fmt.Errorf("the server does not say where it is: %s", p.said())
}

// kill ends the process, which may have ended.
func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
	p.log.Close()
}

func (p *process) said() string {
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// memory is what the process holds that is no file's, in bytes: the pages of
// the store's file come and go with the system's cache.
func (p *process) memory() (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "RssAnon:" {
			kb, err := strconv.ParseInt(fields[1], 10, 64)
			return kb << 10, err
		}
	}
	return 0, errors.New("/proc tells no RssAnon")
}

// goroutines ends the process, which shows all its goroutines then, and counts
// those that serve no connection.
func (p *process) goroutines() (n int, err error) {
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return 0, err
	}
	p.cmd.Wait() // with an error, as it should
	for stack := range strings.SplitSeq(p.said(), "\n\n") {
		if strings.HasPrefix(strings.TrimSpace(stack), "goroutine ") && !strings.Contains(stack, "net/http.(*conn).serve") &&
			!strings.Contains(stack, "net/http.(*connReader)") {
			n++
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("the process shows no goroutines: %s", p.said())
	}
	return n, nil
}
