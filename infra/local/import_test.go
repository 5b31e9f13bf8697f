package local

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
)

const support = "aurora-support@inbox.kobana.com.br"

// importing runs the command, and returns what it tells and its error.
func importing(t *testing.T, c Config, path, ref string) (told string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = Import(t.Context(), c, path, ref, &out, quiet())
	return out.String(), err
}

var lineTold = regexp.MustCompile(`^(\w+) +(\S+) as ([0-9a-f-]{36})(: .*)?\n$`)

// write makes a file in a folder of its own and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func message(subject string) string {
	return "From: Eva <eva@example.com>\nSubject: " + subject + "\n\nHello.\n"
}

// config is how a server of the test's own was opened.
func (s *Server) config() Config { return testConfig(filepath.Dir(s.commands.Addr().String())) }

// TestImport_References: an inbox is named by its address in any case, its id
// or its external_id, in whatever workspace.
func TestImport_References(t *testing.T) {
	s := serve(t)
	c := as("demo-owner").at(s)
	ws := access.WorkspaceID(c.id(t, "workspaces_list", nil))
	jobs := c.where(t, "inboxes_list", "label", "Jobs")["id"].(string)
	was, err := inboxstore.Get[inbox.Inbox](t.Context(), s.data.inboxes, ws, jobs)
	if err != nil {
		t.Fatal(err)
	}
	named := was.Record
	named.ExternalID = new(someID)
	if err := s.data.inboxes.Apply(t.Context(), ws, inboxstore.Update(was, named)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ ref, token, inbox, status string }{
		{support, "demo-owner", "Support", "approved"},
		{strings.ToUpper(support), "demo-owner", "Support", "approved"},
		{"bosque-pedidos@inbox.kobana.com.br", "demo-other", "Pedidos", "processed"},  // it has no agent
		{"aurora-invoices@inbox.kobana.com.br", "demo-owner", "Invoices", "rejected"}, // the sender is not allowed
		{jobs, "demo-owner", "Jobs", "rejected"},                                      // not active
		{someID, "demo-owner", "Jobs", "rejected"},
	} {
		path := write(t, "one.eml", message("for "+x.ref))
		told, err := importing(t, s.config(), path, x.ref)
		m := lineTold.FindStringSubmatch(told)
		if err != nil || m == nil || m[1] != x.status || m[2] != path || (m[4] == "") != (x.status != "rejected") {
			t.Fatalf("%s: %q, %v", x.ref, told, err)
		}
		e := get[object](t, as(x.token).at(s), "emails_get", object{"id": m[3]})
		in := as(x.token).at(s).where(t, "inboxes_list", "label", x.inbox)
		if e["inbox_id"] != in["id"] || e["subject"] != "for "+x.ref || e["from"] != "eva@example.com" || fmt.Sprint(e["to"]) != fmt.Sprint([]any{in["email"]}) {
			t.Errorf("%s: %v", x.ref, e)
		}
	}
	for _, tool := range []string{"emails_list", "workflow_runs_list", "system_events_list"} {
		if text := c.call(t, tool, nil).text; finer.MatchString(text) {
			t.Errorf("%s has a time finer than a millisecond: %s", tool, text)
		}
	}
}

var finer = regexp.MustCompile(`\d\.\d{4,}Z`)

// TestImport_StoppedServer opens the store itself, and a server finds what it
// put there.
func TestImport_StoppedServer(t *testing.T) {
	c := testConfig(dataDir(t))
	_, stop := serveOn(t, c)
	stop()
	for i, path := range []string{write(t, "a.eml", message("into a stopped one")), write(t, "b.EML", message("and again"))} {
		told, err := importing(t, c, path, support)
		if err != nil || !strings.HasPrefix(told, "approved   "+path+" as ") {
			t.Fatalf("%d: %q, %v", i, told, err)
		}
		s, stop := serveOn(t, c)
		if got := as("demo-owner").at(s).list(t, "emails_list", nil); len(got) != 11+i {
			t.Errorf("%d e-mails", len(got))
		}
		stop()
	}
}

// TestImport_NoData: where no server ever was, or one whose first start was
// interrupted, or with an empty file for a store, nothing is made, and it says what
// to do.
func TestImport_NoData(t *testing.T) {
	path, parent := write(t, "one.eml", message("one")), dataDir(t)
	interrupted := testConfig(filepath.Join(parent, "interrupted"))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Open(stopped, interrupted, quiet()); err == nil {
		t.Fatal("it started")
	}
	empty := testConfig(dataDir(t))
	if err := os.WriteFile(empty.path(storeFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{testConfig(filepath.Join(parent, "none")), testConfig(parent), interrupted, empty} {
		_, before := os.Stat(c.DataDir)
		named, _ := filepath.Glob(c.path("*"))
		files := contents(t, c, "*.*")
		told, err := importing(t, c, path, support)
		if err == nil || told != "" || !has(err.Error(), "no data in DATA_DIR "+c.DataDir, "give the DATA_DIR that the server has, or start the server") {
			t.Errorf("%s: %q, %v", c.DataDir, told, err)
		}
		if _, after := os.Stat(c.DataDir); (before == nil) != (after == nil) {
			t.Errorf("%s: %v, then %v", c.DataDir, before, after)
		}
		if now, _ := filepath.Glob(c.path("*")); !slices.Equal(now, named) || !maps.Equal(contents(t, c, "*.*"), files) {
			t.Errorf("%s: %v, then %v", c.DataDir, named, now)
		}
	}
}

func TestImport_Folder(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"one.eml": message("one"), "two.EML": message("two"), "sub/three.eml": message("three"), "notes.txt": "no message",
		"sub/broken.eml": "\x00\x01 not an e-mail", "empty.eml": "", "sub/eml": message("no"),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.eml")); err != nil {
		t.Fatal(err)
	}
	told, err := importing(t, s.config(), dir, support)
	if err == nil || err.Error() != "of 5 messages, 2 failed and 0 were not taken" {
		t.Error(err)
	}
	if n := strings.Count(told, "\n"); n != 5 || strings.Count(told, "approved ") != 3 || strings.Count(told, "failed ") != 2 {
		t.Errorf("%d lines:\n%s", n, told)
	}
	// What is no e-mail is kept, and says why.
	for _, name := range []string{"sub/broken.eml", "empty.eml"} {
		_, rest, _ := strings.Cut(told, filepath.Join(dir, name)+" as ")
		e := get[email](t, as("demo-owner").at(s), "emails_get", object{"id": rest[:36]})
		if e.Status != "failed" || e.RejectionReason == nil || !strings.HasPrefix(rest[36:], ": "+*e.RejectionReason) {
			t.Errorf("%s: %+v, told %q", name, e, rest)
		}
	}
}

func TestImport_Refusals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	defer unchanged(t, s)()
	good := write(t, "one.eml", message("one"))
	unreadable := filepath.Join(t.TempDir(), "folder.eml")
	if err := os.Mkdir(unreadable, 0o700); err != nil {
		t.Fatal(err)
	}
	large := write(t, "large.eml", message("large"))
	if err := os.Truncate(large, intake.MaxRaw+1); err != nil { // a file with a hole
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path, ref   string
		told, wrong string
	}{
		"no such file":         {filepath.Join(t.TempDir(), "none.eml"), support, "", "no such file"},
		"a folder without any": {unreadable, support, "", "has no .eml files"},
		"no file":              {"", support, "", "FILE=message.eml"},
		"no inbox":             {good, "", "", "INBOX=address"},
		"unknown address":      {good, "nobody@inbox.kobana.com.br", "", `No inbox has the address, id or external_id "`},
		"unknown id":           {good, someID, "", `No inbox has the address, id or external_id "`},
		"no reference at all":  {good, "Support", "", `No inbox has the address, id or external_id "`},
		"not an inbox":         {good, as("demo-owner").at(s).id(t, "agents_list", nil), "", `No inbox has the address, id or external_id "`},
		"too large":            {large, support, "not taken  " + large + ": The message is over 40 MiB. It was not kept.\n", "of 1 messages, 0 failed and 1 were not taken"},
	} {
		told, err := importing(t, s.config(), c.path, c.ref)
		if err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.HasPrefix(told, c.told) || (c.told == "") != (told == "") {
			t.Errorf("%s: %q, %v", name, told, err)
		}
	}
}

// TestImport_WrongInbox is said once, in the same words however the inbox is
// named and whoever looks, and before any file is read.
func TestImport_WrongInbox(t *testing.T) {
	c := testConfig(dataDir(t))
	_, stop := serveOn(t, c)
	dir := t.TempDir()
	for _, name := range []string{"1.eml", "2.eml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(message(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(server string) {
		t.Helper()
		for _, ref := range []string{"nobody@inbox.kobana.com.br", "nobody@example.com", someID, "Support"} {
			want := fmt.Sprintf("No inbox has the address, id or external_id %q. No file was taken in.", ref)
			if told, err := importing(t, c, dir, ref); told != "" || err == nil || err.Error() != want {
				t.Errorf("%s, %s: %q, %v", server, ref, told, err)
			}
		}
	}
	refused("running")
	stop()
	refused("stopped")
}

// TestImport_UnreadableFile does not stop the others.
func TestImport_UnreadableFile(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("root reads everything; a file that vanishes stands in")
	}
	s := serve(t)
	dir := t.TempDir()
	for _, name := range []string{"1.eml", "2.eml", "3.eml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(message(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	vanishing := writerFunc(func(b []byte) (int, error) { // after the first was told
		os.Remove(filepath.Join(dir, "2.eml"))
		return out.Write(b)
	})
	err := Import(t.Context(), s.config(), dir, support, vanishing, quiet())
	if err == nil || err.Error() != "of 3 messages, 0 failed and 1 were not taken" || strings.Count(out.String(), "approved ") != 2 ||
		!strings.Contains(out.String(), "not taken  "+filepath.Join(dir, "2.eml")+": ") {
		t.Errorf("%v\n%s", err, &out)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestImport_WhileServing: mail arrives while people read, and each message
// arrives once.
func TestImport_WhileServing(t *testing.T) {
	t.Parallel()
	const writers, each = 3, 8
	s := serve(t)
	c := as("demo-owner").at(s)
	var all sync.WaitGroup
	for w := range writers {
		path := write(t, "one.eml", message(fmt.Sprint("parallel ", w)))
		all.Go(func() {
			for range each {
				var out bytes.Buffer
				if err := Import(t.Context(), s.config(), path, support, &out, quiet()); err != nil {
					t.Error(err, out.String())
				}
			}
		})
		body, headers := c.request("tools/call", object{"name": "emails_list", "arguments": object{"limit": 200}})
		all.Go(func() {
			for range 2 * each {
				if resp, answer := exchange(t, http.MethodPost, c.endpoint(), body, headers...); resp.StatusCode != http.StatusOK {
					t.Errorf("HTTP %d %s", resp.StatusCode, answer)
				}
			}
		})
	}
	all.Wait()
	bySubject := map[any]int{}
	for _, e := range c.list(t, "emails_list", object{"limit": 200}) {
		bySubject[e["subject"]]++
	}
	for w := range writers {
		if n := bySubject[fmt.Sprint("parallel ", w)]; n != each {
			t.Errorf("%d of %d messages of writer %d", n, each, w)
		}
	}
}

// TestCheckData_Import puts every sample message through the socket of a
// running server: none is dropped, and each can be read.
func TestCheckData_Import(t *testing.T) {
	dir := os.Getenv("CHECK_DATA")
	if dir == "" {
		t.Skip("CHECK_DATA is not set")
	}
	s := serve(t)
	samples, err := messagesAt(filepath.Join(dir, "mail", "samples"))
	if err != nil {
		t.Fatal(err)
	}
	c := as("demo-owner").at(s)
	before := len(c.list(t, "emails_list", object{"limit": 200}))
	told, err := importing(t, s.config(), filepath.Join(dir, "mail", "samples"), support)
	if err != nil && !strings.HasSuffix(err.Error(), " failed and 0 were not taken") {
		t.Error(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(told, "\n"), "\n")
	if len(lines) != len(samples) {
		t.Errorf("%d samples, told of %d", len(samples), len(lines))
	}
	for _, told := range lines {
		m := lineTold.FindStringSubmatch(strings.TrimSuffix(told, "\n") + "\n")
		if m == nil || m[1] != "approved" && m[1] != "failed" {
			t.Errorf("%q", told)
			continue
		}
		raw, err := os.ReadFile(m[2])
		if err != nil {
			t.Fatal(err)
		}
		e := get[email](t, c, "emails_get", object{"id": m[3], "include_html": true})
		if e.Status != m[1] || e.RawSize != len(raw) {
			t.Errorf("%s: %+v", m[2], e)
		}
		link := get[inbox.Link](t, c, "emails_get_eml", object{"id": m[3]})
		if _, got := exchange(t, http.MethodGet, link.URL, ""); !bytes.Equal(got, raw) {
			t.Errorf("%s: the raw message differs", m[2])
		}
	}
	if after := len(c.list(t, "emails_list", object{"limit": 200})); after != before+len(samples) {
		t.Errorf("%d e-mails, then %d samples, now %d", before, len(samples), after)
	}
}
