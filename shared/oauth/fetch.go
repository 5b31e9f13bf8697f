package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

// maxBody bounds what an issuer may answer, in bytes after decompression.
const maxBody = 256 << 10

// newKeySource makes the source of an issuer's keys, where failed fetches are
// logged: the known keys go on counting, and only the operator can see it.
func newKeySource(i Issuer, o Options) *keySource {
	p := &publisher{issuer: i, client: newClient(o.Transport)}
	fetch := func(ctx context.Context) (keySet, error) {
		keys, err := p.keys(ctx)
		if err != nil {
			o.Log.WarnContext(ctx, "the keys of an issuer could not be fetched", "issuer", i.URL, "cause", err)
		}
		return keys, err
	}
	return &keySource{fetch: fetch, timeout: fetchTimeout, now: o.Now}
}

// publisher is an issuer on the network.
type publisher struct {
	issuer  Issuer
	client  *http.Client
	located atomic.Pointer[string] // where the metadata says that the keys are
}

// keys fetches the issuer's keys. Where they are is remembered as long as they
// are found there.
func (p *publisher) keys(ctx context.Context) (keySet, error) {
	if p.issuer.KeysURL != "" {
		return p.keysAt(ctx, p.issuer.KeysURL)
	}
	at := p.located.Load()
	if at == nil {
		found, err := p.locate(ctx)
		if err != nil {
			return nil, err
		}
		at = &found
	}
	keys, err := p.keysAt(ctx, *at)
	if err != nil {
		at = nil
	}
	p.located.Store(at)
	return keys, err
}

func (p *publisher) keysAt(ctx context.Context, address string) (keySet, error) {
	document, err := p.get(ctx, address)
	if err != nil {
		return nil, err
	}
	keys, err := parseKeySet(document)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return keys, nil
}

// locate reads in the issuer's metadata where its keys are.
func (p *publisher) locate(ctx context.Context) (string, error) {
	var failures []error
	for _, address := range metadataAddresses(p.issuer.URL) {
		found, err := p.locateIn(ctx, address)
		if err == nil {
			return found, nil
		}
		failures = append(failures, err)
	}
	return "", errors.Join(failures...)
}

func (p *publisher) locateIn(ctx context.Context, address string) (string, error) {
	document, err := p.get(ctx, address)
	if err != nil {
		return "", err
	}
	var metadata struct {
		Issuer  string `json:"issuer"`
		KeysURL string `json:"jwks_uri"`
	}
	if json.Unmarshal(document, &metadata) != nil {
		return "", fmt.Errorf("%s: not the metadata of an issuer", address)
	}
	if metadata.Issuer != p.issuer.URL { // RFC 8414 §3.3
		return "", fmt.Errorf("%s: the metadata of another issuer, %q", address, metadata.Issuer)
	}
	u, err := secureURL(metadata.KeysURL)
	if err != nil {
		return "", fmt.Errorf("%s: jwks_uri %q: %w", address, metadata.KeysURL, err)
	}
	if issuer, _ := secureURL(p.issuer.URL); u.Scheme != "https" && issuer.Scheme == "https" {
		return "", fmt.Errorf("%s: jwks_uri %q: https is needed, as for the issuer", address, metadata.KeysURL)
	}
	return metadata.KeysURL, nil
}

// metadataAddresses are where an issuer's metadata may be, in the order that
// MCP has clients try them (RFC 8414 §3 and §5, OpenID Connect Discovery §4).
func metadataAddresses(issuer string) []string {
	u, _ := secureURL(issuer) // checked with the options
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	origin := u.Scheme + "://" + u.Host
	return slices.Compact([]string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + "/.well-known/openid-configuration" + path,
		origin + path + "/.well-known/openid-configuration",
	})
}

func (p *publisher) get(ctx context.Context, address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	status, body, err := send(p.client, r)
	switch {
	case err != nil:
		return nil, err
	case status != http.StatusOK:
		return nil, fmt.Errorf("%s: HTTP %d", address, status)
	}
	return body, nil
}

// newClient makes a client that follows no redirect: what an issuer is trusted
// with stays with the addresses that were configured, or that it names itself.
func newClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send makes one request, and reads the whole answer. Its errors name the
// address, and nothing else of the request.
func send(client *http.Client, r *http.Request) (status int, body []byte, err error) {
	answer, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("%s: %w", r.URL, err)
	case len(body) > maxBody:
		return 0, nil, fmt.Errorf("%s: answered more than %d KB", r.URL, maxBody>>10)
	}
	return answer.StatusCode, body, nil
}
