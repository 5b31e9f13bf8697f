package confirm

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// maxSkew is how far ahead of ours the clock of the instance that asked may be.
const maxSkew = time.Minute

// digest is a SHA-256.
type digest [sha256.Size]byte

// binding is what an answer counts for (R14): two calls are the same if their
// bindings are equal.
type binding struct {
	Tool         string                `json:"tool"`
	Arguments    digest                `json:"args"` // of their canonical form
	Person       access.Person         `json:"person"`
	Client       string                `json:"client"`
	Organization access.OrganizationID `json:"org"`
	Workspace    access.WorkspaceID    `json:"ws"`
	Audience     string                `json:"aud"`
}

// state is what requestState seals.
type state struct {
	ID       string    `json:"id"` // random, 128 bits
	Bound    binding   `json:"bound"`
	Targets  []string  `json:"targets"` // resolved internal ids
	Shown    digest    `json:"shown"`   // of what the person was shown of them
	Language Language  `json:"lang"`
	Issued   time.Time `json:"iat"`
	Expires  time.Time `json:"exp"`
}

// bind says what an answer to this call counts for.
func (c *Confirmer) bind(call Call) (binding, error) {
	args, err := argumentsDigest(call.Arguments)
	if err != nil {
		return binding{}, err
	}
	return binding{
		Tool: call.Tool, Arguments: args, Person: call.Person, Client: call.Client,
		Organization: call.Organization, Workspace: call.Workspace, Audience: c.audience,
	}, nil
}

func newState(bound binding, q *Question, now time.Time, ttl time.Duration) state {
	return state{
		ID: rand.Text(), Bound: bound, Targets: q.targetIDs(), Shown: q.digest(),
		Language: q.Language, Issued: now.UTC(), Expires: now.UTC().Add(ttl),
	}
}

// judge compares the state with the current call. It returns why the person
// has to be asked again, or "" when the answer counts.
func (st state) judge(current binding, now time.Time) Reason {
	switch {
	case st.Bound != current:
		return ReasonMismatch
	case !now.Before(st.Expires): // exactly now is too late (field case 28)
		return ReasonExpired
	case st.Issued.After(now.Add(maxSkew)):
		return ReasonFuture
	}
	return ""
}

// shows reports whether q is about the same targets, looking the same.
func (st state) shows(q *Question) bool {
	return slices.Equal(st.Targets, q.targetIDs()) && st.Shown == q.digest()
}

func (c *Confirmer) sealState(ctx context.Context, st state) (string, error) {
	plain, err := json.Marshal(st)
	if err != nil {
		return "", fmt.Errorf("confirm: encode state: %w", err)
	}
	return c.seal.seal(ctx, plain)
}

// unseal reads a requestState. Its error is errKeys when the keys are out of
// reach; any other means that the value is not one we gave out.
func (c *Confirmer) unseal(ctx context.Context, requestState jsontext.Value) (st state, err error) {
	var sealed string
	if requestState.Kind() != jsontext.KindString {
		return st, errUnreadable
	}
	if err := json.Unmarshal(requestState, &sealed); err != nil {
		return st, errUnreadable
	}
	plain, err := c.seal.open(ctx, sealed)
	if err != nil {
		return st, err
	}
	if err := json.Unmarshal(plain, &st, json.RejectUnknownMembers(true)); err != nil {
		return st, errUnreadable
	}
	return st, nil
}
