package inbox

import (
	"slices"
	"testing"
	"time"
)

func TestIDsSortByTime(t *testing.T) {
	at := time.Date(2026, 12, 2, 10, 0, 0, 0, time.UTC)
	var ids []string
	for i := range 1000 {
		ids = append(ids, string(NewID(at.Add(time.Duration(i)*time.Microsecond))))
	}
	if !slices.IsSorted(ids) {
		t.Error("ids made for later microseconds do not sort later")
	}
	id := NewID(at.Add(1500 * time.Microsecond))
	if want := at.Add(time.Millisecond); !id.Valid() || !id.Time().Equal(want) {
		t.Errorf("id %s: valid %v, time %v, want %v", id, id.Valid(), id.Time(), want)
	}
}

func TestIDTimesOutsideTheirRange(t *testing.T) {
	for _, at := range []time.Time{{}, time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if id := NewID(at); !id.Valid() {
			t.Errorf("NewID(%v) = %s, which is not valid", at, id)
		}
		if first := FirstID(at); first > string(NewID(at)) {
			t.Errorf("FirstID(%v) = %s sorts after an id of that time", at, first)
		}
	}
}

func TestIDValid(t *testing.T) {
	for id, want := range map[ID]bool{
		"0193864c-1e00-7abc-8def-0123456789ab":          true,
		"0193864C-1E00-7ABC-8DEF-0123456789AB":          false,
		"0193864c-1e00-4abc-8def-0123456789ab":          false,
		"0193864c-1e00-7abc-cdef-0123456789ab":          false,
		"{0193864c-1e00-7abc-8def-0123456789ab}":        false,
		"urn:uuid:0193864c-1e00-7abc-8def-0123456789ab": false,
		"0193864c1e007abc8def0123456789ab":              false,
		"":                                              false,
		"x#y":                                           false,
	} {
		if id.Valid() != want {
			t.Errorf("ID(%q).Valid() = %v, want %v", id, !want, want)
		}
	}
}

func TestFirstIDIsExactToTheMillisecond(t *testing.T) {
	at := time.Date(2026, 12, 2, 10, 0, 0, int(5*time.Millisecond), time.UTC)
	before, first, after := string(NewID(at.Add(-1))), string(NewID(at)), string(NewID(at.Add(time.Millisecond)))
	if b := FirstID(at); !(before < b && b < first) {
		t.Errorf("bound of a whole millisecond: %s < %s < %s does not hold", before, b, first)
	}
	if b := FirstID(at.Add(1)); !(first < b && b < after) {
		t.Errorf("bound within a millisecond: %s < %s < %s does not hold", first, b, after)
	}
}

func TestModels(t *testing.T) {
	models, err := Models()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range models {
		if m.ID == "" || m.Label == "" || m.Provider == "" || m.ContextTokens <= 0 || m.Currency != "USD" || seen[m.ID] {
			t.Errorf("incomplete or repeated model: %+v", m)
		}
		if free := m.InputPrice == 0 || m.OutputPrice == 0; free != (m.ID == "rules/demo" || m.ID == "openai/local") {
			t.Errorf("%s: input %v, output %v USD per million tokens", m.ID, m.InputPrice, m.OutputPrice)
		}
		seen[m.ID] = true
	}
	if !seen["rules/demo"] || len(models) < 12 {
		t.Errorf("%d models, rules/demo among them: %v", len(models), seen["rules/demo"])
	}
}
