package prompts

import (
	"strings"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// MonthLayout is the form of a [catalog.Month], in the notation of package time.
const MonthLayout = "2006-01"

// values returns what the placeholders of the prompt's text stand for, by the
// names of its arguments. An optional argument that is absent, which an empty
// one is too, has its default or "". Arguments that the prompt does not have
// are ignored, as the protocol does with unknown members.
func (p Prompt) values(given map[string]*string, now time.Time) (map[string]string, error) {
	values := map[string]string{}
	for _, a := range p.Arguments {
		s := given[a.Name]
		switch {
		case s != nil && *s != "":
			if !a.valid(*s) {
				return nil, mcp.Errorf(mcp.CodeInvalidParams, "argument %q must be %v", a.Name, a.Kind)
			}
			values[a.Name] = strings.ToLower(*s) // ids, as records show them
		case a.Required:
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "argument %q is required", a.Name)
		default:
			values[a.Name] = a.absent(now.UTC())
		}
	}
	return values, nil
}

// valid judges the form of a value that is not empty. The forms are strict:
// nothing that could be read as an instruction passes (checklist 8.06).
func (a Argument) valid(s string) bool {
	if a.Kind != catalog.UUID && s < "1970" {
		return false // a typing error: nothing is as old
	}
	return a.Kind.Valid(s)
}

// absent is the value of an optional argument that is not given (R8).
func (a Argument) absent(now time.Time) string {
	switch a.Kind {
	case catalog.Date:
		return now.AddDate(0, 0, -7).Format(time.DateOnly)
	case catalog.Month:
		return now.Format(MonthLayout)
	}
	return ""
}
