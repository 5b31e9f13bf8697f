package inbox

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// The bounds of what people write into records: those of the product's public API,
// and where it is silent, room enough. Sizes are in bytes, but for labels.
const (
	MaxLabel         = 120 // characters
	MaxEmailPrefix   = 60
	MaxRecipients    = 500
	MaxAddress       = 254      // RFC 5321 §4.5.3.1.3
	MaxMetadata      = 16 << 10 // of each object
	MaxSystemMessage = 64 << 10
	MaxURL           = 2048
	MaxSecretValue   = 32 << 10
	MaxDescription   = 1000     // characters
	MaxAttachments   = 500      // in number
	MaxMessage       = 40 << 20 // attachments and all: what SES receives at most
)

// The limits of a workspace: more is limit_exceeded.
const (
	MaxInboxes  = 100
	MaxAgents   = 100
	MaxWebhooks = 100
	MaxSecrets  = 100
)

// What an inbox has that is created without attachment limits.
const (
	DefaultAttachments    = 10
	DefaultAttachmentSize = 10 << 20
	DefaultAttachmentsSum = 25 << 20
)

// Validate returns an [*Error] that names the first field that no workspace can
// have so.
func (w *Workspace) Validate() error {
	return cmp.Or(
		label(w.Label),
		check("email_prefix", len(w.EmailPrefix) <= MaxEmailPrefix && prefix().MatchString(w.EmailPrefix),
			"The e-mail prefix must be 1 to %d of a-z and 0-9, with single hyphens between them.", MaxEmailPrefix),
		check("locale", w.Locale == English || w.Locale == Portuguese, "The locale must be %s or %s.", English, Portuguese),
		check("monthly_cost_limit", w.MonthlyCostLimit == nil || *w.MonthlyCostLimit > 0 && !math.IsInf(*w.MonthlyCostLimit, 0),
			"The monthly cost limit must be more than 0, or null for none."),
		check("monthly_emails_limit", w.MonthlyEmailsLimit == nil || *w.MonthlyEmailsLimit > 0,
			"The monthly limit of e-mails must be more than 0, or null for none."),
		object("custom_metadata", w.CustomMetadata),
		object("metadata", w.Metadata),
	)
}

// Validate is [Workspace.Validate] for an inbox. Whether its address is in the
// right domain and its agent exists is not seen here.
func (i *Inbox) Validate() error {
	_, filters := ParseFilters(i.Filters)
	_, recipients := Recipients(i.AllowedRecipients)
	return cmp.Or(
		label(i.Label),
		check("email", IsAddress(i.Email), "The address of an inbox must be an e-mail address."),
		status(i.Status),
		recipients,
		filters,
		between("attachments_max_file_number", i.AttachmentsMaxFileNumber, MaxAttachments),
		between("attachments_max_file_size", i.AttachmentsMaxFileSize, MaxMessage),
		between("attachments_max_total_size", i.AttachmentsMaxTotalSize, MaxMessage),
		object("custom_metadata", i.CustomMetadata),
		object("metadata", i.Metadata),
	)
}

// Validate is [Workspace.Validate] for an agent. Whether there is such a model
// is for [CheckModel].
func (a *Agent) Validate() error {
	return cmp.Or(
		label(a.Label),
		check("system_message", len(a.SystemMessage) <= MaxSystemMessage && utf8.ValidString(a.SystemMessage),
			"The system message must be text of at most %d bytes.", MaxSystemMessage),
		check("skills_repo", a.SkillsRepo == nil || isHTTPS(*a.SkillsRepo),
			"The skills repository must be an https:// URL of at most %d bytes, without user name and password, or null for none.", MaxURL),
	)
}

// Validate is [Workspace.Validate] for a webhook, but for its URL, which those
// judge who send to it.
func (w *Webhook) Validate() error {
	known := append(WebhookEvents(), AllEvents)
	unknown := func(slug string) bool { return !slices.Contains(known, slug) }
	return cmp.Or(
		label(w.Label),
		status(w.Status),
		check("subscribed_events", len(w.SubscribedEvents) > 0 && !slices.ContainsFunc(w.SubscribedEvents, unknown),
			"The subscribed events must be %s, one at least.", oneOf(known)),
	)
}

// Validate is [Workspace.Validate] for a secret.
func (s *Secret) Validate() error {
	return cmp.Or(
		check("name", secretName().MatchString(s.Name), "The name of a secret must be 1 to 64 letters, digits and _ . - and begin with a letter."),
		check("description", s.Description == nil || isText(*s.Description) && utf8.RuneCountInString(*s.Description) <= MaxDescription,
			"The description must be text of at most %d characters, or null for none.", MaxDescription),
	)
}

// CheckSecretValue returns an [*Error] unless v may be the value of a secret. It
// never tells the value.
func CheckSecretValue(v string) error {
	return check("value", v != "" && len(v) <= MaxSecretValue && utf8.ValidString(v),
		"The value of a secret must be text of 1 to %d bytes.", MaxSecretValue)
}

// CheckModel returns an [*Error] unless an agent can run on the model.
func CheckModel(id string) error {
	models, err := Models()
	if err != nil {
		return err
	}
	return check("llm_model", slices.ContainsFunc(models, func(m Model) bool { return m.ID == id }),
		"There is no such model: models_list has those that an agent can run on.")
}

// CheckExternalID returns an [*Error] unless id may be an external_id: a UUID
// in its usual form.
func CheckExternalID(id string) error {
	u, err := uuid.Parse(id)
	return check("external_id", err == nil && u.String() == strings.ToLower(id), "The external_id must be a UUID.")
}

var (
	prefix     = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	secretName = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)
)

func isHTTPS(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && len(s) <= MaxURL
}

// isText reports whether s is UTF-8 without control characters.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) }

// maxMarks bounds the marks on one character of a label; no word of any
// language has more.
const maxMarks = 4

func label(s string) error {
	return cmp.Or(
		check("label", isText(s) && strings.ContainsFunc(s, isVisible) && utf8.RuneCountInString(s) <= MaxLabel,
			"The label must be one line of 1 to %d characters, one at least that can be seen.", MaxLabel),
		check("label", !marksPile(s), "The label must have at most %d combining marks in a row.", maxMarks),
	)
}

// isVisible reports whether r shows something by itself.
func isVisible(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) &&
		r != '\u2800' && r != utf8.RuneError // the empty Braille pattern; what was not understood
}

// marksPile reports whether more than [maxMarks] marks follow one another in s.
// Characters that show nothing do not part them.
func marksPile(s string) bool {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
			n++
		case unicode.In(r, unicode.Z) || isVisible(r) || unicode.Is(unicode.Mc, r):
			n = 0
		}
		if n > maxMarks {
			return true
		}
	}
	return false
}

func status(s Status) error {
	return check("status", s == Active || s == Inactive, "The status must be %s or %s.", Active, Inactive)
}

func between(field string, n, most int64) error {
	return check(field, n > 0 && n <= most, "%s must be from 1 to %d.", field, most)
}

func object(field string, o Object) error {
	ok := len(o) == 0 || len(o) <= MaxMetadata && o.Kind() == '{' && o.IsValid()
	return check(field, ok, "%s must be a JSON object of at most %d bytes.", field, MaxMetadata)
}

// check returns nil if the field is all right, and else what is wrong with it.
func check(field string, ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return invalid(field, format, args...)
}

// invalid is an error in a field of what was to be written.
func invalid(field, format string, args ...any) *Error {
	return Errorf(CodeInvalid, field, "%s Nothing was changed.", fmt.Sprintf(format, args...))
}

// oneOf lists what there is to choose from.
func oneOf[S ~string](list []S) string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = string(s)
	}
	return "one of " + strings.Join(names, ", ")
}
