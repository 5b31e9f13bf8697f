package local

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
)

// The embedded store belongs to one process, so a running server does what
// other commands ask of it over a unix socket in its data directory, which only
// its owner can open and no web page can reach. Where no server runs, the
// command opens the store itself.

// socket is where the running server takes commands.
const socket = "command.sock"

// listenForCommands opens the socket, of this process alone: whoever owns the
// store removes what an earlier process left.
func listenForCommands(c Config) (net.Listener, error) {
	path := c.path(socket)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// commandHandler does what comes in at the socket.
func commandHandler(d *data) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /inbox", inboxHandler(d))
	mux.Handle("POST /import", importHandler(d))
	mux.Handle("POST /admin", adminHandler(d))
	return mux
}

// running is the server that runs on a data directory, for those outside.
type running struct{ client *http.Client }

// running returns the server that owns the data directory, nil if none does.
func (c Config) running() *running {
	path := c.path(socket)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil
	}
	conn.Close()
	return &running{&http.Client{Transport: &http.Transport{DialContext: dial}}}
}

// post sends a body and returns the server's answer. What the server refuses is
// an error in its words.
func (r *running) post(ctx context.Context, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://local"+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(strings.TrimSpace(string(answer)))
	}
	return answer, nil
}
