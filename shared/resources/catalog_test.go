package resources

import (
	"slices"
	"testing"

	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
)

// The table fits the catalog: its tools only read, and take a template's
// parameter; a family's ids are completed by its list (R3, R9, R18).
func TestR18_TableFitsTheCatalog(t *testing.T) {
	tools := map[string]*catalog.Tool{}
	for _, tool := range catalog.New(catalog.Options{}).Tools() {
		tools[tool.Name] = tool
	}
	for _, r := range Table() {
		tool, ok := tools[r.Tool]
		if !ok || !tool.Hints.ReadOnly {
			t.Errorf("%s is read by %s, which is no tool that only reads", r.URI, r.Tool)
			continue
		}
		takesID := slices.ContainsFunc(tool.Input, func(f catalog.Field) bool { return f.Name == Parameter && f.Kind == catalog.UUID })
		if takesID != r.Template() {
			t.Errorf("%s: %s takes an id: %t", r.URI, r.Tool, takesID)
		}
		required := slices.ContainsFunc(tool.Input, func(f catalog.Field) bool { return f.Required && f.Name != Parameter })
		if required {
			t.Errorf("%s: %s requires more than an id", r.URI, r.Tool)
		}
		if list := string(r.Family) + "_list"; r.Template() && tools[list] == nil {
			t.Errorf("%s: there is no %s", r.URI, list)
		}
	}
}
