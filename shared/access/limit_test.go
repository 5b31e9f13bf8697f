package access

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

func TestParseLimit(t *testing.T) {
	for s, want := range map[string]RateLimit{
		"":      {},
		"20/60": {20, 60},
		"1/1":   {1, 1},
		"off":   {PerSecond: rate.Inf},
	} {
		if got, err := ParseLimit(s); err != nil || got != want {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
	for _, s := range []string{"20", "20/", "/60", "0/60", "20/0", "-1/1", "20/60/1", "a/b", "OFF", "1.5/2", "inf/1", " 20/60"} {
		if got, err := ParseLimit(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestRateLimit(t *testing.T) {
	w := newWorld(t)
	spend := func(token, method string, n, status int) (last answer) {
		t.Helper()
		for range n {
			if last = w.call(t, token, method); last.status != status {
				t.Fatalf("%s %s: got %d %s", token, method, last.status, last.body)
			}
		}
		return last
	}
	spend("ana", "tools/list", 60, 200)
	refused := spend("ana", "tools/list", 3, 429)
	if refused.header.Get("Retry-After") != "1" || !strings.Contains(refused.message, "Try again in 1 s") || !strings.Contains(refused.body, `"code":429`) {
		t.Errorf("got %v %s", refused.header, refused.body)
	}
	spend("ana-read", "tools/list", 1, 429) // the person, not the token
	spend("ana", "initialize", 1, 429)      // counted before a membership is known
	spend("ana", "ping", 3, 200)            // case 12: never counted
	spend("ana", "tools/call", 3, 200)      // the catalog counts these
	spend("bia", "tools/list", 60, 200)     // another person has a bucket of her own
	w.sleep(50 * time.Millisecond)          // one twentieth of a second
	spend("ana", "tools/list", 1, 200)      // refused calls took nothing
	spend("ana", "tools/list", 1, 429)
	w.sleep(time.Hour) // never more than the burst
	spend("ana", "tools/list", 60, 200)
	spend("ana", "tools/list", 1, 429)
	if wait, ok := w.Allow(&Caller{Token: Token{Person: ana}}); ok || wait != 50*time.Millisecond {
		t.Errorf("tools/call shares the bucket: %v %v", wait, ok)
	}
	if wait, ok := w.Allow(&Caller{Token: Token{Person: eva}}); !ok || wait != 0 {
		t.Errorf("same subject of another issuer: %v %v", wait, ok)
	}
}

func TestRateLimitOff(t *testing.T) {
	w := newWorld(t)
	w.opts.Limit, _ = ParseLimit("off")
	for range 200 {
		if _, ok := w.Allow(&Caller{Token: Token{Person: ana}}); !ok {
			t.Fatal("limited")
		}
	}
}

func TestRecentIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	r := newRecent[string, int](100)
	count := func(k string) int { return r.update(k, func(n int) int { return n + 1 }) }
	for n := range 10_000 {
		count(fmt.Sprint("passer-by ", n))
		if n%40 == 0 {
			count("regular")
		}
		if len(r.young)+len(r.old) > 100 {
			t.Fatalf("%d entries", len(r.young)+len(r.old))
		}
	}
	if got := count("regular"); got != 251 {
		t.Errorf("the regular was forgotten: %d", got)
	}
	if got := count("passer-by 0"); got != 1 {
		t.Errorf("a passer-by was kept: %d", got)
	}
}
