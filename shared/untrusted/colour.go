package untrusted

import (
	"math"
	"strconv"
	"strings"

	"github.com/universokobana/kobana-inbox-mcp/shared/lazy"
)

// colour is a colour, or none that could be told when known is false.
type colour struct {
	r, g, b float64 // 0 to 255
	alpha   float64 // 0 to 1
	known   bool
}

// The colours where a page says nothing.
var (
	black    = colour{0, 0, 0, 1, true}
	white    = colour{255, 255, 255, 1, true}
	linkBlue = colour{0, 0, 238, 1, true}
)

// over returns the colour that c and what is under it make.
func (c colour) over(under colour) colour {
	mix := func(a, b float64) float64 { return a*c.alpha + b*(1-c.alpha) }
	switch {
	case !c.known || c.alpha >= 1:
		return c
	case c.alpha <= 0:
		return under
	case !under.known:
		return colour{}
	}
	return colour{mix(c.r, under.r), mix(c.g, under.g), mix(c.b, under.b), 1, true}
}

// like reports whether text of colour c cannot be told from what is behind it.
func (c colour) like(back colour) bool {
	near := func(a, b float64) bool { return max(a-b, b-a) <= 16 }
	return c.known && back.known && near(c.r, back.r) && near(c.g, back.g) && near(c.b, back.b)
}

// otherFunctions matches colours that are not computed here.
var otherFunctions = lazy.Regexp(`^(hwb|lab|lch|oklab|oklch|color|color-mix|light-dark|var)\(`)

// parseColour reads a CSS colour in lower case. It returns false for what is
// none, such as inherit, and a colour that is not known for those that it does
// not compute.
func parseColour(v string) (c colour, ok bool) {
	switch {
	case v == "":
		return colour{}, false
	case v == "transparent":
		return colour{known: true}, true
	case strings.HasPrefix(v, "#"):
		return hexColour(v[1:])
	case strings.HasPrefix(v, "rgb"):
		return rgbColour(v)
	case strings.HasPrefix(v, "hsl"):
		return hslColour(v)
	case otherFunctions().MatchString(v):
		return colour{}, true
	}
	_, after, ok := strings.Cut(colourNames, " "+v+"=")
	if !ok {
		return colour{}, false
	}
	return hexColour(after[:6])
}

// hexColour reads 3, 4, 6 or 8 hex digits.
func hexColour(digits string) (colour, bool) {
	if len(digits) < 5 { // each digit counts twice
		var b strings.Builder
		for _, d := range digits {
			b.WriteString(strings.Repeat(string(d), 2))
		}
		digits = b.String()
	}
	if len(digits) == 6 {
		digits += "ff"
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 8 {
		return colour{}, false
	}
	return colour{float64(n >> 24), float64(n >> 16 & 255), float64(n >> 8 & 255), float64(n&255) / 255, true}, true
}

// rgbColour reads rgb() and rgba(), with commas or without.
func rgbColour(v string) (colour, bool) {
	_, args, _ := strings.Cut(strings.TrimSuffix(v, ")"), "(")
	channels := [4]float64{3: 1}
	fields := strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune(" ,/", r) })
	if len(fields) < 3 || len(fields) > 4 {
		return colour{}, true
	}
	for i, f := range fields {
		number, percent := strings.CutSuffix(f, "%")
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return colour{}, true
		}
		if percent && i < 3 {
			n *= 2.55
		} else if percent {
			n /= 100
		}
		channels[i] = n
	}
	return colour{channels[0], channels[1], channels[2], channels[3], true}, true
}

// hslColour reads hsl() and hsla(), with commas or without.
func hslColour(v string) (colour, bool) {
	_, args, _ := strings.Cut(strings.TrimSuffix(v, ")"), "(")
	parts := strings.FieldsFunc(args, func(r rune) bool { return strings.ContainsRune(" ,/", r) })
	if len(parts) < 3 || len(parts) > 4 {
		return colour{}, true
	}
	values := [4]float64{3: 1}
	for i, part := range parts {
		number, percent := strings.CutSuffix(part, "%")
		scale := 1.
		switch {
		case i == 0:
			for unit, degrees := range map[string]float64{"deg": 1, "turn": 360, "grad": 0.9} {
				if n, ok := strings.CutSuffix(number, unit); ok {
					number, scale = n, degrees
				}
			}
		case i < 3 || percent:
			scale = 0.01
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return colour{}, true
		}
		values[i] = n * scale
	}
	hue, saturation, light := values[0]/30, min(max(values[1], 0), 1), min(max(values[2], 0), 1)
	channel := func(n float64) float64 { // CSS Color 4, 7.1
		k := math.Mod(math.Mod(n+hue, 12)+12, 12)
		return 255 * (light - saturation*min(light, 1-light)*max(-1, min(k-3, 9-k, 1)))
	}
	return colour{channel(0), channel(8), channel(4), values[3], true}, true
}

// backTokens finds the parts of a background declaration that may be colours.
var backTokens = lazy.Regexp(`#[0-9a-f]+|[a-z-]+\([^)]*\)|[a-z]+`)

// backColour finds the colour in a background declaration.
func backColour(v string) (c colour, ok bool) {
	if strings.Contains(v, "gradient(") {
		return colour{}, false
	}
	for _, token := range backTokens().FindAllString(v, -1) {
		if c, ok = parseColour(token); ok {
			return c, true
		}
	}
	return colour{}, false
}

// attrColour reads a colour attribute of old HTML, where the # may be missing.
func attrColour(v string) (colour, bool) {
	v = strings.ToLower(strings.TrimSpace(v))
	if c, ok := parseColour(v); ok {
		return c, true
	}
	return hexColour(v)
}

// colourNames are the named colours of CSS.
const colourNames = `
 aliceblue=f0f8ff antiquewhite=faebd7 aqua=00ffff aquamarine=7fffd4 azure=f0ffff beige=f5f5dc bisque=ffe4c4
 black=000000 blanchedalmond=ffebcd blue=0000ff blueviolet=8a2be2 brown=a52a2a burlywood=deb887
 cadetblue=5f9ea0 chartreuse=7fff00 chocolate=d2691e coral=ff7f50 cornflowerblue=6495ed cornsilk=fff8dc
 crimson=dc143c cyan=00ffff darkblue=00008b darkcyan=008b8b darkgoldenrod=b8860b darkgray=a9a9a9
 darkgreen=006400 darkgrey=a9a9a9 darkkhaki=bdb76b darkmagenta=8b008b darkolivegreen=556b2f darkorange=ff8c00
 darkorchid=9932cc darkred=8b0000 darksalmon=e9967a darkseagreen=8fbc8f darkslateblue=483d8b
 darkslategray=2f4f4f darkslategrey=2f4f4f darkturquoise=00ced1 darkviolet=9400d3 deeppink=ff1493
 deepskyblue=00bfff dimgray=696969 dimgrey=696969 dodgerblue=1e90ff firebrick=b22222 floralwhite=fffaf0
 forestgreen=228b22 fuchsia=ff00ff gainsboro=dcdcdc ghostwhite=f8f8ff gold=ffd700 goldenrod=daa520
 gray=808080 green=008000 greenyellow=adff2f grey=808080 honeydew=f0fff0 hotpink=ff69b4 indianred=cd5c5c
 indigo=4b0082 ivory=fffff0 khaki=f0e68c lavender=e6e6fa lavenderblush=fff0f5 lawngreen=7cfc00
 lemonchiffon=fffacd lightblue=add8e6 lightcoral=f08080 lightcyan=e0ffff lightgoldenrodyellow=fafad2
 lightgray=d3d3d3 lightgreen=90ee90 lightgrey=d3d3d3 lightpink=ffb6c1 lightsalmon=ffa07a lightseagreen=20b2aa
 lightskyblue=87cefa lightslategray=778899 lightslategrey=778899 lightsteelblue=b0c4de lightyellow=ffffe0
 lime=00ff00 limegreen=32cd32 linen=faf0e6 magenta=ff00ff maroon=800000 mediumaquamarine=66cdaa
 mediumblue=0000cd mediumorchid=ba55d3 mediumpurple=9370db mediumseagreen=3cb371 mediumslateblue=7b68ee
 mediumspringgreen=00fa9a mediumturquoise=48d1cc mediumvioletred=c71585 midnightblue=191970 mintcream=f5fffa
 mistyrose=ffe4e1 moccasin=ffe4b5 navajowhite=ffdead navy=000080 oldlace=fdf5e6 olive=808000 olivedrab=6b8e23
 orange=ffa500 orangered=ff4500 orchid=da70d6 palegoldenrod=eee8aa palegreen=98fb98 paleturquoise=afeeee
 palevioletred=db7093 papayawhip=ffefd5 peachpuff=ffdab9 peru=cd853f pink=ffc0cb plum=dda0dd
 powderblue=b0e0e6 purple=800080 rebeccapurple=663399 red=ff0000 rosybrown=bc8f8f royalblue=4169e1
 saddlebrown=8b4513 salmon=fa8072 sandybrown=f4a460 seagreen=2e8b57 seashell=fff5ee sienna=a0522d
 silver=c0c0c0 skyblue=87ceeb slateblue=6a5acd slategray=708090 slategrey=708090 snow=fffafa
 springgreen=00ff7f steelblue=4682b4 tan=d2b48c teal=008080 thistle=d8bfd8 tomato=ff6347 turquoise=40e0d0
 violet=ee82ee wheat=f5deb3 white=ffffff whitesmoke=f5f5f5 yellow=ffff00 yellowgreen=9acd32
`
