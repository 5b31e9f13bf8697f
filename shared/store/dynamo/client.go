package dynamo

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
)

// How a call is bounded, whatever the caller's deadline: three attempts of
// [attemptTimeout], with up to [maxBackoff] between them, take seven seconds.
// DynamoDB answers in milliseconds; what has not come after two seconds does
// not come.
const (
	maxAttempts    = 3
	attemptTimeout = 2 * time.Second
	maxBackoff     = 500 * time.Millisecond
)

// Options are what [NewClient] needs to know. All can be left out in Lambda.
type Options struct {
	// Region is where the tables are; "" is AWS_REGION, which Lambda sets.
	Region string
	// Endpoint is the URL of an emulator, "" for DynamoDB itself.
	Endpoint string
	// Credentials sign the requests; nil is [EnvCredentials].
	Credentials aws.CredentialsProvider
	// AttemptTimeout bounds one attempt of a call; 0 is two seconds.
	AttemptTimeout time.Duration
}

// NewClient returns a client for [New], with timeouts and retries set for a
// request that somebody waits for. It reads no file and calls nobody: the SDK's
// chain of default configuration would do both at start.
func NewClient(o Options) *dynamodb.Client {
	options := dynamodb.Options{
		Region:      cmp.Or(o.Region, os.Getenv("AWS_REGION")),
		Credentials: o.Credentials,
		Retryer: retry.NewStandard(func(s *retry.StandardOptions) {
			s.MaxAttempts, s.MaxBackoff, s.BaseDelay = maxAttempts, maxBackoff, 25*time.Millisecond
			s.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(retryableConflict)}, s.Retryables...)
		}),
		HTTPClient: awshttp.NewClient(awshttp.Options{Timeout: cmp.Or(o.AttemptTimeout, attemptTimeout), IdlePerHost: 64}),
	}
	if options.Credentials == nil {
		options.Credentials = EnvCredentials{}
	}
	if o.Endpoint != "" {
		options.BaseEndpoint = &o.Endpoint
	}
	return dynamodb.New(options)
}

// EnvCredentials are the credentials of the function's role, which Lambda puts
// into the environment.
type EnvCredentials struct{}

var errNoCredentials = errors.New("dynamo: AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set")

// Retrieve implements [aws.CredentialsProvider].
func (EnvCredentials) Retrieve(context.Context) (aws.Credentials, error) {
	c := aws.Credentials{
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		Source:          "environment",
	}
	if !c.HasKeys() {
		return aws.Credentials{}, errNoCredentials
	}
	return c, nil
}
