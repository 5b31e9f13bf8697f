package untrusted

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// maxHTML is how many bytes of HTML are read; the rest is cut off.
const maxHTML = 256 << 10

// unreadable stands for HTML that is made to be hard to read.
const unreadable = "(This HTML is too complicated to be shown.)"

// parse returns the visible part of the tree of src: comments, what belongs to
// no page, and what is hidden are gone. It returns nil when src is made to be
// hard to read.
func parse(src string) *html.Node {
	prepared, repeats := prepare(src[:min(len(src), maxHTML)])
	if repeats > maxRepeats {
		return nil
	}
	doc, err := html.ParseWithOptions(bytes.NewReader(prepared), html.ParseOptionEnableScripting(false))
	if err != nil { // nested too deeply
		return nil
	}
	p := pruner{sheet: stylesheet(doc)}
	p.prune(doc, look{color: black, back: white})
	if p.sheet.steps > maxSteps {
		return nil
	}
	return doc
}

// maxRepeats bounds what [prepare] finds.
const maxRepeats = 250_000

// Elements that [prepare] treats differently.
const (
	formatting = " b big code em font i nobr s small strike strong tt u "
	inline     = " a br img span "
	foreign    = " svg math noscript "
)

// prepare makes src ready for parsing. Elements with rules of their own for
// what is text and what is markup become unknown ones.
//
// A parser repeats formatting elements that are not closed in every block that
// follows, so that a small input may grow to a huge tree. The second result
// bounds the number of elements that this adds: those that are not closed
// before anything but text and inline elements, at most three that are equal,
// times the number of tokens.
func prepare(src string) (prepared []byte, repeats int) {
	type tag struct{ name, raw string }
	var b bytes.Buffer
	var open []tag
	unclosed := map[tag]int{}
	sum, tokens := 0, 0
	z := html.NewTokenizer(strings.NewReader(src))
	for {
		kind := z.Next()
		tokens++
		raw := z.Raw()
		switch kind {
		case html.ErrorToken:
			return b.Bytes(), (sum + len(open)) * tokens
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			t := tag{raw: string(raw)}
			name, _ := z.TagName()
			t.name = string(name)
			switch last := len(open) - 1; {
			case isOneOf(t.name, inline):
			case isOneOf(t.name, formatting) && kind != html.EndTagToken:
				open = append(open, t)
			case last >= 0 && open[last].name == t.name:
				open = open[:last]
			default:
				for _, o := range open {
					if unclosed[o]++; unclosed[o] <= 3 {
						sum++
					}
				}
				open = open[:0]
			}
			if isOneOf(t.name, foreign) {
				z.NextIsNotRawText()
				start := bytes.TrimLeft(raw, "</")
				b.WriteString(t.raw[:len(raw)-len(start)] + "x-")
				raw = start
			}
		}
		b.Write(raw)
	}
}

// isOneOf reports whether name is in list, which has spaces around its items.
func isOneOf(name, list string) bool {
	return strings.Contains(list, " "+name+" ")
}

// attr returns the first attribute of that name, or "".
func attr(n *html.Node, name string) string {
	v, _ := lookupAttr(n, name)
	return v
}

// lookupAttr returns the first attribute of that name and whether there is one.
func lookupAttr(n *html.Node, name string) (string, bool) {
	i := slices.IndexFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if i < 0 {
		return "", false
	}
	return n.Attr[i].Val, true
}

// dropped are elements whose content is never shown by a mail program, or not
// when it shows anything better.
const dropped = " head title style script template iframe frame frameset noframes noembed object embed applet audio video canvas " +
	"link meta base param select x-svg x-noscript datalist area map rp desc metadata defs symbol annotation annotation-xml "

// pruner removes what cannot be seen.
type pruner struct{ sheet *sheet }

// prune removes from n what cannot be seen; l is how n looks.
func (p pruner) prune(n *html.Node, l look) {
	var hidden []*html.Node // removed at the end, as selectors ask for siblings
	for c := range n.ChildNodes() {
		visible := false
		switch c.Type {
		case html.TextNode:
			visible = !l.hidesText() && !isClosed(n)
		case html.ElementNode:
			if inner := p.look(c, l); !inner.hidden && !isHidden(c) {
				p.prune(c, inner)
				visible = true
			}
		}
		if !visible {
			hidden = append(hidden, c)
		}
	}
	for _, c := range hidden {
		n.RemoveChild(c)
	}
}

// look returns the look of n, a child of an element that looks like l. Rules
// that are not exact only hide it.
func (p pruner) look(n *html.Node, l look) look {
	decls, inexact := p.sheet.declarations(n)
	inner := l.of(n, decls)
	if p.sheet.steps > maxSteps {
		return inner
	}
	together := slices.Clip(decls)
	for _, more := range inexact {
		one := l.of(n, append(slices.Clip(decls), more...))
		together = append(together, more...)
		inner.hidden = inner.hidden || one.hidden || one.hidesText() && !inner.hidesText()
	}
	if inexact != nil {
		inner.hidden = inner.hidden || l.of(n, together).hidden
	}
	return inner
}

// isHidden reports whether an element is hidden whatever its style.
func isHidden(n *html.Node) bool {
	has := func(n *html.Node, name string) bool { _, ok := lookupAttr(n, name); return ok }
	return has(n, "hidden") || has(n, "popover") || n.Data == "dialog" && !has(n, "open") ||
		n.Data == "input" && strings.EqualFold(strings.TrimSpace(attr(n, "type")), "hidden") ||
		isZero(attr(n, "width")) && isZero(attr(n, "height")) ||
		n.Parent != nil && n.Parent.Data == "details" && !has(n.Parent, "open") && n.Data != "summary" ||
		isOneOf(n.Data, dropped)
}

// isClosed reports whether text directly in n belongs to closed details.
func isClosed(n *html.Node) bool {
	_, open := lookupAttr(n, "open")
	return n.Data == "details" && !open
}

// isZero reports whether the value of an old attribute is a size of nothing.
func isZero(v string) bool {
	size, ok := pixels(strings.TrimSpace(v))
	return ok && size == 0
}
