package inbox

import (
	"errors"
	"strings"
	"testing"
)

func TestFilters(t *testing.T) {
	for _, c := range []struct{ filter, problem string }{ // part of the sentence, "" for none
		{`{"field":"from","operator":"equals","value":"a@b.example"}`, ""},
		{`{"field":"to","operator":"ends_with","value":"@b.example","action":"reject"}`, ""},
		{`{"field":"header","name":"List-Id","operator":"contains","value":"news"}`, ""},
		{`{"field":"body","operator":"matches","value":"(?i)unsub.{0,20}scribe"}`, ""},
		{`{}`, "its field must be one of from, to, subject, body, header."},
		{`{"field":"From","operator":"equals","value":"x"}`, "its field"},
		{`{"field":"cc","operator":"equals","value":"x"}`, "its field"},
		{`{"field":"from","operator":"is","value":"x"}`, "its operator must be one of equals, contains, starts_with, ends_with, matches."},
		{`{"field":"from","value":"x"}`, "its operator"},
		{`{"field":"from","operator":"equals","value":"x","action":"admit"}`, "filters only reject, never admit."},
		{`{"field":"header","operator":"equals","value":"x"}`, "it must have a name"},
		{`{"field":"from","name":"X","operator":"equals","value":"x"}`, "it must have a name"},
		{`{"field":"header","name":"X Y","operator":"equals","value":"x"}`, "its name"},
		{`{"field":"header","name":"X:","operator":"equals","value":"x"}`, "its name"},
		{`{"field":"header","name":"` + strings.Repeat("x", MaxHeaderName+1) + `","operator":"equals","value":"x"}`, "its name"},
		{`{"field":"from","operator":"equals"}`, "its value must have 1 to 500 bytes."},
		{`{"field":"from","operator":"equals","value":"` + strings.Repeat("x", MaxFilterValue+1) + `"}`, "its value must have"},
		{`{"field":"from","operator":"matches","value":"("}`, "a regular expression of RE2"},
		{`{"field":"from","operator":"matches","value":"(?=x)"}`, "a regular expression of RE2"},
		{`{"field":"from","operator":"matches","value":"(a{1000}){1000}"}`, "a regular expression of RE2"},
		{`{"field":"body","operator":"matches","value":"` + strings.Repeat("(x|y){1000}", 40) + `"}`, "is too large"},
		{`{"field":"body","operator":"matches","value":"x{990}"}`, ""},
		{`{"field":"body","operator":"matches","value":"x{999}"}`, "is too large"},
		{`{"field":"from","operator":"equals","value":"x","extra":1}`, "nothing else"},
		{`{"field":"from","operator":"equals","value":1}`, "must be an object"},
		{`{"Field":"from","operator":"equals","value":"x"}`, "nothing else"},
		{`[]`, "must be an object"},
		{``, "must be an object"},
	} {
		list := []Object{Object(`{"field":"subject","operator":"equals","value":"x"}`), Object(c.filter)}
		got, err := ParseFilters(list)
		if c.problem == "" {
			if err != nil || len(got) != 2 || got[1].Action != FilterReject {
				t.Errorf("%s: %+v, %v", c.filter, got, err)
			}
			continue
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Code != CodeInvalid || e.Field != "filters" || !strings.HasPrefix(e.Message, "Filter 2: ") ||
			!strings.Contains(e.Message, c.problem) || !strings.HasSuffix(e.Message, "Nothing was changed.") {
			t.Errorf("%s: %v, want that %s", c.filter, err, c.problem)
		}
	}
	many := make([]Object, MaxFilters+1)
	for i := range many {
		many[i] = Object(`{"field":"subject","operator":"equals","value":"x"}`)
	}
	if _, err := ParseFilters(many[1:]); err != nil {
		t.Error(err)
	}
	if _, err := ParseFilters(many); CodeOf(err) != CodeInvalid {
		t.Errorf("%d filters: %v", len(many), err)
	}
}

// The bound is of all filters of an inbox together: that is what an e-mail
// meets.
func TestFilters_expressions_together(t *testing.T) {
	one := Object(`{"field":"body","operator":"matches","value":"x{400}"}`)
	if _, err := ParseFilters([]Object{one, one}); err != nil {
		t.Error(err)
	}
	if _, err := ParseFilters([]Object{one, one, one}); err == nil || !strings.Contains(err.Error(), "Filter 3: its regular expression is too large") {
		t.Errorf("three: %v", err)
	}
}

func TestFilterMatcher(t *testing.T) {
	for _, c := range []struct {
		operator    FilterOperator
		value, text string
		want        bool
	}{
		{FilterEquals, "Ana@B.example", "ana@b.EXAMPLE", true},
		{FilterEquals, "ana@b.example", "ana@b.example.evil", false},
		{FilterContains, "AÇÃO", "uma ação nova", true},
		{FilterContains, "x", "", false},
		{FilterStartsWith, "re:", "RE: hello", true},
		{FilterStartsWith, "re:", "more:", false},
		{FilterEndsWith, "@b.example", "ana@B.example", true},
		{FilterEndsWith, "@b.example", "ana@b.example.evil", false},
		{FilterMatches, `^\d+$`, "2026", true},
		{FilterMatches, `new`, "a NEW one", false},
		{FilterMatches, `(?i)new`, "a NEW one", true},
	} {
		match, err := Filter{Field: FilterSubject, Operator: c.operator, Value: c.value}.Matcher()
		if err != nil || match(c.text) != c.want {
			t.Errorf("%q %s %q: want %v, %v", c.text, c.operator, c.value, c.want, err)
		}
	}
	if _, err := (Filter{Operator: FilterMatches, Value: "("}).Matcher(); err == nil {
		t.Error("a broken expression compiles")
	}
}

// No filter that may be kept breaks the one who applies it.
func FuzzFilter(f *testing.F) {
	f.Add([]byte(`{"field":"header","name":"X","operator":"matches","value":"(a*)*b","action":"reject"}`), "aaaa")
	f.Add([]byte(`{"field":"from","operator":"equals","value":"\u212a"}`), "k")
	f.Add([]byte(`{"field":"body","operator":"matches","value":"(?:(?:a{9}){9}){9}"}`), "\xff")
	f.Fuzz(func(t *testing.T, filter []byte, text string) {
		list, err := ParseFilters([]Object{filter})
		if err != nil {
			if CodeOf(err) != CodeInvalid {
				t.Fatal(err)
			}
			return
		}
		match, err := list[0].Matcher()
		if err != nil {
			t.Fatalf("kept, and %v", err)
		}
		match(text)
	})
}
