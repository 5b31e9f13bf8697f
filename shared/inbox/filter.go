package inbox

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// The bounds of an inbox's filters.
const (
	MaxFilters     = 50
	MaxFilterValue = 500 // bytes
	MaxHeaderName  = 76  // bytes
	// MaxExpressions is how large the regular expressions of all its filters may
	// be together, in instructions of their programs: matching takes time in
	// proportion to that and to the text, and cannot be interrupted.
	MaxExpressions = 1000
)

// Filter is one of an inbox's filters. Mail that any of them matches is
// rejected; filters only reject, never admit. Its JSON, strictly:
//
//	{"field": "header", "name": "List-Id", "operator": "contains", "value": "news", "action": "reject"}
type Filter struct {
	Field    FilterField    `json:"field"`
	Name     string         `json:"name,omitzero"` // of the header; only for FilterHeader
	Operator FilterOperator `json:"operator"`
	Value    string         `json:"value"`
	Action   FilterAction   `json:"action,omitzero"` // left out, it is reject
}

// FilterField is what of a message a filter looks at.
type FilterField string

// The fields of a filter. Of several addresses or headers, one that matches is
// enough.
const (
	FilterFrom    FilterField = "from" // the sender's address
	FilterTo      FilterField = "to"   // the recipients' addresses: To and Cc
	FilterSubject FilterField = "subject"
	FilterBody    FilterField = "body" // as text
	FilterHeader  FilterField = "header"
)

// FilterOperator is how a filter compares.
type FilterOperator string

// The operators of a filter. All but FilterMatches compare without regard to
// case.
const (
	FilterEquals     FilterOperator = "equals"
	FilterContains   FilterOperator = "contains"
	FilterStartsWith FilterOperator = "starts_with"
	FilterEndsWith   FilterOperator = "ends_with"
	FilterMatches    FilterOperator = "matches" // a regular expression of RE2, anywhere in the text
)

// FilterAction is what becomes of mail that a filter matches.
type FilterAction string

// FilterReject is the one action there is.
const FilterReject FilterAction = "reject"

// FilterFields lists the fields of a filter.
func FilterFields() []FilterField {
	return []FilterField{FilterFrom, FilterTo, FilterSubject, FilterBody, FilterHeader}
}

// FilterOperators lists the operators of a filter.
func FilterOperators() []FilterOperator {
	return []FilterOperator{FilterEquals, FilterContains, FilterStartsWith, FilterEndsWith, FilterMatches}
}

// ParseFilters reads the filters of an inbox. An [*Error] says which one is
// wrong, and how.
func ParseFilters(list []Object) ([]Filter, error) {
	if len(list) > MaxFilters {
		return nil, invalid("filters", "An inbox has at most %d filters.", MaxFilters)
	}
	filters := make([]Filter, len(list))
	instructions := 0
	for i, o := range list {
		f := &filters[i]
		problem := "must be an object with field, operator and value, for the field header also name, and nothing else but action."
		if json.Unmarshal(o, f, json.RejectUnknownMembers(true)) == nil {
			problem = f.problem()
		}
		if problem != "" {
			return nil, invalid("filters", "Filter %d: %s", i+1, problem)
		}
		f.Action = FilterReject
		if instructions += f.instructions(); instructions > MaxExpressions {
			return nil, invalid("filters", "Filter %d: its regular expression is too large; fewer or shorter repetitions will do.", i+1)
		}
	}
	return filters, nil
}

// problem says what is wrong with a filter, "" for nothing.
func (f Filter) problem() string {
	switch {
	case !slices.Contains(FilterFields(), f.Field):
		return "its field must be " + oneOf(FilterFields()) + "."
	case !slices.Contains(FilterOperators(), f.Operator):
		return "its operator must be " + oneOf(FilterOperators()) + "."
	case f.Action != "" && f.Action != FilterReject:
		return "its action must be reject: filters only reject, never admit."
	case (f.Field == FilterHeader) != (f.Name != ""):
		return "it must have a name if, and only if, its field is header."
	case f.Name != "" && !headerName().MatchString(f.Name):
		return fmt.Sprintf("its name must be that of a header, of at most %d characters.", MaxHeaderName)
	case f.Value == "" || len(f.Value) > MaxFilterValue:
		return fmt.Sprintf("its value must have 1 to %d bytes.", MaxFilterValue)
	}
	if _, err := f.Matcher(); err != nil {
		return "its value must be a regular expression of RE2 (no look-around, no backreferences)."
	}
	return ""
}

// instructions is the size of the program that matches the filter's regular
// expression.
func (f Filter) instructions() int {
	if f.Operator != FilterMatches {
		return 0
	}
	re, err := syntax.Parse(f.Value, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// headerName is a header's name by RFC 5322 §2.2.
var headerName = lazy.Regexp(fmt.Sprintf(`^[!-9;-~]{1,%d}$`, MaxHeaderName))

// Matcher returns what reports whether a text, such as one header of that name,
// matches the filter, in time linear in the text. It is for filters of
// [ParseFilters]; only another one's regular expression can be an error.
func (f Filter) Matcher() (func(text string) bool, error) {
	if f.Operator == FilterMatches {
		re, err := regexp.Compile(f.Value)
		if err != nil {
			return nil, err
		}
		return re.MatchString, nil
	}
	compare := map[FilterOperator]func(text, value string) bool{
		FilterEquals:     func(text, value string) bool { return text == value },
		FilterContains:   strings.Contains,
		FilterStartsWith: strings.HasPrefix,
		FilterEndsWith:   strings.HasSuffix,
	}[f.Operator]
	value := strings.ToLower(f.Value)
	return func(text string) bool { return compare(strings.ToLower(text), value) }, nil
}
