package main

import (
	"bufio"
	"encoding/json"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// meter answers each line on standard input, a request and how often to make
// it, with what that cost. Its twin is in infra/bench/bare, in another
// module.
func meter(h http.Handler) {
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
		}
		if err := json.Unmarshal(line, &order); err != nil {
			log.Fatal(err)
		}
		var w *httptest.ResponseRecorder
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpu()
		for range order.N {
			r := httptest.NewRequest(http.MethodPost, order.Path, strings.NewReader(order.Body))
			r.Header = order.Header.Clone()
			w = httptest.NewRecorder()
			h.ServeHTTP(w, r)
		}
		spent := cpu() - start
		runtime.ReadMemStats(&after)
		report, err := json.Marshal(map[string]any{
			"CPU": spent, "Allocs": after.Mallocs - before.Mallocs, "Bytes": after.TotalAlloc - before.TotalAlloc,
			"Status": w.Code, "Answer": w.Body.String(),
		})
		if err != nil {
			log.Fatal(err)
		}
		os.Stdout.Write(append(report, '\n'))
	}
}

// cpu is what this process has used of processors, in nanoseconds.
func cpu() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
