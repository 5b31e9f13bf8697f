package oauth

import (
	"context"
	"errors"
	"sync"
	"time"
)

// How long keys count, and how often they are asked for.
const (
	// refreshAfter is the age at which keys are fetched anew, and so how long a
	// key counts after its issuer withdrew it.
	refreshAfter = 10 * time.Minute
	// keepFor is how long keys count while the issuer cannot be reached.
	keepFor = 24 * time.Hour
	// askEvery is the least time between two fetches for unknown keys, whatever
	// tokens name, and between two attempts to refresh known ones.
	askEvery = time.Minute
	// restFor is the least time between two attempts while there are no keys;
	// refusals say so in Retry-After.
	restFor = 5 * time.Second
	// fetchTimeout bounds one fetch, with everything it takes.
	fetchTimeout = 3 * time.Second
)

// keySource knows the keys of one issuer. Fetches are made by the requests that
// need them; others that need the same wait for it, and those that can do with
// what is known do not wait.
type keySource struct {
	fetch   func(context.Context) (keySet, error)
	timeout time.Duration // of a fetch
	now     func() time.Time

	mu      sync.Mutex
	known   *fetched // the newest that succeeded, nil before the first
	newest  *fetched // the newest of all, nil before the first
	running bool     // the newest is
	failed  error    // of the newest, nil when it succeeded or runs
	sought  *fetched // the newest for an unknown key, nil before the first
}

// fetched is one fetch, and its result once await has returned nil.
type fetched struct {
	number int       // counts up
	at     time.Time // when it began
	await  func() error
	keys   keySet
}

// verify checks a token's signature. A token that no known key verifies has
// the keys fetched anew, so that a rotation needs no pause; but at most once a
// minute, so that nobody can make this server pester the issuer.
func (k *keySource) verify(ctx context.Context, s signed) error {
	f, err := k.current(ctx)
	if err != nil {
		return unavailable(err)
	}
	for {
		key, ok := f.keys.find(s.header)
		if ok && algorithms[s.header.Algorithm].verify(s.input, s.signature, key) == nil {
			return nil
		}
		newer, err := k.newer(ctx, f)
		switch {
		case err != nil && !ok:
			return unavailable(err)
		case err != nil || newer == f:
			return invalid("not signed by a key of its issuer")
		}
		f = newer
	}
}

// current returns the known keys, fetched first when there are none that
// count, and by one request a minute when they are old.
func (k *keySource) current(ctx context.Context) (*fetched, error) {
	k.mu.Lock()
	now := k.now()
	known, f := k.known, k.newest
	usable := known != nil && within(now.Sub(known.at), keepFor)
	switch {
	case usable && (within(now.Sub(known.at), refreshAfter) || within(now.Sub(f.at), askEvery)):
		k.mu.Unlock()
		return known, nil
	case k.failed != nil && !usable && within(now.Sub(f.at), restFor):
		defer k.mu.Unlock()
		return nil, k.failed
	case !k.running:
		f = k.begin(ctx, now)
	}
	k.mu.Unlock()

	err := f.await()
	switch {
	case err == nil:
		return f, nil
	case usable:
		return known, nil
	}
	return nil, err
}

// newer returns keys fetched after f, or f when they may not be asked for now.
func (k *keySource) newer(ctx context.Context, f *fetched) (*fetched, error) {
	k.mu.Lock()
	if k.known != f {
		defer k.mu.Unlock()
		return k.known, nil
	}
	if now := k.now(); k.sought == nil || !within(now.Sub(k.sought.at), askEvery) {
		k.sought = k.begin(ctx, now)
	}
	sought := k.sought
	k.mu.Unlock()

	if err := sought.await(); err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known, nil
}

// begin makes a fetch, which runs when it is first awaited. The request's end
// does not stop it: others may await it too. k.mu is held.
func (k *keySource) begin(ctx context.Context, now time.Time) *fetched {
	f := &fetched{at: now}
	if k.newest != nil {
		f.number = k.newest.number + 1
	}
	f.await = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), k.timeout)
		defer cancel()
		err := errors.New("the fetch broke off") // by a panic
		defer func() { k.end(f, err) }()
		f.keys, err = k.fetch(ctx)
		return err
	})
	k.newest, k.running, k.failed = f, true, nil
	return f
}

// end records the outcome of a fetch. Known keys are never replaced by older
// ones.
func (k *keySource) end(f *fetched, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.newest == f {
		k.running, k.failed = false, err
	}
	if err == nil && (k.known == nil || k.known.number < f.number) {
		k.known = f
	}
}

// within reports whether an age is below a limit. One below zero is not: the
// clock was set back.
func within(age, limit time.Duration) bool { return 0 <= age && age < limit }
