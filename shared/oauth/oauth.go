// Package oauth verifies access tokens: JWTs by the keys that their issuers
// publish ([JWT]), opaque ones by asking the issuer ([Introspection]).
//
// It may import access, whose Verifier it implements. It fetches nothing
// before a token needs it, and runs nothing in the background: an instance may
// be frozen between two requests.
package oauth

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// Options are the rules for access tokens, whichever way they are verified.
type Options struct {
	// Issuers are the authorization servers whose tokens count: one at least.
	Issuers []Issuer
	// Audience identifies this server, as its metadata's "resource" does.
	// Tokens issued for another are invalid (checklist 12.09, case 14).
	Audience string
	// Claims are where tokens keep what is not standard; the zero value takes
	// the usual names.
	Claims ClaimNames

	Transport http.RoundTripper // nil: http.DefaultTransport
	Log       *slog.Logger      // hears of fetches that failed; nil: nobody does
	Now       func() time.Time  // nil: time.Now
}

// Issuer is an authorization server.
type Issuer struct {
	// URL is the issuer's identifier, spelled as in its tokens' "iss".
	URL string `json:"issuer"`
	// KeysURL is where it publishes its keys (RFC 7517). "": where its metadata
	// says (RFC 8414, OpenID Connect Discovery).
	KeysURL string `json:"jwks_uri"`
	// Algorithms are those that its signatures may use, all asymmetric. nil:
	// RS256, PS256, ES256 and EdDSA.
	Algorithms []string `json:"algorithms"`
}

// withDefaults checks the options and fills in what may be left out.
func (o Options) withDefaults() (Options, error) {
	if o.Audience == "" {
		return o, errors.New("no audience: tokens have to be issued for something")
	}
	o.Claims = o.Claims.withDefaults()
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	// The wall clock: a frozen instance's monotonic one stands still.
	o.Now = func() time.Time { return now().Round(0) }
	return o, checkIssuers(o.Issuers)
}

func checkIssuers(issuers []Issuer) error {
	if len(issuers) == 0 {
		return errors.New("no issuer: write at least one, such as https://login.example.com")
	}
	seen := map[string]bool{}
	for _, i := range issuers {
		u, err := secureURL(i.URL)
		switch {
		case err != nil:
			return fmt.Errorf("issuer %q: %w", i.URL, err)
		case u.RawQuery != "" || u.ForceQuery:
			return fmt.Errorf("issuer %q: an issuer has no query (RFC 8414 §2)", i.URL)
		case seen[i.URL]:
			return fmt.Errorf("issuer %q is there twice", i.URL)
		}
		seen[i.URL] = true
		if i.KeysURL != "" {
			if _, err := secureURL(i.KeysURL); err != nil {
				return fmt.Errorf("issuer %q: jwks_uri %q: %w", i.URL, i.KeysURL, err)
			}
		}
		for _, name := range i.Algorithms {
			if _, ok := algorithms[name]; !ok {
				return fmt.Errorf("issuer %q: algorithm %q is none of RS, PS, ES with 256, 384 or 512, or EdDSA", i.URL, name)
			}
		}
	}
	return nil
}

// secureURL reads the address of something that is trusted with keys or
// tokens: https, or http on this machine (checklist 12.18).
func secureURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, errors.New("not a URL with scheme and host")
	case u.User != nil || u.Fragment != "":
		return nil, errors.New("a URL without user and fragment is needed")
	case u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, errors.New("https is needed, except on a loopback host")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// invalid is the error of a token that does not count. Its texts are fixed:
// nothing of the token gets into an error (checklist 12.18).
func invalid(why string) error { return fmt.Errorf("%w: %s", access.ErrInvalidToken, why) }

// unavailable is the error when what a token says could not be checked now.
func unavailable(cause error) error { return fmt.Errorf("%w: %w", access.ErrUnavailable, cause) }
