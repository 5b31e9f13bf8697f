package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"golang.org/x/time/rate"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/infra/wirecheck"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/worker"
)

// shared is a server that all tests use which change nothing.
var shared *Server

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kobana")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var stop func() error
	if shared, stop, err = start(testConfig(dir), false); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := stop(); err != nil {
		panic(err)
	}
	return code
}

// testConfig is a server on a free port that counts no requests.
func testConfig(dir string) Config {
	return Config{DataDir: dir, ConfirmTTL: confirm.MaxTTL, RateLimit: access.RateLimit{PerSecond: rate.Inf}}
}

// start opens a server and serves it until stop is called. Unless it is living,
// its worker finds no jobs: then nothing moves by itself that a test compares.
func start(c Config, living bool) (s *Server, stop func() error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	s, err = Open(ctx, c, quiet())
	if err != nil {
		cancel()
		return nil, nil, err
	}
	if !living {
		none := inboxstore.New(inboxstore.Options{Table: s.data.db.Table("no jobs")})
		s.data.worker = worker.New(worker.Options{DB: none, Log: quiet()})
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	return s, func() error { cancel(); return <-served }, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// dataDir is an empty folder with a name that is short enough for a socket.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kobana")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve starts a server of the test's own.
func serve(t *testing.T, change ...func(*Config)) *Server {
	t.Helper()
	c := testConfig(dataDir(t))
	for _, f := range change {
		f(&c)
	}
	s, stop := serveOn(t, c)
	t.Cleanup(stop)
	return s
}

// serveOn starts a server that the test stops itself.
func serveOn(t *testing.T, c Config) (s *Server, stop func()) {
	t.Helper()
	return stopping(t, c, false)
}

// stopping starts a server, and stops it when it is told to.
func stopping(t *testing.T, c Config, living bool) (s *Server, stop func()) {
	t.Helper()
	s, end, err := start(c, living)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		t.Helper()
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}

// exchange sends one HTTP request and reads its whole answer. Headers are
// "Name: value"; "Host: …" sets the host.
func exchange(t *testing.T, method, url, body string, headers ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = wire.Header(headers...)
	r.Host = r.Header.Get("Host")
	resp, err := http.DefaultTransport.RoundTrip(r) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	wirecheck.Judge(t, r, []byte(body), resp.StatusCode, resp.Header, b)
	return resp, b
}

func bearer(token string) string { return fmt.Sprintf("Authorization: Bearer %s", token) }
