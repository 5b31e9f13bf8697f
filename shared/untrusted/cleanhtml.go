package untrusted

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// allowed are the elements that [CleanHTML] keeps, with the attributes it
// keeps of them. Of other elements the content stays.
var allowed = map[string][]string{
	"a": {"href", "title"}, "img": {"alt", "title"}, "ol": {"start"}, "abbr": {"title"},
	"td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"},
	"b": nil, "blockquote": nil, "br": nil, "caption": nil, "center": nil, "code": nil, "dd": nil, "del": nil, "div": nil,
	"dl": nil, "dt": nil, "em": nil, "h1": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "hr": nil, "i": nil,
	"ins": nil, "li": nil, "p": nil, "pre": nil, "s": nil, "strong": nil, "sub": nil, "sup": nil, "table": nil,
	"tbody": nil, "tfoot": nil, "thead": nil, "tr": nil, "u": nil, "ul": nil,
}

// CleanHTML returns an HTML body with nothing but what [HTMLToText] takes for
// visible, in a few harmless elements: no styles, scripts, forms, comments and
// nothing that loads anything. Links lead to http, https and mailto only;
// images keep their alternative text.
func CleanHTML(src string) string {
	doc := parse(src)
	if doc == nil {
		return html.EscapeString(unreadable)
	}
	spoilMarks(readable(doc, false)) // as it is shown
	spoilMarks(readable(doc, true))  // as it is written
	var b strings.Builder
	cleanInto(&b, doc)
	return strings.TrimSpace(b.String())
}

// readable returns all text below doc in order, with the attributes that stay
// if so wanted.
func readable(doc *html.Node, withAttrs bool) []*string {
	var list []*string
	for n := range doc.Descendants() {
		if n.Type == html.TextNode {
			list = append(list, &n.Data)
			continue
		}
		for i := range n.Attr {
			if withAttrs && slices.Contains(allowed[n.Data], n.Attr[i].Key) {
				list = append(list, &n.Attr[i].Val)
			}
		}
	}
	return list
}

// cleanInto writes what is in n.
func cleanInto(b *strings.Builder, n *html.Node) {
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(html.EscapeString(visible(c.Data)))
			continue
		}
		attrs, ok := allowed[c.Data]
		if !ok {
			cleanInto(b, c)
			continue
		}
		b.WriteString("<" + c.Data)
		for _, key := range attrs {
			if v := cleanAttr(c, key); v != "" {
				b.WriteString(" " + key + `="` + html.EscapeString(v) + `"`)
			}
		}
		b.WriteString(">")
		if isOneOf(c.Data, " br hr img ") {
			continue
		}
		cleanInto(b, c)
		b.WriteString("</" + c.Data + ">")
	}
}

// cleanAttr returns the value that an attribute keeps, "" for none.
func cleanAttr(n *html.Node, key string) string {
	v := attr(n, key)
	if key == "href" {
		if v = safeURL(v); len(v) > 2000 {
			return ""
		}
	}
	return Line(v, 2000)
}

// visible removes the invisible characters of s; blanks and line breaks stay.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case isBreak(r):
			return '\n'
		case isInvisible(r) && r != '\t':
			return -1
		}
		return r
	}, s)
}
