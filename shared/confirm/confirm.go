// Package confirm asks the person before a destructive action runs, and sees
// to it that one yes runs it at most once: the question, the seal that binds
// the answer to it, and the ledger of the answers that were spent (R12 to R17).
//
// Nothing is stored when asking. The question travels to the client sealed,
// as requestState, and comes back with the answer. What a yes counts for is in
// the seal: this tool, these arguments, these targets as they were shown, this
// person, client, organization, workspace and server, for at most [MaxTTL].
//
// It knows nothing of e-mail or MCP's envelope. It may import access (who
// asks), store (the ledger), untrusted (what a person is shown) and lazy.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
	"github.com/universokobana/kobana-inbox-mcp/shared/store"
)

// MaxTTL is how long an answer counts (R14), unless the operator shortens it.
const MaxTTL = 5 * time.Minute

// ParseTTL reads how long an answer is to count, as in "90s"; "" is [MaxTTL].
func ParseTTL(s string) (time.Duration, error) {
	if s == "" {
		return MaxTTL, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > MaxTTL {
		return 0, fmt.Errorf("%q is no duration over 0 and up to 5m, such as 90s", s)
	}
	return d, nil
}

// Options configure a [Confirmer]. Audience, Keys and Ledger are required.
type Options struct {
	// Audience names this server, as in the access tokens it accepts.
	Audience string
	// Keys fetches the sealing keys when they are needed.
	Keys Keys
	// Ledger is a table of its own, shared by all instances.
	Ledger store.Table
	// TTL is how long an answer counts; 0 means [MaxTTL], more is refused.
	TTL time.Duration
	Now func() time.Time // default time.Now
}

// Confirmer confirms destructive actions. It is safe for concurrent use, and
// any number of them on the same keys and ledger act as one.
type Confirmer struct {
	audience string
	seal     sealer
	ledger   ledger
	ttl      time.Duration
	now      func() time.Time
}

// New makes a [Confirmer]. It fetches nothing yet.
func New(o Options) (*Confirmer, error) {
	if o.Audience == "" || o.Keys == nil || o.Ledger == nil {
		return nil, errors.New("confirm: audience, keys and ledger are required")
	}
	if o.TTL < 0 || o.TTL > MaxTTL {
		return nil, fmt.Errorf("confirm: a confirmation may live up to %v, not %v", MaxTTL, o.TTL)
	}
	if o.TTL == 0 {
		o.TTL = MaxTTL
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Confirmer{
		audience: o.Audience,
		seal:     sealer{keys: newKeyring(o.Keys, o.Now), context: sealPurpose + "\x00" + o.Audience},
		ledger:   ledger{table: o.Ledger, now: o.Now},
		ttl:      o.TTL,
		now:      o.Now,
	}, nil
}

// Call is one call of a destructive tool. Who calls comes from the verified
// token, never from what the client says of itself (field case 22).
type Call struct {
	Tool string
	// Arguments is the JSON object that the tool's handler receives. It is what
	// the person is shown and what the answer counts for.
	Arguments    jsontext.Value
	Person       access.Person
	Client       string // OAuth client id, "" when the token has none
	Organization access.OrganizationID
	Workspace    access.WorkspaceID
	// ElicitForm reports whether this very request comes from a client that can
	// show a form (R16, checklist 3.03).
	ElicitForm bool
	// RequestState and InputResponses are members of the call's params, as they
	// came; nil when absent.
	RequestState   jsontext.Value
	InputResponses jsontext.Value
}

// Action is the action that a [Call] wants, in the three steps that
// [Confirmer.Confirm] takes it through. Their errors are the caller's own.
type Action interface {
	// Recheck judges scope and permission again, past all caches. It is the
	// first step of every call that carries a requestState.
	Recheck(ctx context.Context) error
	// Question resolves the targets and describes the action as it stands now.
	// It fails when the action could not run, such as for a target that does
	// not exist: nobody is asked about what cannot be.
	Question(ctx context.Context) (*Question, error)
	// Execute carries the action out. It runs at most once for a yes. It must
	// write its effect on the condition that the targets still are as the latest
	// Question found them, and return an error that wraps [ErrChanged] when they
	// are not.
	Execute(ctx context.Context, g Grant) error
}

// Grant is the permission to carry out an action once.
type Grant struct {
	// ID names the confirmation: in the audit, and as the id of a job that
	// outlives the call.
	ID string
}

// ErrChanged is what an [Action]'s Execute returns, wrapped or not, when it
// did nothing because a target changed in the last moment.
var ErrChanged = errors.New("confirm: the target changed")

// Confirm takes one call a step further: it asks, or reads the answer and
// executes the action or does not. The order is the whole point:
//
//	scope and permission again → unseal → compare with this call → read the
//	answer → spend it → compare the target with what was shown → execute
//
// Whatever does not match leads to a new question, never to an execution
// (R15). An error is one of the action's own, or says that the arguments are
// no JSON object. When d.ID is set beside it, the yes was spent before it
// happened, and d.Message tells the person so.
func (c *Confirmer) Confirm(ctx context.Context, call Call, a Action) (d Decision, err error) {
	if !call.ElicitForm {
		return Decision{Outcome: Required, Message: textRequired.In(English)}, nil
	}
	// The answer's shape is a matter of the params alone; what it says counts
	// only once its seal was judged.
	said, err := parseAnswer(call.InputResponses)
	if err != nil {
		return Decision{Outcome: Malformed, Message: err.Error()}, nil
	}
	bound, err := c.bind(call)
	if err != nil {
		return Decision{}, err
	}
	p := pending{Call: call, Action: a, bound: bound}
	if call.RequestState == nil {
		return c.ask(ctx, p, ReasonFirst)
	}

	if err := a.Recheck(ctx); err != nil {
		return Decision{}, err
	}
	st, err := c.unseal(ctx, call.RequestState)
	if errors.Is(err, errKeys) {
		return unavailable(English, err), nil
	}
	if err != nil {
		return c.ask(ctx, p, ReasonUnreadable)
	}
	if reason := st.judge(bound, c.now()); reason != "" {
		return c.ask(ctx, p, reason)
	}

	switch said {
	case yes:
		return c.execute(ctx, p, st)
	case no:
		return c.decline(ctx, st), nil
	}
	return c.ask(ctx, p, ReasonUnanswered)
}

// pending is a call on its way through Confirm.
type pending struct {
	Call
	Action
	bound binding
}

// execute spends the yes and carries the action out, if it still is the one
// that the person was shown.
func (c *Confirmer) execute(ctx context.Context, p pending, st state) (Decision, error) {
	earlier, err := c.ledger.spend(ctx, st, yes)
	if err != nil {
		return unavailable(st.Language, err), nil
	}
	if earlier != nil {
		return replayed(st, *earlier), nil
	}
	failed := Decision{Outcome: Confirmed, ID: st.ID, Message: textSpent.In(st.Language)}

	q, err := p.Question(ctx)
	if err != nil {
		return failed, err
	}
	if !st.shows(q) {
		return c.askAbout(ctx, p, q, ReasonChanged), nil
	}
	err = p.Execute(ctx, Grant{ID: st.ID})
	d := Decision{Outcome: Confirmed, ID: st.ID}
	if errors.Is(err, ErrChanged) {
		d, err = c.ask(ctx, p, ReasonChanged)
	}
	if err != nil {
		return failed, err
	}
	return d, nil
}

// decline spends the question, so that no later yes counts for it. That is a
// courtesy: the person declined, whether or not it could be recorded.
func (c *Confirmer) decline(ctx context.Context, st state) Decision {
	earlier, err := c.ledger.spend(ctx, st, no)
	if earlier != nil && earlier.Answer == yes {
		return replayed(st, *earlier)
	}
	return Decision{Outcome: Declined, ID: st.ID, Message: textDeclined.In(st.Language), Cause: err}
}

// ask puts the question as it stands now.
func (c *Confirmer) ask(ctx context.Context, p pending, why Reason) (Decision, error) {
	q, err := p.Question(ctx)
	if err != nil {
		return Decision{}, err
	}
	return c.askAbout(ctx, p, q, why), nil
}

func (c *Confirmer) askAbout(ctx context.Context, p pending, q *Question, why Reason) Decision {
	st := newState(p.bound, q, c.now(), c.ttl)
	sealed, err := c.sealState(ctx, st)
	if err != nil {
		return unavailable(q.Language, err)
	}
	result, err := q.result(p.Arguments, why, c.ttl, sealed)
	if err != nil {
		return unavailable(q.Language, err)
	}
	return Decision{Outcome: Asked, ID: st.ID, Reason: why, Result: result}
}
