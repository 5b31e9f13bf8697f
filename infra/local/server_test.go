package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/store/bolt"
)

// TestServer_1_03_LoopbackOnly: no other address of this machine answers.
func TestServer_1_03_LoopbackOnly(t *testing.T) {
	host, port, err := net.SplitHostPort(shared.listener.Addr().String())
	if err != nil || host != "127.0.0.1" {
		t.Fatalf("it listens on %s, %v", host, err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, _, _ := net.ParseCIDR(a.String())
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), port), time.Second); err == nil {
			conn.Close()
			t.Errorf("it answers at %s", ip)
		}
	}
}

// TestOnlyLoopback: should it ever be reached from elsewhere, it does not
// answer.
func TestOnlyLoopback(t *testing.T) {
	for peer, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, "127.1.2.3:1": true,
		"10.0.0.1:1": false, "[fe80::1]:1": false, "0.0.0.0:1": false, "": false, "127.0.0.1": false, "localhost:1": false, "@": false,
	} {
		if got := loopbackPeer(peer); got != want {
			t.Errorf("peer %q: %v", peer, got)
		}
	}
	for host, want := range map[string]bool{
		"localhost": true, "localhost:3000": true, "127.0.0.1:3000": true, "[::1]:3000": true, "[::1]": true, "::1": true,
		"": false, "localhost.": false, "LOCALHOST.evil": false, "127.0.0.1.nip.io": false, "2130706433": false, "0x7f.1": false,
		"127.1": false, "0": false, "[::]": false, "localhost:3000:1": false, "evil@localhost": false,
	} {
		if got := loopbackHost(host); got != want {
			t.Errorf("host %q: %v", host, got)
		}
	}
	for peer, want := range map[string]int{"10.0.0.1:1": http.StatusForbidden, "127.0.0.1:1": http.StatusOK} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, shared.URL+"/mcp", strings.NewReader(ping))
		r.RemoteAddr = peer
		r.Header.Set("Authorization", "Bearer demo-owner")
		w := httptest.NewRecorder()
		if shared.handler.ServeHTTP(w, r); w.Code != want {
			t.Errorf("from %s: HTTP %d %s", peer, w.Code, w.Body)
		}
	}
}

// TestServer_Files: only their owner can read what is in the data directory.
func TestServer_Files(t *testing.T) {
	dir := dataDir(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	_, stop := serveOn(t, testConfig(dir))
	defer stop()
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		found++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		if name := d.Name(); (strings.HasSuffix(name, ".key") || name == "command.sock" || name == "inbox.db") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		if strings.HasSuffix(d.Name(), ".key") && info.Size() != keyBytes {
			t.Errorf("%s holds %d bytes", path, info.Size())
		}
		return nil
	})
	if err != nil || found < 5 {
		t.Errorf("%d files, %v", found, err)
	}
}

// TestServer_SecondOne on the same data fails at once, says why, and leaves
// the first one alone.
func TestServer_SecondOne(t *testing.T) {
	s := serve(t)
	begin := time.Now()
	_, err := Open(t.Context(), s.config(), quiet())
	if !errors.Is(err, bolt.ErrLocked) || !has(err.Error(), s.config().DataDir, "stop it, or set DATA_DIR to another folder") {
		t.Errorf("%v", err)
	}
	if took := time.Since(begin); took > 5*time.Second { // a second, on a machine with nothing else to do
		t.Errorf("it took %v", took)
	}
	if told, err := importing(t, s.config(), write(t, "one.eml", message("one")), support); err != nil {
		t.Errorf("the first one takes no mail any more: %s %v", told, err)
	}
	c := s.config()
	c.DataDir = dataDir(t)
	c.Port = s.listener.Addr().(*net.TCPAddr).Port
	if _, err := Open(t.Context(), c, quiet()); err == nil || !has(err.Error(), fmt.Sprintf("cannot listen on port %d", c.Port), "set PORT to another one") {
		t.Errorf("%v", err)
	}
}

// TestServer_Restart keeps records, keys and links, and seeds nothing again.
func TestServer_Restart(t *testing.T) {
	c := testConfig(dataDir(t))
	s, stop := serveOn(t, c)
	put(t, s, support, []byte(message("before")))
	before, keys := snapshot(t, s), contents(t, c, "*.key")
	link := get[struct{ URL string }](t, as("demo-owner").at(s), "emails_get_eml", object{"id": as("demo-owner").at(s).id(t, "emails_list", nil)}).URL
	stop()
	for range 2 {
		s, stop = serveOn(t, c)
		if diff := cmp.Diff(before, snapshot(t, s)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(keys, contents(t, c, "*.key")); diff != "" || len(keys) == 0 {
			t.Errorf("%d keys (-before +after):\n%s", len(keys), diff)
		}
		u, err := url.Parse(link) // the port is another one
		if err != nil {
			t.Fatal(err)
		}
		if resp, body := exchange(t, http.MethodGet, s.URL+u.RequestURI(), ""); resp.StatusCode != http.StatusOK || string(body) != message("before") {
			t.Errorf("the link of before: HTTP %d %s", resp.StatusCode, body)
		}
		stop()
	}
}

// contents are those of the data directory that match, with their content.
func contents(t *testing.T, c Config, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.DataDir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(path)] = string(b)
	}
	return found
}

// ending is a context that ends after it was asked n times: a server that is
// killed somewhere within its first start.
type ending struct {
	context.Context
	left *atomic.Int64
}

func (e ending) Err() error {
	if e.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestServer_InterruptedFirstStart, wherever it was: the next one has the demo
// whole, and once.
func TestServer_InterruptedFirstStart(t *testing.T) {
	t.Parallel()
	want := counts(t, shared)
	for n := int64(0); ; n = n*3/2 + 40 {
		c, left := testConfig(dataDir(t)), &atomic.Int64{}
		left.Store(n)
		s, err := Open(ending{t.Context(), left}, c, quiet())
		if err == nil { // it takes no more steps than that
			if err := s.Close(); err != nil || n < 75 {
				t.Errorf("after %d steps: %v", n, err)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after %d steps: %v", n, err)
		}
		s, stop := serveOn(t, c)
		if diff := cmp.Diff(want, counts(t, s)); diff != "" {
			t.Errorf("after %d steps (-want +got):\n%s", n, diff)
		}
		stop()
	}
}

// counts is how many records each list has.
func counts(t *testing.T, s *Server) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, token := range []string{"demo-owner", "demo-other"} {
		for _, tool := range readTools {
			if strings.HasSuffix(tool, "_list") && tool != "webhooks_deliveries_list" {
				found[token+" "+tool] = len(as(token).at(s).list(t, tool, nil))
			}
		}
	}
	return found
}

// TestServer_KeyFile: a key that is damaged or missing is told, with what it was
// for, and never replaced behind one's back, by a command neither.
func TestServer_KeyFile(t *testing.T) {
	c := testConfig(dataDir(t))
	_, stop := serveOn(t, c)
	stop()
	for name, content := range contents(t, c, "*.key") {
		path := filepath.Join(c.DataDir, name)
		if err := os.WriteFile(path, []byte(content[:5]), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), c, quiet()); err == nil || !has(err.Error(), path, "holds 5 bytes, not 32: put it back from a copy") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		lost := map[string]string{"link.key": "links to raw", "seal.key": "asked for again", "data.key": "credentials", "audit.key": "digests"}[name]
		_, err := Open(t.Context(), c, quiet())
		_, err2 := importing(t, c, write(t, "one.eml", message("one")), support)
		for _, err := range []error{err, err2} {
			if err == nil || !has(err.Error(), "there are records in DATA_DIR "+c.DataDir+", but not the key "+path, lost) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made", name)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, stop = serveOn(t, c)
	stop()
}

// TestServer_LongDataDir: what no socket fits in is told before anything is
// made.
func TestServer_LongDataDir(t *testing.T) {
	c := testConfig(filepath.Join(dataDir(t), strings.Repeat("x", 120)))
	if _, err := Open(t.Context(), c, quiet()); err == nil || !strings.Contains(err.Error(), "DATA_DIR is too long") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(c.DataDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestBanner(t *testing.T) {
	var b bytes.Buffer
	shared.Banner(&b)
	mcp := shared.URL + "/mcp"
	for _, line := range []string{
		"Kobana Inbox MCP is at " + mcp + "\n",
		"Its data is in " + shared.config().DataDir + ": give make import and make admin the same DATA_DIR.\n",
		"  demo-owner ", "  demo-operator ", "  demo-viewer ", "  demo-readonly ", "  demo-other ",
		"curl -sS " + mcp + " -H 'Authorization: Bearer demo-owner' -H 'Content-Type: application/json' -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}'\n",
		"claude mcp add --transport http kobana-inbox " + mcp + " --header \"Authorization: Bearer demo-owner\"\n",
		"code --add-mcp '{\"name\":\"kobana-inbox\",\"type\":\"http\",\"url\":\"" + mcp + "\",\"headers\":{\"Authorization\":\"Bearer demo-owner\"}}'\n",
		"npx @modelcontextprotocol/inspector@latest --cli --server-url " + mcp + " --transport http --header \"Authorization: Bearer demo-owner\" --method resources/list\n",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is not in\n%s", line, &b)
		}
	}
	// The line for curl works as it stands.
	resp, body := exchange(t, http.MethodPost, mcp, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, bearer("demo-owner"), "Content-Type: application/json")
	if resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"kobana://inbox/models"`) {
		t.Errorf("HTTP %d %s", resp.StatusCode, body)
	}
}

// TestStop_OpenConnections: a connection that never asked for anything keeps
// nobody from stopping the server.
func TestStop_OpenConnections(t *testing.T) {
	t.Parallel()
	s, stop := serveOn(t, testConfig(dataDir(t)))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	as("demo-owner").at(s).result(t, "tools/list", nil) // the server has seen the connection before this one
	stop()
}

// TestStop_Tells: one line says that the server has stopped, and how long it
// waited for what.
func TestStop_Tells(t *testing.T) {
	t.Parallel()
	c := testConfig(dataDir(t))
	withSMTP(&c)
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	s, err := Open(ctx, c, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(ctx) }()
	as("demo-owner").at(s).result(t, "tools/list", nil)
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	last := strings.TrimSuffix(log.String(), "\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	if !has(last, "level=INFO msg=stopped ", " waited_for.requests=", " waited_for.commands=", " waited_for.mail=", " waited_for.jobs=") {
		t.Errorf("log:\n%s", &log)
	}
}
