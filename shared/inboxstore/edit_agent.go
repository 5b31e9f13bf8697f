package inboxstore

import (
	"cmp"
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

// CreateAgent implements inbox.Editor.
func (db *DB) CreateAgent(ctx context.Context, by inbox.Actor, draft inbox.Agent) (inbox.Agent, error) {
	r := draft
	var err error
	r.ID, r.ExternalID, r.CreatedAt, err = db.newRecord(draft.ExternalID)
	r.WorkspaceID, r.UpdatedAt = by.Workspace, r.CreatedAt
	if err := cmp.Or(err, r.Validate(), inbox.CheckModel(r.LLMModel)); err != nil {
		return inbox.Agent{}, err
	}
	if r.SystemMessage == "" {
		return inbox.Agent{}, inbox.Errorf(inbox.CodeInvalid, "system_message", "An agent needs a system message. Nothing was changed.")
	}
	return written(r, db.inTurn(ctx, by.Workspace, func(turn Change) error {
		if err := room[inbox.Agent](ctx, db, by.Workspace, inbox.MaxAgents); err != nil {
			return err
		}
		return db.Audited(ctx, by, Event{Slug: inbox.EventAgentCreated, Target: r.ID}, turn, Insert(r))
	}))
}

// UpdateAgent implements inbox.Editor.
func (db *DB) UpdateAgent(ctx context.Context, by inbox.Actor, was, now inbox.Agent) (inbox.Agent, error) {
	old, err := Current(ctx, db, by.Workspace, was)
	if err != nil {
		return inbox.Agent{}, err
	}
	r := old.Record
	r.Label, r.LLMModel, r.SystemMessage, r.SkillsRepo = now.Label, now.LLMModel, now.SystemMessage, now.SkillsRepo
	r.UpdatedAt = db.later(r.UpdatedAt)
	if r.LLMModel != old.Record.LLMModel { // one that is no longer offered may stay
		err = inbox.CheckModel(r.LLMModel)
	}
	if err := cmp.Or(err, r.Validate()); err != nil {
		return inbox.Agent{}, err
	}
	return written(r, db.Audited(ctx, by, Event{Slug: inbox.EventAgentUpdated, Target: r.ID}, Update(old, r)))
}

// DeleteAgent implements inbox.Editor.
func (db *DB) DeleteAgent(ctx context.Context, by inbox.Actor, was inbox.Agent, inboxes int) error {
	return db.inTurn(ctx, by.Workspace, func(turn Change) error {
		old, err := Current(ctx, db, by.Workspace, was)
		if err != nil {
			return err
		}
		boxes, err := db.agentInboxes(ctx, by.Workspace, was.ID)
		if err != nil {
			return err
		}
		if len(boxes) != inboxes { // not what was agreed to
			return changed("agent")
		}
		e := Event{Slug: inbox.EventAgentDeleted, Target: was.ID}
		changes := []Change{turn, Delete(old)}
		for _, box := range boxes {
			r := box.Record
			r.AgentID, r.UpdatedAt = nil, db.later(r.UpdatedAt)
			changes = append(changes, along(Update(box, r)))
			e.Also = append(e.Also, r.ID)
		}
		return db.Audited(ctx, by, e, changes...)
	})
}

// AgentInboxes implements inbox.Editor.
func (db *DB) AgentInboxes(ctx context.Context, ws access.WorkspaceID, agent inbox.ID) (int, error) {
	boxes, err := db.agentInboxes(ctx, ws, agent)
	return len(boxes), err
}

// agentInboxes are those that deleting the agent leaves without one.
func (db *DB) agentInboxes(ctx context.Context, ws access.WorkspaceID, agent inbox.ID) ([]Stored[inbox.Inbox], error) {
	boxes, err := bound[inbox.Inbox](ctx, db, ws, "agent", agent, maxAlong+1)
	if err == nil && tooMany(boxes) {
		err = inbox.Errorf(inbox.CodeLimit, "", "Too many inboxes have this agent: give some of them another one first. Nothing was changed.")
	}
	return boxes, err
}
