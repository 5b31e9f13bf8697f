package untrusted

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// decl is a CSS declaration, in lower case.
type decl struct{ name, value string }

// sheet holds the rules of a document's style elements. Specificity and order
// are not judged: see [look.of].
type sheet struct {
	rules []rule
	steps int // elements compared with a selector
}

// The bounds of a [sheet].
const (
	maxRules = 1000
	maxSteps = 5_000_000 // beyond, a document is taken for an attack
)

// rule gives the declarations of a selector: elements that are within one
// another, the outermost first.
type rule struct {
	selector []compound
	decls    []decl
}

// compound is a part of a selector such as td.note#x, in lower case.
type compound struct {
	tag, id string // "" for any
	classes []string
}

// stylesheet reads the style elements in doc.
func stylesheet(doc *html.Node) *sheet {
	s := &sheet{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "style" && n.FirstChild != nil {
			s.read(cleanCSS(n.FirstChild.Data))
		}
	}
	return s
}

// read adds the rules of css. Conditional ones count when their condition says
// nothing but screen.
func (s *sheet) read(css string) {
	for len(s.rules) < maxRules {
		i := strings.IndexAny(css, "{};")
		if i < 0 {
			return
		}
		prelude, delimiter := strings.TrimSpace(css[:i]), css[i]
		css = css[i+1:]
		if delimiter != '{' { // a statement such as @import, or the end of a block that was entered
			continue
		}
		if strings.HasPrefix(prelude, "@") {
			if !unconditional.MatchString(prelude) {
				css = skipBlock(css)
			}
			continue
		}
		body, rest, _ := strings.Cut(css, "}")
		css = rest
		decls := declarations(body)
		for selector := range strings.SplitSeq(prelude, ",") {
			if c := compounds(selector); c != nil && len(decls) > 0 {
				s.rules = append(s.rules, rule{c, decls})
			}
		}
	}
}

// unconditional matches at-rules whose blocks hold for a screen.
var unconditional = regexp.MustCompile(`^@(media\s*((only\s+)?screen|all)?|supports\b.*|layer\b.*)$`)

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

// compoundForm matches a [compound].
var compoundForm = regexp.MustCompile(`^(\*|[a-z][a-z0-9]*)?([.#][^.#:\[\]()+~*]+)*$`)

// compounds reads a selector of elements, classes and ids; it returns nil for
// all others.
func compounds(selector string) []compound {
	var list []compound
	for part := range strings.FieldsSeq(strings.ReplaceAll(selector, ">", " ")) {
		if !compoundForm.MatchString(part) {
			return nil
		}
		var c compound
		i := len(part)
		if j := strings.IndexAny(part, ".#"); j >= 0 {
			i = j
		}
		c.tag = strings.TrimPrefix(part[:i], "*")
		for rest := part[i:]; rest != ""; {
			end := len(rest)
			if j := strings.IndexAny(rest[1:], ".#"); j >= 0 {
				end = 1 + j
			}
			if rest[0] == '#' {
				c.id = rest[1:end]
			} else {
				c.classes = append(c.classes, rest[1:end])
			}
			rest = rest[end:]
		}
		list = append(list, c)
	}
	return list
}

// declarations returns what the sheet and the style attribute say of n, in
// that order.
func (s *sheet) declarations(n *html.Node) []decl {
	var list []decl
	for _, r := range s.rules {
		if s.steps > maxSteps {
			break
		}
		if s.matches(n, r.selector) {
			list = append(list, r.decls...)
		}
	}
	return append(list, declarations(cleanCSS(attr(n, "style")))...)
}

// matches reports whether selector selects n.
func (s *sheet) matches(n *html.Node, selector []compound) bool {
	last := len(selector) - 1
	s.steps++
	if !selector[last].matches(n) {
		return false
	}
	for n = n.Parent; last > 0 && n != nil; n = n.Parent {
		s.steps++
		if selector[last-1].matches(n) {
			last--
		}
	}
	return last == 0
}

// matches reports whether c selects n.
func (c compound) matches(n *html.Node) bool {
	if c.tag != "" && c.tag != n.Data || c.id != "" && c.id != strings.ToLower(attr(n, "id")) {
		return false
	}
	if len(c.classes) == 0 {
		return true
	}
	classes := strings.Fields(strings.ToLower(attr(n, "class")))
	return !slices.ContainsFunc(c.classes, func(class string) bool { return !slices.Contains(classes, class) })
}

// cssComment and cssEscape match what [cleanCSS] removes.
var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?(\*/|$)|<!--|-->`)
	cssEscape  = regexp.MustCompile(`\\([0-9a-fA-F]{1,6})\s?|\\(.)`)
)

// cleanCSS returns css in lower case, without comments and escapes.
func cleanCSS(css string) string {
	css = cssComment.ReplaceAllString(css, " ")
	css = cssEscape.ReplaceAllStringFunc(css, func(escape string) string {
		if code, err := strconv.ParseUint(strings.TrimSpace(escape[1:]), 16, 32); err == nil {
			return string(rune(code))
		}
		return escape[1:]
	})
	return strings.ToLower(css)
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
