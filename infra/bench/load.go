package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// The load: how often, and how long each time, and which part of what a server
// can do is called steady.
const (
	loadRuns = 5
	loadTime = 2 * time.Second
	steady   = 0.5
)

// underLoad measures the local server, whole and with its disk, on one core and
// on two, against the SDK's server: what each can do at most, and how long answers
// take when they are asked for at a steady rate, whether or not it keeps up. The
// generator takes its part of the same cores.
func (b *bench) underLoad(ctx context.Context) error {
	for _, cores := range []string{"1", "2"} {
		if err := b.loadOn(ctx, cores); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) loadOn(ctx context.Context, cores string) error {
	dir, err := os.MkdirTemp(b.dir, "load")
	if err != nil {
		return err
	}
	ours, err := serve(b.bin("kobana-inbox"), "DATA_DIR="+filepath.Join(dir, "data"), "RATE_LIMIT=off", "SMTP_PORT=off", "GOMAXPROCS="+cores)
	if err != nil {
		return err
	}
	defer ours.Close()
	sdk, err := serve(b.bin("sdk"), "DEFINITIONS="+b.definitions(), "GOMAXPROCS="+cores)
	if err != nil {
		return err
	}
	defer sdk.Close()
	demo, err := ours.post(ctx, request{"", "tools/call", object{"name": "agents_list", "arguments": object{"limit": 1}}, "demo-owner"})
	if err != nil {
		return err
	}
	agent := firstID(demo)
	servers := [2]*listener{ours, sdk}
	var most, spent, calm [2][]float64
	var late [2][4][]float64
	attack := func(i, rate int) (attacked, error) { return b.attack(ctx, servers[i].targets(agent), rate) }
	for range loadRuns {
		for i, s := range servers {
			if _, err := s.post(ctx, requests(anyRecords, "demo-owner")[0]); err != nil { // it is up
				return err
			}
			before, err := cpuOf(s.cmd.Process.Pid)
			if err != nil {
				return err
			}
			a, err := attack(i, 0)
			if err != nil {
				return err
			}
			after, err := cpuOf(s.cmd.Process.Pid)
			if err != nil {
				return err
			}
			most[i], spent[i] = append(most[i], a.Throughput), append(spent[i], (after-before)/a.Requests)
		}
	}
	// Both at the same rate, which the slower one can do.
	rate := int(steady * min(median(perSecond, most[0]).median, median(perSecond, most[1]).median))
	for range loadRuns {
		for i := range servers {
			a, err := attack(i, rate)
			if err != nil {
				return err
			}
			calm[i] = append(calm[i], a.Throughput)
			for q, ns := range [4]float64{a.P50, a.P90, a.P99, a.Max} {
				late[i][q] = append(late[i][q], ns/1e9)
			}
		}
	}
	b.section("the local server on " + cores + " core(s), a mix of lists and reads, beside the generator, against the SDK's server (no store, no token check)")
	b.versus("at most", perSecond, most, 0)
	b.versus("  processor time of a request", duration, spent, 0)
	b.versus("steadily", perSecond, calm, 0)
	for q, name := range [4]string{"half within", "90 % within", "99 % within", "all within"} {
		b.versus("  "+name, duration, [2][]float64{late[0][q], late[1][q]}, 0)
	}
	return nil
}

// attacked is what the generator tells; times are in nanoseconds.
type attacked struct {
	Requests, Throughput, Success float64
	P50, P90, P99, Max            float64
}

// attack has the generator send requests at a rate, 0 for as many as it can.
func (b *bench) attack(ctx context.Context, targets []byte, rate int) (a attacked, err error) {
	cmd := exec.CommandContext(ctx, b.bin("load"), "-rate", fmt.Sprint(rate), "-duration", loadTime.String())
	cmd.Stdin, cmd.Stderr = bytes.NewReader(targets), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(out, &a); err != nil {
		return a, err
	}
	if a.Success < 1 {
		err = fmt.Errorf("only %.1f %% of the requests were answered", 100*a.Success)
	}
	return a, err
}

// listener is a process that serves HTTP.
type listener struct {
	cmd *exec.Cmd
	url string
}

// serve starts a server at a port that is free.
func serve(path string, env ...string) (*listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	cmd := exec.Command(path)
	cmd.Env = append(append(os.Environ(), env...), "PORT="+port)
	return &listener{cmd, "http://127.0.0.1:" + port}, cmd.Start()
}

// Close ends it.
func (s *listener) Close() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// targets are the requests that the generator makes.
func (s *listener) targets(agent inbox.ID) []byte {
	var out bytes.Buffer
	for _, r := range append(requests(subjects{agent: agent}, "demo-owner"),
		request{"", "tools/call", object{"name": "emails_list", "arguments": object{"limit": 10}}, "demo-owner"}) {
		out.Write(marshal(object{"method": "POST", "url": s.url + r.path(), "body": []byte(r.body()), "header": r.header()}))
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// post sends a request to a server that may still be starting.
func (s *listener) post(ctx context.Context, r request) ([]byte, error) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+r.path(), strings.NewReader(r.body()))
		if err != nil {
			return nil, err
		}
		q.Header = r.header()
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			if time.Now().After(deadline) {
				return nil, err
			}
			continue
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = fmt.Errorf("HTTP %d %.500s", resp.StatusCode, answer)
		}
		return answer, err
	}
}
