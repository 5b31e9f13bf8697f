package model

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"
)

// The sentences of failures that more than one provider has.
const (
	refusedRequest = "The model provider refused the request."
	refusedAccess  = "The model provider refused access: its credentials, or the permission to use this model, are missing."
	tooLong        = "The e-mail and the agent's instructions are longer than the model can read."
	filtered       = "The model provider's filter held the answer back."
	busy           = "The model provider has too much to do, or the account asks too often."
	broken         = "The model provider failed."
	unreadable     = "The model provider's answer could not be read."
	unreached      = "The model provider could not be reached."
)

// statuses are the failures that HTTP statuses stand for, the same with every
// provider. Of those that are not listed, 5xx may be retried and others may not.
var statuses = map[int]Error{
	http.StatusUnauthorized:          {Sentence: refusedAccess},
	http.StatusPaymentRequired:       {Sentence: "The account at the model provider has no credit left."},
	http.StatusForbidden:             {Sentence: refusedAccess},
	http.StatusNotFound:              {Sentence: "The model provider does not have this model."},
	http.StatusRequestTimeout:        {Sentence: "The model did not answer in the provider's time.", Retry: true},
	http.StatusRequestEntityTooLarge: {Sentence: tooLong},
	http.StatusFailedDependency:      {Sentence: "The model failed.", Retry: true}, // Bedrock's ModelErrorException
	http.StatusTooManyRequests:       {Sentence: busy, Retry: true},
}

// StatusError is the failure that an HTTP status stands for. The header says
// how long to wait, the cause is for the log.
func StatusError(status int, header http.Header, cause error) *Error {
	e, ok := statuses[status]
	switch {
	case ok:
	case status >= 500:
		e = Error{Sentence: broken, Retry: true}
	case status >= 400:
		e = Error{Sentence: refusedRequest}
	default: // a redirect, which nobody follows, among them
		e = Error{Sentence: unreadable}
	}
	if e.Retry {
		e.After = retryAfter(header.Get("Retry-After"))
	}
	e.Cause = cause
	return &e
}

// TooLongError says that the question is longer than the model can read.
func TooLongError(cause error) *Error { return &Error{Sentence: tooLong, Cause: cause} }

// FilteredError says that the provider has kept the answer to itself.
func FilteredError(cause error) *Error { return &Error{Sentence: filtered, Cause: cause} }

// AccessError says that there are no credentials to ask with.
func AccessError(cause error) *Error { return &Error{Sentence: refusedAccess, Cause: cause} }

// ConnectionError is why no answer came, when err says neither a status nor
// that it was the answer that could not be read.
func ConnectionError(err error) *Error {
	return &Error{Sentence: unreached, Retry: true, Cause: err}
}

// UnreadableError says that the provider's answer makes no sense. It may the
// next time.
func UnreadableError(err error) *Error {
	return &Error{Sentence: unreadable, Retry: true, Cause: err}
}

// retryAfter reads the seconds of a Retry-After field. Providers of models send
// no dates.
func retryAfter(value string) time.Duration {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	return time.Duration(math.Min(seconds, 86400) * float64(time.Second))
}

// asError makes an [*Error] of what a [Model] returned.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Sentence: broken, Cause: err}
}
