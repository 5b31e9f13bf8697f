package untrusted

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// look is what decides whether an element's text can be seen. All but hidden
// is inherited.
type look struct {
	hidden      bool   // the element shows nothing, whatever is in it
	invisible   bool   // visibility
	tiny        bool   // font-size
	color, back colour // of the text and behind it
}

// hidesText reports whether text that looks like l cannot be seen.
func (l look) hidesText() bool {
	return l.invisible || l.tiny || l.color.known && l.color.alpha < 0.05 || l.color.over(l.back).like(l.back)
}

// of returns the look of n, a child of an element that looks like l, with
// those declarations. Any declaration that hides n hides it, even if another
// would show it again; of the others the last one counts.
func (l look) of(n *html.Node, decls []decl) look {
	under := l.back
	l = l.withAttributes(n)
	image, clips, flat := false, false, false
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
			l.hidden = l.hidden || sized && size < 0.05
		case "clip", "clip-path", "transform", "filter":
			l.hidden = l.hidden || nothing.MatchString(v)
		case "max-height":
			l.hidden = l.hidden || sized && size <= 1
		case "text-indent", "left", "right", "top", "bottom", "margin-left", "margin-right", "margin-top":
			l.hidden = l.hidden || sized && (size <= -500 || size >= 5000)
		case "height", "width":
			flat = flat || sized && size <= 1
		case "overflow", "overflow-x", "overflow-y":
			clips = clips || v == "hidden" || v == "clip"
		case "visibility":
			l.invisible = v == "hidden" || v == "collapse"
		case "font-size":
			l.tiny = isTiny(v, l.tiny)
		case "font":
			if m := fontSize.FindStringSubmatch(v); m != nil {
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
			if c, ok := backColour(v); ok {
				back, hasBack = c, true
			}
		}
	}
	switch {
	case hasBack:
		l.back = back.over(under)
	case image: // of any colour
		l.back = colour{}
	}
	l.hidden = l.hidden || flat && clips
	return l
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

// nothing matches values of clip, clip-path, transform and filter that leave
// nothing to see.
var nothing = regexp.MustCompile(`rect\(([\s,]*[01](px)?){4}\s*\)|inset\((50|100)%|circle\(0|scale(x|y|3d)?\(0(\.0*)?[,)]|translate(x|y|3d)?\([^)]*-\d{4,}|opacity\(0(\.0*)?%?\)`)

// fontSize finds the size in a font declaration.
var fontSize = regexp.MustCompile(`(?:^|\s)(0|[\d.]+(?:px|pt|em|rem|%))(?:/|\s|$)`)

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

// lengthForm matches a CSS number with its unit.
var lengthForm = regexp.MustCompile(`^([+-]?[\d.]+)([a-z%]*)$`)

// pixels returns roughly how many pixels a length is.
func pixels(v string) (float64, bool) {
	m := lengthForm.FindStringSubmatch(v)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	switch m[2] {
	case "em", "rem", "pc":
		n *= 16
	case "ex", "ch":
		n *= 8
	case "%":
		n *= 5 // of a width of 500; for a font-size it is enough that 0 is 0
	case "vw", "vh":
		n *= 10
	case "pt":
		n *= 4. / 3
	case "in":
		n *= 96
	case "cm":
		n *= 38
	case "mm":
		n *= 3.8
	}
	return n, err == nil
}
