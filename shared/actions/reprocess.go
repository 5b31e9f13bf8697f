package actions

import (
	"context"
	"errors"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/intake"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// ReprocessEmail implements inbox.Actions: the raw message goes through the
// rules that its inbox has now, and what is let in is left to the inbox's agent,
// in one change like any other. The agent's job is named by the confirmation.
func (s *Service) ReprocessEmail(ctx context.Context, by inbox.Actor, was inbox.Email) (inbox.WorkflowRun, error) {
	if by.Confirmation == "" {
		return inbox.WorkflowRun{}, errNoConfirmation
	}
	e, err := inboxstore.Current(ctx, s.DB, by.Workspace, was)
	if err != nil {
		return inbox.WorkflowRun{}, err
	}
	in, raw, err := s.again(ctx, by.Workspace, e.Record)
	if err != nil {
		return inbox.WorkflowRun{}, err
	}
	r, err := s.opts.Pipeline.Run(ctx, in, e.Record, raw)
	if err != nil {
		return inbox.WorkflowRun{}, err
	}
	changes := []inboxstore.Change{inboxstore.Update(e, r.Email)}
	if r.Content != nil {
		changes = append(changes, inboxstore.Content(r.Email.ID, *r.Content))
	}
	changes = append(changes, intake.Follow(r, inboxstore.JobID(by.Confirmation), s.opts.Now())...)
	event := inboxstore.Event{Slug: inbox.EventEmailReprocessed, Target: was.ID, Inbox: was.InboxID, Email: was.ID}
	if err := s.Audited(ctx, by, event, changes...); err != nil {
		return inbox.WorkflowRun{}, err
	}
	return r.Workflow, nil
}

// CanReprocess implements inbox.Actions.
func (s *Service) CanReprocess(ctx context.Context, e inbox.Email) error {
	_, _, err := s.again(ctx, e.WorkspaceID, e)
	return err
}

// again is what an e-mail is processed again with: its inbox, as it is now, and
// its raw message. One that waits for its agent, or is being read, is not: there
// would be two answers.
func (s *Service) again(ctx context.Context, ws access.WorkspaceID, e inbox.Email) (in inbox.Inbox, raw []byte, err error) {
	if e.Status == inbox.EmailApproved || e.Status == inbox.EmailProcessing {
		return in, nil, inbox.Errorf(inbox.CodeConflict, "", "This e-mail is being processed now. Nothing was changed. See how that ends first.")
	}
	in, err = s.Inbox(ctx, ws, string(e.InboxID))
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		err = inbox.Errorf(inbox.CodeConflict, "", "The inbox of this e-mail was deleted, and its rules with it. Nothing was changed.")
	}
	if err == nil {
		raw, err = s.raw(ctx, e)
	}
	return in, raw, err
}

// raw reads the raw message of an e-mail.
func (s *Service) raw(ctx context.Context, e inbox.Email) ([]byte, error) {
	raw, err := s.opts.Blobs.Get(ctx, e.RawS3Key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		err = &inbox.Error{Code: inbox.CodeConflict, Message: "The raw message of this e-mail is not there any more, so it cannot be reprocessed. Nothing was changed.", Err: err}
	case errors.Is(err, store.ErrUnavailable):
		err = &inbox.Error{Code: inbox.CodeUnavailable, Message: "The raw message cannot be reached now. Nothing was changed. Try again later.", Err: err}
	}
	return raw, err
}
