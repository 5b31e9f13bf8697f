package mcp

import (
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
// WWW-Authenticate or Retry-After, and a JSON-RPC error as the body.
type Refusal struct {
	Status int
	Header http.Header
	Err    *Error
}

func (e *Refusal) Error() string { return fmt.Sprintf("HTTP %d: %v", e.Status, e.Err) }
