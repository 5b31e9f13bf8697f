// Package edge_test checks, with Go alone, what the edge's scripts repeat of
// the server. What they do is tested by edge.test.mjs.
package edge_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// The edge knows each method of each family, and no other. The methods are
// those that the source of package mcp names.
func TestEdge_knows_the_families_methods(t *testing.T) {
	want := map[string]string{}
	for _, m := range regexp.MustCompile(`"([^"\n]+)"`).FindAllSubmatch(read(t, "../../shared/mcp/methods.go"), -1) {
		if family := mcp.FamilyOf(string(m[1])); family != "" {
			want[string(m[1])] = family
		}
	}
	table := regexp.MustCompile(`(?s)const families = \{(.*?)\};`).FindSubmatch(read(t, "viewer-request.js"))
	if table == nil || len(want) < 8 {
		t.Fatal("a table was not found")
	}
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`'(.+?)': '(.+?)',`).FindAllSubmatch(table[1], -1) {
		got[string(m[1])] = string(m[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
