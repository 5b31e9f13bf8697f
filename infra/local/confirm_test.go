package local

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// yes is an explicit yes, as a client sends it.
var yes = object{"confirm": object{"action": "accept", "content": object{"confirm": true}}}

// asked makes the first call of a destructive tool and returns the call that
// answers it with a yes, and the question.
func asked(t *testing.T, c client, tool string, args object) (confirmed object, question string) {
	t.Helper()
	a := c.send(t, "tools/call", object{"name": tool, "arguments": args})
	r := decode[struct {
		ResultType    string `json:"resultType"`
		RequestState  string `json:"requestState"`
		InputRequests map[string]struct {
			Method string
			Params struct{ Message string }
		} `json:"inputRequests"`
	}](t, a.Result)
	if r.ResultType != "input_required" || r.InputRequests["confirm"].Method != "elicitation/create" {
		t.Fatalf("%s is not asked about: HTTP %d\n%s", tool, a.status, a.body)
	}
	return object{"name": tool, "arguments": args, "requestState": r.RequestState, "inputResponses": yes},
		r.InputRequests["confirm"].Params.Message
}

// emails are the ids of all e-mails, newest first.
func emails(t *testing.T, c client) (ids []string) {
	t.Helper()
	for _, e := range get[page](t, c, "emails_list", object{"limit": 200}).Data {
		ids = append(ids, e["id"].(string))
	}
	return ids
}

// events counts the system events of a slug.
func events(t *testing.T, c client, slug string) int {
	t.Helper()
	return len(get[page](t, c, "system_events_list", object{"slug": slug, "limit": 200}).Data)
}

// TestConfirm_SDK: a real client with an elicitation handler asks its person;
// only the yes deletes (R12, R13).
func TestConfirm_SDK(t *testing.T) {
	t.Parallel()
	s := serve(t)
	c := as("demo-owner").at(s)
	for _, answer := range []struct {
		name    string
		result  sdk.ElicitResult
		deleted bool
		text    string
	}{
		{"no", sdk.ElicitResult{Action: "decline"}, false, "user_declined: "},
		{"cancel", sdk.ElicitResult{Action: "cancel"}, false, "user_declined: "},
		{"an unticked box", sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": false}}, false, "user_declined: "},
		{"yes", sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, true, `{"id":`},
	} {
		t.Run(answer.name, func(t *testing.T) {
			before, asks := emails(t, c), 0
			session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asks++
					return &answer.result, nil
				},
			}).Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: authorized{"demo-owner"}},
			}, &sdk.ClientSessionOptions{ProtocolVersion: string(mcp.V20260728)})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "emails_delete", Arguments: object{"id": before[0]}})
			if err != nil {
				t.Fatal(err)
			}
			text := r.Content[0].(*sdk.TextContent).Text
			if asks != 1 || r.IsError == answer.deleted || len(text) < len(answer.text) || text[:len(answer.text)] != answer.text {
				t.Errorf("asked %d times: %v %s", asks, r.IsError, text)
			}
			want := len(before)
			if answer.deleted {
				want--
			}
			if after := emails(t, c); len(after) != want {
				t.Errorf("%d e-mails of %d", len(after), len(before))
			}
		})
	}
}

// TestConfirm_R15_case_31: of 64 identical confirmed calls at once exactly one
// runs; the others are told that the confirmation was used.
func TestConfirm_R15_case_31(t *testing.T) {
	t.Parallel()
	c := as("demo-owner").at(serve(t))
	inboxes := get[page](t, c, "inboxes_list", nil).Data
	call, _ := asked(t, c, "inboxes_add_recipient", object{"id": inboxes[0]["id"], "email": "new@example.com"})
	var done sync.WaitGroup
	outcomes := make(chan string, 64)
	for range 64 {
		done.Go(func() {
			r := decode[struct {
				Meta struct {
					Error struct{ Code string } `json:"br.com.kobana/error"`
				} `json:"_meta"`
			}](t, c.send(t, "tools/call", call).Result)
			outcomes <- r.Meta.Error.Code
		})
	}
	done.Wait()
	close(outcomes)
	count := map[string]int{}
	for o := range outcomes {
		count[o]++
	}
	if count[""] != 1 || count["confirmation_replayed"] != 63 {
		t.Errorf("outcomes: %v", count)
	}
	if n := events(t, c, "inbox.recipient_added"); n != 1 {
		t.Errorf("%d effects", n)
	}
}

// TestConfirm_Restart: the question outlives the process that asked it, and so
// does the record that its answer was used (R14, R15; field case 30 on one
// machine).
func TestConfirm_Restart(t *testing.T) {
	t.Parallel()
	config := testConfig(dataDir(t))
	s, stop := serveOn(t, config)
	config.Port = port(t, s) // clients keep the address, which is the audience
	c := as("demo-owner").at(s)
	id := emails(t, c)[0]
	call, _ := asked(t, c, "emails_delete", object{"id": id})
	restart := func() {
		t.Helper()
		stop()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections() // they lead to the one that stopped
		s, stop = serveOn(t, config)
		c = c.at(s)
	}
	restart()
	if a := c.send(t, "tools/call", call); decode[object](t, a.Result)["isError"] != nil {
		t.Fatalf("after a restart: %s", a.body)
	}
	restart()
	defer stop()
	a := c.send(t, "tools/call", call)
	if code := errorCode(t, a.Result); code != "confirmation_replayed" {
		t.Errorf("%q once it was used: %s", code, a.body)
	}
}

// TestConfirm_R14_other: a yes counts for its person and workspace only; all
// others are asked themselves, or know no such record (field case 22).
func TestConfirm_R14_other(t *testing.T) {
	t.Parallel()
	c := as("demo-owner").at(serve(t))
	id := emails(t, c)[0]
	call, _ := asked(t, c, "emails_delete", object{"id": id})
	operator := c
	operator.token = "demo-operator"
	if r := decode[object](t, operator.send(t, "tools/call", call).Result); r["resultType"] != "input_required" {
		t.Errorf("another person of the workspace: %v", r)
	}
	other := c
	other.token = "demo-other"
	if a := other.send(t, "tools/call", call); errorCode(t, a.Result) != "not_found" {
		t.Errorf("a person of another organization: %s", a.body)
	}
	if a := other.call(t, "emails_delete", object{"id": id}); a.code != "not_found" {
		t.Errorf("asking, of another organization: %s", a.body)
	}
	for token, status := range map[string]int{"demo-readonly": http.StatusForbidden, "demo-viewer": http.StatusOK} {
		weak := c
		weak.token = token
		if a := weak.send(t, "tools/call", call); a.status != status || a.Error == nil {
			t.Errorf("%s: HTTP %d %s", token, a.status, a.body)
		}
	}
	if a := c.send(t, "tools/call", call); decode[object](t, a.Result)["isError"] != nil {
		t.Errorf("the rightful person, after all that: %s", a.body)
	}
}

// TestConfirm_Expiry: CONFIRM_TTL shortens how long a yes counts.
func TestConfirm_Expiry(t *testing.T) {
	t.Parallel()
	c := as("demo-owner").at(serve(t, func(c *Config) { c.ConfirmTTL = time.Nanosecond }))
	call, _ := asked(t, c, "emails_delete", object{"id": emails(t, c)[0]})
	if r := decode[object](t, c.send(t, "tools/call", call).Result); r["resultType"] != "input_required" {
		t.Errorf("an expired yes: %v", r)
	}
}

// TestConfirm_Language: people are asked in the language of their workspace.
func TestConfirm_Language(t *testing.T) {
	t.Parallel()
	c := as("demo-other").at(serve(t))
	_, question := asked(t, c, "emails_delete", object{"id": emails(t, c)[0]})
	for _, want := range []string{"Viveiro", "Bosque Verde", "Organização", "Excluir"} {
		if !strings.Contains(question, want) {
			t.Errorf("no %q in:\n%s", want, question)
		}
	}
}

// TestConfirm_R16: who cannot be asked cannot run a destructive tool, in any
// revision, and every destructive tool refuses the same way (field cases 24,
// 27).
func TestConfirm_R16(t *testing.T) {
	t.Parallel()
	c := as("demo-owner").at(serve(t))
	id := emails(t, c)[0]
	for _, v := range mcp.Versions() {
		params := object{"name": "emails_delete", "arguments": object{"id": id}, "inputResponses": yes}
		if v.Modern() {
			params["_meta"] = object{
				"io.modelcontextprotocol/protocolVersion":    v,
				"io.modelcontextprotocol/clientCapabilities": object{},
			}
		}
		a := c.in(v).send(t, "tools/call", params)
		switch {
		case v.Modern():
			want := `{"code":"confirmation_required","requiredCapabilities":{"elicitation":{"form":{}}}}`
			if a.status != http.StatusBadRequest || a.Error == nil || a.Error.Code != -32021 || string(a.Error.Data) != want {
				t.Errorf("%s: HTTP %d %s", v, a.status, a.body)
			}
		case a.status != http.StatusOK || errorCode(t, a.Result) != "confirmation_required":
			t.Errorf("%s: HTTP %d %s", v, a.status, a.body)
		}
	}
	if got := emails(t, c); got[0] != id {
		t.Errorf("it was deleted")
	}
}

func errorCode(t *testing.T, result jsontext.Value) string {
	t.Helper()
	return decode[struct {
		Meta struct {
			Error struct{ Code string } `json:"br.com.kobana/error"`
		} `json:"_meta"`
	}](t, result).Meta.Error.Code
}

// port is where the server listens.
func port(t *testing.T, s *Server) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(s.URL, "http://127.0.0.1:%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}
