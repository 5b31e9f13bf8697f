package catalog

// Fields are the arguments of a tool, in the order shown.
type Fields []Field

// Field is one argument.
type Field struct {
	Name     string
	Required bool
}

// Args are the arguments of a call, valid by the tool's [Fields].
type Args struct{ values map[string]any }
