package untrusted

import (
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// markWords are the letters that a line of [Mark] begins with.
const markWords = "untrustedcontent"

// markOpeners are the letters that may stand between the bracket and
// [markWords] in what a reader still takes for such a line.
var markOpeners = []string{"", "end", "endof", "endofthe", "endthe", "begin", "start", "startof", "beginof", "close", "stop"}

// lookalikes are characters that look like a letter of [markWords] and do not
// decompose to it; the letter comes first.
var lookalikes = sync.OnceValue(func() map[rune]byte {
	m := map[rune]byte{}
	for _, row := range []string{
		"uυսʋᴜꭎꭒцꓴՍ", "nոռпɴηƞɳΝꓠᴎ", "tтТτΤᴛŧƭʇᎢꓔⲧⲦ", "rгГʀɾɼᎡꭇꭈᴦꓣⲅ", "sѕЅꜱʂᏚՏꓢꮪ",
		"eеЕєεΕҽ℮ᴇᎬɛꬲэəꓰⲉ", "dԁԀɗɖᴅᎠđժꓓ", "cсСϲϹᴄᏟⲥⲤꮯƈ¢ꓚ", "oоОοΟօՕᴏჿøØσⲟⲞꓳ",
	} {
		for _, r := range row[1:] {
			m[r] = row[0]
		}
	}
	return m
})

// SpoilMarks returns s with a parenthesis for the bracket of all that reads
// like the beginning of a line of [Mark], whatever kind of bracket and letters
// it is written in. It changes nothing else and may be used for single lines,
// such as subjects, names and names of files.
func SpoilMarks(s string) string {
	spoilMarks([]*string{&s})
	return s
}

// spoilMarks does what [SpoilMarks] does in parts that are read as one. All but
// letters is passed over, so that markup, quotes and lists between them do not
// matter.
func spoilMarks(parts []*string) {
	type bracket struct{ part, offset, size, letter int }
	var brackets []bracket
	var letters []byte
	for i, part := range parts {
		inWord := false
		for offset, r := range *part {
			if isBracket(r) {
				brackets = append(brackets, bracket{i, offset, len(string(r)), len(letters)})
			}
			before := len(letters)
			letters = appendLetters(letters, r, inWord)
			inWord = len(letters) > before || inWord && (isInvisible(r) || unicode.Is(unicode.M, r))
		}
	}
	spoilt := map[int][]bracket{}
	next, text := 0, string(letters)
	for from := 0; ; {
		i := strings.Index(text[from:], markWords)
		if i < 0 {
			break
		}
		from += i
		for ; next < len(brackets) && brackets[next].letter <= from; next++ {
			b := brackets[next]
			if isOpener(letters[b.letter:from]) {
				spoilt[b.part] = append(spoilt[b.part], b)
			}
		}
		from += len(markWords)
	}
	for i, list := range spoilt {
		var out strings.Builder
		end := 0
		for _, b := range list {
			out.WriteString((*parts[i])[end:b.offset] + "(")
			end = b.offset + b.size
		}
		*parts[i] = out.String() + (*parts[i])[end:]
	}
}

// isOpener reports whether letters are one of [markOpeners].
func isOpener(letters []byte) bool {
	if len(letters) > 10 {
		return false
	}
	for _, opener := range markOpeners {
		if opener == string(letters) {
			return true
		}
	}
	return false
}

// isBracket reports whether r is an opening bracket or a part of one, and no
// parenthesis.
func isBracket(r rune) bool {
	if r < 0x80 {
		return r == '[' || r == '{'
	}
	return unicode.Is(unicode.Ps, r) || 0x239B <= r && r <= 0x23B3
}

// appendLetters appends the small Latin letters that r reads as, '?' for other
// letters, and nothing for what is no letter. Digits that look like letters
// count within a word only.
func appendLetters(letters []byte, r rune, inWord bool) []byte {
	switch {
	case 'a' <= r && r <= 'z':
		return append(letters, byte(r))
	case 'A' <= r && r <= 'Z':
		return append(letters, byte(r)+'a'-'A')
	case r < 0x80:
		if i := strings.IndexByte("0o3e5s7t", byte(r)); inWord && i >= 0 && i%2 == 0 {
			return append(letters, "0o3e5s7t"[i+1])
		}
		return letters
	case 0x1F150 <= r && r <= 0x1F169:
		return append(letters, byte(r-0x1F150)+'a')
	case 0x1F170 <= r && r <= 0x1F189:
		return append(letters, byte(r-0x1F170)+'a')
	case 0x1F1E6 <= r && r <= 0x1F1FF:
		return append(letters, byte(r-0x1F1E6)+'a')
	}
	if letter, ok := lookalikes()[r]; ok {
		return append(letters, letter)
	}
	for _, d := range norm.NFKD.String(string(r)) {
		switch letter, ok := lookalikes()[d]; {
		case ok:
			letters = append(letters, letter)
		case d < 0x80:
			letters = appendLetters(letters, d, false)
		case unicode.IsLetter(d) && !isInvisible(d):
			letters = append(letters, '?')
		}
	}
	return letters
}
