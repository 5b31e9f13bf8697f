package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/prompts"
	"github.com/universokobana/kobana-inbox-mcp/shared/resources"
)

// TestReference: the committed page is what the code says.
func TestReference(t *testing.T) {
	committed, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(reference()), string(committed)); diff != "" {
		t.Errorf("docs/reference.md is not up to date: run make reference (-code +committed):\n%s", diff)
	}
}

// TestReference_Complete: nothing that there is, is left out.
func TestReference_Complete(t *testing.T) {
	page := string(reference())
	var want []string
	for _, tool := range catalog.New(catalog.Options{}).Tools() {
		want = append(want, "\n### "+tool.Name+"\n", tool.Description)
		for _, f := range tool.Input {
			want = append(want, "| `"+f.Name+"` | ")
		}
	}
	for _, r := range resources.Table() {
		want = append(want, "| `"+r.URI+"` | "+r.Description+" | [`"+r.Tool+"`](#"+r.Tool+") |\n")
	}
	for _, p := range prompts.Table() {
		want = append(want, "\n### "+p.Name+"\n")
	}
	for _, s := range want {
		if !strings.Contains(page, s) {
			t.Errorf("%q is missing", s)
		}
	}
	for _, row := range []string{
		"| `limit` | optional | integer, 1 to 200; by default 50 |  |\n",
		"| `status` | optional | `pending`, `success`, `failed` |  |\n",
		"| `webhook_id` | required | UUID | id or external_id |\n",
		"| `cursor` | optional | string of 1 to 4096 characters | next_cursor of the page before |\n",
	} {
		if !strings.Contains(page, row) {
			t.Errorf("%q is missing", row)
		}
	}
}
