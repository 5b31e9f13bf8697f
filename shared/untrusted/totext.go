package untrusted

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// Body is the body of a message as clean text, made from HTML where it has no
// text of its own; nil is none.
func Body(text, html *string) string {
	if text != nil && strings.TrimSpace(*text) != "" {
		return Text(*text)
	}
	if html != nil {
		return HTMLToText(*html)
	}
	return ""
}

// HTMLToText returns what a person sees of an HTML body, as [Text]: without
// what the usual tricks hide (attributes, inline styles and simple rules of
// style elements: display, visibility, size, colour of the background, place
// off the page). A link's text is followed by its address where they differ,
// its host in punycode. It cannot know all tricks; the text remains untrusted.
func HTMLToText(src string) string {
	doc := parse(src)
	if doc == nil {
		return unreadable
	}
	w := &textWriter{}
	w.children(doc)
	return Text(string(w.out))
}

// textWriter writes a visible tree as text. Spaces and line breaks are written
// only before the next word.
type textWriter struct {
	out    []byte
	space  bool   // a space is due
	breaks int    // line breaks are due
	cell   bool   // a table cell begins
	pre    bool   // white space counts
	prefix string // of every line, from the quotes and lists around
	marker string // of a list item, in place of the end of its first line's prefix
	number int    // of the last item in an ordered list, -1 in others
}

// blocks says how many line breaks are due before and after an element.
var blocks = map[string]int{
	"address": 1, "article": 1, "aside": 1, "caption": 1, "center": 1, "dd": 1, "details": 1, "div": 1, "dt": 1,
	"fieldset": 1, "figcaption": 1, "figure": 1, "footer": 1, "form": 1, "header": 1, "hr": 1, "legend": 1, "li": 1,
	"main": 1, "nav": 1, "option": 1, "section": 1, "summary": 1, "table": 1, "tr": 1,
	"blockquote": 2, "dl": 2, "h1": 2, "h2": 2, "h3": 2, "h4": 2, "h5": 2, "h6": 2, "ol": 2, "p": 2, "pre": 2, "ul": 2,
}

// children writes what is in n.
func (w *textWriter) children(n *html.Node) {
	for c := range n.ChildNodes() {
		switch c.Type {
		case html.TextNode:
			w.text(c.Data)
		case html.ElementNode:
			w.breaks = max(w.breaks, blocks[c.Data])
			w.element(c)
			w.breaks = max(w.breaks, blocks[c.Data])
		}
	}
}

// element writes an element without the line breaks around it.
func (w *textWriter) element(n *html.Node) {
	switch n.Data {
	case "br":
		w.breaks++
	case "hr":
		w.word("---")
	case "td", "th":
		w.cell = true
		w.children(n)
		w.space = true
	case "pre":
		defer func(old bool) { w.pre = old }(w.pre)
		w.pre = true
		w.children(n)
	case "blockquote":
		w.indented(n, "> ", "")
	case "ul", "ol":
		defer func(old int) { w.number = old }(w.number)
		w.number = -1
		if n.Data == "ol" {
			w.number = 0
		}
		w.children(n)
	case "li":
		marker := "- "
		if w.number >= 0 {
			w.number++
			marker = strconv.Itoa(w.number) + ". "
		}
		w.indented(n, strings.Repeat(" ", len(marker)), marker)
	case "a":
		w.link(n)
	default:
		w.children(n)
	}
}

// indented writes what is in n with indent before every line; very deep ones
// are indented no further.
func (w *textWriter) indented(n *html.Node, indent, marker string) {
	if len(w.prefix) > 20 {
		w.children(n)
		return
	}
	defer func(old string) { w.prefix, w.marker = old, "" }(w.prefix)
	w.prefix += indent
	w.marker = marker
	w.children(n)
}

// link writes a link and where it leads.
func (w *textWriter) link(n *html.Node) {
	start := len(w.out)
	w.children(n)
	label := Line(string(w.out[start:]), 2*maxURL)
	target := linkTarget(attr(n, "href"))
	switch {
	case target == "" || plainURL(label) == plainURL(target):
	case label != "":
		w.out = append(w.out, " ("+target+")"...)
	case hasImage(n):
		w.word(target)
	}
}

// maxURL is how many characters of a URL are shown.
const maxURL = 300

// linkTarget returns the URL of a link for showing, "" for none that a person
// could follow.
func linkTarget(href string) string {
	u := safeURL(href)
	if u == "" && special().MatchString(href) { // it leads nobody knows where
		u = href
	}
	return Line(u, maxURL)
}

// plainURL returns a URL as people write it.
func plainURL(u string) string {
	u = strings.ToLower(u)
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		u = strings.TrimPrefix(u, scheme)
	}
	return strings.TrimSuffix(u, "/")
}

// hasImage reports whether there is an image in n.
func hasImage(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Data == "img" && d.Type == html.ElementNode {
			return true
		}
	}
	return false
}

// text writes a text node.
func (w *textWriter) text(s string) {
	if w.pre {
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				w.breaks++
			}
			if line != "" {
				w.word(line)
			}
		}
		return
	}
	for s != "" {
		i := strings.IndexAny(s, " \t\n\r\f") // not the other blanks
		switch {
		case i < 0:
			w.word(s)
			return
		case i > 0:
			w.word(s[:i])
		}
		w.space = true
		s = s[i+1:]
	}
}

// word writes s and what is due before it.
func (w *textWriter) word(s string) {
	switch {
	case w.breaks > 0 || len(w.out) == 0:
		if len(w.out) > 0 {
			w.out = append(w.out, "\n\n"[:min(w.breaks, 2)]...)
		}
		w.out = append(w.out, w.prefix[:len(w.prefix)-len(w.marker)]+w.marker...)
	case w.cell:
		w.out = append(w.out, " | "...)
	case w.space:
		w.out = append(w.out, ' ')
	}
	w.out = append(w.out, s...)
	w.space, w.cell, w.breaks, w.marker = false, false, 0, ""
}
