// Package template checks what cannot be seen from the outside before a
// deployment: that the template keeps what the documentation promises of it.
//
// TEMPLATE may name the template as SAM transformed it (make validate), which
// has to keep the same promises.
package template_test

import (
	"cmp"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// object is a JSON object of a template.
type object = map[string]any

// resource is a resource that the stack makes, with the intrinsic functions of
// its properties evaluated as far as parameters decide them. What they leave is
// written as Fn::Sub does: "${DataTable.Arn}".
type resource struct {
	Type, DeletionPolicy, UpdateReplacePolicy string
	Properties                                object
}

// families are the functions but the router, by their logical ids without
// "Function".
var families = []string{"Tools", "Resources", "Prompts", "Completion"}

// web are the functions that clients reach.
var web = append([]string{"Router"}, families...)

// functions are all of them.
var functions = append([]string{"Ingest", "Worker"}, web...)

// load reads the template and evaluates it with parameters, such as
// "ReadOnly=1"; the others have their defaults.
func load(t *testing.T, parameters ...string) map[string]resource {
	t.Helper()
	return evaluate(t, document(t, path()), parameters)
}

// path is the template's.
func path() string { return cmp.Or(os.Getenv("TEMPLATE"), "../../template.yaml") }

// document reads a template as it stands.
func document(t *testing.T, file string) object {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		t.Fatal(err)
	}
	return value(t, node.Content[0]).(object)
}

// value is a node as JSON has it, with the short forms of functions, such as
// !Ref, in their long ones.
func value(t *testing.T, n *yaml.Node) (v any) {
	t.Helper()
	switch n.Kind {
	case yaml.MappingNode:
		o := object{}
		for i := 0; i < len(n.Content); i += 2 {
			o[n.Content[i].Value] = value(t, n.Content[i+1])
		}
		v = o
	case yaml.SequenceNode:
		list := []any{}
		for _, element := range n.Content {
			list = append(list, value(t, element))
		}
		v = list
	case yaml.ScalarNode:
		if strings.HasPrefix(n.Tag, "!!") {
			if err := n.Decode(&v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		v = n.Value
	default:
		t.Fatalf("line %d: CloudFormation takes no YAML aliases", n.Line)
	}
	switch name := strings.TrimPrefix(n.Tag, "!"); {
	case strings.HasPrefix(name, "!"): // a type of YAML's own
		return v
	case name == "Ref", name == "Condition":
		return object{name: v}
	case name == "GetAtt":
		if text, ok := v.(string); ok {
			resource, attribute, _ := strings.Cut(text, ".")
			v = []any{resource, attribute}
		}
		return object{"Fn::GetAtt": v}
	default:
		return object{"Fn::" + name: v}
	}
}

// evaluator knows the values that functions are evaluated with.
type evaluator struct {
	parameters, conditions object
}

// noValue stands for AWS::NoValue until what holds it drops it.
type noValue struct{}

func evaluate(t *testing.T, template object, parameters []string) map[string]resource {
	t.Helper()
	e := evaluator{parameters: object{}, conditions: template["Conditions"].(object)}
	for name, p := range template["Parameters"].(object) {
		e.parameters[name] = text(cmp.Or(p.(object)["Default"], any("")))
	}
	e.parameters["OAuthIssuers"] = "https://login.example.com"
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		if _, ok := e.parameters[name]; !ok {
			t.Fatalf("no parameter %s", name)
		}
		e.parameters[name] = value
	}
	var globals object
	if g, ok := template["Globals"].(object); ok {
		globals = g["Function"].(object)
	}
	resources := map[string]resource{}
	for id, r := range template["Resources"].(object) {
		r := r.(object)
		if c, ok := r["Condition"].(string); ok && !e.holds(object{"Condition": c}) {
			continue
		}
		properties, _ := r["Properties"].(object)
		if r["Type"] == "AWS::Serverless::Function" {
			properties = merge(globals, properties)
		}
		evaluated, _ := e.value(properties).(object)
		deletion, _ := r["DeletionPolicy"].(string)
		replace, _ := r["UpdateReplacePolicy"].(string)
		resources[id] = resource{strings.Replace(r["Type"].(string), "AWS::Serverless::", "AWS::Lambda::", 1), deletion, replace, evaluated}
	}
	return resources
}

// merge is what SAM makes of the globals and the properties of a function.
func merge(globals, properties object) object {
	all := maps.Clone(globals)
	for name, v := range properties {
		if inner, ok := v.(object); ok {
			if outer, ok := all[name].(object); ok && len(inner) > 0 && !isFunction(inner) {
				v = merge(outer, inner)
			}
		}
		all[name] = v
	}
	return all
}

func isFunction(o object) bool {
	for name := range o {
		return len(o) == 1 && (name == "Ref" || strings.HasPrefix(name, "Fn::"))
	}
	return false
}

var placeholder = regexp.MustCompile(`\$\{[^}]+\}`)

// value evaluates v.
func (e evaluator) value(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, element := range v {
			if element := e.value(element); element != (any)(noValue{}) {
				list = append(list, element)
			}
		}
		return list
	case object:
		if isFunction(v) {
			return e.function(v)
		}
		o := object{}
		for name, member := range v {
			if member := e.value(member); member != (any)(noValue{}) {
				o[name] = member
			}
		}
		return o
	}
	return v
}

func (e evaluator) function(f object) any {
	for name, argument := range f {
		list, _ := argument.([]any)
		switch name {
		case "Ref":
			return e.reference(argument.(string), nil)
		case "Fn::GetAtt":
			return "${" + text(list[0]) + "." + text(list[1]) + "}"
		case "Fn::Sub":
			template, variables := argument, object(nil)
			if list != nil {
				template, variables = list[0], list[1].(object)
			}
			return placeholder.ReplaceAllStringFunc(template.(string), func(p string) string {
				return text(e.reference(p[2:len(p)-1], variables))
			})
		case "Fn::If":
			if e.holds(object{"Condition": list[0]}) {
				return e.value(list[1])
			}
			return e.value(list[2])
		case "Fn::Select":
			n, _ := strconv.Atoi(text(list[0]))
			return e.value(list[1]).([]any)[n]
		case "Fn::Split":
			parts := []any{}
			for part := range strings.SplitSeq(text(e.value(list[1])), text(list[0])) {
				parts = append(parts, part)
			}
			return parts
		}
		panic("no such function: " + name)
	}
	return nil
}

// reference is the value of a parameter or variable, or what stands for that
// of a resource.
func (e evaluator) reference(name string, variables object) any {
	if v, ok := variables[name]; ok {
		return e.value(v)
	}
	if v, ok := e.parameters[name]; ok {
		return v
	}
	if name == "AWS::NoValue" {
		return noValue{}
	}
	return "${" + strings.Replace(name, "Aliaslive", ".Alias", 1) + "}"
}

// holds evaluates a condition.
func (e evaluator) holds(condition any) bool {
	for name, argument := range condition.(object) {
		list, _ := argument.([]any)
		switch name {
		case "Condition":
			return e.holds(e.conditions[argument.(string)])
		case "Fn::Equals":
			return text(e.value(list[0])) == text(e.value(list[1]))
		case "Fn::Not":
			return !e.holds(list[0])
		case "Fn::And":
			for _, c := range list {
				if !e.holds(c) {
					return false
				}
			}
			return true
		}
		panic("no such condition: " + name)
	}
	return false
}

// text is a scalar as text.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	panic(v)
}

// at is what stands at a path of names and indexes in v, nil if nothing does.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := v.(object)
			v = o[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// list is v as a list: one element may stand for itself.
func list(v any) []any {
	if v, ok := v.([]any); ok {
		return v
	}
	return []any{v}
}

// find returns the resources of a type, by id.
func find(resources map[string]resource, kind string) map[string]object {
	found := map[string]object{}
	for id, r := range resources {
		if r.Type == kind {
			found[id] = r.Properties
		}
	}
	return found
}
