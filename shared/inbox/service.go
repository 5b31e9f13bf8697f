package inbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// Reader is the part of [Service] that only reads. Every method works in the
// one workspace it is given: a record of another workspace is not found, by
// the same answer as one that never existed.
//
// A ref is an id or, for workspaces, inboxes, agents and webhooks, an
// external_id. Errors that a caller can act on are [*Error]s.
type Reader interface {
	// Workspaces returns one page of the given workspaces, in their order.
	Workspaces(ctx context.Context, ids []access.WorkspaceID, p PageRequest) (Page[Workspace], error)
	// Workspace returns the one among ids that ref names.
	Workspace(ctx context.Context, ids []access.WorkspaceID, ref string) (Workspace, error)

	Inboxes(ctx context.Context, ws access.WorkspaceID, p PageRequest) (Page[Inbox], error)
	Inbox(ctx context.Context, ws access.WorkspaceID, ref string) (Inbox, error)

	Emails(ctx context.Context, ws access.WorkspaceID, f EmailFilter, p PageRequest) (Page[Email], error)
	Email(ctx context.Context, ws access.WorkspaceID, id ID) (Email, EmailContent, error)
	// EmailLink returns a short-lived signed URL of the raw message.
	EmailLink(ctx context.Context, ws access.WorkspaceID, id ID) (Link, error)

	Agents(ctx context.Context, ws access.WorkspaceID, p PageRequest) (Page[Agent], error)
	Agent(ctx context.Context, ws access.WorkspaceID, ref string) (Agent, error)

	AgentRuns(ctx context.Context, ws access.WorkspaceID, f AgentRunFilter, p PageRequest) (Page[AgentRun], error)
	AgentRun(ctx context.Context, ws access.WorkspaceID, id ID) (AgentRun, error)

	WorkflowRuns(ctx context.Context, ws access.WorkspaceID, f WorkflowRunFilter, p PageRequest) (Page[WorkflowRun], error)
	WorkflowRun(ctx context.Context, ws access.WorkspaceID, id ID) (WorkflowRun, error)

	Webhooks(ctx context.Context, ws access.WorkspaceID, p PageRequest) (Page[Webhook], error)
	Webhook(ctx context.Context, ws access.WorkspaceID, ref string) (Webhook, error)

	// Deliveries lists the deliveries of one webhook.
	Deliveries(ctx context.Context, ws access.WorkspaceID, webhook string, f DeliveryFilter, p PageRequest) (Page[Delivery], error)
	Delivery(ctx context.Context, ws access.WorkspaceID, webhook string, id ID) (Delivery, error)

	SystemEvents(ctx context.Context, ws access.WorkspaceID, f SystemEventFilter, p PageRequest) (Page[SystemEvent], error)
	SystemEvent(ctx context.Context, ws access.WorkspaceID, id ID) (SystemEvent, error)

	Secrets(ctx context.Context, ws access.WorkspaceID, p PageRequest) (Page[Secret], error)

	Models(ctx context.Context) ([]Model, error)
	// Usage sums the days from (included) to to (included), in UTC.
	Usage(ctx context.Context, ws access.WorkspaceID, from, to time.Time) (Usage, error)

	// RecentIDs returns the ids of the newest records of a family that begin
	// with prefix, newest first, at most n, and whether there are more. It is
	// one query.
	RecentIDs(ctx context.Context, ws access.WorkspaceID, f Family, prefix string, n int) (ids []string, more bool, err error)
}

// Family names a kind of record that has ids to complete.
type Family string

// The families of [Reader.RecentIDs].
const (
	Inboxes      Family = "inboxes"
	Emails       Family = "emails"
	Agents       Family = "agents"
	AgentRuns    Family = "agent_runs"
	WorkflowRuns Family = "workflow_runs"
	Webhooks     Family = "webhooks"
	SystemEvents Family = "system_events"
)

// PageRequest asks for one page of a list, newest first.
type PageRequest struct {
	Limit  int    // 1 to [MaxLimit]; 0 means [DefaultLimit]
	Cursor string // NextCursor of the page before, "" for the first
	// MaxBytes ends the page early, before its records' JSON exceeds it.
	// 0: no bound.
	MaxBytes int
}

// The bounds of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Page is one page of a list.
type Page[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor"` // null on the last page
}

// EmailFilter narrows [Reader.Emails]; zero fields do not filter.
type EmailFilter struct {
	Inbox  string // ref
	Status EmailStatus
	From   string    // the sender's address, compared without case
	Since  time.Time // received at or after
	Until  time.Time // received before
}

// AgentRunFilter narrows [Reader.AgentRuns].
type AgentRunFilter struct {
	Inbox  string // ref
	Agent  string // ref
	Email  ID
	Status RunStatus
	Since  time.Time // created at or after
	Until  time.Time // created before
}

// WorkflowRunFilter narrows [Reader.WorkflowRuns].
type WorkflowRunFilter struct {
	Email ID
}

// DeliveryFilter narrows [Reader.Deliveries].
type DeliveryFilter struct {
	Status DeliveryStatus
}

// SystemEventFilter narrows [Reader.SystemEvents].
type SystemEventFilter struct {
	Slug  string
	Email ID
}

// Link is a signed URL that works until it expires.
type Link struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}

// Code classifies an [Error].
type Code string

// The codes of an [Error]; they are those a tool's caller sees.
const (
	CodeInvalid     Code = "invalid_arguments"
	CodeNotFound    Code = "not_found"
	CodeConflict    Code = "conflict"
	CodeLimit       Code = "limit_exceeded"
	CodeUnavailable Code = "unavailable"
)

// Error is an error that the caller can understand and act on. Message is a
// sentence without internals; Err, when set, is the cause, for logs.
type Error struct {
	Code    Code
	Field   string // the argument at fault, "" when none
	Message string
	Err     error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %s (%v)", e.Code, e.Message, e.Err)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// ErrChanged is the cause of a conflict over a record that is not any more as
// it was when it was read; test with errors.Is.
var ErrChanged = errors.New("inbox: the record changed since it was read")

// CodeOf returns the code of the [Error] in err, "" when there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// Errorf makes an [Error] with a formatted message.
func Errorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}
