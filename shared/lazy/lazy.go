// Package lazy makes what a package keeps for ever when it is first used, not
// when the process starts: most calls use little of it, and a start that waits
// for all of it is what people wait for.
//
// It imports nothing else of this module.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles an expression the first time. A wrong
// one panics then, so each needs a test that uses it.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
