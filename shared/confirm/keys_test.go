package confirm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestKeys_Rotation(t *testing.T) {
	l, a := newLab(t), newDeletion()
	k1, k2 := testKey("k1"), testKey("k2")
	ask := func() Call { return l.ask(exampleCall(), a, sayYes) }
	old := [4]Call{ask(), ask(), ask(), ask()}

	// Accept everywhere: other instances still seal with the old key.
	l.keys = []Key{k1, k2}
	l.restart()
	l.confirm(old[0], a, Confirmed)
	// Seal with it: an instance that has not heard still reads it.
	l.keys = []Key{k2, k1}
	l.restart()
	l.confirm(old[1], a, Confirmed)
	fresh := ask()
	if fresh.RequestState == nil || !strings.HasPrefix(unquote(fresh.RequestState), "AQJrM") { // version, length, "k2"
		t.Errorf("not sealed with the new key: %.10s", unquote(fresh.RequestState))
	}
	l.confirm(old[2], a, Confirmed)
	// Drop the old one: what it sealed is asked again, what the new one sealed counts.
	l.keys = []Key{k2}
	l.restart()
	l.confirm(old[3], a, Asked)
	l.confirm(fresh, a, Confirmed)
	l.wantExecuted(a, 4)
}

// fetches counts what a keyring asks of its source.
type fetches struct {
	n    int
	keys []Key
	err  error
}

func (f *fetches) fetch(context.Context) ([]Key, error) { f.n++; return f.keys, f.err }

func TestKeyring_FetchesWhenItMust(t *testing.T) {
	now := time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)
	src := &fetches{keys: []Key{testKey("k1")}}
	ring := newKeyring(src.fetch, func() time.Time { return now })
	find := func(id string, want error, fetches int) {
		t.Helper()
		key, err := ring.find(t.Context(), id)
		if !errors.Is(err, want) || err == nil && key.id != id {
			t.Errorf("find(%s) = %q, %v; want %v", id, key.id, err, want)
		}
		if src.n != fetches {
			t.Errorf("find(%s): %d fetches so far, want %d", id, src.n, fetches)
		}
	}
	if src.n != 0 {
		t.Error("fetched before it was needed")
	}
	find("k1", nil, 1)
	find("k1", nil, 1)
	find("k2", errUnreadable, 1) // fetched just now
	now = now.Add(time.Minute - 1)
	find("k2", errUnreadable, 1)
	now = now.Add(1)
	find("k2", errUnreadable, 2) // at most once a minute
	for range 50 {
		find(fmt.Sprint("forged-", t.Name()), errUnreadable, 2)
	}
	src.keys = []Key{testKey("k2"), testKey("k1")}
	now = now.Add(time.Minute)
	find("k2", nil, 3)
	find("k1", nil, 3)

	// An unknown id while the source is down: nobody knows. The keys at hand
	// still serve.
	src.err = errors.New("down")
	now = now.Add(time.Minute)
	find("k3", errKeys, 4)
	find("k3", errUnreadable, 4)
	find("k1", nil, 4)

	// Too old, or from the future: they must be fetched, and that must work.
	now = now.Add(KeyMaxAge)
	find("k1", errKeys, 5)
	find("k1", errKeys, 6)
	src.err = nil
	find("k1", nil, 7)
	now = now.Add(-time.Hour)
	find("k1", nil, 8)
	now = now.Add(KeyMaxAge - 1)
	find("k1", nil, 8)
	src.keys = []Key{testKey("k2")}
	now = now.Add(1)
	find("k1", errUnreadable, 9)
}

func TestKeyring_HeedsTheDeadline(t *testing.T) {
	src := &fetches{keys: []Key{testKey("k1")}}
	ring := newKeyring(src.fetch, time.Now)
	ring.turn <- struct{}{} // somebody is fetching
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ring.sealing(ctx); !errors.Is(err, errKeys) || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want unavailable because canceled", err)
	}
}

func TestKeySet_TakesOnlyWhatSeals(t *testing.T) {
	good := testKey("a").Secret
	for _, bad := range [][]Key{
		nil, {{ID: "", Secret: good}}, {{ID: "a b", Secret: good}}, {{ID: strings.Repeat("a", 33), Secret: good}},
		{{ID: "a"}}, {{ID: "a", Secret: good}, {ID: "a", Secret: good}},
	} {
		if _, err := newKeySet(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, err := newKeySet([]Key{{ID: strings.Repeat("a", 32), Secret: good}}); err != nil {
		t.Error(err)
	}
}

func TestKey_NeverShowsItsSecret(t *testing.T) {
	k := testKey("k1")
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, v := range []any{k, []Key{k}, map[string]Key{"x": k}, struct{ K Key }{k}} {
			got := fmt.Sprintf(format, v)
			if strings.Contains(got, "secret") || strings.Contains(got, "115") || strings.Contains(got, "736563726574") || strings.Contains(got, "0x73") {
				t.Errorf("%s shows %s", format, got)
			}
		}
	}
}
