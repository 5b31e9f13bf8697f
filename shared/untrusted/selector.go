package untrusted

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// selector selects elements: the last compound the element itself, those
// before it what is around it.
type selector struct {
	parts   []compound
	inexact bool // it selects more than a browser would, because of what is not computed here
}

// compound is a part of a selector such as td.note[x], in lower case, with the
// combinator before it.
type compound struct {
	combinator byte   // ' ', '>', '+' or '~'
	tag        string // "" for any
	tests      []func(*sheet, *element) bool
}

// element is what selectors ask about a node.
type element struct {
	*html.Node
	id                                  string
	classes                             []string
	index, fromEnd, ofType, ofTypeToEnd int // among the elements of the same parent, from 1
	before                              *html.Node
}

// element returns what selectors ask about n.
func (s *sheet) element(n *html.Node) *element {
	if e := s.elements[n]; e != nil {
		return e
	}
	siblings := []*element{{Node: n, index: 1, fromEnd: 1, ofType: 1, ofTypeToEnd: 1}}
	if n.Parent != nil {
		siblings = s.children(n.Parent)
	}
	for _, e := range siblings {
		e.id = unmask(strings.ToLower(attr(e.Node, "id")))
		e.classes = strings.Fields(unmask(strings.ToLower(attr(e.Node, "class"))))
		s.elements[e.Node] = e
	}
	return s.elements[n]
}

// children returns the elements in parent with their places.
func (s *sheet) children(parent *html.Node) []*element {
	var list []*element
	types := map[string]int{}
	var before *html.Node
	for c := range parent.ChildNodes() {
		if c.Type == html.ElementNode {
			types[c.Data]++
			list = append(list, &element{Node: c, index: len(list) + 1, ofType: types[c.Data], before: before})
			before = c
		}
	}
	for _, e := range list {
		e.fromEnd = len(list) - e.index + 1
		e.ofTypeToEnd = types[e.Data] - e.ofType + 1
	}
	return list
}

// matches reports whether sel selects n.
func (s *sheet) matches(n *html.Node, sel selector) bool {
	return s.matchesFrom(s.element(n), sel.parts, len(sel.parts)-1)
}

// matchesFrom reports whether the parts to the last one select e.
func (s *sheet) matchesFrom(e *element, parts []compound, last int) bool {
	if s.steps++; s.steps > maxSteps {
		return false
	}
	c := parts[last]
	if c.tag != "" && c.tag != e.Data || slices.ContainsFunc(c.tests, func(test func(*sheet, *element) bool) bool { return !test(s, e) }) {
		return false
	}
	if last == 0 {
		return true
	}
	up := c.combinator == ' ' || c.combinator == '>'
	for {
		n := e.before
		if up {
			n = e.Parent
		}
		if n == nil || n.Type != html.ElementNode || s.steps > maxSteps {
			return false
		}
		e = s.element(n)
		if s.matchesFrom(e, parts, last-1) {
			return true
		}
		if c.combinator == '>' || c.combinator == '+' {
			return false
		}
	}
}

// notInNames are the characters that end a name in a selector.
const notInNames = " \t\r\n\f.#:[]()>+~*,\"'|&{};=^$@%!/?<"

// parseSelectors reads a list of selectors; what is none is left out.
func parseSelectors(list string, depth int) []selector {
	var all []selector
	for _, one := range splitTop(list, ',') {
		if sel, ok := parseSelector(strings.TrimSpace(one), depth); ok {
			all = append(all, sel)
		}
	}
	return all
}

// parseSelector reads one selector.
func parseSelector(text string, depth int) (sel selector, ok bool) {
	combinator := byte(' ')
	for text != "" {
		rest := strings.TrimLeft(text, " \t\r\n\f")
		if rest != "" && strings.IndexByte(">+~", rest[0]) >= 0 {
			combinator, text = rest[0], strings.TrimSpace(rest[1:])
			continue
		}
		text = rest
		c := compound{combinator: combinator}
		before := len(text)
		if c.tag, text = name(text); c.tag == "" {
			text = strings.TrimPrefix(text, "*")
		}
		for text != "" && strings.IndexByte(".#[:", text[0]) >= 0 {
			var exact bool
			if text, exact, ok = c.add(text, depth); !ok {
				return sel, false
			}
			sel.inexact = sel.inexact || !exact
		}
		if len(text) == before || text != "" && strings.IndexByte(" \t\r\n\f>+~", text[0]) < 0 {
			return sel, false
		}
		sel.parts = append(sel.parts, c)
		combinator = ' '
	}
	return sel, len(sel.parts) > 0
}

// name cuts a name off the beginning of text.
func name(text string) (word, rest string) {
	end := strings.IndexAny(text, notInNames)
	if end < 0 {
		end = len(text)
	}
	return unmask(text[:end]), text[end:]
}

// add reads a class, id, attribute or pseudo-class at the beginning of text.
func (c *compound) add(text string, depth int) (rest string, exact, ok bool) {
	kind := text[0]
	if kind == '[' {
		inside, rest, ok := strings.Cut(text[1:], "]")
		test, valid := attributeTest(inside)
		c.tests = append(c.tests, test)
		return rest, true, ok && valid
	}
	word, rest := name(text[1:])
	switch kind {
	case '.':
		c.tests = append(c.tests, func(_ *sheet, e *element) bool { return slices.Contains(e.classes, word) })
		return rest, true, word != ""
	case '#':
		c.tests = append(c.tests, func(_ *sheet, e *element) bool { return e.id == word })
		return rest, true, word != ""
	}
	var args string
	if strings.HasPrefix(rest, "(") {
		end := closing(rest)
		args, rest = rest[1:end], strings.TrimPrefix(rest[end:], ")")
	}
	if word == "" { // of a pseudo-element
		return rest, true, false
	}
	test, exact := pseudoTest(word, strings.TrimSpace(args), depth)
	c.tests = append(c.tests, test)
	return rest, exact, true
}

// attributeTest reads what is between the brackets of an attribute selector.
func attributeTest(inside string) (test func(*sheet, *element) bool, ok bool) {
	key, rest := name(strings.TrimSpace(inside))
	rest = strings.TrimSpace(rest)
	operator, value, compares := strings.Cut(rest, "=")
	if !compares {
		return func(_ *sheet, e *element) bool { _, has := lookupAttr(e.Node, key); return has }, key != "" && rest == ""
	}
	value = strings.TrimSpace(value)
	if value != "" && strings.ContainsRune(`"'`, rune(value[0])) {
		value, _, _ = strings.Cut(value[1:], value[:1])
	} else {
		value, _, _ = strings.Cut(value, " ")
	}
	value = unmask(value)
	compare, ok := map[string]func(v string) bool{
		"":  func(v string) bool { return v == value },
		"~": func(v string) bool { return slices.Contains(strings.Fields(v), value) },
		"|": func(v string) bool { return v == value || strings.HasPrefix(v, value+"-") },
		"^": func(v string) bool { return value != "" && strings.HasPrefix(v, value) },
		"$": func(v string) bool { return value != "" && strings.HasSuffix(v, value) },
		"*": func(v string) bool { return value != "" && strings.Contains(v, value) },
	}[strings.TrimSpace(operator)]
	return func(_ *sheet, e *element) bool {
		v, has := lookupAttr(e.Node, key)
		return has && compare(unmask(strings.ToLower(v)))
	}, ok && key != ""
}

// never are the states and pseudo-elements that no element of a mail is in when
// it is opened.
const never = " hover active focus focus-within focus-visible target visited before after first-line first-letter "

// pseudoTest returns the test of a pseudo-class and whether it is exact; that
// of an unknown one holds for all.
func pseudoTest(word, args string, depth int) (test func(*sheet, *element) bool, exact bool) {
	holds := func(*sheet, *element) bool { return true }
	if isOneOf(word, never) {
		return func(*sheet, *element) bool { return false }, true
	}
	place := func(of func(*element) int, formula string) (func(*sheet, *element) bool, bool) {
		step, first, ok := parseNth(formula)
		return func(_ *sheet, e *element) bool {
			n := of(e) - first
			return !ok || n == 0 || step != 0 && n%step == 0 && n/step >= 0
		}, ok
	}
	index, fromEnd := func(e *element) int { return e.index }, func(e *element) int { return e.fromEnd }
	ofType, toEnd := func(e *element) int { return e.ofType }, func(e *element) int { return e.ofTypeToEnd }
	switch word {
	case "first-child":
		return place(index, "1")
	case "last-child":
		return place(fromEnd, "1")
	case "first-of-type":
		return place(ofType, "1")
	case "last-of-type":
		return place(toEnd, "1")
	case "nth-child":
		return place(index, args)
	case "nth-last-child":
		return place(fromEnd, args)
	case "nth-of-type":
		return place(ofType, args)
	case "nth-last-of-type":
		return place(toEnd, args)
	case "root":
		return func(_ *sheet, e *element) bool { return e.Data == "html" }, true
	case "link", "any-link":
		return func(_ *sheet, e *element) bool { return e.Data == "a" && attr(e.Node, "href") != "" }, true
	case "is", "where", "matches", "-webkit-any", "-moz-any", "not":
		if depth > maxNesting {
			return holds, false
		}
		list := parseSelectors(args, depth+1)
		inexact := slices.ContainsFunc(list, func(sel selector) bool { return sel.inexact })
		if word == "not" && inexact {
			return holds, false
		}
		return func(s *sheet, e *element) bool {
			return slices.ContainsFunc(list, func(sel selector) bool { return s.matches(e.Node, sel) }) != (word == "not")
		}, !inexact
	}
	return holds, false
}

// parseNth reads a formula such as 2n+1.
func parseNth(formula string) (step, first int, ok bool) {
	formula = strings.ReplaceAll(formula, " ", "")
	switch formula {
	case "odd":
		return 2, 1, true
	case "even":
		return 2, 0, true
	}
	var err error
	if before, after, has := strings.Cut(formula, "n"); has {
		switch before {
		case "", "+":
			step = 1
		case "-":
			step = -1
		default:
			if step, err = strconv.Atoi(before); err != nil {
				return 0, 0, false
			}
		}
		if formula = after; formula == "" {
			return step, 0, true
		}
	}
	first, err = strconv.Atoi(formula)
	return step, first, err == nil
}

// closing returns where the parenthesis closes that text begins with.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// splitTop splits text at separators that are not in brackets.
func splitTop(text string, separator byte) []string {
	var list []string
	depth, start := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == separator && depth == 0:
			list = append(list, text[start:i])
			start = i + 1
		}
	}
	return append(list, text[start:])
}
