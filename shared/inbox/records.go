// Package inbox is the domain: the records of an AI e-mail inbox and the
// Service that tools call to read and change them. Names, enums and
// nullability follow the public Inbox REST API, so that a client of that API
// could implement [Service] as well as the embedded one in package inboxstore.
//
// It imports access for its ids, and lazy; nothing here knows MCP or a store.
package inbox

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// Object is a JSON object kept as its owner wrote it; nil is the empty one.
type Object = jsontext.Value

// Workspace is where an organization's inboxes, agents and webhooks live.
type Workspace struct {
	ID                 access.WorkspaceID `json:"id"`
	ExternalID         *string            `json:"external_id"`
	Source             string             `json:"source"`
	Label              string             `json:"label"`
	EmailPrefix        string             `json:"email_prefix"`
	Locale             Locale             `json:"locale"`
	MonthlyCostLimit   *float64           `json:"monthly_cost_limit"`
	MonthlyCostUsed    float64            `json:"monthly_cost_used"` // USD, this month, computed on reading
	MonthlyEmailsLimit *int64             `json:"monthly_emails_limit"`
	MonthlyEmailsUsed  int64              `json:"monthly_emails_used"` // this month, computed on reading
	CustomMetadata     Object             `json:"custom_metadata"`
	Metadata           Object             `json:"metadata"`
	CreatedAt          time.Time          `json:"created_at"`
	UpdatedAt          time.Time          `json:"updated_at"`
}

// Locale is the language of the texts that people of a workspace are shown.
type Locale string

// The locales.
const (
	English    Locale = "en"
	Portuguese Locale = "pt-BR"
)

// Inbox is an address that mail arrives at, with the rules that let it in and
// the agent that reads it. Attachment sizes are in bytes.
type Inbox struct {
	ID                       ID                 `json:"id"`
	ExternalID               *string            `json:"external_id"`
	WorkspaceID              access.WorkspaceID `json:"workspace_id"`
	AgentID                  *ID                `json:"agent_id"`
	Label                    string             `json:"label"`
	Email                    string             `json:"email"`
	Status                   Status             `json:"status"`
	AllowedRecipients        []string           `json:"allowed_recipients"` // who may send; empty: anyone
	Filters                  []Object           `json:"filters"`
	AttachmentsAllow         bool               `json:"attachments_allow"`
	AttachmentsMaxFileNumber int64              `json:"attachments_max_file_number"`
	AttachmentsMaxFileSize   int64              `json:"attachments_max_file_size"`
	AttachmentsMaxTotalSize  int64              `json:"attachments_max_total_size"`
	Reply                    Switch             `json:"reply"` // whether what the agent writes is sent to the sender
	CustomMetadata           Object             `json:"custom_metadata"`
	Metadata                 Object             `json:"metadata"`
	CreatedAt                time.Time          `json:"created_at"`
	UpdatedAt                time.Time          `json:"updated_at"`
}

// Status is whether an inbox or a webhook works.
type Status string

// The statuses of inboxes and webhooks.
const (
	Active   Status = "active"
	Inactive Status = "inactive"
)

// Switch is whether something is done.
type Switch string

// The positions of a switch.
const (
	On  Switch = "on"
	Off Switch = "off"
)

// EmailStatus is how far an e-mail came.
type EmailStatus string

// The statuses of an e-mail.
const (
	EmailReceived   EmailStatus = "received"
	EmailApproved   EmailStatus = "approved" // let in, and waiting for its agent
	EmailRejected   EmailStatus = "rejected"
	EmailProcessing EmailStatus = "processing" // its agent reads it
	EmailProcessed  EmailStatus = "processed"  // all is done that the inbox does with it
	EmailFailed     EmailStatus = "failed"
)

// EmailStatuses lists the statuses of an e-mail.
func EmailStatuses() []EmailStatus {
	return []EmailStatus{EmailReceived, EmailApproved, EmailRejected, EmailProcessing, EmailProcessed, EmailFailed}
}

// Email is a message that arrived. Its texts are as the sender wrote them:
// hostile until whoever shows them has cleaned them.
type Email struct {
	ID              ID                 `json:"id"`
	WorkspaceID     access.WorkspaceID `json:"workspace_id"`
	InboxID         ID                 `json:"inbox_id"`
	AgentID         *ID                `json:"agent_id"`
	MessageID       string             `json:"message_id"` // "" when the message has none
	RawS3Key        string             `json:"raw_s3_key"` // blob key of the raw message
	RawSize         int64              `json:"raw_size"`   // bytes
	Subject         *string            `json:"subject"`
	From            string             `json:"from"` // "" when none could be read
	FromName        string             `json:"from_name"`
	To              []string           `json:"to"` // envelope recipients
	Cc              []string           `json:"cc"`
	Bcc             []string           `json:"bcc"`
	HeaderTo        []string           `json:"header_to"`
	Forwarded       bool               `json:"forwarded"`
	ForwardedFor    *string            `json:"forwarded_for"`
	Status          EmailStatus        `json:"status"`
	RejectionReason *string            `json:"rejection_reason"` // why it was rejected or failed
	SpamVerdict     *string            `json:"spam_verdict"`
	VirusVerdict    *string            `json:"virus_verdict"`
	SESMetadata     Object             `json:"aws_ses_metadata"`
	CustomMetadata  Object             `json:"custom_metadata"`
	AgentMetadata   Object             `json:"agent_metadata"`
	Metadata        Object             `json:"metadata"`
	Attachments     []Attachment       `json:"attachments"`
	SentAt          *time.Time         `json:"sent_at"`
	ProcessedAt     *time.Time         `json:"processed_at"`
	ReceivedAt      time.Time          `json:"received_at"`
	CreatedAt       time.Time          `json:"created_at"`
	UpdatedAt       time.Time          `json:"updated_at"`
}

// Attachment describes a part of a message; its content is only in the raw
// message.
type Attachment struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"` // bytes, decoded
	Inline      bool   `json:"inline"`
	ContentID   string `json:"content_id,omitempty"`
	SHA256      string `json:"sha256"` // hex, of the decoded content
}

// EmailContent is the larger part of an e-mail, kept beside it and never in
// lists. Text and HTML are UTF-8, as the sender wrote them.
type EmailContent struct {
	Headers   []Header `json:"headers"`
	Text      *string  `json:"text"` // null when the message has none; then text is made from HTML on showing
	HTML      *string  `json:"html"`
	Truncated bool     `json:"truncated"` // it was cut to fit; text and HTML have 256 KiB in all
}

// Header is one header field of a message, decoded.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Agent is a language model with a system message and skills.
type Agent struct {
	ID            ID                 `json:"id"`
	ExternalID    *string            `json:"external_id"`
	WorkspaceID   access.WorkspaceID `json:"workspace_id"`
	Label         string             `json:"label"`
	LLMModel      string             `json:"llm_model"`
	SystemMessage string             `json:"system_message"`
	SkillsRepo    *string            `json:"skills_repo"`
	CreatedAt     time.Time          `json:"created_at"`
	UpdatedAt     time.Time          `json:"updated_at"`
}

// RunStatus is how an agent or workflow run stands.
type RunStatus string

// The statuses of runs.
const (
	RunRunning RunStatus = "running"
	RunSuccess RunStatus = "success"
	RunFailed  RunStatus = "failed"
)

// AgentRun is one reading of one e-mail by an agent. Costs are in USD.
type AgentRun struct {
	ID           ID                 `json:"id"`
	WorkspaceID  access.WorkspaceID `json:"workspace_id"`
	InboxID      ID                 `json:"inbox_id"`
	AgentID      ID                 `json:"agent_id"`
	EmailID      ID                 `json:"email_id"`
	LLMModel     string             `json:"llm_model"`
	Status       RunStatus          `json:"status"`
	Error        *string            `json:"error"`
	Output       *string            `json:"output"` // what the agent wrote: untrusted, like the mail it read
	InputTokens  int64              `json:"input_tokens"`
	OutputTokens int64              `json:"output_tokens"`
	CacheRead    int64              `json:"cache_read"`
	CacheWrite   int64              `json:"cache_write"`
	CostPerToken float64            `json:"cost_per_token"`
	TotalCost    float64            `json:"total_cost"`
	DurationMS   *int64             `json:"duration_ms"`
	StartedAt    *time.Time         `json:"started_at"`
	FinishedAt   *time.Time         `json:"finished_at"`
	CreatedAt    time.Time          `json:"created_at"`
	UpdatedAt    time.Time          `json:"updated_at"`
}

// WorkflowRun is the pipeline of one e-mail.
type WorkflowRun struct {
	ID          ID                 `json:"id"`
	WorkspaceID access.WorkspaceID `json:"workspace_id"`
	InboxID     ID                 `json:"inbox_id"`
	EmailID     ID                 `json:"email_id"`
	Status      RunStatus          `json:"status"`
	Steps       []Step             `json:"steps"`
	StartedAt   *time.Time         `json:"started_at"`
	FinishedAt  *time.Time         `json:"finished_at"`
	CreatedAt   time.Time          `json:"created_at"`
	UpdatedAt   time.Time          `json:"updated_at"`
}

// Step is one part of a [WorkflowRun].
type Step struct {
	Name       StepName   `json:"name"`
	Status     StepStatus `json:"status"`
	Result     *string    `json:"result"`
	StartedAt  *time.Time `json:"started_at"`
	FinishedAt *time.Time `json:"finished_at"`
}

// StepName names a step.
type StepName string

// The steps, in order.
const (
	StepParse            StepName = "parse"
	StepCheckSender      StepName = "check_sender"
	StepApplyFilters     StepName = "apply_filters"
	StepCheckAttachments StepName = "check_attachments"
	StepRunAgent         StepName = "run_agent"
	StepDeliverWebhooks  StepName = "deliver_webhooks"
)

// StepStatus is how a step stands.
type StepStatus string

// The statuses of a step.
const (
	StepPending StepStatus = "pending"
	StepRunning StepStatus = "running"
	StepSuccess StepStatus = "success"
	StepFailed  StepStatus = "failed"
	StepSkipped StepStatus = "skipped"
)

// Webhook is an address that is told of events. Its credentials and signing
// secret are no part of it: nothing that shows a webhook can show them.
type Webhook struct {
	ID                  ID                 `json:"id"`
	ExternalID          *string            `json:"external_id"`
	WorkspaceID         access.WorkspaceID `json:"workspace_id"`
	InboxID             *ID                `json:"inbox_id"` // null: all inboxes
	Status              Status             `json:"status"`
	Label               string             `json:"label"`
	URL                 string             `json:"url"`
	Auth                WebhookAuth        `json:"auth"`
	SubscribedEvents    []string           `json:"subscribed_events"`    // "*": every event
	ConsecutiveFailures int64              `json:"consecutive_failures"` // moves by itself, and leaves UpdatedAt alone
	CreatedAt           time.Time          `json:"created_at"`
	UpdatedAt           time.Time          `json:"updated_at"`
}

// DeliveryStatus is how a delivery stands.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending DeliveryStatus = "pending"
	DeliverySuccess DeliveryStatus = "success"
	DeliveryFailed  DeliveryStatus = "failed"
)

// Delivery is one attempt to tell a webhook of an event. Headers hold no
// credentials and no signatures.
type Delivery struct {
	ID              ID             `json:"id"`
	WebhookID       ID             `json:"webhook_id"`
	SystemEventID   ID             `json:"system_event_id"`
	Attempt         int64          `json:"attempt"`
	Status          DeliveryStatus `json:"status"`
	RequestHeaders  Object         `json:"request_headers"`
	RequestBody     Object         `json:"request_body"`
	ResponseStatus  *int64         `json:"response_status"`
	ResponseHeaders *Object        `json:"response_headers"` // null when there was no answer
	ResponseBody    *string        `json:"response_body"`    // untrusted, trimmed
	Error           *string        `json:"error"`
	DurationMS      *int64         `json:"duration_ms"`
	DeliveredAt     *time.Time     `json:"delivered_at"`
	NextRetryAt     *time.Time     `json:"next_retry_at"`
	CreatedAt       time.Time      `json:"created_at"`
	UpdatedAt       time.Time      `json:"updated_at"`
}

// SystemEvent is an entry of the append-only event log.
type SystemEvent struct {
	ID          ID                 `json:"id"`
	WorkspaceID access.WorkspaceID `json:"workspace_id"`
	InboxID     *ID                `json:"inbox_id"`
	EmailID     *ID                `json:"email_id"`
	Slug        string             `json:"slug"`
	Payload     Object             `json:"payload"`
	CreatedAt   time.Time          `json:"created_at"`
	UpdatedAt   time.Time          `json:"updated_at"`
}

// Secret is what may be known of a secret: never its value.
type Secret struct {
	ID          ID                 `json:"id"`
	WorkspaceID access.WorkspaceID `json:"workspace_id"`
	Name        string             `json:"name"`
	Description *string            `json:"description"`
	CreatedAt   time.Time          `json:"created_at"`
	UpdatedAt   time.Time          `json:"updated_at"`
}

// Model is a language model that an agent can run on. Prices are in USD per
// million tokens.
type Model struct {
	ID            string  `json:"id"`
	Label         string  `json:"label"`
	Provider      string  `json:"provider"`
	InputPrice    float64 `json:"input_price"`
	OutputPrice   float64 `json:"output_price"`
	CacheRead     float64 `json:"cache_read_price"`
	CacheWrite    float64 `json:"cache_write_price"`
	ContextTokens int64   `json:"context_tokens"`
	Currency      string  `json:"currency"`
}

// Usage is what a workspace processed and spent from the day From to the day
// To, both included, in UTC.
type Usage struct {
	From    string       `json:"from"` // YYYY-MM-DD
	To      string       `json:"to"`
	Total   UsageSum     `json:"total"`
	ByModel []ModelUsage `json:"by_model"` // by cost, highest first
	ByDay   []DayUsage   `json:"by_day"`   // oldest first, days without use left out
}

// UsageSum is a sum of daily counters. Cost is in USD.
type UsageSum struct {
	Emails       int64   `json:"emails"`
	Runs         int64   `json:"runs"`
	FailedRuns   int64   `json:"failed_runs"`
	InputTokens  int64   `json:"input_tokens"`
	OutputTokens int64   `json:"output_tokens"`
	CacheRead    int64   `json:"cache_read"`
	CacheWrite   int64   `json:"cache_write"`
	Cost         float64 `json:"cost"`
}

// ModelUsage is the part of a [Usage] of one model. Its e-mails are those that an
// agent has read on it; those of the total and of a day, those that arrived.
type ModelUsage struct {
	Model string `json:"llm_model"`
	UsageSum
}

// DayUsage is the part of a [Usage] of one day.
type DayUsage struct {
	Date string `json:"date"` // YYYY-MM-DD
	UsageSum
}
