// Package providers makes the models of the catalogue of environment variables,
// the same in the cloud and on one machine. It imports model, the packages of the
// providers, and lazy.
package providers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/bedrock"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/openai"
	"github.com/universokobana/kobana-inbox-mcp/shared/model/rules"
)

// Options are what [FromEnv] needs beside the environment.
type Options struct {
	Credentials aws.CredentialsProvider                                // for Bedrock
	Secret      func(ctx context.Context, name string) (string, error) // reads OPENAI_API_KEY_SECRET; may be nil where that is not set
	Log         *slog.Logger                                           // is told that Bedrock is on, and where; may be nil
}

// FromEnv makes a model that answers for every id of the catalogue, and asks
// again where that may help. A provider that is not set up is no error: its
// models answer what the operator has to set. An error names the variable that
// makes no sense. Nobody is called before the first question.
//
//   - BEDROCK_REGION, else AWS_REGION: where Bedrock is asked. The former needs
//     credentials.
//   - BEDROCK_PROFILES: through which inference profiles, see
//     [bedrock.ParseProfiles].
//   - AWS_ENDPOINT_URL_BEDROCK_RUNTIME: another endpoint than Bedrock's own.
//   - OPENAI_BASE_URL: an endpoint that speaks OpenAI's chat completions, up to
//     /v1; else OpenAI's own.
//   - OPENAI_API_KEY, or OPENAI_API_KEY_SECRET: its key, or the name of the
//     secret that holds it.
//   - OPENAI_MODEL: how the endpoint at OPENAI_BASE_URL calls the model that
//     the catalogue calls openai/local.
//   - MODEL_TIMEOUT: how long any of them may take for an answer, see
//     [model.ParseTimeout].
func FromEnv(getenv func(string) string, o Options) (model.Model, error) {
	bedrockModel, err := bedrockFromEnv(getenv, o)
	if err != nil {
		return nil, err
	}
	openaiModel, err := openaiFromEnv(getenv, o)
	if err != nil {
		return nil, err
	}
	timeout, err := model.ParseTimeout(getenv("MODEL_TIMEOUT"))
	if err != nil {
		return nil, fmt.Errorf("MODEL_TIMEOUT: %w", err)
	}
	all := model.Providers{"bedrock": bedrockModel, "openai": openaiModel, "rules": rules.Model{}}
	return model.Retry{Model: all, Timeout: timeout}, nil
}

// regionName is the form of a region's name, as in us-gov-west-1 and
// eusc-de-east-1.
var regionName = lazy.Regexp(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`)

func bedrockFromEnv(getenv func(string) string, o Options) (model.Model, error) {
	profiles, err := bedrock.ParseProfiles(getenv("BEDROCK_PROFILES"))
	if err != nil {
		return nil, fmt.Errorf("BEDROCK_PROFILES: %w", err)
	}
	region := getenv("BEDROCK_REGION")
	switch {
	case region == "":
		region = getenv("AWS_REGION")
	case !regionName().MatchString(region):
		return nil, fmt.Errorf("BEDROCK_REGION: it takes the name of a region, such as us-east-1, not %q", region)
	case o.Credentials == nil:
		return nil, errors.New("BEDROCK_REGION: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are needed where it is set")
	}
	if region == "" || o.Credentials == nil {
		return model.Missing("BEDROCK_REGION, and the credentials of an AWS account"), nil
	}
	if o.Log != nil {
		o.Log.Info("models of Bedrock are on", "region", region)
	}
	return bedrock.New(bedrock.Options{
		Region: region, Credentials: o.Credentials, Profiles: profiles, Endpoint: getenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
	}), nil
}

func openaiFromEnv(getenv func(string) string, o Options) (model.Model, error) {
	url, key, secret, local := getenv("OPENAI_BASE_URL"), getenv("OPENAI_API_KEY"), getenv("OPENAI_API_KEY_SECRET"), getenv("OPENAI_MODEL")
	switch {
	case url == "" && local != "":
		return nil, errors.New("OPENAI_BASE_URL: needed where OPENAI_MODEL is set")
	case secret != "" && o.Secret == nil:
		return nil, errors.New("OPENAI_API_KEY_SECRET: this server reads no secrets; set OPENAI_API_KEY")
	case url == "" && key == "" && secret == "":
		return model.Missing("OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL for a model server of its own"), nil
	}
	options := openai.Options{BaseURL: url, LocalModel: local}
	switch {
	case secret != "":
		options.Key = func(ctx context.Context) (string, error) { return o.Secret(ctx, secret) }
	case key != "":
		options.Key = func(context.Context) (string, error) { return key, nil }
	}
	m, err := openai.New(options)
	if err != nil {
		return nil, fmt.Errorf("OPENAI_BASE_URL: %w", err)
	}
	return m, nil
}
