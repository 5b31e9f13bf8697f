// Package cloud makes what a function serves with on AWS of its environment
// variables: the tables, the tokens' issuers, secrets, the functions that the
// router calls. What only some functions have is in packages below: rawmail
// for those that reach raw messages, records for those that write, waking for
// those that leave jobs, and one for what each of these does: routing, writing,
// arriving, working.
//
// Nothing is fetched at start that a method may not need. The SDK's clients are
// made once and call nobody by that; the SDK's chain of default configuration,
// which would, is not used. Names of variables are those that template.yaml
// sets.
//
// It may import everything in shared, and packages below import it.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/catalog"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/oauth"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
	"github.com/universokobana/kobana-inbox-mcp/shared/store/dynamo"
	"github.com/universokobana/kobana-inbox-mcp/shared/telemetry"
)

// Function is a function on AWS that is about to start.
type Function struct {
	Getenv func(name string) string
	Log    *slog.Logger

	tables  func() *dynamodb.Client
	secrets func() *secretsmanager.Client
}

// New returns a function with that environment. It makes no client yet.
func New(getenv func(string) string, log *slog.Logger) *Function {
	f := &Function{Getenv: getenv, Log: log}
	f.tables = sync.OnceValue(func() *dynamodb.Client {
		return dynamo.NewClient(dynamo.Options{Region: f.Region(), Credentials: f.Credentials(), Endpoint: getenv("AWS_ENDPOINT_URL_DYNAMODB")})
	})
	f.secrets = sync.OnceValue(func() *secretsmanager.Client { return newSecretsClient(f) })
	return f
}

// Region is where the function and what it calls are; Lambda sets it.
func (f *Function) Region() string { return f.Getenv("AWS_REGION") }

// Credentials are those of the function's role.
func (f *Function) Credentials() aws.CredentialsProvider { return dynamo.EnvCredentials{} }

// Require returns the value of a variable that must be set.
func (f *Function) Require(name string) (string, error) {
	if v := f.Getenv(name); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("%s: not set", name)
}

// Words splits the value of a variable at commas and spaces.
func (f *Function) Words(name string) []string {
	return strings.Fields(strings.ReplaceAll(f.Getenv(name), ",", " "))
}

// Table returns the table that a variable names.
func (f *Function) Table(variable string) (store.Table, error) {
	name, err := f.Require(variable)
	if err != nil {
		return nil, err
	}
	t := dynamo.New(f.tables(), name)
	t.Observe = countUnits
	return t, nil
}

// countUnits counts what an operation on a table used for the line of the
// request that it was for.
func countUnits(ctx context.Context, operation string, units float64) {
	switch operation {
	case "GetItem", "Query":
		telemetry.CountUnits(ctx, units, 0)
	default:
		telemetry.CountUnits(ctx, 0, units)
	}
}

// Reader returns the options of a family that only reads: its catalog has no
// tool that writes. Of the records' options, the table is set here.
func (f *Function) Reader(records inboxstore.Options) (server.Options, error) {
	o, err := f.reading(records)
	o.ReadOnly = true
	return o, err
}

func (f *Function) reading(records inboxstore.Options) (server.Options, error) {
	o, table, err := f.Common()
	records.Table, records.Log = table, f.Log
	o.Service = reader{Reader: inboxstore.New(records)}
	return o, err
}

// reader is the service of a function that never writes: there is no Writer
// that could.
type reader struct {
	inbox.Reader
	inbox.Writer
}

// Common returns the options that all functions share, without a service, and
// the table of the data. The error tells everything that is wrong with the
// environment.
func (f *Function) Common() (o server.Options, table store.Table, err error) {
	var errs []error
	check := func(name string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	table, err = f.Table("DATA_TABLE")
	errs = append(errs, err)
	origins, err := access.ParseOrigins(f.Getenv("ALLOWED_ORIGINS"))
	check("ALLOWED_ORIGINS", err)
	confirmAlso := f.Words("CONFIRM_ALSO")
	check("CONFIRM_ALSO", catalog.CheckConfirmAlso(confirmAlso))
	readOnly, err := parseSwitch(f.Getenv("READ_ONLY"))
	check("READ_ONLY", err)
	directory := access.NewDirectory(table)
	gate, err := f.gate(directory)
	errs = append(errs, err)
	return server.Options{
		Gate: gate, Organization: directory.Organization, AllowOrigin: origins.Allow,
		ReadOnly: readOnly, ConfirmAlso: confirmAlso, Log: f.Log,
	}, table, errors.Join(errs...)
}

func parseSwitch(s string) (bool, error) {
	switch s {
	case "", "0":
		return false, nil
	case "1":
		return true, nil
	}
	return false, fmt.Errorf("%q is neither 1 nor 0", s)
}

// gate makes the gate that verifies the tokens of the configured issuers.
func (f *Function) gate(directory *access.Directory) (*access.Gate, error) {
	publicURL, err := f.Require("PUBLIC_URL")
	if err != nil {
		return nil, err
	}
	limit, err := access.ParseLimit(f.Getenv("RATE_LIMIT"))
	if err != nil {
		return nil, fmt.Errorf("RATE_LIMIT: %w", err)
	}
	secret := f.Getenv("OAUTH_INTROSPECTION_SECRET")
	if secret == "" && f.Getenv("OAUTH_INTROSPECTION_URL") != "" {
		return nil, errors.New("OAUTH_INTROSPECTION_SECRET: needed where OAUTH_INTROSPECTION_URL is set")
	}
	verifier, issuers, err := oauth.FromEnv(f.Getenv, publicURL, func(ctx context.Context) (string, error) {
		return f.Secret(ctx, secret)
	}, f.Log)
	if err != nil {
		return nil, err
	}
	gate, err := access.NewGate(access.Options{
		Verifier: verifier, Directory: directory, PublicURL: publicURL,
		AuthorizationServers: issuers, ResourceName: "Kobana Inbox", Limit: limit,
	})
	if err != nil {
		return nil, fmt.Errorf("PUBLIC_URL: %w", err)
	}
	return gate, nil
}
