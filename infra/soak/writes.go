package main

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/universokobana/kobana-inbox-mcp/infra/wire"
	"github.com/universokobana/kobana-inbox-mcp/shared/mcp"
)

// life is what becomes of a record: it is made, changed, and goes through its
// destructive tools, of which the last one deletes it.
type life struct {
	family      string
	made, after object
	destructive []destructive
}

type destructive struct {
	action string
	more   object // arguments beside the id
}

// life is that of a record of one of the families.
func (c *client) life() life {
	mark := c.rand.Uint64()
	label := fmt.Sprintf("Soak %x", mark)
	recipient := object{"email": "soak@example.com"}
	return pick(c,
		life{"agents", object{"label": label, "llm_model": "bedrock/anthropic.claude-opus-4-5-20251101-v1:0", "system_message": "Be brief."},
			object{"label": label + "!"}, []destructive{{"delete", nil}}},
		life{"webhooks", object{"label": label, "url": "https://receiver.example/hook"},
			object{"label": label + "!"}, []destructive{{"rotate_secret", nil}, {"delete", nil}}},
		life{"inboxes", object{"label": label},
			object{"label": label + "!"}, []destructive{{"add_recipient", recipient}, {"remove_recipient", recipient}, {"delete", nil}}},
		life{"secrets", object{"name": fmt.Sprintf("SOAK_%X", mark), "value": "s3cret"},
			object{"value": "s4cret"}, []destructive{{"delete", nil}}},
	)
}

// writes makes a record in any revision, and ends its life in the newest.
func (c *client) writes() error {
	v, l := c.version(), c.life()
	record, err := c.record(v, l.family+"_create", l.made)
	if err != nil {
		return err
	}
	id := object{"id": record["id"]}
	changed := maps.Clone(l.after)
	maps.Copy(changed, id)
	if _, err := c.record(v, l.family+"_update", changed); err != nil {
		return err
	}
	for _, d := range l.destructive {
		arguments := maps.Clone(id)
		maps.Copy(arguments, d.more)
		if err := c.confirms(l.family+"_"+d.action, arguments); err != nil {
			return err
		}
	}
	return nil
}

// confirms has a destructive tool run exactly once: after answers that are no
// yes, and before the same yes again.
func (c *client) confirms(tool string, arguments object) error {
	legacy := pick(c, mcp.V20251125, mcp.V20250618, mcp.V20250326)
	if _, err := c.call(legacy, tool, arguments, nil, "confirmation_required"); err != nil {
		return err
	}
	formless := object{"name": tool, "arguments": arguments, "_meta": wire.Meta(object{})}
	a, err := c.send(mcp.V20260728, "tools/call", formless, mcp.CodeMissingCapability)
	if err != nil || a.status != http.StatusBadRequest {
		return fmt.Errorf("without a form: HTTP %d, %w", a.status, err)
	}
	for _, answer := range []struct {
		response any
		want     string
	}{
		{pick[any](c, object{"action": "decline"}, object{"action": "cancel"}, yesOr(false)), "user_declined"},
		{pick[any](c, object{"action": "accept"}, object{"action": "accept", "content": object{"confirm": "true"}}), "asked"},
	} {
		if _, err := c.answers(tool, arguments, answer.response, answer.want); err != nil {
			return err
		}
	}
	if _, err := c.call(mcp.V20260728, tool, arguments, object{"requestState": "forged", "inputResponses": object{"confirm": yesOr(true)}}, "asked"); err != nil {
		return err
	}
	confirmed, err := c.answers(tool, arguments, yesOr(true), "")
	if err != nil {
		return err
	}
	_, err = c.call(mcp.V20260728, tool, arguments, confirmed, "confirmation_replayed")
	return err
}

func yesOr(yes bool) object { return object{"action": "accept", "content": object{"confirm": yes}} }

// answers calls a tool that asks, answers, and wants that outcome. It returns
// the params of the answer.
func (c *client) answers(tool string, arguments object, response any, want string) (object, error) {
	asked, err := c.call(mcp.V20260728, tool, arguments, nil, "asked")
	if err != nil {
		return nil, err
	}
	more := object{"requestState": asked.State, "inputResponses": object{"confirm": response}}
	_, err = c.call(mcp.V20260728, tool, arguments, more, want)
	return more, err
}
