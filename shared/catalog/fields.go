package catalog

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	Slug:    {jsonType: "string", pattern: slugPattern.String(), right: "lower-case letters and digits, in words joined by hyphens", read: readSlug},
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

// schema is a JSON Schema 2020-12 in the order that its members are shown.
type schema struct {
	Type                 any      `json:"type"` // a name, or a name and "null"
	Description          string   `json:"description,omitzero"`
	Format               string   `json:"format,omitzero"`
	Pattern              string   `json:"pattern,omitzero"`
	Enum                 []any    `json:"enum,omitzero"`
	MinLength            int64    `json:"minLength,omitzero"`
	MaxLength            int64    `json:"maxLength,omitzero"`
	Minimum              int64    `json:"minimum,omitzero"`
	ExclusiveMinimum     *int64   `json:"exclusiveMinimum,omitzero"`
	Maximum              int64    `json:"maximum,omitzero"`
	MinItems             int64    `json:"minItems,omitzero"`
	MaxItems             int64    `json:"maxItems,omitzero"`
	Default              int64    `json:"default,omitzero"`
	Items                *schema  `json:"items,omitzero"`
	Properties           Fields   `json:"properties,omitzero"`
	Required             []string `json:"required,omitzero"`
	AdditionalProperties *bool    `json:"additionalProperties,omitzero"`
}

// schema is that of an object with these members and no others.
func (fs Fields) schema() *schema {
	s := &schema{Type: "object"}
	s.close(fs)
	return s
}

// close gives an object schema its members.
func (s *schema) close(fs Fields) {
	s.Properties, s.AdditionalProperties = fs, new(false)
	if fs == nil {
		s.Properties = Fields{}
	}
	for i := range fs {
		if fs[i].Required {
			s.Required = append(s.Required, fs[i].Name)
		}
	}
}

// MarshalJSONTo writes the schemas of the fields by name, in their order.
func (fs Fields) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range fs {
		if err := e.WriteToken(jsontext.String(fs[i].Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, fs[i].schema()); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func (f *Field) schema() *schema {
	k := kinds[f.Kind]
	s := &schema{Type: k.jsonType, Description: f.Description, Format: k.format, Pattern: k.pattern, Default: f.Default}
	for _, v := range f.Enum {
		s.Enum = append(s.Enum, v)
	}
	if f.Nullable {
		s.Type = []string{k.jsonType, "null"}
		if s.Enum != nil {
			s.Enum = append(s.Enum, nil)
		}
	}
	switch k.jsonType {
	case "string":
		s.MinLength, s.MaxLength = f.Min, f.Max
	case "integer":
		s.Minimum, s.Maximum = f.Min, f.Max
	case "number":
		if f.Positive {
			s.ExclusiveMinimum = new(int64(0))
		}
	case "array":
		s.MinItems, s.MaxItems = f.Min, f.Max
		if f.Items != nil {
			s.Items = f.Items.schema()
		}
	case "object":
		if f.Members != nil {
			s.close(f.Members)
		}
	}
	return s
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
