// Package invoker calls Lambda functions by the SDK, for a lambdahttp.Forwarder.
// It is apart from that so that functions which call none are without that part
// of the SDK, which is slow to start.
//
// It may import lambdahttp.
package invoker

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"github.com/universokobana/kobana-inbox-mcp/shared/lambdahttp"
)

// Client is the part of [lambda.Client] that is used.
type Client interface {
	Invoke(ctx context.Context, in *lambda.InvokeInput, options ...func(*lambda.Options)) (*lambda.InvokeOutput, error)
}

// SDK is a [lambdahttp.Invoker].
type SDK struct{ Client Client }

// Invoke implements [lambdahttp.Invoker].
func (s SDK) Invoke(ctx context.Context, function string, event []byte) ([]byte, error) {
	in := &lambda.InvokeInput{FunctionName: &function, InvocationType: types.InvocationTypeRequestResponse, Payload: event}
	out, err := s.Client.Invoke(ctx, in, once)
	if _, ok := errors.AsType[*types.TooManyRequestsException](err); ok {
		err = fmt.Errorf("%w: %w", lambdahttp.ErrThrottled, err)
	}
	if err != nil {
		return nil, err
	}
	if kind := aws.ToString(out.FunctionError); kind != "" {
		return nil, fmt.Errorf("the function failed (%s): %.1000s", kind, out.Payload)
	}
	return out.Payload, nil
}

// once keeps the SDK from repeating a call.
func once(o *lambda.Options) { o.Retryer = aws.NopRetryer{} }
