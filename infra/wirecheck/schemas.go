package wirecheck

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// schema is the protocol's JSON Schema of one revision, twice.
type schema struct {
	open   document // as it is: whatever it does not name is allowed
	closed document // what it does not name is not
}

// document is a schema whose types are made ready as they are needed.
type document struct {
	dialect string
	defs    string // where the types are: "$defs", in older drafts "definitions"
	root    map[string]any
	types   *sync.Map // of func() (*jsonschema.Resolved, error), by name
}

// read reads the schema of a revision from dir.
func read(dir string, v mcp.Version) (schema, error) {
	var s schema
	text, err := os.ReadFile(filepath.Join(dir, string(v), "schema.json"))
	if err != nil {
		return s, err
	}
	if s.open, err = parse(text); err != nil {
		return s, fmt.Errorf("schema of %s: %w", v, err)
	}
	if s.closed, err = parse(text); err != nil {
		return s, fmt.Errorf("schema of %s: %w", v, err)
	}
	for name, def := range s.closed.root[s.closed.defs].(map[string]any) {
		if !strings.HasSuffix(name, "MetaObject") {
			closeSchema(def)
		}
	}
	return s, nil
}

func parse(text []byte) (document, error) {
	d := document{defs: "$defs", types: new(sync.Map)}
	if err := json.Unmarshal(text, &d.root); err != nil {
		return d, err
	}
	d.dialect, _ = d.root["$schema"].(string)
	if _, old := d.root["definitions"]; old {
		d.defs = "definitions"
	}
	if _, ok := d.root[d.defs].(map[string]any); !ok {
		return d, fmt.Errorf("it has no %s", d.defs)
	}
	return d, nil
}

// closeSchema makes an object type refuse the members that it does not name,
// and those in it likewise. What holds the members of others stays open: _meta,
// and the schemas that tools show.
func closeSchema(v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	properties, _ := s["properties"].(map[string]any)
	for name, p := range properties {
		switch name {
		case "_meta", "inputSchema", "outputSchema":
		default:
			closeSchema(p)
		}
	}
	closeSchema(s["items"])
	closeSchema(s["additionalProperties"])
	for _, keyword := range []string{"anyOf", "oneOf"} {
		alternatives, _ := s[keyword].([]any)
		for _, a := range alternatives {
			closeSchema(a)
		}
	}
	if _, given := s["additionalProperties"]; properties != nil && !given {
		s["additionalProperties"] = false
	}
}

// validate checks a JSON text against one type of the schema.
func (d document) validate(typeName string, text []byte) error {
	made, _ := d.types.LoadOrStore(typeName, sync.OnceValues(func() (*jsonschema.Resolved, error) { return d.resolve(typeName) }))
	resolved, err := made.(func() (*jsonschema.Resolved, error))()
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("not a %s: %w", typeName, err)
	}
	return nil
}

func (d document) resolve(typeName string) (*jsonschema.Resolved, error) {
	types := d.root[d.defs].(map[string]any)
	if _, ok := types[typeName]; !ok {
		return nil, fmt.Errorf("the schema has no type %s", typeName)
	}
	text, err := json.Marshal(map[string]any{"$schema": d.dialect, "allOf": []any{map[string]any{"$ref": "#/" + d.defs + "/" + typeName}}, d.defs: types})
	if err != nil {
		return nil, err
	}
	s := new(jsonschema.Schema)
	if err := s.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}
