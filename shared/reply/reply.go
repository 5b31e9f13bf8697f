// Package reply answers e-mails with what their agents wrote: whether one may
// be answered by a program at all ([Refusal], RFC 3834), the message that answers
// it ([Compose]), and the ways out of here ([Outbox]; package ses below).
//
// It may import inbox, pipeline, clip and untrusted, and stores nothing: that an
// answer is sent once, and how many a sender gets, is for who calls it.
package reply

import (
	"context"
	"errors"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// MaxPerDay is how many answers one sender gets from one inbox in a day (UTC).
// It is what ends a conversation of two programs that do not say that they are
// any.
const MaxPerDay = 10

// Message is a message to be sent. Make it with [Compose].
type Message struct {
	ID   inbox.ID // of the answer: one is sent once
	From string   // the inbox's address, in ASCII, also the envelope's
	To   string   // the one address that it goes to, in ASCII
	Raw  []byte   // RFC 5322, lines ending in CRLF
}

// Sender sends messages.
type Sender interface {
	// Send sends a message once, and does not try again. After an error that is
	// neither [ErrRefused] nor [ErrNotSent] it may have been sent or not.
	Send(ctx context.Context, m Message) error
}

// What errors of a [Sender] wrap.
var (
	// ErrRefused: it was not sent, and will not be however often it is tried.
	ErrRefused = errors.New("reply: the message was refused")
	// ErrNotSent: it was certainly not sent, and may be tried again later.
	ErrNotSent = errors.New("reply: the message was not sent")
)
