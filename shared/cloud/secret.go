package cloud

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
)

// How a call for a secret is bounded: somebody waits for it.
const (
	secretAttempts = 2
	secretTimeout  = 2 * time.Second // of one attempt
)

// Secret reads the text of a secret in Secrets Manager, by its name or ARN. It
// asks each time. Its errors hold nothing of the secret.
func (f *Function) Secret(ctx context.Context, name string) (string, error) {
	out, err := f.secrets().GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &name})
	if err != nil {
		return "", fmt.Errorf("read secret %s: %w", name, err)
	}
	if out.SecretString == nil {
		return "", fmt.Errorf("secret %s is not text", name)
	}
	return *out.SecretString, nil
}

func newSecretsClient(f *Function) *secretsmanager.Client {
	o := secretsmanager.Options{
		Region:      f.Region(),
		Credentials: f.Credentials(),
		Retryer:     retry.NewStandard(func(s *retry.StandardOptions) { s.MaxAttempts = secretAttempts }),
		HTTPClient:  awshttp.NewClient(awshttp.Options{Timeout: secretTimeout}),
	}
	if url := f.Getenv("AWS_ENDPOINT_URL_SECRETS_MANAGER"); url != "" {
		o.BaseEndpoint = &url
	}
	return secretsmanager.New(o)
}
