package wirecheck_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/infra/local/localtest"
	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/infra/wirecheck"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

type object = wire.Object

// product is the address of the local server with a new demo.
func product(t *testing.T) string {
	t.Helper()
	wirecheck.Need(t)
	return localtest.Start(t)
}

// client speaks to a server in one revision, "" being one that names none. What
// it is answered is judged.
type client struct {
	url     string
	version mcp.Version
	token   string
	results map[string]int // how many there were, by method
}

// call makes a well-formed request and returns its result, nil for an error.
func (c client) call(t *testing.T, method string, params object) jsontext.Value {
	t.Helper()
	body, headers := wire.Request(c.version, c.token, method, params)
	result := c.post(t, wire.Header(headers...), body)
	if result != nil && c.results != nil {
		c.results[method]++
	}
	return result
}

// post sends a body.
func (c client) post(t *testing.T, header http.Header, body string) jsontext.Value {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	wirecheck.Judge(t, r, []byte(body), answer.StatusCode, answer.Header, text)
	var a struct {
		Result jsontext.Value `json:"result"`
	}
	if len(text) > 0 && text[0] == '{' {
		decode(t, text, &a)
	}
	return a.Result
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
