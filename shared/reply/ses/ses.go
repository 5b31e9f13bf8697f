// Package ses sends answers by Amazon SES. It imports reply, awshttp, untrusted
// for what SES answers with, and the AWS SDK.
package ses

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdkhttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"github.com/universokobana/kobana-inbox-mcp/shared/awshttp"
	"github.com/universokobana/kobana-inbox-mcp/shared/reply"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// timeout is how long SES may take.
const timeout = 15 * time.Second

// Options are what [New] needs to know.
type Options struct {
	Region           string
	Credentials      aws.CredentialsProvider // asked when a message is sent
	Endpoint         string                  // "": SES's own
	ConfigurationSet string                  // "": none
}

// Sender is a [reply.Sender].
type Sender struct {
	configurationSet *string
	client           func() *sesv2.Client
}

var _ reply.Sender = (*Sender)(nil)

// New makes a Sender. Its client is made by the first message, and never tries
// again: an answer of SES's that is lost must not be a message sent twice.
func New(o Options) *Sender {
	s := &Sender{client: sync.OnceValue(func() *sesv2.Client {
		options := sesv2.Options{
			Region: o.Region, Credentials: credentials{o.Credentials}, Retryer: aws.NopRetryer{},
			HTTPClient: awshttp.NewClient(awshttp.Options{Timeout: timeout}),
		}
		if o.Endpoint != "" {
			options.BaseEndpoint = &o.Endpoint
		}
		return sesv2.New(options)
	})}
	if o.ConfigurationSet != "" {
		s.configurationSet = &o.ConfigurationSet
	}
	return s
}

// Send implements [reply.Sender]. Who gets the message is said beside it, so
// that nothing in its header could add to them.
func (s *Sender) Send(ctx context.Context, m reply.Message) error {
	_, err := s.client().SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress:     &m.From,
		Destination:          &types.Destination{ToAddresses: []string{m.To}},
		Content:              &types.EmailContent{Raw: &types.RawMessage{Data: m.Raw}},
		ConfigurationSetName: s.configurationSet,
	})
	if err != nil {
		return failure(err)
	}
	return nil
}

// errNoCredentials is that a request could not be signed.
var errNoCredentials = errors.New("no credentials")

// credentials tell a lack of them from what becomes of a request.
type credentials struct{ aws.CredentialsProvider }

// Retrieve implements [aws.CredentialsProvider].
func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	keys, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return keys, fmt.Errorf("%w: %w", errNoCredentials, err)
	}
	return keys, nil
}

// later are the refusals of SES's that pass by themselves.
var later = []string{"TooManyRequestsException", "ThrottlingException", "LimitExceededException", "SendingPausedException"}

// failure says what is known of a message that SES did not take. What SES
// answers with may name the addresses, so of that only the code is kept.
func failure(err error) error {
	answer, answered := errors.AsType[*sdkhttp.ResponseError](err)
	if !answered || answer.HTTPStatusCode() == 0 {
		dial, ok := errors.AsType[*net.OpError](err)
		if ok && dial.Op == "dial" || errors.Is(err, errNoCredentials) {
			return fmt.Errorf("%w: ses: %w", reply.ErrNotSent, err)
		}
		return fmt.Errorf("ses: %w", err)
	}
	code, status := "no code", answer.HTTPStatusCode()
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		code = api.ErrorCode()
	}
	cause := fmt.Errorf("ses: %s, status %d, request %s", untrusted.Line(code, 100), status, untrusted.Line(answer.ServiceRequestID(), 100))
	switch {
	case status == 429 || status < 500 && slices.Contains(later, code):
		return fmt.Errorf("%w: %w", reply.ErrNotSent, cause)
	case 400 <= status && status < 500:
		return fmt.Errorf("%w: %w", reply.ErrRefused, cause)
	}
	return cause // a fault of SES's own says nothing of the message
}
