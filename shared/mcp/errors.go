package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON-RPC and MCP error codes (checklist §4).
const (
	CodeParse               = -32700
	CodeInvalidRequest      = -32600
	CodeMethodNotFound      = -32601
	CodeInvalidParams       = -32602
	CodeInternal            = -32603
	CodeResourceNotFound    = -32002 // 2025 era only
	CodeHeaderMismatch      = -32020
	CodeMissingCapability   = -32021
	CodeUnsupportedProtocol = -32022
)

// Error is a JSON-RPC error. Its message is shown to the client, so it holds
// no internals.
type Error struct {
	Code    int
	Message string
	Data    jsontext.Value // nil: none
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Errorf makes an [Error] with a formatted message.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Refusal is an answer decided at the HTTP level: a status, headers such as
// WWW-Authenticate or Retry-After, and a JSON-RPC error as the body. A nil Err
// is -32600 with a general message.
type Refusal struct {
	Status int
	Header http.Header
	Err    *Error
}

func (e *Refusal) Error() string { return fmt.Sprintf("HTTP %d: %v", e.Status, e.Err) }

func refuse(status, code int, format string, args ...any) *Refusal {
	return &Refusal{Status: status, Err: Errorf(code, format, args...)}
}

func tooLarge(sentence string) *Error {
	return Errorf(CodeInternal, "response_too_large: %s", sentence)
}

// internal is what the client is told of an error that is not for it.
func internal(err error) *Error {
	if errors.Is(err, context.DeadlineExceeded) {
		return Errorf(CodeInternal, "timeout: the server gave up waiting; whether the call took effect is not known")
	}
	return Errorf(CodeInternal, "internal: the server could not answer this request")
}
