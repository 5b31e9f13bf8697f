package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// secondPage is the cursor that page ends with.
const secondPage = "dG9vbHMgMiA4N3dmazU"

func TestLists_10_01_pages(t *testing.T) {
	var items []jsontext.Value
	for i := range 7 {
		items = append(items, jsontext.Value(fmt.Sprint(i)))
	}
	for size, want := range map[int][]string{
		0: {"[0,1,2,3,4,5,6]"},
		3: {"[0,1,2]", "[3,4,5]", "[6]"},
		7: {"[0,1,2,3,4,5,6]"},
		9: {"[0,1,2,3,4,5,6]"},
	} {
		list := mcp.NewList("tools", items, &mcp.Cache{}, size)
		params := jsontext.Value("{}")
		for i, page := range want {
			r, err := list.Page(&mcp.Request{Params: params})
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Tools jsontext.Value  `json:"tools"`
				Next  *jsontext.Value `json:"nextCursor"`
			}
			if err := json.Unmarshal(r.Fields, &got); err != nil {
				t.Fatal(err)
			}
			if last := i == len(want)-1; string(got.Tools) != page || (got.Next == nil) != last {
				t.Errorf("size %d, page %d: %s", size, i, r.Fields)
			} else if !last {
				params = mcp.NewObject().Value("cursor", *got.Next).Close()
			}
		}
	}
}

func TestLists(t *testing.T) {
	second := `"cursor":"` + secondPage + `"`
	results{
		{"7.01 an empty list is no null", modern("resources/list", ""), complete(`"resources":[],"ttlMs":30000,"cacheScope":"private"`)},
		{"10.01 the second page has no nextCursor", modern("tools/list", second), complete(`"tools":[{"n":2}],"ttlMs":30000,"cacheScope":"private"`)},
		{"10.01 the second page in 2025", legacy("2025-03-26", "tools/list", second), `{"tools":[{"n":2}]}`},
	}.run(t, fixture())

	var foreign struct {
		Cursor string `json:"nextCursor"`
	}
	r, _ := mcp.NewList("prompts", []jsontext.Value{[]byte("1"), []byte("2"), []byte("3")}, nil, 2).Page(&mcp.Request{Params: jsontext.Value("{}")})
	if json.Unmarshal(r.Fields, &foreign); foreign.Cursor == "" {
		t.Fatal(r.Fields)
	}
	var cases refusals
	for name, value := range map[string]string{
		"10.02 garbage":            `"zz"`,
		"10.02 another list's":     `"` + foreign.Cursor + `"`,
		"10.02 one letter changed": `"` + strings.Replace(secondPage, "M", "N", 1) + `"`,
		"10.02 padded":             `"` + secondPage + `="`,
		"10.02 a longer one":       `"` + secondPage + `A"`,
		"10.04 14.10 empty":        `""`,
		"10.04 null":               `null`,
		"10.04 a number":           `2`,
		"10.04 an object":          `{"a":1}`,
	} {
		cases = append(cases, refusals{{name, modern("tools/list", `"cursor":`+value), http.StatusOK, mcp.CodeInvalidParams}}...)
		cases = append(cases, refusals{{name + ", all in one page", legacy("", "prompts/list", `"cursor":`+value), http.StatusOK, mcp.CodeInvalidParams}}...)
	}
	cases.run(t, fixture())
	if a := send(t, fixture(), modern("tools/list", `"cursor":"zz"`)); !strings.Contains(a.json.Error.Message, "cursor") {
		t.Error("the message does not name cursor:", a.json.Error.Message)
	}
}

func TestLists_5_02_same_order_every_time(t *testing.T) {
	first := send(t, fixture(), modern("tools/list", ""))
	if again := send(t, fixture(), modern("tools/list", "")); string(first.body) != string(again.body) {
		t.Errorf("%s\n%s", first.body, again.body)
	}
}

func TestCaching_11_01_exactly_six_methods(t *testing.T) {
	// Every method offers a hint; the server decides where it belongs.
	hinted := fixture(func(o *mcp.Options) {
		for name := range o.Methods {
			o.Methods[name] = fields(`{}`, &mcp.Cache{TTL: 1500e6, Public: true})
		}
	})
	unhinted := fixture(func(o *mcp.Options) {
		for name := range o.Methods {
			o.Methods[name] = fields(`{}`, nil)
		}
	})
	for name, want := range map[string]bool{
		"tools/list": true, "resources/list": true, "resources/templates/list": true, "resources/read": true, "prompts/list": true,
		"tools/call": false, "prompts/get": false, "completion/complete": false,
	} {
		t.Run(name, func(t *testing.T) {
			request := func() *http.Request { return modern(name, `"name":"n","uri":"n"`, "Mcp-Name: n") }
			hints, none := "", ""
			if want {
				hints, none = `"ttlMs":1500,"cacheScope":"public"`, `"ttlMs":0,"cacheScope":"private"`
			}
			send(t, hinted, request()).wantResult(t, complete(hints))
			send(t, unhinted, request()).wantResult(t, complete(none))
			send(t, hinted, legacy("2025-11-25", name, `"name":"n","uri":"n"`)).wantResult(t, `{}`)
		})
	}
}

func TestCaching_11_02_ttl_is_never_negative(t *testing.T) {
	h := fixture(func(o *mcp.Options) { o.Methods["tools/list"] = fields(`{}`, &mcp.Cache{TTL: -5e9}) })
	send(t, h, modern("tools/list", "")).wantResult(t, complete(`"ttlMs":0,"cacheScope":"private"`))
}

func TestObject(t *testing.T) {
	got := mcp.NewObject().Text("a\n", "q\"\\\x01é\xff").Int("b", -1).Bool("c", true).Value("d", nil).
		Begin("e").End().Begin("f").Text("g", "").Texts("h", nil).Texts("i", []string{"1", "\""}).End().Members(jsontext.Value(` { "h" : [1] } `)).Members(nil).Close()
	const want = `{"a\n":"q\"\\\u0001é�","b":-1,"c":true,"d":null,"e":{},"f":{"g":"","h":[],"i":["1","\""]},"h" : [1]}`
	if string(got) != want {
		t.Errorf("%s\n%s", got, want)
	}
	if got := mcp.NewObject().Members(jsontext.Value("{}")).Close(); string(got) != "{}" {
		t.Errorf("%s", got)
	}
}

func TestDecode(t *testing.T) {
	var v struct {
		Name string         `json:"name"`
		N    int            `json:"n"`
		On   *bool          `json:"on"`
		Map  map[string]int `json:"map"`
		List []string       `json:"list"`
		Raw  jsontext.Value `json:"raw"`
	}
	for params, want := range map[string]string{
		`{"name":1}`:             "params.name must be a string",
		`{"n":"x"}`:              "params.n must be an integer",
		`{"n":1.5}`:              "params.n must be an integer",
		`{"on":1}`:               "params.on must be a boolean",
		`{"map":[]}`:             "params.map must be an object",
		`{"map":{"k":"v"}}`:      "params.map.k must be an integer",
		`{"list":{}}`:            "params.list must be an array",
		`{"list":["a",2]}`:       "params.list.1 must be a string",
		`{"unknown":1,"Name":2}`: "",
		`{"raw":{"a":[1]}}`:      "",
		`{"name":null}`:          "",
	} {
		err := mcp.Decode(&mcp.Request{Params: jsontext.Value(params)}, &v)
		var got string
		if e, ok := err.(*mcp.Error); ok && e.Code == mcp.CodeInvalidParams {
			got = e.Message
		}
		if got != want || (err == nil) != (want == "") {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
}
