package mcp

// The protocol's own methods, which a [Server] with Options.Core answers.
const (
	methodInitialize = "initialize"
	methodPing       = "ping"
	methodDiscover   = "server/discover"
)

// method is what the protocol says of one of its methods.
type method struct {
	family    string // who answers it; "" is the protocol itself
	name      string // the member of params that Mcp-Name repeats, "" when none
	cacheable bool   // its results carry caching hints (checklist 11.01)
	asks      bool   // it may answer input_required (checklist 6.01)
	modern    bool   // it exists in 2026-07-28
	legacy    bool   // it exists in the 2025 revisions
}

// methods is every method served by anyone, by name. What is not here, like
// the subscriptions and logging/setLevel, is not found (checklist 2.13, 2.14,
// 2.16).
var methods = map[string]method{
	methodInitialize: {legacy: true},
	methodPing:       {legacy: true},
	methodDiscover:   {modern: true, cacheable: true},

	"tools/list":               {family: "tools", cacheable: true, modern: true, legacy: true},
	"tools/call":               {family: "tools", name: "name", asks: true, modern: true, legacy: true},
	"resources/list":           {family: "resources", cacheable: true, modern: true, legacy: true},
	"resources/templates/list": {family: "resources", cacheable: true, modern: true, legacy: true},
	"resources/read":           {family: "resources", name: "uri", cacheable: true, asks: true, modern: true, legacy: true},
	"prompts/list":             {family: "prompts", cacheable: true, modern: true, legacy: true},
	"prompts/get":              {family: "prompts", name: "name", asks: true, modern: true, legacy: true},
	"completion/complete":      {family: "completion", modern: true, legacy: true},
}

// capabilities are the families in the order announced, each with the name of
// its capability (checklist 2.12, 9.01).
var capabilities = []struct{ family, name string }{
	{"tools", "tools"}, {"resources", "resources"}, {"prompts", "prompts"}, {"completion", "completions"},
}

// FamilyOf returns the family of a method ("tools", "resources", "prompts" or
// "completion"), and "" when it belongs to none.
func FamilyOf(name string) string { return methods[name].family }

// in reports whether the method exists in the era of v.
func (m method) in(v Version) bool {
	if v.Modern() {
		return m.modern
	}
	return m.legacy
}
