// Command bare is the product's functions without the store and the check of
// tokens: the same handlers and the same wiring, in front of a service whose
// records are constants. It is what is measured against the servers in
// infra/bench/baseline, which have neither.
//
// In Lambda it is the function of the family that FAMILY names; elsewhere it
// measures itself (meter.go).
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

func main() {
	o := server.Options{Service: constant{}, Gate: gate()}
	if os.Getenv("AWS_LAMBDA_RUNTIME_API") == "" {
		lines, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // its lines are written
		if err != nil {
			log.Fatal(err)
		}
		mux := families(o)
		t := telemetry.New(telemetry.Options{Function: "bare", Version: server.Version, Out: lines})
		o.Log = t.Log()
		meter(mux, t.Wrap(lambdahttp.New(families(o), t.Log())))
		return
	}
	family := os.Getenv("FAMILY")
	t := telemetry.New(telemetry.Options{Function: family, Version: server.Version})
	o.Log = t.Log()
	lambda.Start(t.Wrap(lambdahttp.New(server.Family(o, family), t.Log())))
}

// families are all of them, at their addresses.
func families(o server.Options) http.Handler {
	mux := http.NewServeMux()
	for _, name := range server.FamilyNames() {
		mux.Handle("/mcp/"+name, server.Family(o, name))
	}
	return mux
}

// gate lets anybody in, as the owner of a workspace.
func gate() *access.Gate {
	g, err := access.NewGate(access.Options{
		Verifier: anybody{}, Directory: access.NewDirectory(owners{}), PublicURL: "https://inbox.example.com",
		AuthorizationServers: []string{"https://login.example.com"}, Limit: access.RateLimit{PerSecond: 1e9, Burst: 1e9},
	})
	if err != nil {
		log.Fatal(err)
	}
	return g
}

var person = access.Person{Issuer: "https://login.example.com", Subject: "ana"}

// anybody takes any token for that of one person.
type anybody struct{}

// Verify implements [access.Verifier].
func (anybody) Verify(context.Context, string) (access.Token, error) {
	return access.Token{Person: person, Scopes: access.ScopeRead | access.ScopeWrite}, nil
}

// owners is a table in which everybody owns a workspace.
type owners struct{ store.Table }

// Query implements [store.Table].
func (owners) Query(context.Context, store.Query) (store.Page, error) {
	return store.Page{Items: []store.Item{{Value: []byte(membership)}}}, nil
}

const membership = `{"person":{"issuer":"https://login.example.com","subject":"ana"},"organization_id":"org-1",` +
	`"workspace_id":"0198c0de-0000-7000-8000-0000000000aa","role":"owner","suspended":false,"created_at":"2026-12-02T12:00:00Z"}`

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

// constant is a service that finds one agent, whatever it is asked for.
type constant struct{ inbox.Service }

// Agent implements [inbox.Reader].
func (constant) Agent(_ context.Context, ws access.WorkspaceID, ref string) (inbox.Agent, error) {
	return inbox.Agent{
		ID: inbox.ID(ref), WorkspaceID: ws, Label: "Helpdesk", LLMModel: "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0",
		SystemMessage: "You answer customers of a coffee roaster. Be brief and kind. Refunds are decided by a person.",
		CreatedAt:     noon, UpdatedAt: noon,
	}, nil
}

// Workspace implements [inbox.Reader].
func (constant) Workspace(_ context.Context, ids []access.WorkspaceID, _ string) (inbox.Workspace, error) {
	return inbox.Workspace{ID: ids[0], Label: "Aurora", Locale: inbox.English, CreatedAt: noon, UpdatedAt: noon}, nil
}

// RecentIDs implements [inbox.Reader].
func (constant) RecentIDs(context.Context, access.WorkspaceID, inbox.Family, string, int) ([]string, bool, error) {
	return []string{"0198c0de-0000-7000-8000-000000000001", "0198c0de-0000-7000-8000-000000000002"}, false, nil
}
