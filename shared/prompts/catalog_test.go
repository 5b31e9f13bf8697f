package prompts

import (
	"regexp"
	"slices"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
)

// What the texts say of the tools is true: they exist, only read, and have the
// arguments that the texts call them with (R7, R18).
func TestR18_TextsFitTheCatalog(t *testing.T) {
	tools := map[string]*catalog.Tool{}
	for _, tool := range catalog.New(catalog.Options{}).Tools() {
		tools[tool.Name] = tool
	}
	argument := regexp.MustCompile("`([a-z_]+)`(?:: |, `)")
	for _, p := range Table() {
		known := []string{}
		for _, name := range p.Tools {
			tool, ok := tools[name]
			if !ok || !tool.Hints.ReadOnly {
				t.Fatalf("%s leans on %s, which is no tool that only reads", p.Name, name)
			}
			for _, f := range tool.Input {
				known = append(known, f.Name)
			}
		}
		for _, l := range locales {
			text := get(t, l, p.Name, map[string]string{"inbox_id": id, "agent_id": id})
			for _, m := range argument.FindAllStringSubmatch(text, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s in %s calls its tools with %s, which none of them has", p.Name, l, m[1])
				}
			}
		}
	}
}
