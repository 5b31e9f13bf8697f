package untrusted

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// decl is a CSS declaration, in lower case.
type decl struct{ name, value string }

// sheet holds the rules of a document's style elements. Specificity and order
// are not judged: see [look.of].
type sheet struct {
	rules    []rule
	steps    int // of work done
	elements map[*html.Node]*element
}

// The bounds of a [sheet]. Beyond, a document is taken for an attack.
const (
	maxRules   = 5000
	maxSteps   = 1_000_000
	declSteps  = 8 // that a declaration counts for
	maxNesting = 8
	maxPrelude = 8000 // bytes of a selector with those around it
)

// rule gives the declarations of a selector. When it may not hold, or selects
// more than it should, it counts only in so far as it hides anything.
type rule struct {
	selector selector
	decls    []decl
}

// stylesheet reads the style elements in doc.
func stylesheet(doc *html.Node) *sheet {
	s := &sheet{elements: map[*html.Node]*element{}}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "style" || n.FirstChild == nil {
			continue
		}
		holds := mediaList(strings.ToLower(attr(n, "media")))
		if holds == no {
			continue
		}
		// A string may hold braces, and what looks like a string may be none:
		// what either reading finds is taken.
		source := n.FirstChild.Data
		masked := maskStrings(source)
		s.block(cleanCSS(masked), "", holds, 0)
		if masked != source {
			s.block(cleanCSS(source), "", holds, 0)
		}
	}
	return s
}

// block reads the content of a block, or of a whole sheet, and returns what
// follows its end; parent is the selector that it is nested in, holds is
// whether it counts.
func (s *sheet) block(css, parent string, holds truth, depth int) (rest string) {
	var body []decl
	defer func() { s.add(parent, body, holds) }()
	for {
		i := strings.IndexAny(css, "{};")
		if i < 0 {
			body = append(body, declarations(css)...)
			return ""
		}
		prelude, delimiter := strings.TrimSpace(css[:i]), css[i]
		css = css[i+1:]
		switch {
		case delimiter == '}':
			body = append(body, declarations(prelude)...)
			if depth > 0 {
				return css
			}
		case delimiter == ';':
			body = append(body, declarations(prelude)...)
		case depth > maxNesting || len(prelude)+len(parent) > maxPrelude || len(s.rules) > maxRules:
			s.steps = maxSteps + 1
			return ""
		case !strings.HasPrefix(prelude, "@"):
			css = s.block(css, nest(prelude, parent), holds, depth+1)
		default:
			if inner := min(holds, atRule(prelude)); inner > no {
				css = s.block(css, parent, inner, depth+1)
			} else {
				css = skipBlock(css)
			}
		}
	}
}

// nest returns a selector that is nested in parent.
func nest(prelude, parent string) string {
	switch {
	case parent == "":
		return prelude
	case strings.Contains(prelude, "&"):
		return strings.ReplaceAll(prelude, "&", ":is("+parent+")")
	}
	var list []string
	for _, one := range splitTop(prelude, ',') {
		list = append(list, ":is("+parent+") "+strings.TrimSpace(one))
	}
	return strings.Join(list, ",")
}

// add adds the rules of a list of selectors.
func (s *sheet) add(selectors string, decls []decl, holds truth) {
	if selectors == "" || len(decls) == 0 {
		return
	}
	for _, sel := range parseSelectors(selectors, 0) {
		sel.inexact = sel.inexact || holds != yes
		s.rules = append(s.rules, rule{sel, decls})
	}
}

// skipBlock returns what follows the block whose content css begins with.
func skipBlock(css string) string {
	for depth := 1; depth > 0; {
		i := strings.IndexAny(css, "{}")
		if i < 0 {
			return ""
		}
		if depth++; css[i] == '}' {
			depth -= 2
		}
		css = css[i+1:]
	}
	return css
}

// declarations returns what the sheet and the style attribute say of n, in
// that order, and what inexact rules say of it.
func (s *sheet) declarations(n *html.Node) (list []decl, inexact [][]decl) {
	for _, r := range s.rules {
		if s.steps > maxSteps {
			break
		}
		switch {
		case !s.matches(n, r.selector):
		case r.selector.inexact:
			inexact = append(inexact, r.decls)
		default:
			list = append(list, r.decls...)
			s.steps += declSteps * len(r.decls)
		}
	}
	list = append(list, declarations(cleanCSS(attr(n, "style")))...)
	for _, more := range inexact { // each is judged with the others
		s.steps += declSteps * (len(list) + len(more) + 5)
	}
	return list, inexact
}

// cssString matches strings, and what must not be taken for the beginning of
// one.
var cssString = lazy.Regexp(`(?s)/\*.*?(\*/|$)|\\.|"(\\.|[^"\\\n])*"|'(\\.|[^'\\\n])*'`)

// maskStrings removes from the strings in css what would end a block.
func maskStrings(css string) string {
	return cssString().ReplaceAllStringFunc(css, func(s string) string {
		if s[0] != '"' && s[0] != '\'' {
			return s
		}
		return s[:1] + strings.NewReplacer("{", " ", "}", " ", ";", " ", "/*", " ", "*/", " ").Replace(s[1:len(s)-1]) + s[:1]
	})
}

// masked is added to escaped punctuation, so that it does not count as such.
const masked = 0x10FE00

// unmask undoes what [cleanCSS] did to escaped punctuation.
func unmask(s string) string {
	return strings.Map(func(r rune) rune {
		if masked <= r && r < masked+0x80 {
			return r - masked
		}
		return r
	}, s)
}

// cssComment and cssEscape match what [cleanCSS] removes.
var (
	cssComment = lazy.Regexp(`(?s)/\*.*?(\*/|$)|<!--|-->`)
	cssEscape  = lazy.Regexp(`\\([0-9a-fA-F]{1,6})\s?|\\(.)`)
)

// cleanCSS returns css in lower case, without comments and escapes; escaped
// punctuation is [masked].
func cleanCSS(css string) string {
	css = cssComment().ReplaceAllString(css, " ")
	css = cssEscape().ReplaceAllStringFunc(css, func(escape string) string {
		if code, err := strconv.ParseUint(strings.TrimSpace(escape[1:]), 16, 32); err == nil {
			return maskEscaped(rune(code))
		}
		r, _ := utf8.DecodeRuneInString(escape[1:])
		return maskEscaped(r)
	})
	return strings.ToLower(css)
}

// maskEscaped returns an escaped character.
func maskEscaped(r rune) string {
	if r < 0x80 && r > ' ' && strings.ContainsRune(notInNames, r) {
		r += masked
	}
	return string(r)
}

// declarations splits clean CSS into its declarations.
func declarations(css string) []decl {
	var list []decl
	for one := range strings.SplitSeq(css, ";") {
		if name, value, ok := strings.Cut(one, ":"); ok {
			value, _, _ = strings.Cut(value, "!") // !important
			list = append(list, decl{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return list
}
