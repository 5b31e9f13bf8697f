package catalog

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// Fields are the arguments of a tool, or the members of an object, in the
// order shown. They are data: the JSON Schema that clients see (in tools/list)
// and the check of what they send ([Fields.Parse]) both derive from them.
type Fields []Field

// Field is one argument. The zero value of each member but Name says nothing.
type Field struct {
	Name        string
	Description string
	Kind        Kind
	Required    bool
	Nullable    bool     // null is a value of its own, such as "none"
	Enum        []string // a String must be one of these
	// Min and Max bound a String's characters, an Integer's value or an
	// Array's length. 0: no bound.
	Min, Max int64
	Positive bool  // a Number must be more than 0
	Default  int64 // told, not applied: the handler's own default. 0: none
	Secret   bool  // its value goes in and never comes out: not in a question, a digest or a log
	Items    *Field
	Members  Fields // of an Object; nil: any members
}

// Kind is what a value is.
type Kind int

// The kinds. Those from UUID to URI are strings in a format.
const (
	String  Kind = iota
	UUID         // an id or an external_id
	Date         // a day, YYYY-MM-DD
	Month        // YYYY-MM
	Moment       // a day, or an RFC 3339 time
	Instant      // an RFC 3339 time
	Slug         // lower-case words joined by hyphens
	Address      // an e-mail address
	URI          // an absolute URI
	Integer      // within ±(2^53−1), as every JSON reader can hold
	Number
	Boolean
	Array  // of Items
	Object // with Members
)

// kinds says, for each kind: its JSON type, the format or pattern that JSON
// Schema has for it, what a right value is, and how a string is read (nil: as
// it is).
var kinds = [...]struct {
	jsonType, format, pattern string
	right                     string
	read                      func(string) (any, bool)
}{
	String:  {jsonType: "string", right: "a string"},
	UUID:    {jsonType: "string", format: "uuid", right: "a UUID", read: readUUID},
	Date:    {jsonType: "string", format: "date", right: "a calendar date as YYYY-MM-DD", read: readDate},
	Month:   {jsonType: "string", pattern: `^\d{4}-(0[1-9]|1[0-2])$`, right: "a month as YYYY-MM", read: readMonth},
	Moment:  {jsonType: "string", right: "a calendar date as YYYY-MM-DD, or an RFC 3339 time", read: readMoment},
	Instant: {jsonType: "string", format: "date-time", right: "an RFC 3339 time", read: readInstant},
	Slug:    {jsonType: "string", pattern: slugForm, right: "lower-case letters and digits, in words joined by hyphens", read: readSlug},
	Address: {jsonType: "string", format: "email", right: "an e-mail address", read: readAddress},
	URI:     {jsonType: "string", format: "uri", right: "an absolute URI", read: readURI},
	Integer: {jsonType: "integer", right: "an integer"},
	Number:  {jsonType: "number", right: "a number"},
	Boolean: {jsonType: "boolean", right: "true or false"},
	Array:   {jsonType: "array", right: "an array"},
	Object:  {jsonType: "object", right: "an object"},
}

// Valid reports whether s is a right value of a kind that is a string.
func (k Kind) Valid(s string) bool {
	if kinds[k].jsonType != "string" {
		return false
	}
	if kinds[k].read == nil {
		return true
	}
	_, ok := kinds[k].read(s)
	return ok
}

// String says what a right value of the kind is, as in "must be a UUID".
func (k Kind) String() string { return kinds[k].right }

// right says what a right value of the field is.
func (f *Field) right() string {
	s := f.Kind.String()
	if len(f.Enum) > 0 {
		s = "one of " + strings.Join(f.Enum, ", ")
	}
	switch f.Kind {
	case String:
		s += bounds(f.Min, f.Max, " of ", " characters")
	case Slug:
		s += bounds(f.Min, f.Max, ", ", " characters")
	case Integer:
		s += bounds(f.Min, f.Max, ", ", "")
	case Array:
		s += bounds(f.Min, f.Max, " of ", " items")
	}
	if f.Positive {
		s += " more than 0"
	}
	if f.Nullable {
		s += ", or null"
	}
	return s
}

// schema is the JSON Schema 2020-12 of an object with these members and no
// others.
func (fs Fields) schema() jsontext.Value {
	o := mcp.NewObject()
	fs.describe(o)
	return o.Close()
}

// describe writes the schema into o. It does so without reflection, because the
// first list of a process waits for it.
func (fs Fields) describe(o *mcp.Object) {
	o.Text("type", "object")
	fs.describeMembers(o)
}

func (fs Fields) describeMembers(o *mcp.Object) {
	o.Begin("properties")
	var required []string
	for i := range fs {
		fs[i].describe(o.Begin(fs[i].Name))
		o.End()
		if fs[i].Required {
			required = append(required, fs[i].Name)
		}
	}
	o.End()
	if len(required) > 0 {
		o.Texts("required", required)
	}
	o.Bool("additionalProperties", false)
}

// describe writes the schema of the field, its members in the order that they
// are shown.
func (f *Field) describe(o *mcp.Object) {
	k := kinds[f.Kind]
	if f.Nullable {
		o.Texts("type", []string{k.jsonType, "null"})
	} else {
		o.Text("type", k.jsonType)
	}
	text := func(name, value string) {
		if value != "" {
			o.Text(name, value)
		}
	}
	bound := func(name string, value int64) {
		if value != 0 {
			o.Int(name, value)
		}
	}
	text("description", f.Description)
	text("format", k.format)
	text("pattern", k.pattern)
	switch {
	case f.Nullable && len(f.Enum) > 0:
		o.Values("enum", append(texts(f.Enum), jsontext.Value("null")))
	case len(f.Enum) > 0:
		o.Texts("enum", f.Enum)
	}
	switch k.jsonType {
	case "string":
		bound("minLength", f.Min)
		bound("maxLength", f.Max)
	case "integer":
		bound("minimum", f.Min)
		bound("maximum", f.Max)
	case "number":
		if f.Positive {
			o.Int("exclusiveMinimum", 0)
		}
	case "array":
		bound("minItems", f.Min)
		bound("maxItems", f.Max)
	}
	bound("default", f.Default)
	if f.Items != nil {
		f.Items.describe(o.Begin("items"))
		o.End()
	}
	if f.Members != nil {
		f.Members.describeMembers(o)
	}
}

// texts are strings as JSON.
func texts(values []string) []jsontext.Value {
	var quoted []jsontext.Value
	for _, v := range values {
		q, _ := jsontext.AppendQuote(nil, v) // its only error is replaced UTF-8
		quoted = append(quoted, q)
	}
	return quoted
}

// secrets are the names of the secret fields.
func (fs Fields) secrets() (names []string) {
	for i := range fs {
		if fs[i].Secret {
			names = append(names, fs[i].Name)
		}
	}
	return names
}
