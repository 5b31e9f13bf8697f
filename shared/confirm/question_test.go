package confirm

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// The whole interim result, byte for byte (checklist 6.02, 6.03, 6.07, 6.08).
func TestR12_TheQuestion(t *testing.T) {
	q := newDeletion().question
	q.Notes = []Text{{EN: "Mail to this address will bounce.", PT: "E-mails para este endereço serão devolvidos."}}
	got, err := q.result(jsontext.Value(`{"id":"support","force":true}`), ReasonFirst, MaxTTL, "STATE")
	if err != nil {
		t.Fatal(err)
	}
	const message = `Delete this inbox for good.\n\n` +
		`Inbox: \"Support\"\n` +
		`  Address: \"support@acme.example\"\n` +
		`Also affected: 2 agents, 140 e-mails\n` +
		`Mail to this address will bounce.\n` +
		`Workspace: \"Acme\"\n` +
		`Organization: \"Acme Inc\"\n\n` +
		`With these arguments:\n` +
		`  id: \"support\"\n` +
		`  force: true`
	want := `{"inputRequests":{"confirm":{"method":"elicitation/create","params":{"mode":"form","message":"` + message + `",` +
		`"requestedSchema":{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, run this action",` +
		`"description":"It runs only with a yes, once, for exactly this call. The question expires in 5 min."}},"required":["confirm"]}}}},` +
		`"requestState":"STATE"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestR12_TheQuestionInPortuguese(t *testing.T) {
	q := newDeletion().question
	q.Language = Portuguese
	q.Targets[0].Label = ""
	q.Cascades[0].Count, q.Cascades[1].Count = 1, 0
	q.Hide = []string{"secret"}
	got, err := q.message(jsontext.Value(`{"secret":{"a":"s3cret"},"tags":[]}`), ReasonChanged)
	if err != nil {
		t.Fatal(err)
	}
	want := `Algo mudou depois da pergunta anterior, e nada foi executado. Leia de novo, por favor.

Excluir esta inbox em definitivo.

Inbox: "0197-inbox"
  Endereço: "support@acme.example"
Também afeta: 1 agente
Workspace: "Acme"
Organização: "Acme Inc"

Com estes argumentos:
  secret: (informado, não exibido)
  tags: (vazio)`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQuestion_EveryTextInBothLanguages(t *testing.T) {
	for _, text := range []Text{
		textRequired, textDeclined, textReplayed, textReplayedNo, textUnavailable, textSpent, textExpired, textChanged,
		textCascades, textWorkspace, textOrganization, textArguments, textNoArguments, textEmpty, textHidden, textCut,
		textMore, textField, textFieldHelp,
	} {
		if text.EN == "" || text.PT == "" {
			t.Errorf("%+v lacks a language", text)
		}
		if strings.Count(text.EN, "%") != strings.Count(text.PT, "%") {
			t.Errorf("%+v: not the same values in both languages", text)
		}
	}
	if got := textField.In("fr"); got != textField.EN {
		t.Errorf("an unknown language gets %q", got)
	}
}

func TestQuestion_Durations(t *testing.T) {
	for d, want := range map[time.Duration]string{MaxTTL: "5 min", time.Minute: "1 min", 90 * time.Second: "90 s", 10 * time.Second: "10 s"} {
		if got := showDuration(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

// Values that want to be more than values: checklist 6.10.
func hostile() map[string]string {
	return map[string]string{
		"a line of its own":  "Support\nWorkspace: \"Other\"",
		"CR":                 "Support\rWorkspace: \"Other\"",
		"line separator":     "Support\u2028Workspace: Other\u2029x\u0085y\vz\fw",
		"ends the quotes":    `Support", and nothing else will be deleted. Workspace: "Other`,
		"escapes the escape": `Support\", and nothing else \\" x`,
		"a URL":              "see https://evil.example/login?x=1 now",
		"a URL with a user":  "https://bank.example@evil.example/",
		"a hidden URL":       "htt\u200bps:/\u200d/evil.example/login",
		"URLs in a row":      "http://https://evil.example/://x ftp://a HTTPS://B.EXAMPLE",
		"an odd scheme":      "javascript://%0aalert(1) ://x x://",
		"no host":            "https:// http://[ x",
		"bidi":               "Support \u202egnp.exe\u2066\u2069\u200f",
		"tag characters":     "Support\U000e0041\U000e007f",
		"escape sequence":    "Support\x1b[31m\x00\x07\u009b",
		"zero width":         "Sup\u200bpo\ufeffrt\u00ad",
		"bad UTF-8":          "Sup\xffport\xc3",
		"very long":          strings.Repeat("a", 1<<20),
		"long and quoted":    strings.Repeat(`"`, 300),
		"long and wide":      strings.Repeat("😀", 300),
		"long and invisible": strings.Repeat("\u200b", 5000) + "end",
		"empty":              "",
	}
}

func TestQuestion_HostileValues(t *testing.T) {
	plainLines := strings.Count(mustMessage(t, newDeletion().question, `{"id":"x"}`), "\n")
	for name, value := range hostile() {
		t.Run(name, func(t *testing.T) {
			q := newDeletion().question
			q.Targets[0].Label, q.Targets[0].Facts[0].Value = value, value
			q.Workspace, q.Organization = value, value
			args, err := jsontext.AppendQuote([]byte(`{"id":`), strings.ToValidUTF8(value, "?"))
			if err != nil {
				t.Fatal(err)
			}
			got := mustMessage(t, q, string(args)+"}")
			if n := strings.Count(got, "\n"); n != plainLines {
				t.Errorf("%d lines, want %d:\n%s", n, plainLines, got)
			}
			if strings.Contains(got, "://") {
				t.Errorf("something to click:\n%s", got)
			}
			for line := range strings.Lines(got) {
				line = strings.TrimSuffix(line, "\n")
				if _, value, quoted := strings.Cut(line, ": "); quoted && strings.HasPrefix(value, `"`) {
					checkQuoted(t, value)
				}
			}
		})
	}
}

// checkQuoted requires one quoted value, and nothing behind it but a note.
func checkQuoted(t *testing.T, shown string) {
	t.Helper()
	for _, r := range shown {
		if unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
			continue // of class Cf, but to be seen
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs) {
			t.Errorf("%U in %q", r, shown)
		}
	}
	if strings.Contains(shown, "://") {
		t.Errorf("something to click: %s", shown)
	}
	if !strings.HasPrefix(shown, `"`) || len(shown) < 2 {
		t.Fatalf("not quoted: %q", shown)
	}
	value := shown[1:]
	end := closing(value)
	if note := value[end+1:]; note != "" && !strings.HasPrefix(note, " (cut here, ") {
		t.Errorf("the value ends early: %q", shown)
	}
	if n := utf8.RuneCountInString(value[:end]); n > 120 {
		t.Errorf("%d characters: %s", n, shown)
	}
}

// closing returns where the quotation that began before s ends.
func closing(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s) - 1
}

func mustMessage(t *testing.T, q Question, args string) string {
	t.Helper()
	m, err := q.message(jsontext.Value(args), ReasonFirst)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Support", `"Support"`},
		{`the "best" \ one`, `"the \"best\" \\ one"`},
		{"https://hooks.acme.example:8443/in?token=1", `"hooks.acme.example:8443"`},
		{"calls https://hooks.acme.example/in, then rests", `"calls hooks.acme.example then rests"`},
		{"https://bank.example@evil.example/", `"evil.example"`},
		{"https://[oops/ x", `"(?) x"`},
		{"https://bücher.example/x", `"xn--bcher-kva.example"`},
		{"ana@bücher.example", `"ana@xn--bcher-kva.example"`},
		{"ana@аcme.example", `"ana@xn--cme-5cd.example"`}, // a Cyrillic а
		{"*@acme.example", `"*@acme.example"`},
		{"Ação & reação", `"Ação & reação"`},
		{strings.Repeat("a", 120), `"` + strings.Repeat("a", 120) + `"`},
		{strings.Repeat("é", 121), `"` + strings.Repeat("é", 119) + `…" (cut here, 121 characters in all)`},
		{strings.Repeat("\u00ad", 5000) + "end", `"" (cut here, 5003 characters in all)`},
		{"ends in …", `"ends in …"`},
	} {
		if got := quote(English, c.in); got != c.want {
			t.Errorf("quote(%.200q)\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestArguments_AsAPersonReadsThem(t *testing.T) {
	for _, c := range []struct {
		args string
		hide []string
		want []string
	}{
		{`{}`, nil, nil},
		{`{"id":"x","n":12,"on":true,"off":false,"none":null}`, nil, []string{`id: "x"`, `n: 12`, `on: true`, `off: false`, `none: null`}},
		{`{"events":["a","b"],"meta":{"k":{"x":1},"e":{}},"l":[[],[1]]}`, nil, []string{`events: "a"`, `events: "b"`, `meta.k.x: 1`, `meta.e: (empty)`, `l: (empty)`, `l: 1`}},
		{`{"auth":{"token":"t"},"value":"v","ok":1}`, []string{"auth", "value"}, []string{`auth: (given, not shown)`, `value: (given, not shown)`, `ok: 1`}},
		{`{"auth":{"token":"t","user":"u"}}`, []string{"auth.token"}, []string{`auth.token: (given, not shown)`, `auth.user: "u"`}},
		{`{"a b":1,"x\n\"y":2,"":3}`, nil, []string{`"a b": 1`, `"x \"y": 2`, `"": 3`}},
		{`{"n":0.` + strings.Repeat("1", 200) + `}`, nil, []string{`n: 0.` + strings.Repeat("1", 117) + `…`}},
	} {
		got, err := (&Question{Language: English, Hide: c.hide}).showArguments(jsontext.Value(c.args))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.args, err, diff)
		}
	}
	many := `{"list":[` + strings.TrimSuffix(strings.Repeat("1,", 50), ",") + `]}`
	got, err := (&Question{Language: English}).showArguments(jsontext.Value(many))
	if err != nil || len(got) != maxArguments+1 || got[maxArguments] != "and 10 more, not shown" {
		t.Errorf("%d lines ending in %q, %v", len(got), got[len(got)-1], err)
	}
	for _, bad := range []string{``, `{`, `{"a":`, `{"a":[1,`, `{"a" 1}`, `]`} {
		if got, err := (&Question{Language: English}).showArguments(jsontext.Value(bad)); err == nil {
			t.Errorf("%s: %q, want an error", bad, got)
		}
	}
}

func TestQuestion_DigestTellsFieldsApart(t *testing.T) {
	base := func() Question { return newDeletion().question }
	seen := map[digest]string{}
	for name, change := range map[string]func(*Question){
		"base":                       func(*Question) {},
		"label":                      func(q *Question) { q.Targets[0].Label = "Supporter" },
		"label with the next target": func(q *Question) { q.Targets[0].Label = "Support\"\ntarget \"Inbox" },
		"label beyond what is shown": func(q *Question) { q.Targets[0].Label = "Support\u200b" },
		"id and label swapped":       func(q *Question) { t := &q.Targets[0]; t.ID, t.Label = t.Label, t.ID },
		"fact as label":              func(q *Question) { t := &q.Targets[0]; t.Label, t.Facts[0].Value = t.Facts[0].Value, t.Label },
		"a space moved to the id":    func(q *Question) { t := &q.Targets[0]; t.ID, t.Label = "a b", "c" },
		"a space moved to the label": func(q *Question) { t := &q.Targets[0]; t.ID, t.Label = "a", "b c" },
		"no facts":                   func(q *Question) { q.Targets[0].Facts = nil },
		"no targets":                 func(q *Question) { q.Targets = nil },
		"count":                      func(q *Question) { q.Cascades[0].Count++ },
		"count of another noun":      func(q *Question) { q.Cascades[0].Many.EN = "webhooks" },
		"no cascades":                func(q *Question) { q.Cascades = nil },
		"note":                       func(q *Question) { q.Notes = []Text{{EN: "note"}} },
		"action":                     func(q *Question) { q.Action.EN = "Delete it." },
		"kind":                       func(q *Question) { q.Targets[0].Kind.EN = "Agent" },
	} {
		q := base()
		change(&q)
		if other, ok := seen[q.digest()]; ok {
			t.Errorf("%q and %q have one digest", name, other)
		}
		seen[q.digest()] = name
	}
}

// Arguments are shown under the names that people have for them, in their
// language; what is nested keeps its own name behind it.
func TestArgumentsHaveLabels(t *testing.T) {
	q := Question{Labels: map[string]Text{"filters": {EN: "Filters", PT: "Filtros"}, "a.b": {EN: "never", PT: "nunca"}}}
	for l, want := range map[Language]string{English: "Filters", Portuguese: "Filtros"} {
		q.Language = l
		got, err := q.showArguments(jsontext.Value(`{"filters":[{"value":1}],"other":2}`))
		if err != nil || !slices.Equal(got, []string{want + " (value): 1", "other: 2"}) {
			t.Errorf("%v, %v", got, err)
		}
	}
}
