package local

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-smtp"
	"golang.org/x/net/netutil"

	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	rawmail "github.com/universokobana/kobana-inbox-mcp/shared/mail"
)

// Mail comes in by SMTP (RFC 5321), as SES takes it in the cloud: from programs
// on this machine, without TLS and passwords.

const (
	maxRecipients = 100
	// maxTrace is the room for the line that goes before a message.
	maxTrace = 1 << 10
	// maxPath is the size of a sender's address, by more than RFC 5321 allows.
	maxPath = 320
	// maxSMTPLine is by far more than RFC 5321 allows: some programs write a
	// message's HTML in one line.
	maxSMTPLine = 1 << 20
	// maxConnections bounds what messages take of memory.
	maxConnections = 32
	smtpIdle       = 5 * time.Minute // RFC 5321 §4.5.3.2.7; also for all of a message
	smtpWrite      = time.Minute     // of one answer
	keeping        = 2 * time.Minute // of one message, by all of its inboxes
)

// smtpServer puts mail into inboxes.
//
// A transaction succeeds when each inbox that it is for has kept the message.
// When some cannot now, it fails for the time being, and the client repeats all
// of it: what names the transaction is kept until then, so that those which have
// the message do not keep it twice. (It is kept in memory, by the sender and the
// message; a client that never learns of a success repeats what is over, and
// SMTP has nothing against that: RFC 1047.)
type smtpServer struct {
	*smtp.Server
	data *data
	log  *slog.Logger

	mu         sync.Mutex
	listener   net.Listener
	ending     bool
	running    sync.WaitGroup               // transactions, until the client was told
	unfinished map[[sha256.Size]byte]string // ids of transactions that are to be repeated
}

// maxUnfinished is how many transactions are remembered that no client came back
// for.
const maxUnfinished = 1000

func newSMTPServer(d *data, log *slog.Logger) *smtpServer {
	s := &smtpServer{data: d, log: log, unfinished: map[[sha256.Size]byte]string{}}
	s.Server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &smtpSession{server: s}, nil }))
	s.Domain, s.EnableSMTPUTF8 = "localhost", true
	s.MaxRecipients, s.MaxMessageBytes = maxRecipients, intake.MaxRaw-maxTrace
	s.MaxLineLength, s.ReadTimeout, s.WriteTimeout = maxSMTPLine, smtpIdle, smtpWrite
	s.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	return s
}

// Serve takes mail until the server ends.
func (s *smtpServer) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listener = l
	ending := s.ending
	s.mu.Unlock()
	if ending {
		return l.Close()
	}
	return s.Server.Serve(netutil.LimitListener(l, maxConnections))
}

// Shutdown lets transactions come to their end, as long as the context lasts,
// and closes all connections. (The library's waits for those that nothing comes
// from, too.)
func (s *smtpServer) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.ending = true
	if s.listener != nil {
		s.listener.Close()
	}
	s.mu.Unlock()
	over := make(chan struct{})
	go func() { s.running.Wait(); close(over) }()
	select {
	case <-over:
	case <-ctx.Done():
	}
	if err := s.Server.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// begin notes that a transaction runs, unless the server ends.
func (s *smtpServer) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.running.Add(1)
	}
	return !s.ending
}

// smtpSession is one connection, with at most one transaction. A message in
// chunks (BDAT) may be given up while it is being taken, so all is locked.
type smtpSession struct {
	server *smtpServer

	mu      sync.Mutex
	from    string
	inboxes []inbox.Inbox // each once
	running bool          // a transaction
}

// Mail implements [smtp.Session]. The empty sender is that of a bounce.
func (s *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if len(from) > maxPath || !utf8.ValidString(from) || strings.ContainsFunc(from, unicode.IsControl) {
		return refusal(553, smtp.EnhancedCode{5, 1, 7}, "This is no address.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return refusal(503, smtp.EnhancedCode{5, 5, 1}, "There is a sender already.")
	}
	if !s.server.begin() {
		return refusal(421, smtp.EnhancedCode{4, 3, 2}, "The server is stopping.")
	}
	s.from, s.running = from, true
	return nil
}

// Rcpt implements [smtp.Session].
func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	ctx, cancel := context.WithTimeout(context.Background(), keeping)
	defer cancel()
	in, err := s.server.data.inboxes.InboxByAddress(ctx, to)
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		return refusal(550, smtp.EnhancedCode{5, 1, 1}, "No inbox has this address.")
	}
	if err != nil {
		s.server.log.WarnContext(ctx, "an inbox cannot be looked up for mail", "error", err)
		return errNotNow
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.inboxes, func(other inbox.Inbox) bool { return other.ID == in.ID }) {
		s.inboxes = append(s.inboxes, in)
	}
	return nil
}

// Data implements [smtp.Session].
func (s *smtpSession) Data(r io.Reader) error {
	s.mu.Lock()
	from, inboxes := s.from, slices.Clone(s.inboxes)
	s.mu.Unlock()
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return s.server.keep(from, inboxes, traced(from, raw))
}

// traced is a message with the line that tells who sent it before its header.
// What has no header is kept as it came: the line would make it look like mail.
func traced(from string, raw []byte) []byte {
	if _, err := rawmail.Parse(raw); err != nil {
		return raw
	}
	message := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\ufeff")), "\r\n") // else the line would be all of its header
	if !bytes.Contains(message, []byte("\n")) {                                // nor would those of old Macs be line ends below it
		message = bytes.ReplaceAll(message, []byte("\r"), []byte("\n"))
	}
	for len(message) > 0 && (message[0] == ' ' || message[0] == '\t') { // else it would be a part of the line
		_, message, _ = bytes.Cut(message, []byte("\n"))
	}
	return slices.Concat(returnPath(from), message)
}

// returnPath is the line that tells who sent a message (RFC 5321 §4.4), to those
// who must not answer a bounce.
func returnPath(from string) []byte {
	if from == "" {
		return []byte("Return-Path: <>\r\n")
	}
	return []byte("Return-Path: " + (&mail.Address{Address: from}).String() + "\r\n")
}

// Reset implements [smtp.Session]. It comes after the answer to a message.
func (s *smtpSession) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		s.server.running.Done()
	}
	s.from, s.inboxes, s.running = "", nil, false
}

// Logout implements [smtp.Session].
func (s *smtpSession) Logout() error {
	s.Reset()
	return nil
}

// keep has all inboxes keep a message.
func (s *smtpServer) keep(from string, inboxes []inbox.Inbox, raw []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), keeping)
	defer cancel()
	digest := digestOf(from, raw)
	id := s.transaction(digest)
	kept, later := 0, false
	for _, in := range inboxes {
		d := intake.Delivery{ID: id, Inbox: in, Raw: raw, EnvelopeFrom: from}
		for _, other := range inboxes {
			if other.WorkspaceID == in.WorkspaceID {
				d.Recipients = append(d.Recipients, other.Email)
			}
		}
		_, err := s.data.intake.Receive(ctx, d)
		switch inbox.CodeOf(err) {
		case inbox.CodeNotFound: // deleted since it was looked up
			continue
		case inbox.CodeLimit:
			return smtp.ErrDataTooLarge // for all of them
		}
		if err != nil && !errors.Is(err, intake.ErrDeleted) {
			s.log.WarnContext(ctx, "mail was not kept", "inbox", in.ID, "error", err)
			later = true
			continue
		}
		kept++
	}
	s.finish(digest, id, !later)
	switch {
	case later:
		return errNotNow
	case kept == 0:
		return refusal(550, smtp.EnhancedCode{5, 1, 1}, "No inbox has this address any more.")
	}
	return nil
}

// digestOf tells transactions apart.
func digestOf(from string, raw []byte) [sha256.Size]byte {
	h := sha256.New()
	io.WriteString(h, from+"\n")
	h.Write(raw)
	return [sha256.Size]byte(h.Sum(nil))
}

// transaction names a transaction: as before, if it is one that did not succeed
// then.
func (s *smtpServer) transaction(digest [sha256.Size]byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.unfinished[digest]; ok {
		return id
	}
	return "smtp-" + rand.Text()
}

// finish forgets a transaction that is over, and remembers one that is not.
func (s *smtpServer) finish(digest [sha256.Size]byte, id string, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if over {
		delete(s.unfinished, digest)
		return
	}
	for other := range s.unfinished { // any of them
		if len(s.unfinished) < maxUnfinished {
			break
		}
		delete(s.unfinished, other)
	}
	s.unfinished[digest] = id
}

// errNotNow has the client try again later.
var errNotNow = refusal(451, smtp.EnhancedCode{4, 3, 0}, "This cannot be done now. Try again later.")

// refusal is an answer of SMTP, with its code of three parts (RFC 3463).
func refusal(code int, enhanced smtp.EnhancedCode, sentence string) *smtp.SMTPError {
	return &smtp.SMTPError{Code: code, EnhancedCode: enhanced, Message: sentence}
}
