// Package wirecheck judges what a server answers by the protocol's own JSON
// Schemas, one for each revision. Tests show it every answer that they get, and
// it reports what the revision and the method of the request do not allow: a
// result of another type, a member that the revision does not know, an error
// code of the other era, an id that is not the request's.
//
// It is for tests only and may import mcp.
package wirecheck

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// schemas are those of all revisions.
type schemas map[mcp.Version]schema

// load reads the schemas, which are no part of the project, once: CHECK_DATA
// names the folder that has them in mcp/schema. Without it there are none.
var load = sync.OnceValues(func() (schemas, error) {
	data := os.Getenv("CHECK_DATA")
	if data == "" {
		return nil, nil
	}
	s := schemas{}
	for _, v := range mcp.Versions() {
		var err error
		if s[v], err = read(filepath.Join(data, "mcp", "schema"), v); err != nil {
			return nil, err
		}
	}
	return s, nil
})

// Need skips a test that is about the schemas where there are none.
func Need(t testing.TB) {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip("CHECK_DATA does not name a folder with mcp/schema")
	}
}

// Judge reports to t what is wrong with an answer to a request for /mcp or
// below, given what was sent as its body. Where there are no schemas, nothing
// is.
func Judge(t testing.TB, r *http.Request, sent []byte, status int, header http.Header, body []byte) {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	a := answer{status, header, body}
	if s == nil || r.URL.Path != "/mcp" && !strings.HasPrefix(r.URL.Path, "/mcp/") || r.Method == http.MethodHead || ahead(a) {
		return
	}
	for _, fault := range s.faults(r.Header, sent, a) {
		t.Errorf("wirecheck: %v\nrequest: %.500s\nanswer: %d %.500s", fault, sent, status, body)
	}
}

// answer is what a server answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}
