package catalog

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// confirmNote is how the description of each destructive tool ends.
const confirmNote = " The person is asked first: it runs once, after an explicit yes. " +
	"Clients that cannot ask (protocol before 2026-07-28, or no form elicitation) get confirmation_required."

// action is one call of a destructive tool on its way through the
// confirmation. It is a [confirm.Action].
type action struct {
	catalog *Catalog
	tool    *Tool
	call    *Call
	by      inbox.Actor
	plan    Plan   // what the latest question was made of
	out     Output // what carrying it out answered
	// unaudited is why the digest of the arguments could not be made.
	unaudited error
}

// Recheck judges the person again, past all caches. The rest of the call acts
// for what they are then.
func (a *action) Recheck(ctx context.Context) error {
	was := a.call.Caller
	now, err := a.catalog.opts.Readmit(ctx)
	if err != nil {
		return err
	}
	if now.Person != was.Person || now.Organization != was.Organization || now.WorkspaceID() != was.WorkspaceID() || !a.tool.permitted(now) {
		return unknownTool(a.tool.Name)
	}
	a.call.Caller = now
	return a.catalog.opts.RequireScope(now, a.tool.Scope())
}

// Question plans the action anew and describes it in the workspace's language.
func (a *action) Question(ctx context.Context) (q *confirm.Question, err error) {
	if a.plan, err = a.tool.Plan(ctx, a.call); err != nil {
		return nil, err
	}
	if a.plan.Done != nil {
		return nil, settledError{*a.plan.Done}
	}
	home := a.plan.Workspace
	if home == nil {
		w, err := a.call.workspaceRecord(ctx)
		if err != nil {
			return nil, err
		}
		home = &w
	}
	a.by.Workspace = home.ID
	return &confirm.Question{
		Language:     confirm.Language(home.Locale), // the names are the same
		Action:       a.tool.Action,
		Targets:      a.plan.Targets,
		Cascades:     a.plan.Cascades,
		Notes:        a.plan.Notes,
		Organization: a.organization(ctx),
		Workspace:    home.Label,
		Hide:         a.tool.Input.secrets(),
		Labels:       labels(),
	}, nil
}

// organization is the name of the one that owns the workspace.
func (a *action) organization(ctx context.Context) string {
	id, find := a.call.Caller.Organization, a.catalog.opts.Organization
	if find == nil {
		return string(id)
	}
	o, err := find(ctx, id)
	if err != nil {
		a.catalog.opts.Log.ErrorContext(ctx, "organization unknown", "cause", err)
	}
	return cmp.Or(o.Name, string(id))
}

// Execute carries out the plan of the question that was agreed to.
func (a *action) Execute(ctx context.Context, g confirm.Grant) (err error) {
	a.by.Confirmation = g.ID
	a.out, err = a.plan.Do(ctx, a.by)
	if errors.Is(err, inbox.ErrChanged) {
		return confirm.ErrChanged
	}
	return begun(err)
}

// settledError ends a confirmation without a question: all is already as it
// was asked for.
type settledError struct{ out Output }

func (settledError) Error() string { return "catalog: nothing to do" }

// confirm takes a call of a destructive tool a step further: it asks, or reads
// the answer and does, or does not, what was asked for (R12 to R17).
func (c *Catalog) confirm(ctx context.Context, a *action, r *mcp.Request, p callParams) (*mcp.Result, error) {
	d, err := c.decide(ctx, a, r, p)
	c.report(ctx, a, d, err)
	if settled, ok := errors.AsType[settledError](err); ok {
		return success(a.tool, settled.out, r.Version), nil
	}
	if err != nil {
		return c.failure(ctx, a.tool, err, d.Message)
	}
	switch d.Outcome {
	case confirm.Asked:
		return &mcp.Result{InputRequired: true, Fields: d.Result, Outcome: string(d.Outcome)}, nil
	case confirm.Confirmed:
		return success(a.tool, a.out, r.Version), nil
	case confirm.Malformed:
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s", d.Message)
	}
	e := &inbox.Error{Code: inbox.Code(d.Outcome), Message: d.Message}
	if d.Outcome == confirm.Required && r.Version.Modern() {
		return nil, &mcp.Error{Code: mcp.CodeMissingCapability, Message: e.Error(), Data: []byte(confirm.RequiredData)}
	}
	return toolError(e), nil
}

func (c *Catalog) decide(ctx context.Context, a *action, r *mcp.Request, p callParams) (confirm.Decision, error) {
	if c.opts.Confirmer == nil || c.opts.Readmit == nil || a.unaudited != nil && r.ElicitForm {
		return confirm.Decision{
			Outcome: confirm.Unavailable,
			Message: "This server cannot ask for a confirmation now. Nothing was executed. Try again later.",
		}, nil
	}
	return c.opts.Confirmer.Confirm(ctx, confirm.Call{
		Tool:           a.tool.Name,
		Arguments:      p.Arguments,
		Person:         a.call.Caller.Person,
		Client:         a.call.Caller.Client,
		Organization:   a.call.Caller.Organization,
		Workspace:      a.call.workspace(),
		ElicitForm:     r.ElicitForm,
		RequestState:   p.RequestState,
		InputResponses: p.InputResponses,
	}, a)
}

// maxReport bounds how long an answer waits for the event of what was not done.
const maxReport = 2 * time.Second

// report logs what became of a confirmation. Where it ends without an effect,
// which would have a system event of its own, it leaves one. The answer does
// not depend on it.
func (c *Catalog) report(ctx context.Context, a *action, d confirm.Decision, err error) {
	log := c.opts.Log.With("tool", a.tool.Name, "outcome", string(d.Outcome), "reason", string(d.Reason), "confirmation", d.ID)
	log.InfoContext(ctx, "confirmation")
	if d.Cause != nil {
		log.ErrorContext(ctx, "confirmation failed", "cause", d.Cause)
	}
	outcome, ends := endsWith(d.Outcome, err)
	if !ends {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxReport)
	defer cancel()
	if a.tool.Anywhere && a.plan.Do == nil { // not looked yet at what it is about
		_, _ = a.Question(ctx) // what is not there is the caller's matter
	}
	by := a.by
	by.Confirmation = d.ID
	if err := a.call.Service.Record(ctx, by, outcome); err != nil {
		log.ErrorContext(ctx, "system event lost", "cause", err)
	}
}

// endsWith is how a confirmation ended, if it did so without an effect.
func endsWith(o confirm.Outcome, err error) (inbox.Outcome, bool) {
	switch o {
	case confirm.Declined, confirm.Replayed, confirm.Required, confirm.Unavailable:
		return inbox.Outcome(o), true // the names are the same
	case confirm.Confirmed:
		_, tried := errors.AsType[begunError](err)
		_, settled := errors.AsType[settledError](err)
		return inbox.OutcomeFailed, err != nil && !tried && !settled
	}
	return "", false
}
