package dynamo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// failure turns an error of the SDK into one of package store. An error that
// is none of them, such as a missing table or permission, is for the operator.
//
// The cause of an [store.ErrUnavailable] is told and not wrapped: an attempt
// that timed out is a context.DeadlineExceeded for errors.Is, and the caller's
// deadline has not passed.
func (t *Table) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("dynamo: table %s: %w", t.name, ctx.Err())
	}
	api, answered := errors.AsType[smithy.APIError](err)
	switch {
	case answered && api.ErrorCode() == "ValidationException":
		return invalid(api.ErrorMessage())
	case !answered || t.retryer.IsErrorRetryable(err):
		return fmt.Errorf("%w: dynamo: table %s: %v", store.ErrUnavailable, t.name, err)
	}
	return fmt.Errorf("dynamo: table %s: %w", t.name, err)
}

// invalid turns the message of a ValidationException into an error. What is
// over a limit of package store has been refused before; DynamoDB may still
// find that adding makes an item too large.
func invalid(message string) error {
	kind := store.ErrInvalid
	if strings.Contains(message, "exceeded the maximum allowed size") {
		kind = store.ErrLimit
	}
	return fmt.Errorf("%w: dynamo: %s", kind, message)
}

// singleFailure is the failure of a single op. A condition that did not hold
// after an attempt that perhaps went through may have met that very attempt,
// so it says nothing.
func (t *Table) singleFailure(ctx context.Context, watch *attempts, err error) error {
	refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err)
	switch {
	case !ok:
		return t.failure(ctx, err)
	case watch.unsure:
		return fmt.Errorf("%w: dynamo: table %s: the reply to a conditional write was lost", store.ErrUnavailable, t.name)
	}
	return conditionError(0, refused.Item)
}

// transactionFailure is the failure of a transaction.
func (t *Table) transactionFailure(ctx context.Context, err error) error {
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return t.failure(ctx, err)
	}
	for n, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			return conditionError(n, reason.Item)
		case "ValidationError":
			return invalid(aws.ToString(reason.Message))
		}
	}
	return t.failure(ctx, err)
}

func conditionError(op int, stored map[string]types.AttributeValue) error {
	if stored == nil {
		return &store.ConditionError{Op: op}
	}
	old, err := decode(stored)
	if err != nil {
		return err
	}
	return &store.ConditionError{Op: op, Old: &old}
}

// attempts is the retryer of a single write, which has no token by which
// DynamoDB would know it again. It notes whether an attempt that failed may
// have gone through, and ends a write that must not go through twice there.
type attempts struct {
	aws.Retryer
	once   bool
	unsure bool
}

// IsErrorRetryable is called after each failed attempt.
func (a *attempts) IsErrorRetryable(err error) bool {
	if !refused(err) {
		a.unsure = true
	}
	return !(a.once && a.unsure) && a.Retryer.IsErrorRetryable(err)
}

// refused reports whether an attempt surely wrote nothing: DynamoDB said so,
// or it was never reached.
func refused(err error) bool {
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		return true
	}
	answer, ok := errors.AsType[*awshttp.ResponseError](err) // of status 0 when there was none
	return ok && answer.HTTPStatusCode() >= 400 && answer.HTTPStatusCode() < http.StatusInternalServerError
}

// retryableConflict adds to what the SDK finds worth another attempt: a write
// that met a transaction at the same item, and a transaction that met another,
// or a throttle. Neither wrote anything.
func retryableConflict(err error) aws.Ternary {
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return aws.TrueTernary
	}
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok {
		return aws.UnknownTernary
	}
	for _, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			return aws.FalseTernary
		}
	}
	return aws.TrueTernary
}
