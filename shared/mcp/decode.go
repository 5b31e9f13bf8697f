package mcp

import (
	"errors"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
)

// Decode reads the params of r into v, leniently about unknown members, and
// returns an [*Error] with -32602 that names the member at fault. As always in
// Go, null leaves a member as if it were absent; a field of type
// [jsontext.Value] tells them apart.
func Decode(r *Request, v any) error {
	err := json.Unmarshal(r.Params, v)
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return Errorf(CodeInvalidParams, "params could not be read")
	}
	name := clip("params" + strings.ReplaceAll(string(e.JSONPointer), "/", "."))
	if want := jsonType(e.GoType); want != "" {
		return Errorf(CodeInvalidParams, "%s must be %s", name, want)
	}
	return Errorf(CodeInvalidParams, "%s has a value that is not allowed", name)
}

// jsonType says what JSON a Go type is read from, "" when it is hard to say.
func jsonType(t reflect.Type) string {
	if t == nil {
		return ""
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case k == reflect.String:
		return "a string"
	case k == reflect.Bool:
		return "a boolean"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "an integer"
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Map || k == reflect.Struct:
		return "an object"
	case k == reflect.Slice || k == reflect.Array:
		return "an array"
	}
	return ""
}
