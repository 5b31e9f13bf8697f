// Package clip bounds, in bytes, texts that are kept or sent.
//
// It imports nothing else of this module.
package clip

import (
	"strings"
	"unicode/utf8"
)

// Bytes returns s as valid UTF-8 of at most so many bytes, which ends between
// two characters. What is not UTF-8 becomes U+FFFD.
func Bytes(s string, most int) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
