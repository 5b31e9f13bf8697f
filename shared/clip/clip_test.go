package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/universokobana/kobana-inbox-mcp/shared/clip"
)

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"a", 0, ""}, {"abc", 3, "abc"}, {"abc", 2, "ab"},
		{"aé", 3, "aé"}, {"aé", 2, "a"}, {"é", 1, ""}, {"😀", 3, ""}, {"😀😀", 7, "😀"},
		{"a\xff", 4, "a\ufffd"}, {"a\xff", 3, "a"}, {"\xf0\x9f", 9, "\ufffd"},
	} {
		if got := clip.Bytes(c.text, c.most); got != c.want {
			t.Errorf("%q in %d bytes: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

// What is kept is the longest beginning that has room.
func FuzzBytes(f *testing.F) {
	f.Add("olá, 😀", 5)
	f.Add("\xff\xc3", 4)
	f.Add("\x80\x80\x80", 1)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = max(0, min(most, len(s)*3+1))
		got, whole := clip.Bytes(s, most), strings.ToValidUTF8(s, "\ufffd")
		rest, begins := strings.CutPrefix(whole, got)
		if !begins || !utf8.ValidString(got) || len(got) > most {
			t.Fatalf("%q in %d bytes: %q", s, most, got)
		}
		if _, size := utf8.DecodeRuneInString(rest); rest != "" && len(got)+size <= most {
			t.Fatalf("%q in %d bytes: %q, which leaves room", s, most, got)
		}
	})
}
