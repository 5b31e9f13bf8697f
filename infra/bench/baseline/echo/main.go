// Command echo is a function that answers with its event.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(echo{}) }

type echo struct{}

// Invoke implements [lambda.Handler].
func (echo) Invoke(_ context.Context, payload []byte) ([]byte, error) { return payload, nil }
