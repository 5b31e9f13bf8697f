package pipeline

import (
	"fmt"
	"slices"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// Code says why an e-mail was rejected: its rejection_reason begins with the
// code and a colon.
type Code string

// The codes of a rejection.
const (
	CodeInboxInactive       Code = "inbox_inactive"
	CodeSenderNotAllowed    Code = "sender_not_allowed"
	CodeNotAuthenticated    Code = "sender_not_authenticated"
	CodeVirus               Code = "virus_found"
	CodeFiltered            Code = "filtered"
	CodeAttachmentsRefused  Code = "attachments_not_allowed"
	CodeTooManyAttachments  Code = "too_many_attachments"
	CodeAttachmentTooLarge  Code = "attachment_too_large"
	CodeAttachmentsTooLarge Code = "attachments_too_large"
)

// checkSender lets in whom the inbox allows; an empty list allows anyone. An
// address is only worth something where nobody looked and did not find it to be
// the sender's.
func checkSender(r *Run) Outcome {
	allowed := r.Inbox.AllowedRecipients
	switch {
	case r.Inbox.Status != inbox.Active:
		return Rejected(CodeInboxInactive, "The inbox is not active.")
	case len(allowed) == 0:
		return Passed("Anyone may send to this inbox.")
	case !slices.ContainsFunc(allowed, func(a string) bool { return inbox.SameAddress(a, r.Email.From) }):
		return Rejected(CodeSenderNotAllowed, "The sender is not among those who may send to this inbox.")
	case SenderOf(r.Email) == SenderUnauthenticated:
		return Rejected(CodeNotAuthenticated, "The sender's address is allowed, but nothing shows that the message is from there.")
	}
	return Passed("The sender may send to this inbox.")
}

// checkAttachments turns away what the scan on arrival (SES's verdict) found a
// virus in, and holds the attachments against the inbox's limits; one that
// is not positive is none. Inline ones count: what is inline is the sender's
// word.
func checkAttachments(r *Run) Outcome {
	in, n := r.Inbox, int64(len(r.message.Attachments))
	if v := r.Email.VirusVerdict; v != nil && *v == "FAIL" {
		return Rejected(CodeVirus, "The scan on arrival found a virus in the message.")
	}
	if r.message.Incomplete {
		return Rejected(CodeTooManyAttachments, "The message has more parts than are read, so not all of its attachments can be checked.")
	}
	if n == 0 {
		return Passed("The message has no attachments.")
	}
	var largest, total int64
	for _, a := range r.message.Attachments {
		largest, total = max(largest, a.Size), total+a.Size
	}
	over := func(size, limit int64) bool { return limit > 0 && size > limit }
	switch {
	case !in.AttachmentsAllow:
		return Rejected(CodeAttachmentsRefused, "The message has %s, and the inbox takes none.", count(int(n), "attachment"))
	case over(n, in.AttachmentsMaxFileNumber):
		return Rejected(CodeTooManyAttachments, "The message has %d attachments, and the inbox takes at most %d.", n, in.AttachmentsMaxFileNumber)
	case over(largest, in.AttachmentsMaxFileSize):
		return Rejected(CodeAttachmentTooLarge, "An attachment has %d bytes, and the inbox takes at most %d of each.", largest, in.AttachmentsMaxFileSize)
	case over(total, in.AttachmentsMaxTotalSize):
		return Rejected(CodeAttachmentsTooLarge, "The attachments have %d bytes in all, and the inbox takes at most %d.", total, in.AttachmentsMaxTotalSize)
	}
	return Passed("The inbox takes %s of %d bytes in all.", count(int(n), "attachment"), total)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
