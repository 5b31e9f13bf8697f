package oauth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// How long answers are remembered, from when they were asked for, and how many.
const (
	keepActive   = 60 * time.Second // never past the token's end
	keepInactive = 10 * time.Second
	maxAnswers   = 4096
)

// Endpoint is an introspection endpoint, and who this server is to it.
type Endpoint struct {
	URL      string
	ClientID string
	// Secret returns the client's secret. It is called when first needed, and
	// again after the endpoint refused the one that it returned.
	Secret func(context.Context) (string, error)
}

// Introspection verifies tokens by asking their issuer (RFC 7662). It remembers
// answers for a minute at most, under a digest of the token.
type Introspection struct {
	opts     Options
	endpoint Endpoint
	client   *http.Client
	timeout  time.Duration // of a request
	secret   atomic.Pointer[string]

	mu      sync.Mutex
	answers map[digest]answer
}

type digest = [sha256.Size]byte

// answer is what the endpoint said of a token.
type answer struct {
	token       access.Token
	err         error // an ErrInvalidToken, or nil
	asked, ends time.Time
}

func (a answer) counts(now time.Time) bool { return !now.Before(a.asked) && now.Before(a.ends) }

// NewIntrospection makes a verifier. Its error says what is wrong with the
// options or the endpoint. Of issuers, only the URLs count.
func NewIntrospection(o Options, e Endpoint) (*Introspection, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := secureURL(e.URL); err != nil {
		return nil, fmt.Errorf("introspection endpoint %q: %w", e.URL, err)
	}
	if e.ClientID == "" || e.Secret == nil {
		return nil, errors.New("introspection endpoint: a client id and its secret are needed")
	}
	return &Introspection{opts: o, endpoint: e, client: newClient(o.Transport), timeout: fetchTimeout, answers: map[digest]answer{}}, nil
}

// Verify implements [access.Verifier].
func (v *Introspection) Verify(ctx context.Context, token string) (access.Token, error) {
	v.mu.Lock()
	a := v.answers[sha256.Sum256([]byte(token))]
	v.mu.Unlock()
	if a.counts(v.opts.Now()) {
		return a.token, a.err
	}
	return v.VerifyFresh(ctx, token)
}

// VerifyFresh implements [access.FreshVerifier]: it asks, and remembers the
// answer in place of an earlier one.
func (v *Introspection) VerifyFresh(ctx context.Context, token string) (access.Token, error) {
	if token == "" || len(token) > maxToken {
		return access.Token{}, invalid("empty, or longer than 8 KB")
	}
	asked := v.opts.Now()
	t, err := v.ask(ctx, token, asked)
	a := answer{t, err, asked, asked.Add(keepActive)}
	switch {
	case errors.Is(err, access.ErrInvalidToken):
		a.ends = asked.Add(keepInactive)
	case err != nil:
		return access.Token{}, err
	case !t.Expires.IsZero() && t.Expires.Before(a.ends):
		a.ends = t.Expires
	}
	v.remember(sha256.Sum256([]byte(token)), a)
	return t, err
}

func (v *Introspection) remember(d digest, a answer) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.answers) >= maxAnswers {
		maps.DeleteFunc(v.answers, func(_ digest, old answer) bool { return !old.counts(a.asked) })
	}
	if len(v.answers) >= maxAnswers {
		clear(v.answers)
	}
	v.answers[d] = a
}

// ask has the endpoint say what the token is, and judges that.
func (v *Introspection) ask(ctx context.Context, token string, now time.Time) (access.Token, error) {
	document, err := v.introspect(ctx, token)
	if err != nil {
		return access.Token{}, unavailable(err)
	}
	c, ok := parseClaims(document)
	if !ok || c["active"] == nil {
		return access.Token{}, unavailable(fmt.Errorf("%s: not an introspection answer", v.endpoint.URL))
	}
	t, err := v.judge(c, now)
	if err != nil {
		return access.Token{}, err
	}
	return t, nil
}

func (v *Introspection) judge(c claims, now time.Time) (access.Token, error) {
	if c["active"].Kind() != 't' {
		return access.Token{}, invalid("not active")
	}
	// A refresh token is active too, and one bound to a key is worth nothing
	// without the proof.
	kind, err := c.text("token_type")
	if err != nil {
		return access.Token{}, err
	}
	if kind != "" && !strings.EqualFold(kind, "Bearer") {
		return access.Token{}, invalid("not a bearer token")
	}
	issuer, err := c.text("iss")
	if err != nil {
		return access.Token{}, err
	}
	if issuer == "" && len(v.opts.Issuers) == 1 { // the endpoint's own
		issuer = v.opts.Issuers[0].URL
	}
	if !slices.ContainsFunc(v.opts.Issuers, func(i Issuer) bool { return i.URL == issuer }) {
		return access.Token{}, invalid("issued by nobody who is trusted here")
	}
	return v.opts.token(c, issuer, now)
}

// introspect makes the request of RFC 7662 §2.1.
func (v *Introspection) introspect(ctx context.Context, token string) ([]byte, error) {
	secret, err := v.currentSecret(ctx)
	if err != nil {
		return nil, fmt.Errorf("introspection client secret: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, v.timeout)
	defer cancel()
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.endpoint.URL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	r.SetBasicAuth(url.QueryEscape(v.endpoint.ClientID), url.QueryEscape(*secret)) // RFC 6749 §2.3.1
	// Not sent: it lets net/http repeat the request when the connection turns
	// out to have died while the instance was frozen.
	r.Header["Idempotency-Key"] = []string{}

	status, body, err := send(v.client, r)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		v.secret.CompareAndSwap(secret, nil) // it may have been rotated
		return nil, fmt.Errorf("%s: HTTP %d: it refuses this server's client id and secret", v.endpoint.URL, status)
	case status != http.StatusOK:
		return nil, fmt.Errorf("%s: HTTP %d", v.endpoint.URL, status)
	}
	return body, nil
}

func (v *Introspection) currentSecret(ctx context.Context) (*string, error) {
	if s := v.secret.Load(); s != nil {
		return s, nil
	}
	secret, err := v.endpoint.Secret(ctx)
	if err != nil {
		return nil, err
	}
	v.secret.Store(&secret)
	return &secret, nil
}
