// Package wirecheck judges what a server answers by the protocol's own JSON
// Schemas, one for each revision. It stands between any test and the handler
// under test, and reports every answer that is not what its request's revision
// and method allow: a result of another type, a member that the revision does
// not know, an error code of the other era, an id that is not the request's.
//
// It is for tests only and may import mcp.
package wirecheck

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Schemas are those of all revisions.
type Schemas map[mcp.Version]schema

// Load reads the schemas, which are no part of the project: CHECK_DATA names
// the folder that has them in mcp/schema. Without it the test is skipped.
func Load(t testing.TB) Schemas {
	t.Helper()
	data := os.Getenv("CHECK_DATA")
	if data == "" {
		t.Skip("CHECK_DATA does not name a folder with mcp/schema")
	}
	schemas := Schemas{}
	for _, v := range mcp.Versions() {
		s, err := read(filepath.Join(data, "mcp", "schema"), v)
		if err != nil {
			t.Fatal(err)
		}
		schemas[v] = s
	}
	return schemas
}

// Handler serves with next, and reports the faults of its answers at /mcp and
// below to t.
func (s Schemas) Handler(t testing.TB, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" && !strings.HasPrefix(r.URL.Path, "/mcp/") {
			next.ServeHTTP(w, r)
			return
		}
		sent, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		for _, fault := range s.faults(r.Header, sent, answer) {
			t.Errorf("wirecheck: %v\nrequest: %.500s\nanswer: %d %.500s", fault, sent, answer.Code, answer.Body)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes())
	})
}
