package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// meter answers each line on standard input, a request and how often to make
// it, with what that cost. Where the line has an event instead, that is what the
// function answers. The SDK's server, in another module, is measured by this
// same file: infra/bench/baseline/sdk/meter.go is a link to it.
func meter(h http.Handler, function lambda.Handler) {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var order struct {
			N          int
			Path, Body string
			Header     http.Header
			Event      string
		}
		if err := json.Unmarshal(line, &order); err != nil {
			log.Fatal(err)
		}
		w := &answer{header: make(http.Header), status: http.StatusOK}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := cpu()
		for range order.N {
			if order.Event != "" {
				ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second) // as Lambda gives one
				if _, err := function.Invoke(ctx, []byte(order.Event)); err != nil {
					log.Fatal(err)
				}
				cancel()
				continue
			}
			w.status = http.StatusOK // unless it says otherwise
			w.body.Reset()
			h.ServeHTTP(w, &http.Request{
				Method: http.MethodPost, URL: &url.URL{Path: order.Path}, Host: "inbox.example.com", Header: order.Header,
				Body: io.NopCloser(strings.NewReader(order.Body)), ContentLength: int64(len(order.Body)),
			})
		}
		spent := cpu() - start
		runtime.ReadMemStats(&after)
		report, err := json.Marshal(map[string]any{
			"CPU": spent, "Allocs": after.Mallocs - before.Mallocs, "Bytes": after.TotalAlloc - before.TotalAlloc,
			"Status": w.status, "Answer": w.body.String(),
		})
		if err != nil {
			log.Fatal(err)
		}
		os.Stdout.Write(append(report, '\n'))
	}
}

// answer is an [http.ResponseWriter] that costs little.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// cpu is what this process has used of processors, in nanoseconds.
func cpu() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
