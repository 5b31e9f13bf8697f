package catalog

import (
	stdjson "encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// everyKind has an argument of every kind and with every bound.
var everyKind = Fields{
	{Name: "string", Description: "Any text", Required: true, Min: 2, Max: 5},
	{Name: "enum", Enum: []string{"a", "b"}, Nullable: true},
	{Name: "uuid", Kind: UUID},
	{Name: "date", Kind: Date},
	{Name: "month", Kind: Month},
	{Name: "moment", Kind: Moment},
	{Name: "instant", Kind: Instant},
	{Name: "slug", Kind: Slug, Min: 2, Max: 9},
	{Name: "address", Kind: Address},
	{Name: "uri", Kind: URI, Nullable: true},
	{Name: "integer", Kind: Integer, Min: 1, Max: 200, Default: 50},
	{Name: "free", Kind: Integer},
	{Name: "number", Kind: Number, Positive: true, Nullable: true},
	{Name: "boolean", Kind: Boolean},
	{Name: "strings", Kind: Array, Min: 1, Max: 3, Items: &Field{Kind: String, Max: 3}},
	{Name: "objects", Kind: Array, Items: &Field{Kind: Object}},
	{Name: "open", Kind: Object},
	{Name: "closed", Kind: Object, Members: Fields{{Name: "x", Kind: Integer, Required: true}}},
}

func TestSchema(t *testing.T) {
	want := `{"type":"object","properties":{` +
		`"string":{"type":"string","description":"Any text","minLength":2,"maxLength":5},` +
		`"enum":{"type":["string","null"],"enum":["a","b",null]},` +
		`"uuid":{"type":"string","format":"uuid"},` +
		`"date":{"type":"string","format":"date"},` +
		`"month":{"type":"string","pattern":"^\\d{4}-(0[1-9]|1[0-2])$"},` +
		`"moment":{"type":"string"},` +
		`"instant":{"type":"string","format":"date-time"},` +
		`"slug":{"type":"string","pattern":"^[a-z0-9]+(?:-[a-z0-9]+)*$","minLength":2,"maxLength":9},` +
		`"address":{"type":"string","format":"email"},` +
		`"uri":{"type":["string","null"],"format":"uri"},` +
		`"integer":{"type":"integer","minimum":1,"maximum":200,"default":50},` +
		`"free":{"type":"integer"},` +
		`"number":{"type":["number","null"],"exclusiveMinimum":0},` +
		`"boolean":{"type":"boolean"},` +
		`"strings":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","maxLength":3}},` +
		`"objects":{"type":"array","items":{"type":"object"}},` +
		`"open":{"type":"object"},` +
		`"closed":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}` +
		`},"required":["string"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(everyKind.schema())); diff != "" {
		t.Error(diff)
	}
	if got, want := string(Fields(nil).schema()), `{"type":"object","properties":{},"additionalProperties":false}`; got != want {
		t.Errorf("5.04 no arguments: %s, want %s", got, want)
	}
}

func TestParse(t *testing.T) {
	args, err := everyKind.Parse(jsontext.Value(`{"string":"éé世","enum":null,"uuid":"` + strings.ToUpper(id1) + `","date":"2024-02-29","month":"2026-12",
		"moment":"2026-12-02T09:30:00-03:00","instant":"2026-12-02T09:30:00-03:00","slug":"aurora-2","address":"ação@exemplo.com.br","uri":"https://example.com/x","integer":5.0,"free":-9007199254740991,
		"number":0.25,"boolean":true,"strings":["a","b"],"objects":[{"n":1}],"open":{"a":{"b":[1.5]}},"closed":{"x":1e2}}`))
	if err != nil {
		t.Fatal(err)
	}
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	instant := time.Date(2026, 12, 2, 12, 30, 0, 0, time.UTC)
	for name, got := range map[string][2]any{
		"string":     {args.String("string"), "éé世"},
		"null":       {args.IsNull("enum"), true},
		"has null":   {args.Has("enum"), true},
		"not null":   {args.IsNull("string"), false},
		"has not":    {args.Has("nothing"), false},
		"absent":     {args.String("nothing"), ""},
		"uuid":       {args.String("uuid"), id1},
		"date":       {args.Start("date"), day(2024, 2, 29)},
		"date end":   {args.End("date"), day(2024, 3, 1)},
		"month":      {args.Start("month"), day(2026, 12, 1)},
		"month end":  {args.End("month"), day(2027, 1, 1)},
		"moment":     {args.Start("moment"), instant},
		"moment end": {args.End("moment"), instant},
		"instant":    {args.Start("instant"), instant},
		"slug":       {args.String("slug"), "aurora-2"},
		"address":    {args.String("address"), "ação@exemplo.com.br"},
		"uri":        {args.String("uri"), "https://example.com/x"},
		"integer":    {args.Int("integer"), int64(5)},
		"free":       {args.Int("free"), int64(-9007199254740991)},
		"number":     {args.Float("number"), 0.25},
		"boolean":    {args.Bool("boolean"), true},
		"strings":    {args.Strings("strings"), []string{"a", "b"}},
		"objects":    {args.Objects("objects"), []jsontext.Value{jsontext.Value(`{"n":1}`)}},
		"open":       {args.Object("open"), jsontext.Value(`{"a":{"b":[1.5]}}`)},
		"closed":     {args.Object("closed"), jsontext.Value(`{"x":1e2}`)},
		"wrong kind": {args.Int("string"), int64(0)},
		"no array":   {args.Strings("string"), []string(nil)},
	} {
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Each refusal names the field, what is right there and what was given.
func TestParseRefuses(t *testing.T) {
	const uuidText = "uuid must be a UUID, not "
	for _, c := range []struct{ args, want string }{
		{`{}`, "string is missing: it must be a string of 2 to 5 characters."},
		{`{"string":"x"}`, "string must be a string of 2 to 5 characters, not 1 characters."},
		{`{"string":"éééééé"}`, "string must be a string of 2 to 5 characters, not 6 characters."},
		{`{"string":null}`, "string must be a string of 2 to 5 characters, not null."},
		{`{"enum":"c"}`, `enum must be one of a, b, or null, not "c".`},
		{`{"enum":1}`, `enum must be one of a, b, or null, not a number.`},
		{`{"uuid":"x"}`, uuidText + `"x".`},
		{`{"uuid":"{0193864c-1e00-7abc-8def-0123456789ab"}`, uuidText + `"{0193864c-1e00-7abc-8def-0123456789ab".`},
		{`{"uuid":"0193864c11e00-7abc-8def-0123456789ab"}`, uuidText + `"0193864c11e00-7abc-8def-0123456789ab".`},
		{`{"uuid":"0193864c-1e00-7abc-8def-0123456789ag"}`, uuidText + `"0193864c-1e00-7abc-8def-0123456789ag".`},
		{`{"date":"2026-02-30"}`, `date must be a calendar date as YYYY-MM-DD, not "2026-02-30".`},
		{`{"date":"2026-2-3"}`, `date must be a calendar date as YYYY-MM-DD, not "2026-2-3".`},
		{`{"month":"2026-13"}`, `month must be a month as YYYY-MM, not "2026-13".`},
		{`{"month":"2026-1"}`, `month must be a month as YYYY-MM, not "2026-1".`},
		{`{"moment":"2026-12-02 10:00"}`, `moment must be a calendar date as YYYY-MM-DD, or an RFC 3339 time, not "2026-12-02 10:00".`},
		{`{"moment":"2026-12-02T1:00:00Z"}`, `moment must be a calendar date as YYYY-MM-DD, or an RFC 3339 time, not "2026-12-02T1:00:00Z".`},
		{`{"instant":"2026-12-02"}`, `instant must be an RFC 3339 time, not "2026-12-02".`},
		{`{"instant":"2026-12-02T10:00:00"}`, `instant must be an RFC 3339 time, not "2026-12-02T10:00:00".`},
		{`{"slug":"Au_"}`, `slug must be lower-case letters and digits, in words joined by hyphens, 2 to 9 characters, not "Au_".`},
		{`{"slug":"-a"}`, `slug must be lower-case letters and digits, in words joined by hyphens, 2 to 9 characters, not "-a".`},
		{`{"slug":"a"}`, `slug must be lower-case letters and digits, in words joined by hyphens, 2 to 9 characters, not 1 characters.`},
		{`{"address":"Ana <ana@example.com>"}`, `address must be an e-mail address, not "Ana <ana@example.com>".`},
		{`{"address":"ana@"}`, `address must be an e-mail address, not "ana@".`},
		{`{"address":"a@b@c"}`, `address must be an e-mail address, not "a@b@c".`},
		{`{"uri":"/path"}`, `uri must be an absolute URI, or null, not "/path".`},
		{`{"integer":0}`, "integer must be an integer, 1 to 200, not 0."},
		{`{"integer":201}`, "integer must be an integer, 1 to 200, not 201."},
		{`{"integer":1.5}`, "integer must be an integer, 1 to 200, not 1.5."},
		{`{"integer":"5"}`, "integer must be an integer, 1 to 200, not a string."},
		{`{"free":9007199254740992}`, "free must be an integer, not 9007199254740992, which is beyond ±9007199254740991."},
		{`{"free":-9007199254740993}`, "free must be an integer, not -9007199254740993, which is beyond ±9007199254740991."},
		{`{"free":1e999}`, "free must be an integer, not 1e999, which is beyond ±9007199254740991."},
		{`{"number":0}`, "number must be a number more than 0, or null, not 0."},
		{`{"number":1e300}`, "number must be a number more than 0, or null, not 1e300, which is beyond ±9007199254740991."},
		{`{"number":true}`, "number must be a number more than 0, or null, not a boolean."},
		{`{"boolean":"true"}`, "boolean must be true or false, not a string."},
		{`{"strings":[]}`, "strings must be an array of 1 to 3 items, not 0 items."},
		{`{"strings":["a","b","c","d"]}`, "strings must be an array of 1 to 3 items, not 4 items."},
		{`{"strings":["a",2,"long"]}`, "strings[1] must be a string of at most 3 characters, not a number; strings[2] must be a string of at most 3 characters, not 4 characters."},
		{`{"strings":{}}`, "strings must be an array of 1 to 3 items, not an object."},
		{`{"objects":[{"n":[12345678901234567890]}]}`, "objects[0] must hold no number beyond ±9007199254740991, such as 12345678901234567890."},
		{`{"open":[]}`, "open must be an object, not an array."},
		{`{"open":{"a":9007199254740993}}`, "open must hold no number beyond ±9007199254740991, such as 9007199254740993."},
		{`{"closed":{}}`, "closed.x is missing: it must be an integer."},
		{`{"closed":{"x":1,"y":2}}`, `closed."y" is not an argument: the arguments are x.`},
	} {
		raw := strings.Replace(c.args, "{", `{"string":"ok",`, 1)
		if strings.HasPrefix(c.args, `{"string"`) || c.args == "{}" {
			raw = c.args
		}
		_, err := everyKind.Parse(jsontext.Value(raw))
		e, ok := errors.AsType[*inbox.Error](err)
		if !ok || e.Code != inbox.CodeInvalid {
			t.Errorf("%s: %v, want invalid_arguments", raw, err)
			continue
		}
		if e.Message != c.want {
			t.Errorf("%s:\n got %s\nwant %s", raw, e.Message, c.want)
		}
	}
}

func TestParseNamesAllThatIsWrong(t *testing.T) {
	fs := Fields{{Name: "id", Kind: UUID, Required: true}, {Name: "limit", Kind: Integer, Min: 1, Max: 200}}
	_, err := fs.Parse(jsontext.Value(`{"limit":0,"inboxId":"x"}`))
	want := `id is missing: it must be a UUID; limit must be an integer, 1 to 200, not 0; "inboxId" is not an argument: the arguments are id, limit.`
	if e, ok := errors.AsType[*inbox.Error](err); !ok || e.Message != want || e.Field != "id" {
		t.Errorf("got %v\nwant %s", err, want)
	}
	_, err = Fields(nil).Parse(jsontext.Value(`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`))
	if e, ok := errors.AsType[*inbox.Error](err); !ok || !strings.HasSuffix(e.Message, `"j" is not an argument: there are none; and 2 more problems.`) {
		t.Errorf("twelve problems: %v", err)
	}
}

func TestParseDoesNotEchoHiddenText(t *testing.T) {
	_, err := Fields{{Name: "id", Kind: UUID}}.Parse(jsontext.Value(`{"id":"a\u202eb\u200bc\nd` + strings.Repeat("x", 1000) + `"}`))
	if s := err.Error(); strings.ContainsAny(s, "\u202e\u200b\n") || len(s) > 200 {
		t.Errorf("echoed: %q", s)
	}
}

// candidates are values to try for any argument. JSON Schema cannot say more
// of a string in a format than that it is one, nor bound integers that no
// reader holds, so none of these depends on it.
var candidates = []string{
	`null`, `true`, `false`, `0`, `1`, `5`, `5.0`, `1.5`, `-1`, `200`, `201`, `1e2`, `0.5`,
	`"a"`, `"b"`, `"ok"`, `"éé世"`, `"too long for it"`, `""`, `[]`, `["a"]`, `["a","b","c","d"]`, `["long"]`, `[1]`, `[{}]`, `[null]`,
	`{}`, `{"x":1}`, `{"x":"1"}`, `{"x":1,"y":2}`,
}

// Our own validator and the JSON Schema that clients see must agree on what is
// valid, as judged by another implementation of JSON Schema 2020-12.
func TestParseAgreesWithItsSchema_5_08(t *testing.T) {
	all := map[string]Fields{"everyKind": everyKind}
	for _, tool := range New(Options{}).Tools() {
		all[tool.Name] = tool.Input
	}
	random := rand.New(rand.NewPCG(1, 2))
	agreed := map[bool]int{}
	for name, fs := range all {
		oracle := resolve(t, fs)
		for range 500 {
			raw := randomArgs(random, fs)
			var v any
			if err := stdjson.Unmarshal([]byte(raw), &v); err != nil {
				t.Fatal(err)
			}
			_, ours := fs.Parse(jsontext.Value(raw))
			theirs := oracle.Validate(v)
			if (ours == nil) != (theirs == nil) {
				t.Errorf("%s %s: we say %v, the schema says %v", name, raw, ours, theirs)
			}
			agreed[ours == nil]++
		}
	}
	if agreed[true] < 1000 || agreed[false] < 1000 {
		t.Errorf("lopsided: %v", agreed)
	}
}

func resolve(t *testing.T, fs Fields) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := stdjson.Unmarshal(fs.schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rights are right values of kinds that are strings in a format.
var rights = map[Kind]string{
	UUID: `"` + id1 + `"`, Date: `"2026-12-02"`, Month: `"2026-12"`, Moment: `"2026-12-02"`,
	Instant: `"2026-12-02T10:00:00Z"`, Address: `"ana@example.com"`, URI: `"https://example.com"`,
}

// randomArgs makes arguments: mostly right ones, so that each part of the
// schema decides now and then.
func randomArgs(r *rand.Rand, fs Fields) string {
	args := map[string]jsontext.Value{}
	for i := range fs {
		f := &fs[i]
		if r.IntN(3) == 0 && !(f.Required && r.IntN(2) == 0) {
			continue
		}
		v := candidates[r.IntN(len(candidates))]
		if right, ok := rights[f.Kind]; ok && v[0] == '"' {
			v = right
		}
		if f.Kind == Array && strings.HasPrefix(v, `["`) {
			if right, ok := rights[f.Items.Kind]; ok {
				v = "[" + right + "]"
			}
		}
		if r.IntN(3) > 0 {
			v = rightFor(r, f)
		}
		args[f.Name] = jsontext.Value(v)
	}
	if r.IntN(10) == 0 {
		args["unknown"] = jsontext.Value("1")
	}
	b, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(b)
}

// rightFor picks a candidate that fits the field.
func rightFor(r *rand.Rand, f *Field) string {
	if right, ok := rights[f.Kind]; ok {
		return right
	}
	if len(f.Enum) > 0 {
		return `"` + f.Enum[r.IntN(len(f.Enum))] + `"`
	}
	switch {
	case f.Kind == Array:
		return "[" + rightFor(r, f.Items) + "]"
	case f.Members != nil:
		return randomArgs(r, f.Members)
	}
	for {
		v := candidates[r.IntN(len(candidates))]
		var p problems
		if _, ok := p.value(f, "", jsontext.Value(v)); ok {
			return v
		}
	}
}

func TestKindValid(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		s    string
		want bool
	}{
		{UUID, id1, true}, {UUID, strings.ToUpper(id1), true}, {UUID, "", false},
		{Date, "2026-02-28", true}, {Date, "2026-02-29", false}, {Month, "2026-02", true}, {Month, "2026-00", false},
		{String, "anything", true}, {Integer, "5", false},
	} {
		if got := c.kind.Valid(c.s); got != c.want {
			t.Errorf("%q is %v: %v, want %v", c.s, c.kind, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"string":"ok","integer":5.0,"open":{"a":[1,{"b":null}]}}`)
	f.Add(`{"string":"\ud800","uuid":"` + id1 + `","moment":"2026-12-02T10:00:00Z"}`)
	f.Add(`{"string":"ok","string":"twice","closed":{"x":1e400}}`)
	for _, c := range candidates {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		args, err := everyKind.Parse(jsontext.Value(raw))
		if err == nil {
			if n := len([]rune(args.String("string"))); n < 2 || n > 5 {
				t.Errorf("%s: took a string of %d characters", raw, n)
			}
			return
		}
		e, ok := errors.AsType[*inbox.Error](err)
		if !ok || e.Field == "" || !strings.Contains(e.Message, e.Field) {
			t.Errorf("%s: %v names no field", raw, err)
		}
	})
}
