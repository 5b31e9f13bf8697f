package reply

import (
	"regexp"
	"slices"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
)

// Code says why an e-mail is not answered.
type Code string

// The codes of a refusal.
const (
	CodeNoSender         Code = "no_sender"
	CodeLoop             Code = "sender_is_inbox"
	CodeNotAuthenticated Code = "sender_not_authenticated"
	CodeSuspicious       Code = "not_clean"
	CodeUnattended       Code = "sender_unattended"
	CodeBounce           Code = "bounce"
	CodeBulk             Code = "bulk"
	CodeAutomatic        Code = "automatic"
	CodeUnclear          Code = "header_incomplete"
	CodeLimit            Code = "sender_limit" // by whoever counts them: [MaxPerDay]
)

// Sentence is what the code means, for people.
func (c Code) Sentence() string {
	return map[Code]string{
		CodeNoSender:         "The message does not come from one address that could be answered.",
		CodeLoop:             "The sender is an inbox itself: answers would go round in circles.",
		CodeNotAuthenticated: "Nothing shows that the message is from the sender's address: an answer might reach somebody else.",
		CodeSuspicious:       "The scan on arrival did not find the message free of spam and viruses.",
		CodeUnattended:       "Nobody reads what is sent to the sender's address.",
		CodeBounce:           "The message reports on another one, such as that it could not be delivered.",
		CodeBulk:             "The message was sent to many, as by a mailing list.",
		CodeAutomatic:        "A program sent the message, or it asks programs not to answer.",
		CodeUnclear:          "The message's header is missing or too long to see whether a program sent it.",
		CodeLimit:            "The sender has had all answers of the day.",
	}[c]
}

// Refusal is why a program must not answer an e-mail that came into the inbox,
// "" where it may (RFC 3834 §2, and what programs do that it does not know). It
// errs on the side of silence: who gets no answer writes again, but two programs
// that answer one another do not stop.
//
// Who is known not to be the sender is never answered, and with verifiedOnly,
// which is for wherever senders are looked at, nobody else than who is known to
// be: the answer would go to whom the address was stolen from.
func Refusal(in inbox.Inbox, e inbox.Email, c inbox.EmailContent, verifiedOnly bool) Code {
	from, ok := recipient(e)
	switch own, _ := asciiAddress(in.Email); {
	case !ok || !onlySender(e, c):
		return CodeNoSender
	case domain(from) == domain(own): // all addresses there are inboxes
		return CodeLoop
	}
	switch sender := pipeline.SenderOf(e); {
	case sender == pipeline.SenderUnauthenticated, verifiedOnly && sender != pipeline.SenderVerified:
		return CodeNotAuthenticated
	case !clean(e.SpamVerdict), !clean(e.VirusVerdict):
		return CodeSuspicious
	case unattended(from):
		return CodeUnattended
	case slices.ContainsFunc(e.Attachments, func(a inbox.Attachment) bool { return isReport(a.ContentType) }):
		return CodeBounce
	case len(c.Headers) == 0 || headerSize(c.Headers) > maxHeader:
		return CodeUnclear
	}
	for _, h := range c.Headers {
		name, value := strings.ToLower(h.Name), strings.ToLower(strings.TrimSpace(h.Value))
		for _, s := range signs {
			if s.is(name) && s.tells(value) {
				return s.code
			}
		}
	}
	return ""
}

// recipient is the address that an answer to an e-mail goes to: the one that it
// is from. Never one of Reply-To or Cc. Those are the sender's word, which
// nobody verifies: by them anybody could have this inbox write to others.
func recipient(e inbox.Email) (string, bool) { return asciiAddress(e.From) }

// asciiAddress is an address as every mail server takes it, its domain as
// [inbox.NormalDomain] has it; false for what cannot be written so, or is no name
// of a domain.
func asciiAddress(s string) (string, bool) {
	i := strings.LastIndexByte(s, '@')
	if !inbox.IsAddress(s) || i < 0 || strings.ContainsFunc(s[:i], func(r rune) bool { return r > '~' }) {
		return "", false
	}
	domain, ok := inbox.NormalDomain(s[i+1:])
	a := s[:i+1] + domain
	return a, ok && inbox.IsAddress(a)
}

func domain(address string) string { return address[strings.LastIndexByte(address, '@')+1:] }

// addresses are what looks like an address in a header field that was decoded.
var addresses = regexp.MustCompile(`[^\s<>()\[\],;:"]+@[^\s<>()\[\],;:"]+`)

// onlySender reports whether the message has one field From and no other
// address than that of the e-mail in it, not in a name either.
func onlySender(e inbox.Email, c inbox.EmailContent) bool {
	fields, found := 0, false
	for _, h := range c.Headers {
		if !strings.EqualFold(h.Name, "From") {
			continue
		}
		fields++
		for _, a := range addresses.FindAllString(h.Value, -1) {
			if !inbox.SameAddress(strings.TrimRight(a, "."), e.From) {
				return false
			}
			found = true
		}
	}
	return fields == 1 && found || len(c.Headers) == 0 // of which nothing can be said
}

// clean reports whether a scan on arrival, if there was one, found nothing.
func clean(verdict *string) bool { return verdict == nil || *verdict == "PASS" }

// maxHeader is the size of a header, in bytes, of which it is certain that all
// of it was kept.
const maxHeader = 32 << 10

func headerSize(headers []inbox.Header) (n int) {
	for _, h := range headers {
		n += len(h.Name) + len(h.Value)
	}
	return n
}

// sign is a header field that tells of what kind a message is. Names and values
// are in lower case; a name that ends in * is the beginning of one.
type sign struct {
	code  Code
	name  string
	tells func(value string) bool
}

func (s sign) is(name string) bool {
	if beginning, ok := strings.CutSuffix(s.name, "*"); ok {
		return strings.HasPrefix(name, beginning)
	}
	return name == s.name
}

var signs = []sign{
	{CodeBounce, "return-path", func(v string) bool { return v == "" || v == "<>" }},
	{CodeBounce, "content-type", func(v string) bool { return isReport(firstWord(v)) }},
	{CodeBounce, "x-failed-recipients", anyValue},
	{CodeUnattended, "return-path", namesUnattended},
	{CodeUnattended, "sender", namesUnattended},
	{CodeAutomatic, "auto-submitted", func(v string) bool { return firstWord(v) != "no" }},
	{CodeAutomatic, "x-auto-response-suppress", oneOf("all", "autoreply", "oof", "dr")},
	{CodeAutomatic, "x-autoreply*", anyValue},
	{CodeAutomatic, "x-auto-reply*", anyValue},
	{CodeAutomatic, "x-autorespond*", anyValue},
	{CodeAutomatic, "precedence", oneOf("auto_reply", "auto-reply")},
	{CodeBulk, "precedence", oneOf("bulk", "list", "junk")},
	{CodeBulk, "list-*", anyValue},
	{CodeBulk, "mailing-list", anyValue},
	{CodeBulk, "x-mailing-list", anyValue},
	{CodeBulk, "x-beenthere", anyValue},
	{CodeBulk, "x-loop", anyValue},
}

func anyValue(string) bool { return true }

// oneOf tells by a value that has one of the words in its list.
func oneOf(words ...string) func(string) bool {
	return func(value string) bool {
		for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t,;", r) }) {
			if slices.Contains(words, word) {
				return true
			}
		}
		return false
	}
}

// firstWord is a value without parameters and comments.
func firstWord(value string) string {
	if i := strings.IndexAny(value, " \t;("); i >= 0 {
		value = value[:i]
	}
	return value
}

// isReport reports whether that type of content tells of another message: of its
// delivery (RFC 3464), its reading (RFC 8098), or a complaint (RFC 5965).
func isReport(contentType string) bool {
	return slices.Contains([]string{
		"multipart/report", "message/delivery-status", "message/global-delivery-status", "message/disposition-notification",
		"message/global-disposition-notification", "message/feedback-report",
	}, strings.ToLower(contentType))
}

func namesUnattended(value string) bool {
	return slices.ContainsFunc(addresses.FindAllString(value, -1), unattended)
}

var (
	programs = regexp.MustCompile(`^(mailer-?daemon|postmaster|daemon|root|nobody|mailman|majordomo|listserv|listproc|auto-?reply|auto-?responder|bounces?)([+=].*)?$` +
		`|^(owner|bounces?)-|-(request|owner|bounces?)([+=].*)?$`)
	noReply    = regexp.MustCompile(`noreply|donotreply|dontreply|noresponder?|naoresponda|naoresponder|nepasrepondre`)
	separators = strings.NewReplacer(".", "", "-", "", "_", "")
)

// unattended reports whether the name before the @ says that a program is
// behind it, or nobody.
func unattended(address string) bool {
	local, _, _ := strings.Cut(strings.ToLower(address), "@")
	return programs.MatchString(local) || noReply.MatchString(separators.Replace(local))
}
