package catalog

import (
	"context"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/confirm"
	"github.com/universokobana/kobana-inbox-mcp/shared/inbox"
)

func agentTools() []Tool {
	return []Tool{{
		Name:        "agents_list",
		Title:       "List agents",
		Description: "List the workspace's AI agents, newest first: model, system message and skills.",
		Permission:  access.AgentsRead,
		Hints:       reads,
		Input:       paged(),
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Agents(ctx, c.workspace(), c.page()))
		},
	}, {
		Name:        "agents_get",
		Title:       "Get agent",
		Description: "Get an AI agent: model, system message and skills.",
		Permission:  access.AgentsRead,
		Hints:       reads,
		Input:       Fields{idField("id", "id or external_id")},
		Run: func(ctx context.Context, c *Call) (Output, error) {
			return show(c.Service.Agent(ctx, c.workspace(), c.Args.String("id")))
		},
	}, {
		Name:        "agents_create",
		Title:       "Create agent",
		Description: "Create an AI agent. It reads no mail until an inbox has it as agent_id.",
		Permission:  access.AgentsWrite,
		Hints:       creates,
		Input: Fields{
			externalIDField(),
			{Name: "label", Required: true, Min: 1, Max: inbox.MaxLabel},
			{Name: "llm_model", Required: true, Min: 1, Description: "An id of models_list"},
			{Name: "system_message", Required: true, Min: 1, Max: inbox.MaxSystemMessage},
			{Name: "skills_repo", Kind: URI, Nullable: true, Description: "https"},
		},
		Action: confirm.Text{EN: "Create an agent.", PT: "Criar um agente."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			draft := inbox.Agent{WorkspaceID: c.workspace()}
			setNullable(c.Args, "external_id", &draft.ExternalID, Args.String)
			err := c.setAgent(&draft)
			return create(draft, c.Service.CreateAgent), err
		},
	}, {
		Name:        "agents_update",
		Title:       "Update agent",
		Description: "Change an AI agent. What is left out stays as it is.",
		Permission:  access.AgentsWrite,
		Hints:       updates,
		Input: Fields{
			idField("id", "id or external_id"),
			{Name: "label", Min: 1, Max: inbox.MaxLabel},
			{Name: "llm_model", Min: 1, Description: "An id of models_list"},
			{Name: "system_message", Max: inbox.MaxSystemMessage},
			{Name: "skills_repo", Kind: URI, Nullable: true, Description: "https; null: none"},
			expectedField(),
		},
		Action: confirm.Text{EN: "Change this agent.", PT: "Alterar este agente."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Agent(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			if err := c.expect("agent", was.UpdatedAt); err != nil {
				return Plan{}, err
			}
			now := was
			if err := c.setAgent(&now); err != nil {
				return Plan{}, err
			}
			return update(agentTarget(was), was, now, c.Service.UpdateAgent)
		},
	}, {
		Name:        "agents_delete",
		Title:       "Delete agent",
		Description: "Delete an AI agent. The inboxes that it reads are left without one.",
		Permission:  access.AgentsWrite,
		Hints:       destroys,
		Input:       Fields{idField("id", "id or external_id")},
		Action:      confirm.Text{EN: "Delete this agent for good.", PT: "Excluir este agente definitivamente."},
		Plan: func(ctx context.Context, c *Call) (Plan, error) {
			was, err := c.Service.Agent(ctx, c.workspace(), c.Args.String("id"))
			if err != nil {
				return Plan{}, err
			}
			inboxes, err := c.Service.AgentInboxes(ctx, c.workspace(), was.ID)
			plan := remove(agentTarget(was), was, func(ctx context.Context, by inbox.Actor, was inbox.Agent) error {
				return c.Service.DeleteAgent(ctx, by, was, inboxes)
			})
			plan.Cascades = []confirm.Cascade{{
				One:   confirm.Text{EN: "inbox that it reads (left without an agent)", PT: "inbox que ele lê (ficará sem agente)"},
				Many:  confirm.Text{EN: "inboxes that it reads (left without an agent)", PT: "inboxes que ele lê (ficarão sem agente)"},
				Count: int64(inboxes),
			}}
			return plan, err
		},
	}}
}

// setAgent sets what the arguments say of an agent, which must then be valid.
func (c *Call) setAgent(a *inbox.Agent) error {
	setText(c.Args, "label", &a.Label)
	setText(c.Args, "system_message", &a.SystemMessage)
	setNullable(c.Args, "skills_repo", &a.SkillsRepo, Args.String)
	setText(c.Args, "llm_model", &a.LLMModel)
	if c.Args.Has("llm_model") { // the model of an old agent may be gone
		if err := inbox.CheckModel(a.LLMModel); err != nil {
			return err
		}
	}
	return a.Validate()
}
