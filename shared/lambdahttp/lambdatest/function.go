// Package lambdatest runs Lambda functions on this machine, for tests and
// benchmarks: a [Function] is a function's process with a Runtime API of its
// own, and [Service] is the part of the Lambda API that invokes them.
//
// It stands in for an execution environment and says why a call failed; it is
// no judge of what Lambda really does. It imports nothing else of this module.
package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// ErrExited is returned by [Function.Invoke] when the process ended.
var ErrExited = errors.New("the function's process ended")

// FunctionError is what a function reported instead of an answer.
type FunctionError struct{ Payload []byte }

func (e *FunctionError) Error() string { return fmt.Sprintf("the function reported %s", e.Payload) }

// Options configure [Start].
type Options struct {
	Path        string        // the executable
	Env         []string      // beside what Lambda sets, as "NAME=value"
	Name        string        // of the function
	Timeout     time.Duration // of an invocation, as the function is told; default 25 s
	Concurrency int           // how many invocations run at once in the process; default 1
	Output      io.Writer     // takes its standard output and error; nil: nobody does
}

// Function is a function's process. It is safe for concurrent use: what is
// invoked while it is busy waits.
type Function struct {
	opts     Options
	cmd      *exec.Cmd
	server   *http.Server
	queue    chan *invocation
	exited   chan struct{} // closed when the process has ended
	mu       sync.Mutex
	running  map[string]*invocation
	sequence int
}

type invocation struct {
	id      string
	payload []byte
	outcome chan outcome // takes one
}

type outcome struct {
	payload []byte
	err     error
}

// Start starts a function. It is ended by Close.
func Start(o Options) (*Function, error) {
	if o.Timeout == 0 {
		o.Timeout = 25 * time.Second
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Function{opts: o, queue: make(chan *invocation), exited: make(chan struct{}), running: make(map[string]*invocation)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", f.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{outcome}", f.report)
	f.server = &http.Server{Handler: mux}
	go f.server.Serve(l)
	f.cmd = exec.Command(o.Path)
	f.cmd.Stdout, f.cmd.Stderr = o.Output, o.Output
	f.cmd.Env = append(os.Environ(),
		"AWS_LAMBDA_RUNTIME_API="+l.Addr().String(), "AWS_LAMBDA_FUNCTION_NAME="+o.Name, "AWS_REGION=us-east-1",
		"AWS_LAMBDA_MAX_CONCURRENCY="+strconv.Itoa(max(1, o.Concurrency)))
	f.cmd.Env = append(f.cmd.Env, o.Env...)
	if err := f.cmd.Start(); err != nil {
		return nil, errors.Join(err, f.server.Close())
	}
	go func() {
		f.cmd.Wait()
		close(f.exited)
	}()
	return f, nil
}

// PID is the process's id.
func (f *Function) PID() int { return f.cmd.Process.Pid }

// Close ends the process and waits for its end.
func (f *Function) Close() error {
	f.cmd.Process.Kill()
	<-f.exited
	return f.server.Close()
}

// Invoke hands the function an event and returns its answer, a
// [*FunctionError], [ErrExited], or the context's error.
func (f *Function) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	f.mu.Lock()
	f.sequence++
	i := &invocation{id: fmt.Sprintf("request-%d", f.sequence), payload: event, outcome: make(chan outcome, 1)}
	f.mu.Unlock()
	select {
	case f.queue <- i:
	case <-f.exited:
		return nil, ErrExited
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case o := <-i.outcome:
		return o.payload, o.err
	case <-f.exited:
		return nil, ErrExited
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next gives the process its next event, when there is one.
func (f *Function) next(w http.ResponseWriter, r *http.Request) {
	select {
	case i := <-f.queue:
		f.mu.Lock()
		f.running[i.id] = i
		f.mu.Unlock()
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", i.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(f.opts.Timeout).UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:"+f.opts.Name)
		w.Write(i.payload)
	case <-r.Context().Done():
	}
}

// report takes the outcome of an invocation: its "response" or its "error".
func (f *Function) report(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	f.mu.Lock()
	i := f.running[id]
	delete(f.running, id)
	f.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if i == nil || err != nil {
		http.Error(w, "no such invocation, or no whole answer", http.StatusBadRequest)
		return
	}
	o := outcome{payload: body}
	if r.PathValue("outcome") == "error" {
		o = outcome{err: &FunctionError{body}}
	}
	w.WriteHeader(http.StatusAccepted)
	i.outcome <- o
}
