package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/infra/local"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo/dynamotest"
)

// command runs the command in an environment.
type command struct{ env map[string]string }

func (c command) run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, told bytes.Buffer
	code = run(t.Context(), args, func(name string) string { return c.env[name] }, &out, &told)
	return code, out.String(), told.String()
}

// do is a run that must succeed, and returns what it answers.
func (c command) do(t *testing.T, args ...string) string {
	t.Helper()
	code, out, told := c.run(t, args...)
	if code != 0 || told != "" {
		t.Fatalf("%q: exit code %d, %s", args, code, told)
	}
	return out
}

// dataDir is a folder with a name that is short enough for a socket.
func dataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kobana")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve runs a local server on the folder until stop is called.
func serve(t *testing.T, dir string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s, err := local.Open(ctx, local.Config{DataDir: dir}, slog.New(slog.DiscardHandler))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	return s.URL, func() {
		t.Helper()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

// office makes an organization, a workspace and a member, who is then
// suspended, and returns the workspace's members.
func office(t *testing.T, c command) string {
	t.Helper()
	c.do(t, "organizations", "create", "acme", "Acme Ltd.")
	ws := strings.Fields(strings.Split(c.do(t, "workspaces", "create", "acme", "Books", "books"), "\n")[1])[0]
	c.do(t, "members", "add", ws, "https://login.example.com", "ana", "viewer")
	c.do(t, "members", "suspend", ws, "https://login.example.com", "ana")
	if code, _, told := c.run(t, "organizations", "create", "acme", "Acme Ltd."); code != 1 || told != "kobana-admin: there is an organization \"acme\" already\n" {
		t.Errorf("exit code %d, %s", code, told)
	}
	if got := c.do(t, "workspaces", "list", "-organization", "acme"); !strings.Contains(got, ws+"  acme          Books  books   en") {
		t.Errorf("got %s", got)
	}
	members := c.do(t, "members", "list", ws, "-json")
	if !strings.Contains(members, `"subject":"ana"},"organization_id":"acme","workspace_id":"`+ws+`","role":"viewer","suspended":true`) {
		t.Errorf("got %s", members)
	}
	return members
}

func TestStoppedServer(t *testing.T) {
	dir := dataDir(t)
	_, stop := serve(t, dir) // which makes the data
	stop()
	c := command{map[string]string{"DATA_DIR": dir}}
	members := office(t, c)
	_, stop = serve(t, dir)
	defer stop()
	ws := strings.Fields(strings.Split(c.do(t, "workspaces", "list", "-organization", "acme"), "\n")[1])[0]
	if got := c.do(t, "members", "list", ws, "-json"); got != members {
		t.Errorf("the running server knows %s, not %s", got, members)
	}
}

// TestRunningServer: what the command does, the server judges by.
func TestRunningServer(t *testing.T) {
	dir := dataDir(t)
	url, stop := serve(t, dir)
	defer stop()
	c := command{map[string]string{"DATA_DIR": dir}}
	office(t, c)
	ws := strings.Fields(strings.Split(c.do(t, "workspaces", "list", "-organization", "aurora"), "\n")[1])[0]
	c.do(t, "members", "suspend", ws, "http://127.0.0.1:3001", "viewer")
	for token, want := range map[string]int{"demo-viewer": http.StatusForbidden, "demo-operator": http.StatusOK} {
		if status, body := listTools(t, url, token); status != want {
			t.Errorf("%s: HTTP %d %s", token, status, body)
		}
	}
}

func listTools(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestDynamoDB(t *testing.T) {
	client := dynamotest.Client(t)
	table := "admin"
	if err := dynamo.CreateTable(t.Context(), client, table); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	office(t, command{map[string]string{
		"DATA_TABLE": table, "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_DYNAMODB": *client.Options().BaseEndpoint,
	}})
}

// TestExitCodes: 0 for help, 1 for what cannot be done, 2 for what is no
// command.
func TestExitCodes(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	cloud := map[string]string{"DATA_TABLE": "t", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:1"}
	with := func(name, value string) map[string]string {
		env := maps.Clone(cloud)
		env[name] = value
		return env
	}
	for _, c := range []struct {
		name string
		env  map[string]string
		args []string
		code int
		says string // on standard output for 0, else on standard error
	}{
		{"help", nil, []string{"-h"}, 0, "members suspend WORKSPACE ISSUER SUBJECT"},
		{"help of one", nil, []string{"members", "add", "-h"}, 0, "usage: members add"},
		{"nothing", nil, nil, 2, "kobana-admin: say what to do\n\n-h lists the commands"},
		{"no command", nil, []string{"members", "fire"}, 2, `there is no command "members fire"`},
		{"both stores", with("DATA_DIR", "x"), []string{"organizations", "list"}, 1, "both DATA_TABLE and DATA_DIR are set"},
		{"no region", with("AWS_REGION", ""), []string{"organizations", "list"}, 1, "AWS_REGION is not set"},
		{"no credentials", cloud, []string{"organizations", "list"}, 1, "AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set"},
		{"long DATA_DIR", map[string]string{"DATA_DIR": strings.Repeat("x", 200)}, []string{"organizations", "list"}, 1, "DATA_DIR is too long"},
		{"no data", map[string]string{"DATA_DIR": "none"}, []string{"organizations", "list"}, 1, "there is no data in DATA_DIR none"},
		{"wrong setting", map[string]string{"PORT": "x"}, []string{"organizations", "list"}, 1, "PORT is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, told := command{c.env}.run(t, c.args...)
			says, other := told, out
			if c.code == 0 {
				says, other = out, told
			}
			if code != c.code || !strings.Contains(says, c.says) || other != "" {
				t.Errorf("exit code %d\n%s%s", code, out, told)
			}
		})
	}
}
