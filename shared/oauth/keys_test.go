package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/universokobana/kobana-inbox-mcp/shared/access"
)

func TestKeysAreRemembered(t *testing.T) {
	ec := newEC("ec")
	i := newIssuer(t, ec)
	v := verifier(t, i)
	i.fetches(t, 0) // nothing before the first token
	for range 100 {
		accepts(t, v, i.token(nil))
	}
	i.clock.advance(refreshAfter - time.Second)
	accepts(t, v, i.token(nil))
	i.fetches(t, 1)
	i.clock.advance(time.Second)
	accepts(t, v, i.token(nil))
	accepts(t, v, i.token(nil))
	i.fetches(t, 2)
}

func TestWithdrawnKey_12_08(t *testing.T) {
	old, ec := newEC("old"), newEC("new")
	i := newIssuer(t, old, ec)
	v := verifier(t, i)
	accepts(t, v, i.token(nil))
	i.publish(ec)
	i.clock.advance(refreshAfter)
	refuses(t, v, old.sign(i.claims(nil), nil), access.ErrInvalidToken, "not signed by a key")
	accepts(t, v, i.token(nil))
	i.publish() // an issuer without keys is obeyed too
	i.clock.advance(refreshAfter)
	refuses(t, v, ec.sign(i.claims(nil), nil), access.ErrInvalidToken, "not signed by a key")
}

// A storm of tokens that name unknown keys, from many clients at once, makes
// one fetch a minute.
func TestUnknownKeyStorm(t *testing.T) {
	ec := newEC("ec")
	i := newIssuer(t, ec)
	v := verifier(t, i)
	accepts(t, v, i.token(nil))
	storm := func() {
		var clients sync.WaitGroup
		for c := range 8 {
			clients.Go(func() {
				for n := range 20 {
					token := ec.sign(i.claims(nil), object{"kid": fmt.Sprint(c, "-", n)})
					refuses(t, v, token, access.ErrInvalidToken, "not signed by a key")
				}
				accepts(t, v, i.token(nil))
			})
		}
		clients.Wait()
	}
	for minute := range int64(3) {
		storm()
		i.fetches(t, 2+minute)
		i.clock.advance(askEvery - time.Second)
		storm()
		i.fetches(t, 2+minute)
		i.clock.advance(time.Second)
	}
	forger := newEC("ec")
	for range 10 { // a bad signature is no way around it
		refuses(t, v, forger.sign(i.claims(nil), nil), access.ErrInvalidToken, "not signed by a key")
	}
	i.fetches(t, 5)
}

func TestConcurrentFirstTokens(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	token := i.token(nil)
	var clients, begun sync.WaitGroup
	begun.Add(20)
	i.answer(func(w http.ResponseWriter, r *http.Request) {
		begun.Wait() // answers when all are there
		i.servePublished(w)
	})
	for range 20 {
		clients.Go(func() {
			begun.Done()
			accepts(t, v, token)
		})
	}
	clients.Wait()
	i.fetches(t, 1)
}

// Clients verify while the issuer changes its keys, and signs with each as soon
// as it is published.
func TestRotationUnderLoad(t *testing.T) {
	const rotations = 10
	keys := []signer{newEC("0")}
	i := newIssuer(t, keys...)
	v := verifier(t, i)
	var current atomic.Pointer[signer]
	current.Store(&keys[0])
	var clients sync.WaitGroup
	stop := make(chan struct{})
	verified := make(chan string, 100)
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s := current.Load()
					accepts(t, v, s.sign(i.claims(nil), nil))
					select {
					case verified <- s.id:
					default:
					}
				}
			}
		})
	}
	for n := 1; n <= rotations; n++ {
		key := newEC(fmt.Sprint(n))
		keys = append(keys, key)
		i.publish(keys...)
		i.clock.advance(askEvery)
		current.Store(&key)
		for id := range verified { // until a token of the new key was
			if id == key.id {
				break
			}
		}
	}
	close(stop)
	clients.Wait()
	if n := i.count.Load(); n > 1+2*rotations {
		t.Errorf("%d fetches for %d rotations", n, rotations)
	}
}

// A rotation right after the first fetch needs no pause either.
func TestRotationAtOnce(t *testing.T) {
	old, ec := newEC("old"), newEC("new")
	i := newIssuer(t, old)
	v := verifier(t, i)
	accepts(t, v, i.token(nil))
	i.publish(ec, old)
	accepts(t, v, i.token(nil))
	accepts(t, v, old.sign(i.claims(nil), nil))
	i.fetches(t, 2)
}

// The same key id for another key: bad, and seen.
func TestRotationUnderOneID(t *testing.T) {
	i := newIssuer(t, newEC("1"))
	v := verifier(t, i)
	accepts(t, v, i.token(nil))
	i.publish(newEC("1"))
	accepts(t, v, i.token(nil))
}

func TestIssuerDown(t *testing.T) {
	ec := newEC("ec")
	for _, c := range []struct {
		name string
		down http.HandlerFunc
	}{
		{"fails", status(503)},
		{"forbids", status(403)},
		{"empty", status(200)},
		{"has no content", status(204)},
		{"drops the connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(`{"keys":[`))
		}},
		{"answers a page", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>Sign in</html>")) }},
		{"answers no set", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"error":"busy"}`)) }},
		{"answers two sets", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(`{"keys":[],"keys":[]}`)) }},
		{"gigantic", func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"x":"` + strings.Repeat("x", maxBody) + `","keys":[]}`))
		}},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write([]byte(strings.Repeat(" ", 64<<10))); err != nil {
					return
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := newIssuer(t, ec)
			i.Config.ErrorLog = silent
			v := verifier(t, i)
			i.answer(c.down)

			// Cold: no token can be told, and the issuer gets a rest.
			refuses(t, v, i.token(nil), access.ErrUnavailable, "")
			n := i.count.Load()
			refuses(t, v, i.token(nil), access.ErrUnavailable, "")
			i.fetches(t, n)
			i.clock.advance(restFor)
			refuses(t, v, i.token(nil), access.ErrUnavailable, "")
			i.answer(nil)
			i.clock.advance(restFor)
			accepts(t, v, i.token(nil))

			// Warm: known keys count for a day, unknown ones cannot be told.
			i.answer(c.down)
			stranger := newEC("stranger")
			refuses(t, v, stranger.sign(i.claims(nil), nil), access.ErrUnavailable, "")
			n = i.count.Load()
			for range 10 {
				refuses(t, v, stranger.sign(i.claims(nil), nil), access.ErrUnavailable, "")
				refuses(t, v, stranger.sign(i.claims(nil), object{"kid": "ec"}), access.ErrInvalidToken, "not signed by a key")
			}
			i.fetches(t, n)
			for age := time.Duration(0); age < keepFor-time.Hour; age += time.Hour {
				i.clock.advance(time.Hour)
				accepts(t, v, i.token(nil))
				accepts(t, v, i.token(nil))
			}
			i.clock.advance(time.Hour)
			refuses(t, v, i.token(nil), access.ErrUnavailable, "")
			i.answer(nil)
			i.clock.advance(restFor)
			accepts(t, v, i.token(nil))
		})
	}
}

func TestSlowIssuer(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	source := v.issuers[i.URL].keys
	if source.timeout != 3*time.Second {
		t.Errorf("a fetch may take %v", source.timeout)
	}
	source.timeout = 20 * time.Millisecond
	i.answer(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	refuses(t, v, i.token(nil), access.ErrUnavailable, context.DeadlineExceeded.Error())
}

// While one request refreshes keys that are old, others do not wait for it.
func TestRefreshHoldsNobodyUp(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	v.issuers[i.URL].keys.timeout = time.Hour
	token := i.token(nil)
	accepts(t, v, token)
	i.clock.advance(refreshAfter)
	asked, release := make(chan struct{}), make(chan struct{})
	i.answer(func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-release
		w.WriteHeader(500)
	})
	var first sync.WaitGroup
	first.Go(func() { accepts(t, v, token) })
	<-asked
	accepts(t, v, token)
	close(release)
	first.Wait()
	accepts(t, v, token)
	i.fetches(t, 2)
}

// The fetch that others wait for survives the request that began it.
func TestCallerGoesAway(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Verify(ctx, i.token(nil)); err != nil {
		t.Errorf("got %v", err)
	}
	accepts(t, v, i.token(nil))
	i.fetches(t, 1)
}

// A fetch that panics fails its request, and blocks no other.
func TestFetchPanics(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	source := v.issuers[i.URL].keys
	fetch := source.fetch
	source.fetch = func(context.Context) (keySet, error) { panic("hostile keys") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		v.Verify(t.Context(), i.token(nil))
	}()
	refuses(t, v, i.token(nil), access.ErrUnavailable, "broke off")
	source.fetch = fetch
	i.clock.advance(restFor)
	accepts(t, v, i.token(nil))
}

// A clock that is set back makes keys neither immortal nor unreachable.
func TestClockSetBack(t *testing.T) {
	i := newIssuer(t, newEC("ec"))
	v := verifier(t, i)
	accepts(t, v, i.token(nil))
	i.clock.advance(-time.Hour)
	accepts(t, v, i.token(nil))
	i.fetches(t, 2)
	i.publish(newEC("new"))
	accepts(t, v, i.token(nil))
}

// Fetches overlap when an unknown key is asked for while old keys are being
// refreshed: what began later counts, whichever ends first.
func TestOverlappingFetches(t *testing.T) {
	type result struct {
		keys keySet
		err  error
	}
	asked := make(chan chan result)
	k := &keySource{timeout: time.Hour, now: newClock().now, fetch: func(context.Context) (keySet, error) {
		c := make(chan result)
		asked <- c
		r := <-c
		return r.keys, r.err
	}}
	for _, late := range []result{{keys: keySet{{id: "old"}}}, {err: errors.New("down")}} {
		var both sync.WaitGroup
		older := k.begin(t.Context(), k.now())
		both.Go(func() { older.await() })
		first := <-asked
		newer := k.begin(t.Context(), k.now())
		both.Go(func() { newer.await() })
		second := <-asked
		second <- result{keys: keySet{{id: "new"}}}
		newer.await()
		first <- late
		both.Wait()
		if k.known != newer || k.running || k.failed != nil {
			t.Errorf("known %+v, running %v, failed %v", k.known, k.running, k.failed)
		}
	}
}
