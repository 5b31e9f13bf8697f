package catalog

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Args are the arguments of a call, valid by the tool's [Fields]. An accessor
// returns the zero value for an argument that is absent, null or of another
// kind.
type Args struct{ values map[string]any }

// Has reports whether the argument was given, be it null.
func (a Args) Has(name string) bool { _, ok := a.values[name]; return ok }

// IsNull reports whether the argument was given as null.
func (a Args) IsNull(name string) bool { v, ok := a.values[name]; return ok && v == nil }

// String returns a String, a UUID, an Address or a URI.
func (a Args) String(name string) string { return arg[string](a, name) }

// Int returns an Integer.
func (a Args) Int(name string) int64 { return arg[int64](a, name) }

// Float returns a Number.
func (a Args) Float(name string) float64 { return arg[float64](a, name) }

// Bool returns a Boolean.
func (a Args) Bool(name string) bool { return arg[bool](a, name) }

// Start returns the first instant of a Date, a Month or a Moment, in UTC.
func (a Args) Start(name string) time.Time { return arg[span](a, name).From }

// End returns the first instant after a Date, a Month or a Moment's day, or a
// Moment's instant itself, in UTC.
func (a Args) End(name string) time.Time { return arg[span](a, name).To }

// Object returns an Object as it was written.
func (a Args) Object(name string) jsontext.Value { return arg[jsontext.Value](a, name) }

// Strings returns an Array of strings.
func (a Args) Strings(name string) []string { return items[string](a, name) }

// Objects returns an Array of objects, each as it was written.
func (a Args) Objects(name string) []jsontext.Value { return items[jsontext.Value](a, name) }

func arg[T any](a Args, name string) T {
	v, _ := a.values[name].(T)
	return v
}

func items[T any](a Args, name string) []T {
	vs, ok := a.values[name].([]any)
	if !ok {
		return nil
	}
	ts := make([]T, 0, len(vs))
	for _, v := range vs {
		t, _ := v.(T)
		ts = append(ts, t)
	}
	return ts
}
