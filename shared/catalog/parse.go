package catalog

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// Parse reads the arguments of a call, a JSON object. All that is wrong with
// them is one [*inbox.Error] with [inbox.CodeInvalid]: a sentence that names
// each field at fault, what is right there and what was given (checklist 5.13).
func (fs Fields) Parse(raw jsontext.Value) (Args, error) {
	var p problems
	values := p.members(fs, "", raw)
	if p.count > 0 {
		return Args{}, p.err()
	}
	return Args{values}, nil
}

// maxInteger is the largest integer that every JSON reader holds exactly.
const maxInteger = 1<<53 - 1

// problems collects what is wrong with arguments.
type problems struct {
	count     int
	field     string   // the first one at fault
	sentences []string // the first few
}

// maxProblems is how many problems are told.
const maxProblems = 10

func (p *problems) add(path, format string, args ...any) {
	p.count++
	if p.count == 1 {
		p.field = path
	}
	if p.count <= maxProblems {
		p.sentences = append(p.sentences, path+" "+fmt.Sprintf(format, args...))
	}
}

// wrong adds that the value at path is not what f says.
func (p *problems) wrong(path string, f *Field, given string) (any, bool) {
	p.add(path, "must be %s, not %s", f.right(), given)
	return nil, false
}

func (p *problems) err() error {
	s := strings.Join(p.sentences, "; ")
	if more := p.count - maxProblems; more > 0 {
		s += fmt.Sprintf("; and %d more problems", more)
	}
	return &inbox.Error{Code: inbox.CodeInvalid, Field: p.field, Message: s + "."}
}

// members reads an object that has the given members and no others.
func (p *problems) members(fs Fields, path string, raw jsontext.Value) map[string]any {
	var given map[string]jsontext.Value
	if err := json.Unmarshal(raw, &given); err != nil {
		p.add(cmp.Or(path, "arguments"), "must be a JSON object without duplicate names")
		return nil
	}
	if path != "" {
		path += "."
	}
	values := make(map[string]any, len(given))
	for i := range fs {
		f := &fs[i]
		v, ok := given[f.Name]
		delete(given, f.Name)
		switch {
		case ok:
			if value, ok := p.value(f, path+f.Name, v); ok {
				values[f.Name] = value
			}
		case f.Required:
			p.add(path+f.Name, "is missing: it must be %s", f.right())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p.add(path+quote(name), "is not an argument: %s", fs.names())
	}
	return values
}

func (fs Fields) names() string {
	if len(fs) == 0 {
		return "there are none"
	}
	var names []string
	for i := range fs {
		names = append(names, fs[i].Name)
	}
	return "the arguments are " + strings.Join(names, ", ")
}

// value reads one value; the second result is false when it is wrong.
func (p *problems) value(f *Field, path string, v jsontext.Value) (any, bool) {
	kind := v.Kind()
	if kind == 'n' && f.Nullable {
		return nil, true
	}
	switch want := kinds[f.Kind].jsonType; {
	case want == "string" && kind == '"':
		return p.text(f, path, v)
	case want == "integer" && kind == '0':
		return p.integer(f, path, string(v))
	case want == "number" && kind == '0':
		return p.number(f, path, string(v))
	case want == "boolean" && (kind == 't' || kind == 'f'):
		return kind == 't', true
	case want == "array" && kind == '[':
		return p.array(f, path, v)
	case want == "object" && kind == '{':
		return p.object(f, path, v)
	}
	return p.wrong(path, f, nameOf(kind))
}

// nameOf names what was given in place of the right kind.
func nameOf(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	case '{':
		return "an object"
	}
	return "a boolean"
}

func (p *problems) text(f *Field, path string, v jsontext.Value) (any, bool) {
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return p.wrong(path, f, "broken text")
	}
	s := string(b)
	if n := int64(utf8.RuneCountInString(s)); n < f.Min || f.Max > 0 && n > f.Max {
		return p.wrong(path, f, fmt.Sprintf("%d characters", n))
	}
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, s) {
		return p.wrong(path, f, quote(s))
	}
	if read := kinds[f.Kind].read; read != nil {
		value, ok := read(s)
		if !ok {
			return p.wrong(path, f, quote(s))
		}
		return value, true
	}
	return s, true
}

// integer takes any way to write one: 5, 5.0 and 5e0 are the same number.
func (p *problems) integer(f *Field, path, v string) (any, bool) {
	n, ok := readNumber(v)
	switch {
	case !ok:
		return p.wrong(path, f, clip(v)+", which is "+beyond)
	case n != math.Trunc(n), f.Min != 0 && n < float64(f.Min), f.Max != 0 && n > float64(f.Max):
		return p.wrong(path, f, clip(v))
	}
	return int64(n), true
}

func (p *problems) number(f *Field, path, v string) (any, bool) {
	n, ok := readNumber(v)
	switch {
	case !ok:
		return p.wrong(path, f, clip(v)+", which is "+beyond)
	case f.Positive && n <= 0:
		return p.wrong(path, f, clip(v))
	}
	return n, true
}

const beyond = "beyond ±9007199254740991"

// readNumber reads a number, unless it is an integer that a double cannot tell
// from its neighbours: two calls that differ only there would look the same
// wherever arguments are compared.
func readNumber(v string) (float64, bool) {
	n, err := strconv.ParseFloat(v, 64)
	return n, err == nil && math.Abs(n) <= maxInteger
}

func (p *problems) array(f *Field, path string, v jsontext.Value) (any, bool) {
	var vs []jsontext.Value
	if err := json.Unmarshal(v, &vs); err != nil {
		return p.wrong(path, f, "broken JSON")
	}
	if n := int64(len(vs)); n < f.Min || f.Max > 0 && n > f.Max {
		return p.wrong(path, f, fmt.Sprintf("%d items", n))
	}
	values, good := make([]any, 0, len(vs)), true
	for i, v := range vs {
		value, ok := p.value(f.Items, fmt.Sprintf("%s[%d]", path, i), v)
		values, good = append(values, value), good && ok
	}
	return values, good
}

// object keeps the value as it was written.
func (p *problems) object(f *Field, path string, v jsontext.Value) (any, bool) {
	before := p.count
	if f.Members != nil {
		p.members(f.Members, path, v)
	} else {
		p.open(path, v)
	}
	return v, p.count == before
}

// open checks an object that may have any members.
func (p *problems) open(path string, v jsontext.Value) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return // the end: v is a value that was read before
		}
		if t.Kind() == '0' {
			if _, ok := readNumber(t.String()); !ok {
				p.add(path, "must hold no number %s, such as %s", beyond, clip(t.String()))
				return
			}
		}
	}
}

// bounds writes the bounds of a value, "" when there are none.
func bounds(low, high int64, before, unit string) string {
	switch {
	case low != 0 && high != 0:
		return fmt.Sprintf("%s%d to %d%s", before, low, high, unit)
	case high != 0:
		return fmt.Sprintf("%sat most %d%s", before, high, unit)
	case low != 0:
		return fmt.Sprintf("%sat least %d%s", before, low, unit)
	}
	return ""
}

// quote shows a little of what was given.
func quote(s string) string { return strconv.Quote(untrusted.Line(s, 40)) }

// clip shows a little of a number.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
