package actions

import (
	"cmp"
	"context"
	"errors"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/inboxstore"
	"github.com/universokobana/kobana-inbox-mcp/shared/pipeline"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// ReprocessEmail implements inbox.Actions: the raw message goes through the
// pipeline again, by the rules that its inbox has now. As long as no engine
// runs that would send something out, it is one change like any other.
func (s *Service) ReprocessEmail(ctx context.Context, by inbox.Actor, was inbox.Email) (inbox.WorkflowRun, error) {
	e, err := inboxstore.Current(ctx, s.DB, by.Workspace, was)
	if err != nil {
		return inbox.WorkflowRun{}, err
	}
	in, raw, err := s.again(ctx, by.Workspace, e.Record)
	if err != nil {
		return inbox.WorkflowRun{}, err
	}
	event := inboxstore.Event{Slug: inbox.EventEmailReprocessed, Target: was.ID, Inbox: was.InboxID, Email: was.ID}
	if s.opts.Pipeline.SendsOut() {
		return s.runOut(ctx, by, event, in, e.Record, raw)
	}
	r, err := s.opts.Pipeline.Run(ctx, in, e.Record, raw)
	if err != nil {
		return inbox.WorkflowRun{}, err
	}
	if err := s.Audited(ctx, by, event, changes(r, e)...); err != nil {
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
// its raw message.
func (s *Service) again(ctx context.Context, ws access.WorkspaceID, e inbox.Email) (in inbox.Inbox, raw []byte, err error) {
	in, err = s.Inbox(ctx, ws, string(e.InboxID))
	if inbox.CodeOf(err) == inbox.CodeNotFound {
		err = inbox.Errorf(inbox.CodeConflict, "", "The inbox of this e-mail was deleted, and its rules with it. Nothing was changed.")
	}
	if err == nil {
		raw, err = s.raw(ctx, e)
	}
	return in, raw, err
}

// runOut is a run that sends something out, and so happens once for each yes.
func (s *Service) runOut(ctx context.Context, by inbox.Actor, event inboxstore.Event, in inbox.Inbox, e inbox.Email, raw []byte) (inbox.WorkflowRun, error) {
	if err := s.start(ctx, by, event); err != nil {
		return inbox.WorkflowRun{}, err
	}
	r, failure := s.opts.Pipeline.Run(ctx, in, e, raw)
	event.Outcome = outcome(failure != nil || r.Workflow.Status == inbox.RunFailed)
	err := s.finish(ctx, by, func(ctx context.Context) ([]inboxstore.Change, error) {
		list := []inboxstore.Change{s.Event(by, event)}
		if failure != nil {
			return list, nil
		}
		now, err := inboxstore.Get[inbox.Email](ctx, s.DB, by.Workspace, string(e.ID))
		switch {
		case err == nil:
			list = append(changes(r, now), list...)
		case inbox.CodeOf(err) == inbox.CodeNotFound: // deleted meanwhile: it happened all the same
			err = nil
		}
		return list, err
	})
	if err := cmp.Or(failure, err); err != nil {
		return inbox.WorkflowRun{}, err
	}
	return r.Workflow, nil
}

// changes are what a run makes of a stored e-mail.
func changes(r *pipeline.Run, e inboxstore.Stored[inbox.Email]) []inboxstore.Change {
	list := []inboxstore.Change{inboxstore.Insert(r.Workflow), inboxstore.Insert(r.Event), inboxstore.Update(e, r.Email)}
	if r.Content != nil {
		list = append(list, inboxstore.Content(r.Email.ID, *r.Content))
	}
	return list
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
