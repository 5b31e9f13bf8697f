package untrusted

import (
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// truth is whether a condition holds.
type truth int

// The truths. What may hold is taken for true in so far as it hides anything.
const (
	no truth = iota
	maybe
	yes
)

// screenWidth is the width in pixels for which media queries are answered:
// that of a desktop, so that what is hidden on telephones only stays.
const screenWidth = 1024

// atRule returns whether the rules in the block of an at-rule hold.
func atRule(prelude string) truth {
	name, condition, _ := strings.Cut(strings.TrimPrefix(prelude, "@"), " ")
	if i := strings.IndexByte(name, '('); i >= 0 {
		name, condition = name[:i], name[i:]+" "+condition
	}
	switch strings.TrimSpace(name) {
	case "layer":
		return yes
	case "supports", "container", "scope", "starting-style", "document", "-moz-document":
		return maybe
	case "media":
		return mediaList(condition)
	}
	return no // keyframes, fonts, pages
}

// mediaList answers a list of media queries.
func mediaList(list string) truth {
	if strings.TrimSpace(list) == "" {
		return yes
	}
	best := no
	for _, query := range splitTop(list, ',') {
		best = max(best, mediaQuery(strings.TrimSpace(query)))
	}
	return best
}

// mediaQuery answers a media query.
func mediaQuery(query string) truth {
	if inner, ok := strings.CutPrefix(query, "not "); ok {
		return yes - mediaQuery(inner)
	}
	if strings.Contains(query, " or ") {
		return maybe
	}
	all := yes
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.TrimPrefix(query, "only "), ")and", ") and"), "and ") {
		part = strings.TrimSpace(part)
		switch {
		case strings.HasPrefix(part, "("):
			all = min(all, mediaFeature(strings.ReplaceAll(strings.Trim(part, "()"), " ", "")))
		case part != "screen" && part != "all" && part != "":
			return no // print, and names that are none
		}
	}
	return all
}

// widthRange and widthLimit match the two ways to ask for a width.
var (
	widthRange = lazy.Regexp(`^(?:device-)?width(<=?|>=?)([^<>=]+)$`)
	widthLimit = lazy.Regexp(`^(min|max)-(?:device-)?width:(.+)$`)
)

// mediaFeature answers what is between the parentheses of a media query.
func mediaFeature(feature string) truth {
	upper, length := false, ""
	if m := widthRange().FindStringSubmatch(feature); m != nil {
		upper, length = m[1][0] == '<', m[2]
	} else if m := widthLimit().FindStringSubmatch(feature); m != nil {
		upper, length = m[1] == "max", m[2]
	} else if feature == "prefers-color-scheme:dark" {
		return no
	} else {
		return maybe
	}
	switch width, ok := pixels(length); {
	case !ok:
		return maybe
	case upper == (screenWidth <= width):
		return yes
	}
	return no
}
