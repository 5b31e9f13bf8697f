package access

import "sync"

// recent is a map of bounded size that forgets what was not used for longest,
// roughly: entries live in two generations, and when the young one is full it
// becomes the old one, whose entries are forgotten unless used again.
type recent[K comparable, V any] struct {
	mu         sync.Mutex
	generation int // entries in each
	young, old map[K]V
}

// newRecent makes a map of at most size entries.
func newRecent[K comparable, V any](size int) *recent[K, V] {
	return &recent[K, V]{generation: size / 2, young: map[K]V{}}
}

// update replaces the value at k, zero when absent, by what f makes of it, and
// returns that.
func (r *recent[K, V]) update(k K, f func(V) V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.young[k]
	if !ok {
		v = r.old[k]
		if len(r.young) >= r.generation {
			r.young, r.old = map[K]V{}, r.young
		}
	}
	v = f(v)
	r.young[k] = v
	return v
}
