package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"gopkg.in/yaml.v3"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/lambdatest"
)

// cpu is what this process has used of processors, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// asInstance sets this process's runtime as that of a function, until what it
// returns is called.
func (b *bench) asInstance() (restore func()) {
	var set [2]int
	for i, line := range b.settings {
		_, value, _ := strings.Cut(line, "=")
		set[i], _ = strconv.Atoi(value)
	}
	percent, cores := debug.SetGCPercent(set[0]), runtime.GOMAXPROCS(set[1])
	return func() {
		runtime.GOMAXPROCS(cores)
		debug.SetGCPercent(percent)
	}
}

// cpuOf is what another process has used, in seconds, as the scheduler counts.
func cpuOf(pid int) (float64, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("the processor time of process %d is not told here: the benchmark needs Linux", pid)
	}
	total := 0.0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that ended
		}
		ns, err := strconv.ParseFloat(strings.Fields(string(text))[0], 64)
		if err != nil {
			return 0, err
		}
		total += ns / 1e9
	}
	return total, nil
}

// residentOf is how much memory a process has in use, in bytes.
func residentOf(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n * 1024, err
		}
	}
	return 0, fmt.Errorf("the memory of process %d is not told", pid)
}

// function is a binary to be started as a Lambda function.
type function struct {
	path string
	env  []string
}

// function is a program that was built, with the settings of Go's that the
// template gives every function: baselines run with them too.
func (b *bench) function(name string, env ...string) function {
	return function{b.bin(name), append(env, b.settings...)}
}

// goSettings are what the template sets for Go, GOGC and GOMAXPROCS, as an
// environment has it.
func goSettings() ([]string, error) {
	text, err := os.ReadFile("template.yaml")
	if err != nil {
		return nil, err
	}
	var template struct {
		Globals struct {
			Function struct {
				Environment struct {
					Variables map[string]yaml.Node `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		return nil, err
	}
	var settings []string
	for _, name := range []string{"GOGC", "GOMAXPROCS"} {
		value := template.Globals.Function.Environment.Variables[name].Value
		if value == "" {
			return nil, fmt.Errorf("the template does not set %s", name)
		}
		settings = append(settings, name+"="+value)
	}
	return settings, nil
}

func (f function) start() (*lambdatest.Function, error) {
	return lambdatest.Start(lambdatest.Options{Path: f.path, Name: "bench", Env: f.env})
}

// invoke has a function answer an event, which must succeed.
func invoke(ctx context.Context, f *lambdatest.Function, event []byte) ([]byte, error) {
	out, err := f.Invoke(ctx, event)
	if err == nil {
		err = checkAnswer(out)
	}
	return out, err
}

// checkAnswer refuses an error of HTTP, of JSON-RPC or of a tool, but for a
// replay. What is no answer to a request, as those of the baselines, passes.
func checkAnswer(out []byte) error {
	s := string(out)
	if strings.Contains(s, `"statusCode":`) && !strings.Contains(s, `"statusCode":200`) || strings.Contains(s, `\"error\":{`) ||
		strings.Contains(s, `\"isError\":true`) && !strings.Contains(s, "confirmation_replayed") || strings.Contains(s, `"batchItemFailures":[{`) {
		return fmt.Errorf("refused: %.1000s", s)
	}
	return nil
}

// meter is a process that measures itself: infra/bench/bare, or the SDK's.
type meter struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startMeter(path string, env ...string) (*meter, error) {
	m := &meter{cmd: exec.Command(path)}
	m.cmd.Env = append(os.Environ(), env...)
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.out = bufio.NewReader(out)
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return m, m.cmd.Start()
}

// Close ends the process.
func (m *meter) Close() error {
	m.in.Close()
	return m.cmd.Wait()
}

// cost is what requests of one kind cost.
type cost struct {
	CPU           int64 // nanoseconds
	Allocs, Bytes int64
	Status        int
	Answer        string // the last one
}

// run makes a request n times.
func (m *meter) run(r request, n int) (cost, error) {
	return m.order(r, object{"N": n, "Path": r.path(), "Header": r.header(), "Body": r.body()})
}

// invoke makes a request n times, as the event of an invocation.
func (m *meter) invoke(r request, n int) (cost, error) {
	return m.order(r, object{"N": n, "Event": string(r.event())})
}

func (m *meter) order(r request, o object) (c cost, err error) {
	order, err := json.Marshal(o)
	if err != nil {
		return c, err
	}
	if _, err := m.in.Write(append(order, '\n')); err != nil {
		return c, err
	}
	line, err := m.out.ReadBytes('\n')
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return c, err
	}
	if c.Status != http.StatusOK || strings.Contains(c.Answer, `"error":`) {
		return c, fmt.Errorf("%s: HTTP %d %.500s", r.name, c.Status, c.Answer)
	}
	return c, nil
}
