package untrusted

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// look is what decides whether an element's text can be seen. All but hidden
// is inherited.
type look struct {
	hidden      bool   // the element shows nothing, whatever is in it
	invisible   bool   // visibility
	tiny        bool   // font-size
	flat        bool   // line-height
	color, back colour // of the text and behind it
}

// hidesText reports whether text that looks like l cannot be seen.
func (l look) hidesText() bool {
	return l.invisible || l.tiny || l.flat || l.color.known && l.color.alpha < 0.05 || l.color.over(l.back).like(l.back)
}

// of returns the look of n, a child of an element that looks like l, with
// those declarations. Any declaration that hides n hides it, even if another
// would show it again; of the others the last one counts.
func (l look) of(n *html.Node, decls []decl) look {
	under := l.back
	l = l.withAttributes(n)
	image, clips, flat, current := false, false, isPixel(n), false
	var back colour
	var hasBack bool
	for _, d := range decls {
		v := d.value
		size, sized := pixels(v)
		switch d.name {
		case "display":
			l.hidden = l.hidden || v == "none"
		case "content-visibility":
			l.hidden = l.hidden || v == "hidden"
		case "mso-hide":
			l.hidden = l.hidden || v == "all"
		case "opacity":
			f, ok := factor(v)
			l.hidden = l.hidden || ok && f < 0.05
		case "zoom":
			f, ok := factor(v)
			l.hidden = l.hidden || ok && f < 0.05
		case "scale":
			l.hidden = l.hidden || vanishes("scale("+v+")")
		case "translate":
			l.hidden = l.hidden || vanishes("translate("+v+")")
		case "rotate":
			axis, angle, _ := strings.Cut(v, " ")
			l.hidden = l.hidden || (axis == "x" || axis == "y") && edgeOn(angle)
		case "transform":
			l.hidden = l.hidden || vanishes(v)
		case "clip", "clip-path", "filter":
			l.hidden = l.hidden || nothing().MatchString(v)
		case "max-height":
			l.hidden = l.hidden || sized && size <= 1
		case "text-indent", "left", "right", "top", "bottom", "margin-left", "margin-right", "margin-top",
			"inset-inline-start", "inset-block-start", "inset-inline-end", "inset-block-end":
			l.hidden = l.hidden || sized && isFar(size)
		case "inset", "inset-inline", "inset-block", "margin":
			l.hidden = l.hidden || sized && isFar(size) || slices.ContainsFunc(fields(v), isOff)
		case "letter-spacing":
			l.hidden = l.hidden || sized && size <= -6
		case "line-height":
			l.flat = sized && size == 0 && n.Data != "sub" && n.Data != "sup"
		case "height", "width", "max-width", "inline-size", "block-size", "max-inline-size", "max-block-size":
			flat = flat || sized && size <= 1
		case "overflow", "overflow-x", "overflow-y":
			clips = clips || v == "hidden" || v == "clip"
		case "visibility":
			l.invisible = v == "hidden" || v == "collapse"
		case "font-size":
			l.tiny = isTiny(v, l.tiny)
		case "font":
			if m := fontSize().FindStringSubmatch(v); m != nil {
				l.tiny = isTiny(m[1], l.tiny)
			}
		case "color", "-webkit-text-fill-color":
			if c, ok := parseColour(v); ok {
				l.color = c
			}
		case "background", "background-color", "background-image":
			if strings.Contains(v, "url(") || strings.Contains(v, "gradient(") {
				image = true
			}
			current = strings.Contains(v, "currentcolor")
			if c, ok := backColour(v); ok {
				back, hasBack = c, true
			}
		}
	}
	switch {
	case current && l.color.known:
		l.back = l.color
	case hasBack:
		l.back = back.over(under)
	case image: // of any colour
		l.back = colour{}
	}
	l.hidden = l.hidden || flat && (clips || n.Data == "img")
	return l
}

// isPixel reports whether n is an image of no size, by its attributes.
func isPixel(n *html.Node) bool {
	if n.Data != "img" {
		return false
	}
	width, wide := pixels(attr(n, "width"))
	height, high := pixels(attr(n, "height"))
	return wide && width <= 1 || high && height <= 1
}

// withAttributes adds what the attributes of old HTML say, and that links are
// blue.
func (l look) withAttributes(n *html.Node) look {
	if attr(n, "background") != "" {
		l.back = colour{}
	}
	if c, ok := attrColour(attr(n, "bgcolor")); ok {
		l.back = c
	}
	if n.Data == "a" && attr(n, "href") != "" {
		l.color = linkBlue
	}
	for _, name := range []string{"text", "color"} {
		if c, ok := attrColour(attr(n, name)); ok {
			l.color = c
		}
	}
	return l
}

// nothing matches values of clip, clip-path and filter that leave
// nothing to see.
var nothing = lazy.Regexp(`rect\(([\s,]*[01](px)?){4}\s*\)|inset\((50|100)%|circle\(0|opacity\(0(\.0*)?%?\)`)

// fontSize finds the size in a font declaration.
var fontSize = lazy.Regexp(`(?:^|\s)(0|[\d.]+(?:px|pt|em|rem|%))(?:/|\s|$)`)

// isTiny reports whether text of that font-size is too small to see; inherited
// says it of the text around.
func isTiny(v string, inherited bool) bool {
	size, ok := pixels(v)
	switch {
	case ok && size < 2:
		return true
	case strings.HasSuffix(v, "%"), strings.HasSuffix(v, "em") && !strings.HasSuffix(v, "rem"),
		v == "inherit", v == "unset", v == "larger", v == "smaller":
		return inherited
	}
	return false
}
