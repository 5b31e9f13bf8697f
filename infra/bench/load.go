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
)

// The load: how long at each rate, and which part of what the server can do is
// called steady.
const (
	loadTime = 6 * time.Second
	steady   = 0.5
)

// underLoad measures the local server, whole and with its disk, on one core and
// on two: what it can do at most, and how long answers take at half of that,
// asked for at a steady rate whether or not it keeps up. The generator takes
// its part of the same cores.
func (b *bench) underLoad(ctx context.Context) error {
	for _, cores := range []string{"1", "2"} {
		if err := b.loadOn(ctx, cores); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) loadOn(ctx context.Context, cores string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	dir, err := os.MkdirTemp(b.dir, "load")
	if err != nil {
		return err
	}
	server := exec.Command(b.bin("kobana-inbox"))
	server.Env = append(os.Environ(), "PORT="+port, "DATA_DIR="+filepath.Join(dir, "data"), "RATE_LIMIT=off", "GOMAXPROCS="+cores)
	if err := server.Start(); err != nil {
		return err
	}
	defer server.Wait()
	defer server.Process.Kill()
	targets, err := targetsAt(ctx, "http://127.0.0.1:"+port)
	if err != nil {
		return err
	}
	before, err := cpuOf(server.Process.Pid)
	if err != nil {
		return err
	}
	most, err := b.attack(ctx, targets, 0)
	if err != nil {
		return err
	}
	after, err := cpuOf(server.Process.Pid)
	if err != nil {
		return err
	}
	calm, err := b.attack(ctx, targets, int(steady*most.Throughput))
	if err != nil {
		return err
	}
	b.section("the local server on " + cores + " core(s), a mix of lists and reads, beside the generator")
	b.add("at most", one(perSecond, most.Throughput), figure{}, figure{}, bar{})
	b.add("  processor time of a request", one(duration, (after-before)/most.Requests), figure{}, figure{}, bar{})
	b.add("steadily", one(perSecond, calm.Throughput), figure{}, figure{}, bar{})
	for _, p := range []struct {
		name string
		ns   float64
	}{{"half within", calm.P50}, {"90 % within", calm.P90}, {"99 % within", calm.P99}, {"all within", calm.Max}} {
		b.add("  "+p.name, one(duration, p.ns/1e9), figure{}, figure{}, bar{})
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

// targetsAt are the requests to a local server, for the generator.
func targetsAt(ctx context.Context, url string) ([]byte, error) {
	demo := request{"", "tools/call", object{"name": "agents_list", "arguments": object{"limit": 1}}, "demo-owner"}
	answer, err := post(ctx, url, demo)
	if err != nil {
		return nil, err
	}
	id := firstID(answer)
	var out bytes.Buffer
	for _, r := range append(requests(subjects{agent: id}, "demo-owner"),
		request{"", "tools/call", object{"name": "emails_list", "arguments": object{"limit": 10}}, "demo-owner"}) {
		out.Write(marshal(object{"method": "POST", "url": url + r.path(), "body": []byte(r.body()), "header": r.header()}))
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// post sends a request to a local server that may still be starting.
func post(ctx context.Context, url string, r request) ([]byte, error) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+r.path(), strings.NewReader(r.body()))
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
