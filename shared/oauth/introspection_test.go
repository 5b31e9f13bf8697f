package oauth

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

// introspected is an issuer that is asked, for what it says of the token
// "opaque"; other tokens are inactive.
type introspected struct {
	*testIssuer
	*Introspection
	says    atomic.Pointer[object]
	secret  atomic.Pointer[string]
	secrets atomic.Int64 // how often the secret was fetched
}

func introspecting(t testing.TB, changes object) *introspected {
	w := &introspected{testIssuer: newIssuer(t)}
	w.Config.ErrorLog = silent
	w.say(changes)
	w.secret.Store(new("s3cr3t/+ %"))
	w.answer(w.introspect)
	v, err := NewIntrospection(
		Options{Issuers: []Issuer{{URL: w.URL}}, Audience: audience, Now: w.clock.now},
		Endpoint{URL: w.URL + "/keys", ClientID: "inbox:mcp", Secret: func(context.Context) (string, error) {
			w.secrets.Add(1)
			if s := w.secret.Load(); s != nil {
				return *s, nil
			}
			return "", errors.New("vault is sealed")
		}})
	if err != nil {
		t.Fatal(err)
	}
	w.Introspection = v
	return w
}

func (w *introspected) say(changes object) {
	c := w.claims(changes)
	if _, ok := c["active"]; !ok {
		c["active"] = true
	}
	w.says.Store(&c)
}

func (w *introspected) introspect(rw http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	switch {
	case r.Method != "POST" || r.URL.RawQuery != "" || r.Header.Get("Accept") != "application/json":
		rw.WriteHeader(400)
	case id != "inbox%3Amcp" || secret != "s3cr3t%2F%2B+%25":
		rw.WriteHeader(401)
	case r.PostFormValue("token_type_hint") != "access_token":
		rw.WriteHeader(400)
	case r.PostFormValue("token") != "opaque":
		json.MarshalWrite(rw, object{"active": false})
	default:
		json.MarshalWrite(rw, *w.says.Load())
	}
}

func TestIntrospection(t *testing.T) {
	w := introspecting(t, object{"org_id": "acme", "workspace_id": "books", "scope": "inbox.write", "token_type": "Bearer"})
	want := access.Token{
		Person: access.Person{Issuer: w.URL, Subject: "ana"}, Client: "c1", Organization: "acme", Workspace: "books",
		Scopes: access.ScopeWrite, Expires: w.clock.now().Add(time.Hour),
	}
	if diff := cmp.Diff(want, accepts(t, w, "opaque")); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct {
		name    string
		changes object
		why     string // "": accepted
	}{
		{"12.08 inactive", object{"active": false}, "not active"},
		{"12.08 active a text", object{"active": "true"}, "not active"},
		{"12.08 active 1", object{"active": 1}, "not active"},
		{"12.08 another issuer", object{"iss": "https://login.example"}, "nobody who is trusted"},
		{"12.08 issuer a list", object{"iss": []string{w.URL}}, "iss is no text"},
		{"the endpoint's own issuer", object{"iss": nil}, ""},
		{"12.08 expired 59 s ago", object{"exp": w.clock.in(-59 * time.Second)}, ""},
		{"12.08 expired 61 s ago", object{"exp": w.clock.in(-61 * time.Second)}, "expired"},
		{"no exp: active says it", object{"exp": nil}, ""},
		{"12.08 exp a text", object{"exp": "1"}, "exp is no time"},
		{"12.08 valid in 61 s", object{"nbf": w.clock.in(61 * time.Second)}, "not valid yet"},
		{"12.09 audience a text", object{"aud": audience}, ""},
		{"12.09 audience a list", object{"aud": []string{"x", audience}}, ""},
		{"case 14 of the sandbox", object{"aud": "https://sandbox.example.com/mcp"}, "issued for another server"},
		{"case 14 missing", object{"aud": nil}, "issued for another server"},
		{"no subject", object{"sub": nil}, "no subject"},
		{"token type in capitals", object{"token_type": "BEARER"}, ""},
		{"a refresh token", object{"token_type": "Refresh"}, "not a bearer token"},
		{"a token bound to a key", object{"token_type": "DPoP"}, "not a bearer token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := introspecting(t, c.changes)
			if c.why == "" {
				accepts(t, w, "opaque")
				return
			}
			refuses(t, w, "opaque", access.ErrInvalidToken, c.why)
		})
	}
}

func TestIntrospectionOfNothing(t *testing.T) {
	w := introspecting(t, nil)
	refuses(t, w, "", access.ErrInvalidToken, "empty")
	refuses(t, w, strings.Repeat("x", maxToken+1), access.ErrInvalidToken, "8 KB")
	w.fetches(t, 0)
	if w.secrets.Load() != 0 {
		t.Error("the secret was fetched before it was needed")
	}
	refuses(t, w, "another", access.ErrInvalidToken, "not active")
	refuses(t, w, "opaque&token=x", access.ErrInvalidToken, "not active")
}

// Where the endpoint serves several issuers, it has to say which.
func TestIntrospectionOfSeveralIssuers(t *testing.T) {
	w := introspecting(t, object{"iss": nil})
	w.opts.Issuers = append(w.opts.Issuers, Issuer{URL: "https://login.example"})
	refuses(t, w, "opaque", access.ErrInvalidToken, "nobody who is trusted")
	w.say(object{"iss": "https://login.example"})
	w.clock.advance(keepInactive)
	if got := accepts(t, w, "opaque").Person.Issuer; got != "https://login.example" {
		t.Errorf("issuer %q", got)
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes object
		err     error
		keep    time.Duration
	}{
		{"active, for a minute", nil, nil, 60 * time.Second},
		{"active, no longer than the token", object{"exp": 20}, nil, 20 * time.Second},
		{"active, without end", object{"exp": nil}, nil, 60 * time.Second},
		{"active by the skew only", object{"exp": -1}, nil, 0},
		{"inactive, for ten seconds", object{"active": false}, access.ErrInvalidToken, 10 * time.Second},
		{"of another audience, likewise", object{"aud": "x"}, access.ErrInvalidToken, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := introspecting(t, nil)
			if in, ok := c.changes["exp"].(int); ok {
				c.changes["exp"] = w.clock.in(time.Duration(in) * time.Second)
			}
			w.say(c.changes)
			verify := func(fetches int64) {
				t.Helper()
				if _, err := w.Verify(t.Context(), "opaque"); !errors.Is(err, c.err) {
					t.Errorf("got %v, want %v", err, c.err)
				}
				w.fetches(t, fetches)
			}
			verify(1)
			if c.keep > 0 {
				verify(1)
				w.clock.advance(c.keep - time.Millisecond)
				verify(1)
				w.clock.advance(time.Millisecond)
			}
			verify(2)
			w.clock.advance(-skew) // an answer from the future is none
			verify(3)
		})
	}
}

// A confirmed call sees at once what was revoked, and so do those after it.
func TestVerifyFresh(t *testing.T) {
	w := introspecting(t, nil)
	accepts(t, w, "opaque")
	w.say(object{"active": false})
	accepts(t, w, "opaque")
	if _, err := w.VerifyFresh(t.Context(), "opaque"); !errors.Is(err, access.ErrInvalidToken) {
		t.Errorf("got %v", err)
	}
	refuses(t, w, "opaque", access.ErrInvalidToken, "not active")
	w.fetches(t, 2)
	w.say(nil)
	if _, err := w.VerifyFresh(t.Context(), "opaque"); err != nil {
		t.Error(err)
	}
	accepts(t, w, "opaque")
	w.fetches(t, 3)
}

// What is remembered is bounded, holds no token, and forgets what ended first.
func TestAnswersAreBounded(t *testing.T) {
	w := introspecting(t, nil)
	a := answer{asked: w.clock.now(), ends: w.clock.now().Add(keepActive)}
	for n := range maxAnswers {
		old := a
		if n%2 == 0 {
			old.ends = old.asked.Add(keepInactive)
		}
		w.remember(digest{byte(n), byte(n >> 8)}, old)
	}
	w.clock.advance(keepInactive)
	accepts(t, w, "opaque")
	if got := len(w.answers); got != maxAnswers/2+1 {
		t.Errorf("%d answers after those that ended went, want %d", got, maxAnswers/2+1)
	}
	for n := range maxAnswers {
		w.remember(digest{2: 1, 3: byte(n), 4: byte(n >> 8)}, a)
	}
	if got := len(w.answers); got > maxAnswers {
		t.Errorf("%d answers", got)
	}
}

func TestIntrospectionDown(t *testing.T) {
	for _, c := range []struct {
		name string
		down http.HandlerFunc
		why  string
	}{
		{"fails", status(503), "HTTP 503"},
		{"moved", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example", http.StatusTemporaryRedirect)
		}, "HTTP 307"},
		{"drops the connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"answers a page", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, "not an introspection answer"},
		{"says nothing", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"sub":"ana"}`)) }, "not an introspection answer"},
		{"says both", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"active":false,"active":true}`)) }, "not an introspection answer"},
		{"gigantic", func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"active":true,"x":"` + strings.Repeat("x", maxBody) + `"}`))
		}, "more than 256 KB"},
		{"slow", func(_ http.ResponseWriter, r *http.Request) {
			r.ParseForm()
			<-r.Context().Done()
		}, context.DeadlineExceeded.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := introspecting(t, nil)
			if w.timeout != 3*time.Second {
				t.Errorf("a request may take %v", w.timeout)
			}
			accepts(t, w, "opaque")
			w.answer(c.down)
			accepts(t, w, "opaque") // remembered
			w.timeout = 100 * time.Millisecond
			if c.name != "slow" {
				w.timeout = time.Minute
			}
			if _, err := w.VerifyFresh(t.Context(), "opaque"); !errors.Is(err, access.ErrUnavailable) || strings.Contains(err.Error(), "opaque") {
				t.Errorf("fresh: got %v", err)
			}
			w.clock.advance(keepActive)
			refuses(t, w, "opaque", access.ErrUnavailable, c.why)
			w.answer(w.introspect)
			w.timeout = time.Minute
			accepts(t, w, "opaque") // that it was down is not remembered
		})
	}
}

func TestClientSecret(t *testing.T) {
	w := introspecting(t, nil)
	right := w.secret.Load()
	w.secret.Store(nil)
	refuses(t, w, "opaque", access.ErrUnavailable, "vault is sealed")
	w.fetches(t, 0)
	w.secret.Store(new("old"))
	refuses(t, w, "opaque", access.ErrUnavailable, "HTTP 401: it refuses this server's client id and secret")
	w.secret.Store(right)
	accepts(t, w, "opaque")
	w.clock.advance(keepActive)
	accepts(t, w, "opaque")
	if got := w.secrets.Load(); got != 3 {
		t.Errorf("the secret was fetched %d times, want 3", got)
	}
}

// While an instance is frozen its connection dies. The first request after that
// does not fail for it.
func TestConnectionDiedWhileFrozen(t *testing.T) {
	w := introspecting(t, nil)
	w.client = newClient(&http.Transport{}) // with connections of its own
	w.answer(func(rw http.ResponseWriter, r *http.Request) {
		if w.count.Load() == 2 { // the second request finds the line dead
			c, _, _ := rw.(http.Hijacker).Hijack()
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
			return
		}
		w.introspect(rw, r)
	})
	accepts(t, w, "opaque")
	if _, err := w.VerifyFresh(t.Context(), "opaque"); err != nil {
		t.Errorf("after a freeze: %v", err)
	}
	w.fetches(t, 3)
}
