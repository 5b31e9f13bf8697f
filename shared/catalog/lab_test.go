package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/storetest"
)

// lab is the tools behind the protocol's own server, with a real confirmation
// and everything else in the test's hand.
type lab struct {
	*testing.T
	*fake
	now    time.Time
	table  *storetest.Fault               // of spent confirmations
	caller *access.Caller                 // who calls
	fresh  func() (*access.Caller, error) // what admitting them again gives; nil: the same
	log    bytes.Buffer                   // what the catalog logs
	caps   string                         // the client's capabilities
	client string                         // what it calls itself
	opts   Options
	*Catalog
}

var audited = []byte("the key of the audit")

func newLab(t *testing.T, change ...func(*Options)) *lab {
	l := &lab{
		T: t, fake: furnished(), now: noon, caller: person("ana"), caps: forms, client: "probe",
		table: storetest.NewFault(storetest.Temp(t).Table("confirmations")),
	}
	l.opts = Options{
		Service: l.fake, Now: func() time.Time { return l.now }, Nonce: func() string { return "nonce" },
		Log: slog.New(slog.NewTextHandler(&l.log, nil)), AuditKey: func(context.Context) ([]byte, error) { return audited, nil },
		Readmit: func(context.Context) (*access.Caller, error) {
			if l.fresh == nil {
				return l.caller, nil
			}
			return l.fresh()
		},
		Organization: func(_ context.Context, id access.OrganizationID) (access.Organization, error) {
			return access.Organization{ID: id, Name: "Aurora Logística"}, nil
		},
	}
	for _, c := range change {
		c(&l.opts)
	}
	l.restart()
	return l
}

// restart puts another instance on the same keys and ledger.
func (l *lab) restart() {
	key := confirm.Key{ID: "k1"}
	copy(key.Secret[:], "a secret of thirty-two bytes....")
	c, err := confirm.New(confirm.Options{
		Audience: "https://mcp.example.com/mcp", Ledger: l.table, Keys: confirm.StaticKeys(key), Now: l.opts.Now,
	})
	if err != nil {
		l.Fatal(err)
	}
	l.opts.Confirmer = c
	l.Catalog = New(l.opts)
}

// person is an owner of the workspace here, by the OAuth client "editor".
func person(subject string) *access.Caller {
	c := member(access.Owner, access.ScopeWrite)
	c.Person = access.Person{Issuer: "https://id.example.com", Subject: subject}
	c.Client, c.Organization = "editor", "org-1"
	return c
}

// Capabilities of clients, and what a person answers.
const (
	forms      = `{"elicitation":{"form":{}}}`
	sayYes     = `{"confirm":{"action":"accept","content":{"confirm":true}}}`
	sayFalse   = `{"confirm":{"action":"accept","content":{"confirm":false}}}`
	sayDecline = `{"confirm":{"action":"decline"}}`
	sayCancel  = `{"confirm":{"action":"cancel"}}`
)

// reply is an answer on the wire.
type reply struct {
	Status int
	Body   string
	Result struct {
		ResultType string
		result
		InputRequests map[string]struct {
			Method string
			Params struct {
				Mode, Message string
				Schema        jsontext.Value `json:"requestedSchema"`
			}
		}
		RequestState string
		Meta         struct {
			Error struct{ Code string } `json:"br.com.kobana/error"`
		} `json:"_meta"`
	}
	Error *struct {
		Code    int
		Message string
		Data    jsontext.Value
	}
}

// at calls a tool as a client of v does; extra are further members of params.
func (l *lab) at(v mcp.Version, tool, args, extra string) (r reply) {
	l.Helper()
	s := mcp.New(mcp.Options{
		Info:    mcp.Implementation{Name: "test", Version: "1"},
		Methods: l.Methods(),
		Admit: func(ctx context.Context, _ string) (context.Context, error) {
			return access.WithCaller(ctx, l.caller), nil
		},
	})
	params := fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args) + extra
	if v.Modern() {
		params += fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`, l.client, l.caps)
	}
	h := httptest.NewRequestWithContext(l.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+params+`}}`))
	h.Header.Set("MCP-Protocol-Version", string(v))
	h.Header.Set("Mcp-Method", "tools/call")
	h.Header.Set("Mcp-Name", tool)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, h)
	decode(l, w.Body.Bytes(), &r)
	r.Status, r.Body = w.Code, w.Body.String()
	return r
}

// call calls a tool as a client does that can ask.
func (l *lab) call(tool, args, extra string) reply {
	l.Helper()
	return l.at(mcp.V20260728, tool, args, extra)
}

// ask makes the first call, which must ask, and returns its requestState.
func (l *lab) ask(tool, args string) string {
	l.Helper()
	r := l.call(tool, args, "")
	if r.Result.ResultType != "input_required" {
		l.Fatalf("%s %s: %s, want a question", tool, args, r.Body)
	}
	return r.Result.RequestState
}

// answer makes the second call, with what the person said.
func (l *lab) answer(tool, args, state, said string) reply {
	l.Helper()
	return l.call(tool, args, answered(state, said))
}

func answered(state, said string) string {
	return fmt.Sprintf(`,"requestState":%q,"inputResponses":%s`, state, said)
}

// confirmed asks, says yes, and requires that it ran.
func (l *lab) confirmed(tool, args string) reply {
	l.Helper()
	r := l.answer(tool, args, l.ask(tool, args), sayYes)
	if r.Result.ResultType != "complete" || r.Result.IsError {
		l.Fatalf("%s %s: %s", tool, args, r.Body)
	}
	return r
}

// message is what the person is asked.
func (r reply) message() string { return r.Result.InputRequests["confirm"].Params.Message }

// wantWrites requires the changes made so far.
func (l *lab) wantWrites(methods ...string) {
	l.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var got []string
	for _, w := range l.wrote {
		got = append(got, w.Method)
	}
	if fmt.Sprint(got) != fmt.Sprint(methods) {
		l.Errorf("changes made: %v, want %v", got, methods)
	}
}

// wantError requires an isError result with a code, on which nothing was done.
func (l *lab) wantError(r reply, code string, says ...string) {
	l.Helper()
	if !r.Result.IsError || r.Status != http.StatusOK || r.Result.Meta.Error.Code != code || !strings.HasPrefix(r.Result.text(), code+": ") {
		l.Fatalf("HTTP %d %s, want an isError result %s", r.Status, r.Body, code)
	}
	for _, s := range says {
		if !strings.Contains(r.Result.text(), s) {
			l.Errorf("no %q in %s", s, r.Result.text())
		}
	}
}

// wantAsked requires a question.
func (l *lab) wantAsked(r reply) {
	l.Helper()
	if r.Status != http.StatusOK || r.Result.ResultType != "input_required" || r.message() == "" || r.Result.RequestState == "" || r.Result.Content != nil {
		l.Fatalf("HTTP %d %s, want a question", r.Status, r.Body)
	}
}

// wantRecorded requires the system events of what was not done.
func (l *lab) wantRecorded(outcomes ...inbox.Outcome) {
	l.Helper()
	var got []inbox.Outcome
	for _, r := range l.recorded {
		got = append(got, r.Given[0].(inbox.Outcome))
	}
	if fmt.Sprint(got) != fmt.Sprint(outcomes) {
		l.Errorf("recorded %v, want %v", got, outcomes)
	}
}

var errDown = errors.New("dial 10.0.0.7: refused")
