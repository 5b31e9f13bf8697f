// Package bedrock asks models on Amazon Bedrock, by its Converse API. It imports
// model, untrusted for what goes to the log, and the AWS SDK.
package bedrock

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"

	"github.com/universokobana/kobana-inbox-mcp/shared/model"
	"github.com/universokobana/kobana-inbox-mcp/shared/untrusted"
)

// Options are what [New] needs to know.
type Options struct {
	Region      string
	Credentials aws.CredentialsProvider // asked when a request is signed
	Endpoint    string                  // "": Bedrock's own
	Profiles    Profiles
}

// Model is a [model.Model] for Bedrock's models, by their ids without a
// geography.
type Model struct {
	profiles Profiles
	client   func() *bedrockruntime.Client
}

// New makes a Model. Its client is made by the first question, and does not
// retry: [model.Retry] does.
func New(o Options) *Model {
	return &Model{profiles: o.Profiles, client: sync.OnceValue(func() *bedrockruntime.Client {
		options := bedrockruntime.Options{
			Region: o.Region, Credentials: credentials{o.Credentials}, Retryer: aws.NopRetryer{}, HTTPClient: model.NewHTTPClient(),
		}
		if o.Endpoint != "" {
			options.BaseEndpoint = &o.Endpoint
		}
		return bedrockruntime.New(options)
	})}
}

// credentials tell a lack of them from a provider that cannot be reached.
type credentials struct{ aws.CredentialsProvider }

// Retrieve implements [aws.CredentialsProvider].
func (c credentials) Retrieve(ctx context.Context) (aws.Credentials, error) {
	keys, err := c.CredentialsProvider.Retrieve(ctx)
	if err != nil {
		return keys, model.AccessError(err)
	}
	return keys, nil
}

// Answer implements [model.Model].
func (m *Model) Answer(ctx context.Context, r model.Request) (model.Answer, error) {
	out, err := m.client().Converse(ctx, &bedrockruntime.ConverseInput{
		ModelId:         aws.String(m.profiles.id(r.Model)),
		System:          system(r),
		Messages:        []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: r.Message}}}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(r.MaxTokens))},
	})
	if err != nil {
		return model.Answer{}, failure(err)
	}
	var tokens model.Tokens
	if u := out.Usage; u != nil { // input tokens are without those of the cache
		tokens = model.Count(count(u.InputTokens), count(u.OutputTokens), count(u.CacheReadInputTokens), count(u.CacheWriteInputTokens))
	}
	cut := false
	switch out.StopReason {
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered:
		return model.Answer{Tokens: tokens}, model.FilteredError(errors.New(string(out.StopReason)))
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		cut = true
	}
	return model.Finish(text(out.Output), cut, tokens)
}

func count(n *int32) int64 { return int64(aws.ToInt32(n)) }

// minCached is the size of instructions, in bytes, from which on they are worth
// a place in the provider's cache: about the 1,024 tokens that its models take
// at least.
const minCached = 4 << 10

// system is the operator's instructions. They are the same for every e-mail of
// an agent, so the provider shall keep long ones in its cache for the next one;
// only with models of these makers it may be asked to.
func system(r model.Request) []types.SystemContentBlock {
	if r.System == "" {
		return nil
	}
	blocks := []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System}}
	if len(r.System) >= minCached && (strings.HasPrefix(r.Model, "anthropic.") || strings.HasPrefix(r.Model, "amazon.nova-")) {
		blocks = append(blocks, &types.SystemContentBlockMemberCachePoint{Value: types.CachePointBlock{Type: types.CachePointTypeDefault}})
	}
	return blocks
}

// text is what the model wrote, without what it thought before.
func text(out types.ConverseOutput) string {
	message, ok := out.(*types.ConverseOutputMemberMessage)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, block := range message.Value.Content {
		if t, ok := block.(*types.ContentBlockMemberText); ok {
			b.WriteString(t.Value)
		}
	}
	return b.String()
}

// told are the errors whose messages are for the log: they say what to set up.
// Those of others may hold what was signed.
var told = map[string]bool{
	"AccessDeniedException": true, "ResourceNotFoundException": true, "ServiceQuotaExceededException": true, "ValidationException": true,
}

// failure says in the words of package model why there is no answer.
func failure(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	switch {
	case !ok || answer.HTTPStatusCode() == 0:
		return model.ConnectionError(err)
	case answer.HTTPStatusCode() == 200:
		return model.UnreadableError(fmt.Errorf("request %s: %w", answer.ServiceRequestID(), answer.Err))
	}
	cause := fmt.Errorf("status %d, request %s", answer.HTTPStatusCode(), untrusted.Line(answer.ServiceRequestID(), 100))
	api, ok := errors.AsType[smithy.APIError](err)
	if ok {
		cause = fmt.Errorf("%s, %w", untrusted.Line(api.ErrorCode(), 100), cause)
	}
	if ok && told[api.ErrorCode()] {
		cause = fmt.Errorf("%w: %s", cause, untrusted.Line(api.ErrorMessage(), 300))
	}
	if ok && api.ErrorCode() == "ValidationException" && strings.Contains(api.ErrorMessage(), "too long") {
		return model.TooLongError(cause)
	}
	return model.StatusError(answer.HTTPStatusCode(), answer.Response.Header, cause)
}
