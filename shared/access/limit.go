package access

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// RateLimit is how much one person may ask of one instance: requests a second
// in the long run, and at once after a rest. In the cloud each family has
// instances of its own, so there it is per person and family.
type RateLimit struct {
	PerSecond rate.Limit // rate.Inf: unlimited
	Burst     int
}

// ParseLimit reads RATE_LIMIT: "20/60" is 20 requests a second with a burst of
// 60, "off" is unlimited, and "" is the zero value, the default of a [Gate].
func ParseLimit(s string) (RateLimit, error) {
	switch s {
	case "":
		return RateLimit{}, nil
	case "off":
		return RateLimit{PerSecond: rate.Inf}, nil
	}
	perSecond, burst, _ := strings.Cut(s, "/")
	n, err1 := strconv.Atoi(perSecond)
	b, err2 := strconv.Atoi(burst)
	if err1 != nil || err2 != nil || n < 1 || b < 1 {
		return RateLimit{}, fmt.Errorf(`rate limit %q: write requests per second and burst, both whole and at least 1, such as "20/60", or "off"`, s)
	}
	return RateLimit{rate.Limit(n), b}, nil
}

// Allow counts one call of the caller. When it is one too many it is not
// counted, and ok is false; after wait there is room again.
func (g *Gate) Allow(c *Caller) (wait time.Duration, ok bool) { return g.allow(c.Person) }

// Limit counts a request and refuses it with HTTP 429 when it is one too many.
// It lets tools/call pass: tools answer that themselves, by [Gate.Allow].
func (g *Gate) Limit(ctx context.Context, method string) error {
	if method == "tools/call" {
		return nil
	}
	t, _ := TokenFrom(ctx)
	wait, ok := g.allow(t.Person)
	if ok {
		return nil
	}
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	r := refuse(http.StatusTooManyRequests, "Too many requests, so nothing was done. Try again in "+seconds+" s.")
	r.Header.Set("Retry-After", seconds)
	return r
}

func (g *Gate) allow(p Person) (wait time.Duration, ok bool) {
	if g.opts.Limit.PerSecond == rate.Inf {
		return 0, true
	}
	now := g.opts.Now()
	g.buckets.update(p, func(l *rate.Limiter) *rate.Limiter {
		if l == nil {
			l = rate.NewLimiter(g.opts.Limit.PerSecond, g.opts.Limit.Burst)
		}
		r := l.ReserveN(now, 1)
		if wait = r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
		}
		return l
	})
	return wait, wait <= 0
}
