// Package routing makes the router of its environment: the one function that
// calls others. It is apart so that only the router has the SDK's client of
// Lambda.
//
// It may import everything in shared.
package routing

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/cloud"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp/invoker"
	"github.com/universokobana/kobana-inbox-mcp/shared/server"
)

// Handler returns the handler of the router. It judges what it hands on, and
// runs none of it, so that it has no service: each family's requests go to the
// function that TOOLS_FUNCTION, and so on, names.
func Handler(f *cloud.Function) (http.Handler, error) {
	o, _, err := f.Common()
	errs := []error{err}
	client := invoker.SDK{Client: newClient(f)}
	families := map[string]http.Handler{}
	for _, name := range server.FamilyNames() {
		function, err := f.Require(strings.ToUpper(name) + "_FUNCTION")
		errs = append(errs, err)
		families[name] = &lambdahttp.Forwarder{Invoker: client, Function: function, Log: f.Log}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return server.Router(o, families), nil
}

// newClient makes the client that families are called by. A call takes as long
// as the family does: the request's deadline bounds it.
func newClient(f *cloud.Function) *lambda.Client {
	o := lambda.Options{
		Region:      f.Region(),
		Credentials: f.Credentials(),
		HTTPClient:  awshttp.NewClient(awshttp.Options{}),
	}
	if url := f.Getenv("AWS_ENDPOINT_URL_LAMBDA"); url != "" {
		o.BaseEndpoint = &url
	}
	return lambda.New(o)
}
