package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// discard is the cheapest ResponseWriter there is.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

func bench(b *testing.B, h http.Handler, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	w := httptest.NewRecorder()
	request.Body = io.NopCloser(strings.NewReader(string(body)))
	if h.ServeHTTP(w, request); w.Code != http.StatusOK {
		b.Fatal(w.Body)
	}
	reader := strings.NewReader("")
	request.Body = io.NopCloser(reader)
	out := &discard{make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		reader.Reset(string(body))
		h.ServeHTTP(out, request)
	}
}

func BenchmarkToolsList(b *testing.B) { bench(b, fixture(), modern("tools/list", "")) }

func BenchmarkCallEcho(b *testing.B) {
	bench(b, fixture(), modern("tools/call", `"name":"ok","arguments":{"inbox_id":"0198c0de-0000-7000-8000-000000000001","limit":50}`, "Mcp-Name: ok"))
}

func BenchmarkPing(b *testing.B) { bench(b, fixture(), legacy("2025-11-25", "ping", "")) }
