package e2e

import (
	"debug/elf"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// TestCase3: there are no sessions, so what begins at one instance goes on at
// another, with and without a session's id.
func TestCase3(t *testing.T) {
	s := use(t)
	for _, v := range mcp.Versions() {
		if v.Modern() {
			continue
		}
		c := s.owner(t).in(v)
		a := c.at(s.lanes[0]).send(t, "initialize", object{"protocolVersion": v, "capabilities": object{}, "clientInfo": object{"name": "e2e", "version": "1"}})
		if a.StatusCode != http.StatusOK || a.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: HTTP %d %v", v, a.StatusCode, a.Header)
		}
		for _, l := range s.lanes[1:] {
			c.at(l).result(t, "tools/list", nil)
			c.at(l).with("Mcp-Session-Id: 0190").result(t, "tools/list", nil)
		}
	}
}

// TestCase5: an e-mail of 5 MB is answered, cut, and whole by its link; nothing
// comes near the 6 MB that Lambda takes.
func TestCase5(t *testing.T) {
	s := use(t)
	c := s.owner(t)
	to := c.list(t, "inboxes_list", object{})[0]
	line := `He said "yes", then \ and so on: "" \\ “”` + "\r\n"
	raw := "From: ana@example.com\r\nTo: " + to["email"].(string) + "\r\nSubject: Five megabytes\r\nMessage-ID: <case5@example.com>\r\n" +
		"Date: " + time.Now().Format(time.RFC1123Z) + "\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + strings.Repeat(line, 5<<20/len(line))
	in, err := s.db.InboxByAddress(t.Context(), to["email"].(string))
	if err != nil {
		t.Fatal(err)
	}
	email, err := intake.New(intake.Options{DB: s.db}).Receive(t.Context(), intake.Delivery{ID: "case 5", Inbox: in, Raw: []byte(raw)})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range mcp.Versions() {
		a := c.in(v).send(t, "tools/call", object{"name": "emails_get", "arguments": object{"id": email.ID, "include_html": true}})
		got := decode[outcome](t, a.Result)
		if a.StatusCode != http.StatusOK || got.IsError || len(a.body) > 2_500_000 {
			t.Fatalf("HTTP %d, %d bytes: %.300s", a.StatusCode, len(a.body), a.body)
		}
		if body := decode[object](t, []byte(got.Content[0].Text))["body"].(object); body["truncated"] != true {
			t.Errorf("%.300v", body)
		}
	}
	link := c.read(t, "emails_get_eml", object{"id": email.ID})["url"].(string)
	if whole := get(t, http.MethodGet, link); string(whole.body) != raw {
		t.Errorf("HTTP %d, %d bytes of %d", whole.StatusCode, len(whole.body), len(raw))
	}
}

// TestCase6: what is deployed is one static file named bootstrap, for the
// processor that was asked for.
func TestCase6(t *testing.T) {
	s := use(t)
	other := t.TempDir()
	for name := range functions {
		check(t, filepath.Join(s.dir, name, "bootstrap"), map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH])
	}
	for arch, machine := range map[string]elf.Machine{"arm64": elf.EM_AARCH64, "amd64": elf.EM_X86_64} {
		dir := filepath.Join(other, arch)
		if err := buildFunction("router", arch, dir); err != nil {
			t.Fatal(err)
		}
		check(t, filepath.Join(dir, "bootstrap"), machine)
	}
}

func check(t *testing.T, path string, machine elf.Machine) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != machine {
		t.Errorf("%s is for %v, not %v", path, f.Machine, machine)
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("%s needs %v, %v", path, libraries, err)
	}
	if slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Errorf("%s needs an interpreter", path)
	}
}

// TestCase7: what a call leaves for its operator is written before its answer:
// the process is stopped right then, as Lambda freezes it, and has nothing left
// to say. No token, and nothing of a body, is in it.
func TestCase7(t *testing.T) {
	s := use(t)
	l := s.with(t)
	c := s.owner(t).at(l)
	c.family("tools").result(t, "tools/call", object{"name": "inboxes_list", "arguments": object{}})
	c.result(t, "server/discover", nil)
	for name, method := range map[string]string{"router": "server/discover", "tools": "tools/call"} {
		e := l.instances[name]
		e.signal(t, syscall.SIGSTOP)
		t.Cleanup(func() { e.signal(t, syscall.SIGCONT) })
		var request, metrics object
		waitFor(t, func() bool { // for the emulator to pass it on
			for _, line := range e.lines(t) {
				var o object
				if json.Unmarshal([]byte(line), &o) != nil {
					continue
				}
				switch {
				case o["message"] == "request":
					request = o
				case o["_aws"] != nil:
					metrics = o
				}
			}
			return request != nil && metrics != nil
		})
		want := object{"function": name, "method": method, "outcome": "ok", "cold_start": true,
			"protocol": "2026-07-28", "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}
		for member, value := range want {
			if request[member] != value {
				t.Errorf("%s: %s is %v in %v", name, member, request[member], request)
			}
		}
		if units, _ := request["read_units"].(float64); (units >= 1) != (name == "tools") {
			t.Errorf("%s: %v read units", name, request["read_units"])
		}
		if request["request_id"] == nil || request["gateway_request_id"] == nil {
			t.Errorf("%s: %v", name, request)
		}
		if metrics["Function"] != name || metrics["Method"] != method || metrics["Requests"] != 1.0 {
			t.Errorf("%s: %v", name, metrics)
		}
		for _, line := range e.lines(t) {
			if strings.Contains(line, c.token[:40]) {
				t.Errorf("%s logs the token: %s", name, line)
			}
		}
	}
}

// waitFor waits until something is so, which another process brings about.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come about within 10 s")
		}
	}
}
